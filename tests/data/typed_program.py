"""A program that mypy and pyright check strictly: `assert_type` says what they are to find.

It also runs; `tests/docs/test_stubs.py` does all three.
"""

from typing import assert_type

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.autograd import Function
from minigrad.autograd.functional import hessian, jacobian
from minigrad.autograd.graph import save_on_cpu, saved_tensors_hooks

x = torch.rand(3, 4).requires_grad_()
assert_type(x, Tensor)
assert_type(x @ x.T, Tensor)
assert_type(torch.matmul(x, x.T), Tensor)
assert_type(x.mm(x.T) + 1.0, Tensor)
assert_type(2 * x - x / 3, Tensor)
assert_type(-x, Tensor)
assert_type(x > 0, Tensor)

# reductions
assert_type(x.sum(), Tensor)
assert_type(x.mean(0, keepdim=True), Tensor)
assert_type(torch.sum(x, dim=1), Tensor)
assert_type(x.max(), Tensor)
values, indices = x.max(1)
assert_type(values, Tensor)
assert_type(indices, Tensor)
assert_type(torch.sort(x, 1).values, Tensor)
assert_type(x.var(1).sqrt(), Tensor)

# indexing
assert_type(x[0], Tensor)
assert_type(x[:, 1:3], Tensor)
assert_type(x[..., None], Tensor)
assert_type(x[x > 0], Tensor)
x.detach()[0] = 1.0

# kinds, places, parts
assert_type(x.to(torch.float64), Tensor)
assert_type(x.to("cpu"), Tensor)
assert_type(x.sum().item(), int | float | bool)
assert_type(x.dtype, torch.dtype)
assert_type(x.shape[0], int)
assert_type(torch.cat([x, x]), Tensor)
assert_type(torch.stack((x, x), 1), Tensor)
assert_type(torch.where(x > 0, x, 0.0), Tensor)
parts: tuple[Tensor, ...] = x.split(1)
assert_type(len(x), int)
assert_type(torch.allclose(x, x), bool)


# derivatives
def cube(t: Tensor) -> Tensor:
    return t**3


loss = cube(x).sum()
loss.backward()
slope: Tensor = torch.autograd.grad(cube(x).sum(), x)[0]
table: Tensor = jacobian(cube, x)


def total(t: Tensor) -> Tensor:
    return cube(t).sum()


curved: Tensor = hessian(total, x)
if x.grad is not None:
    assert_type(x.grad, Tensor)


@torch.no_grad()
def doubled(count: int) -> str:
    return str(2 * count)


@torch.enable_grad()
def halved(t: Tensor) -> Tensor:
    return t / 2


assert_type(doubled(2), str)
assert_type(halved(x), Tensor)
with torch.no_grad(), torch.autograd.set_detect_anomaly(True):
    x.add_(1)
with torch.inference_mode():
    y = x * 2
with saved_tensors_hooks(lambda t: t, lambda t: t), save_on_cpu():
    cube(x).sum().backward()


class Scale(Function):
    """An op of one's own."""

    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, t: Tensor) -> Tensor:
        ctx.save_for_backward(t)
        return t * 2

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, *gradients: Tensor) -> Tensor:
        (t,) = ctx.saved_tensors
        assert_type(t, Tensor)
        return gradients[0] * 2


class Net(nn.Module):
    """A network of one layer."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 2)
        self.act = nn.ReLU()

    def forward(self, t: Tensor) -> Tensor:
        hidden: Tensor = self.act(self.layer(t))
        return nn.functional.dropout(hidden, 0.1, self.training)


net = Net()
out: Tensor = net(x)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
for name, parameter in net.named_parameters():
    assert_type(name, str)
    assert_type(parameter, nn.Parameter)
optimizer.zero_grad()
distance: Tensor = nn.MSELoss()(out, torch.zeros_like(out))
distance.backward()
optimizer.step()
scheduler.step()
state = net.state_dict()
net.load_state_dict(state)
assert_type(net.eval(), Net)
assert_type(net.to(torch.float64), Net)
mapped: Tensor = torch.func.vmap(cube)(x)


# decorators that keep the signature of a function
@torch.compile
def compiled(t: Tensor, count: int = 2) -> list[Tensor]:
    return [t] * count


@torch.compile(fullgraph=True, options={"activation_memory_budget": 0.5})
def compiled_whole(t: Tensor, count: int = 2) -> list[Tensor]:
    return [t] * count


@torch.compiler.disable
def not_compiled(t: Tensor, count: int = 2) -> list[Tensor]:
    return [t] * count


@torch.compiler.disable(recursive=True)
def not_compiled_either(t: Tensor, count: int = 2) -> list[Tensor]:
    return [t] * count


@torch.compiler.allow_in_graph
def allowed(t: Tensor, count: int = 2) -> list[Tensor]:
    return [t] * count


assert_type(compiled(x, count=3), list[Tensor])
assert_type(compiled_whole(x), list[Tensor])
assert_type(not_compiled(x, 3), list[Tensor])
assert_type(not_compiled_either(x, 3), list[Tensor])
assert_type(allowed(x, 3), list[Tensor])
assert_type(torch.compile(compiled)(x), list[Tensor])
compiled_net = torch.compile(net)
assert_type(list(compiled_net.parameters()), list[nn.Parameter])
net.compile()
torch.compiler.reset()
torch.set_float32_matmul_precision("high")
torch.set_float32_matmul_precision("highest")
torch.manual_seed(0)
