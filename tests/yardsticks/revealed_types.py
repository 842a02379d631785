"""What users write, for type checkers to reveal: `test_revealed_types.py` counts each `Any`.

This file is read by mypy and pyright, and never run.
"""

from typing import reveal_type

import minigrad as torch
import minigrad.nn.functional as F
from minigrad import nn
from minigrad.utils.data import DataLoader, TensorDataset

x = torch.ones(2, 3, requires_grad=True)
y = torch.tensor([[1.0, 2.0, 3.0]])
labels = torch.tensor([0, 1])
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 2)
        self.norm = nn.BatchNorm1d(2)
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x) * self.scale


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2


net = Net()
# tensors
reveal_type(x + 1)
reveal_type(1 - x)
reveal_type(x @ y.T)
reveal_type(x[0])
reveal_type(x.sum())
reveal_type(x.mean(dim=0))
reveal_type(x.max(dim=1).values)
reveal_type(x.argmax(1))
reveal_type(x > 0)
reveal_type(-x)
reveal_type(x.view(-1))
reveal_type(x.reshape(3, 2))
reveal_type(x.permute(1, 0))
reveal_type(x.T)
reveal_type(x.grad)
reveal_type(x.grad_fn)
reveal_type(x.item())
reveal_type(x.tolist())
reveal_type(x.shape)
reveal_type(x.size())
reveal_type(x.size(0))
reveal_type(x.shape[0])
reveal_type(x.dtype)
reveal_type(x.device)
reveal_type(x.detach())
reveal_type(x.to("cpu"))
reveal_type(x.float())
reveal_type(x.clone())
reveal_type(x.numpy())
reveal_type(x.requires_grad)
reveal_type(x.backward())
reveal_type(x.split(1))
reveal_type(x.dim())
reveal_type(x.numel())
reveal_type(x.is_leaf)
reveal_type(x.register_hook(lambda g: g * 2))
reveal_type(x.add_(1))
reveal_type(x.unbind())
reveal_type(x.data)
reveal_type(x.new_zeros(3))
# functions
reveal_type(torch.zeros(2, 3))
reveal_type(torch.randn(3))
reveal_type(torch.arange(3))
reveal_type(torch.cat([x, y]))
reveal_type(torch.stack([x, x]))
reveal_type(torch.where(x > 0, x, 0.0))
reveal_type(torch.einsum("ij,kj->ik", x, y))
reveal_type(torch.linalg.norm(x))
reveal_type(torch.max(x))
reveal_type(torch.sort(x))
reveal_type(torch.topk(x, 2))
reveal_type(torch.allclose(x, x))
reveal_type(torch.is_grad_enabled())
reveal_type(torch.manual_seed(0))
# autograd
reveal_type(torch.autograd.grad(x.sum(), x))
reveal_type(torch.autograd.grad(x.sum(), [x])[0])
reveal_type(torch.autograd.functional.jacobian(torch.exp, x))
reveal_type(torch.autograd.gradcheck(torch.exp, (x,)))
reveal_type(torch.func.grad(torch.sum)(x))
reveal_type(torch.func.vmap(torch.sum)(x))
reveal_type(Double.apply(x))
# losses and functional
reveal_type(F.relu(x))
reveal_type(F.softmax(x, dim=1))
reveal_type(F.cross_entropy(x, labels))
reveal_type(F.mse_loss(x, x))
reveal_type(F.binary_cross_entropy_with_logits(x, x))
reveal_type(F.nll_loss(x, labels))
reveal_type(F.dropout(x, 0.5))
reveal_type(F.linear(x, x))
reveal_type(F.conv2d(x, x))
reveal_type(F.max_pool2d(x, 2))
reveal_type(F.one_hot(labels))
reveal_type(F.pad(x, (1, 1)))
reveal_type(F.layer_norm(x, (3,)))
reveal_type(F.normalize(x))
# modules
reveal_type(model(x))
reveal_type(model[0])
reveal_type(model[:2])
reveal_type(nn.Linear(3, 2)(x))
reveal_type(nn.Linear(3, 2).weight)
reveal_type(nn.Linear(3, 2).bias)
reveal_type(nn.BatchNorm1d(2).running_mean)
reveal_type(nn.CrossEntropyLoss()(x, labels))
reveal_type(net.layer)
reveal_type(net.norm.weight)
reveal_type(net.scale)
reveal_type(net.state_dict())
reveal_type(net.to("cpu"))
reveal_type(net.eval())
reveal_type(next(net.parameters()))
reveal_type(net.training)
for name, parameter in net.named_parameters():
    reveal_type(name)
    reveal_type(parameter)
for child in nn.ModuleList([net]):
    reveal_type(child)
# optimizers and data
reveal_type(optimizer.step())
reveal_type(optimizer.param_groups)
reveal_type(optimizer.zero_grad())
reveal_type(scheduler.get_last_lr())
reveal_type(TensorDataset(x, y)[0])
for batch in DataLoader(TensorDataset(x, y)):
    reveal_type(batch)
with torch.no_grad():
    reveal_type(x * 2)
reveal_type(torch.device("cpu").type)
reveal_type(torch.float32)
reveal_type(torch.load("a.pt"))
reveal_type(torch.distributions.Normal(0.0, 1.0).sample())
reveal_type(torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0))
