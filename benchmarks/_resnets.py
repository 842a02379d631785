"""One training step of ResNet-18, without the optimiser, and one evaluation, in each library.

Every adapter takes the same weights and has `step()`: cross entropy forward, gradients of all
weights backward, or for an evaluation the logits alone. `results()` takes a step and tells each
logit and the norm of every gradient.
"""

from __future__ import annotations

import importlib
from typing import Any

from _harness import Unavailable

#: Images of one step: batch and size.
SHAPES = {"1x3x224x224": (1, 224), "8x3x64x64": (8, 64)}
#: How the name of an evaluation ends, after the images.
EVALUATION = " evaluation"
WIDTHS = (64, 128, 256, 512)
EPS = 1e-5


def blocks() -> list[tuple[str, int, int, int]]:
    """The eight residual blocks: name, channels before and after, stride."""
    found, before = [], 64
    for stage, width in enumerate(WIDTHS, 1):
        for place in range(2):
            stride = 2 if place == 0 and stage > 1 else 1
            found.append((f"layer{stage}.{place}", before, width, stride))
            before = width
    return found


def weights() -> dict[str, Any]:
    """Every weight by torchvision's name, drawn by He's rule; the same in every library."""
    import numpy  # here because the parent process needs nothing but the standard library

    rng = numpy.random.default_rng(0)
    made: dict[str, Any] = {}

    def conv(name: str, outputs: int, inputs: int, size: int) -> None:
        spread = (2 / (outputs * size * size)) ** 0.5
        drawn = rng.standard_normal((outputs, inputs, size, size)) * spread
        made[f"{name}.weight"] = drawn.astype("float32")

    def norm(name: str, channels: int) -> None:
        made[f"{name}.weight"] = numpy.ones(channels, "float32")
        made[f"{name}.bias"] = numpy.zeros(channels, "float32")

    conv("conv1", 64, 3, 7)
    norm("bn1", 64)
    for name, before, width, stride in blocks():
        conv(f"{name}.conv1", width, before, 3)
        norm(f"{name}.bn1", width)
        conv(f"{name}.conv2", width, width, 3)
        norm(f"{name}.bn2", width)
        if stride == 2:
            conv(f"{name}.downsample.0", width, before, 1)
            norm(f"{name}.downsample.1", width)
    made["fc.weight"] = (rng.standard_normal((1000, 512)) / 512**0.5).astype("float32")
    made["fc.bias"] = numpy.zeros(1000, "float32")
    return made


def images(batch: int, size: int) -> tuple[Any, Any]:
    """Images and their classes."""
    import numpy

    rng = numpy.random.default_rng(1)
    return rng.standard_normal((batch, 3, size, size)).astype("float32"), rng.integers(
        0, 1000, batch)


def by_name(logits: Any, norms: dict[str, Any]) -> dict[str, float]:
    """The results of a step, each under a name that says what it is."""
    rows = {f"logit {number} of image {image}": float(value)
            for image, row in enumerate(logits) for number, value in enumerate(row)}
    return rows | {f"gradient of {name}": float(norm) for name, norm in norms.items()}


class TorchLike:
    """PyTorch and minigrad: the modules of `nn`."""

    def __init__(self, module: str, case: str, threads: int) -> None:
        shape = case.removesuffix(EVALUATION)
        self.torch = torch = importlib.import_module(module)
        torch.set_num_threads(threads)
        self.net = network(torch.nn)
        self.net.load_state_dict({name: torch.tensor(w) for name, w in weights().items()},
                                 strict=False)
        x, y = images(*SHAPES[shape])
        self.x, self.y = torch.tensor(x), torch.tensor(y)
        self.step = self.train if case == shape else self.evaluate
        self.net.train(case == shape)

    def train(self) -> None:
        self.net.zero_grad()
        self.logits = self.net(self.x)
        self.torch.nn.functional.cross_entropy(self.logits, self.y).backward()

    def evaluate(self) -> None:
        with self.torch.no_grad():
            self.logits = self.net(self.x)

    def results(self) -> dict[str, float]:
        self.step()
        return by_name(self.logits.detach().numpy(),
                       {name: p.grad.norm() for name, p in self.net.named_parameters()
                        if p.grad is not None})


def training_only(case: str) -> str:
    """Return the images of a training step; an evaluation is not available."""
    if case.endswith(EVALUATION):
        raise Unavailable("trains only")
    return case


def network(nn: Any) -> Any:
    """Return ResNet-18 made of the modules of `nn`."""

    class Block(nn.Module):
        def __init__(self, before: int, width: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(before, width, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(width)
            self.relu = nn.ReLU(inplace=True)
            self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(width)
            self.downsample = None if stride == 1 else nn.Sequential(
                nn.Conv2d(before, width, 1, stride, bias=False), nn.BatchNorm2d(width))

        def forward(self, x: Any) -> Any:
            out = self.relu(self.bn1(self.conv1(x)))
            out = self.bn2(self.conv2(out))
            out += x if self.downsample is None else self.downsample(x)
            return self.relu(out)

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
            self.bn1 = nn.BatchNorm2d(64)
            self.relu = nn.ReLU(inplace=True)
            self.maxpool = nn.MaxPool2d(3, 2, 1)
            made = [Block(*sizes) for _, *sizes in blocks()]
            for stage in range(4):
                setattr(self, f"layer{stage + 1}", nn.Sequential(*made[2 * stage : 2 * stage + 2]))
            self.avgpool = nn.AdaptiveAvgPool2d(1)
            self.fc = nn.Linear(512, 1000)

        def forward(self, x: Any) -> Any:
            x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
            x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
            return self.fc(self.avgpool(x).flatten(1))

    return Net()


class ByHand:
    """The same products and passes with no engine: minigrad's kernels, sequenced by hand."""

    def __init__(self, module: str, case: str, threads: int) -> None:
        self.np = importlib.import_module("numpy")
        importlib.import_module("minigrad").set_num_threads(threads)
        self.xp = importlib.import_module("minigrad.backend").numpy_backend
        self.w = weights()
        self.x, self.y = images(*SHAPES[training_only(case)])

    def conv(self, name: str, x: Any, stride: int, padding: int) -> Any:
        window = ((stride, stride), (padding, padding), (1, 1), 1)
        self.kept[name] = x, window
        return self.xp.conv_forward(x, self.w[f"{name}.weight"], None, *window)

    def conv_back(self, name: str, g: Any, needed: bool = True) -> Any:
        (x, window), w = self.kept.pop(name), self.w[f"{name}.weight"]
        self.grads[f"{name}.weight"] = self.xp.conv_grad_weight(g, x, w.shape, *window)
        return self.xp.conv_grad_input(g, w, x.shape, *window) if needed else None

    def norm(self, name: str, x: Any) -> Any:
        w, b = self.w[f"{name}.weight"], self.w[f"{name}.bias"]
        result, mean, _, invstd = self.xp.batch_norm_forward(x, w, b, EPS)
        self.kept[name] = x, mean, invstd
        return result

    def norm_back(self, name: str, g: Any) -> Any:
        x, mean, invstd = self.kept.pop(name)
        self.grads[f"{name}.weight"] = self.xp.batch_norm_grad_weight(g, x, mean, invstd)
        self.grads[f"{name}.bias"] = self.xp.channel_sums(g)
        return self.xp.batch_norm_grad_input(g, x, self.w[f"{name}.weight"], mean, invstd)

    def relu(self, name: str, x: Any) -> Any:
        self.kept[name] = self.np.maximum(x, 0, out=x)
        return x

    def relu_back(self, name: str, g: Any) -> Any:
        return self.xp.select(self.kept.pop(name) > 0, g, self.np.zeros((), g.dtype))

    def step(self) -> None:
        np, xp, w = self.np, self.xp, self.w
        self.kept: dict[str, Any] = {}
        self.grads: dict[str, Any] = {}
        x = self.relu("relu", self.norm("bn1", self.conv("conv1", self.x, 2, 3)))
        before_pool = x.shape
        x, places = xp.max_pool_forward(x, (3, 3), (2, 2), (1, 1), (1, 1), False)
        for name, _, _, stride in blocks():
            out = self.norm(f"{name}.bn1", self.conv(f"{name}.conv1", x, stride, 1))
            out = self.relu(f"{name}.relu1", out)
            out = self.norm(f"{name}.bn2", self.conv(f"{name}.conv2", out, 1, 1))
            if stride == 2:
                x = self.conv(f"{name}.downsample.0", x, 2, 0)
                x = self.norm(f"{name}.downsample.1", x)
            out += x
            x = self.relu(f"{name}.relu2", out)
        pooled, (batch, _, *plane) = x.mean((2, 3)), x.shape
        self.logits = pooled @ w["fc.weight"].T + w["fc.bias"]

        g = np.exp(self.logits - self.logits.max(1, keepdims=True))
        g /= g.sum(1, keepdims=True)
        g[np.arange(batch), self.y] -= 1
        g /= batch
        self.grads |= {"fc.bias": g.sum(0), "fc.weight": g.T @ pooled}
        g = g @ w["fc.weight"] / np.float32(plane[0] * plane[1])
        g = np.broadcast_to(g[:, :, None, None], x.shape)
        for name, _, _, stride in reversed(blocks()):
            g = self.relu_back(f"{name}.relu2", g)
            through = self.conv_back(f"{name}.conv2", self.norm_back(f"{name}.bn2", g))
            through = self.norm_back(f"{name}.bn1", self.relu_back(f"{name}.relu1", through))
            through = self.conv_back(f"{name}.conv1", through)
            if stride == 2:
                g = self.norm_back(f"{name}.downsample.1", g)
                g = self.conv_back(f"{name}.downsample.0", g)
            through += g
            g = through
        g = xp.max_pool_backward(g, places, before_pool, 2)
        self.conv_back("conv1", self.norm_back("bn1", self.relu_back("relu", g)), needed=False)

    def results(self) -> dict[str, float]:
        self.step()
        return by_name(self.logits,
                       {name: self.np.linalg.norm(g) for name, g in self.grads.items()})


class Products:
    """Nothing but the matrix products that a step needs: no NumPy program can be faster."""

    def __init__(self, module: str, case: str, threads: int) -> None:
        self.np = np = importlib.import_module("numpy")
        shape = case.removesuffix(EVALUATION)
        self.trains = case == shape
        batch, size = SHAPES[shape]
        sizes = [(64, 3 * 49, batch * (size // 2) ** 2)]
        size //= 4
        for _, before, width, stride in blocks():
            size //= stride
            steps = batch * size * size
            sizes += [(width, before * 9, steps), (width, width * 9, steps)]
            if stride == 2:
                sizes.append((width, before, steps))
        self.triples = [(np.ones((m, k), "f"), np.ones((k, n), "f"), np.ones((m, n), "f"))
                        for m, k, n in sizes]

    def step(self) -> None:
        for place, (weight, columns, g) in enumerate(self.triples):
            self.np.matmul(weight, columns)
            if not self.trains:
                continue
            self.np.matmul(g, columns.T)
            if place:  # nobody asks for the gradient of the images
                self.np.matmul(weight.T, g)


class MyGrad:
    """MyGrad, whose convolution and pooling want windows that fit exactly: padding is explicit."""

    def __init__(self, module: str, case: str, threads: int) -> None:
        self.mg = mg = importlib.import_module("mygrad")
        self.layers = importlib.import_module("mygrad.nnet.layers")
        self.relu = importlib.import_module("mygrad.nnet.activations").relu
        self.loss = importlib.import_module("mygrad.nnet.losses").softmax_crossentropy
        self.w = {name: mg.tensor(w) for name, w in weights().items()}
        self.x, self.y = images(*SHAPES[training_only(case)])

    def padded(self, x: Any, before: int, after: int) -> Any:
        *lead, height, width = x.shape
        more = before + after
        result = self.mg.zeros((*lead, height + more, width + more), dtype=x.dtype)
        result[..., before : before + height, before : before + width] = x
        return result

    def conv(self, name: str, x: Any, stride: int) -> Any:
        size = self.w[f"{name}.weight"].shape[-1]
        if size == 1:
            x = x[:, :, ::stride, ::stride]
            stride = 1
        elif stride == 1:
            return self.layers.conv_nd(x, self.w[f"{name}.weight"], stride=1, padding=size // 2)
        else:
            x = self.padded(x, size // 2, size // 2 - 1)
        return self.layers.conv_nd(x, self.w[f"{name}.weight"], stride=stride)

    def norm(self, name: str, x: Any) -> Any:
        return self.layers.batchnorm(x, gamma=self.w[f"{name}.weight"],
                                     beta=self.w[f"{name}.bias"], eps=EPS)

    def step(self) -> None:
        for w in self.w.values():
            w.null_grad()
        x = self.relu(self.norm("bn1", self.conv("conv1", self.mg.tensor(self.x), 2)))
        x = self.layers.max_pool(self.padded(x, 1, 0), (3, 3), 2)
        for name, _, _, stride in blocks():
            out = self.relu(self.norm(f"{name}.bn1", self.conv(f"{name}.conv1", x, stride)))
            out = self.norm(f"{name}.bn2", self.conv(f"{name}.conv2", out, 1))
            if stride == 2:
                x = self.norm(f"{name}.downsample.1", self.conv(f"{name}.downsample.0", x, 2))
            x = self.relu(out + x)
        logits = self.mg.matmul(self.mg.mean(x, axis=(2, 3)), self.w["fc.weight"].T)
        logits = logits + self.w["fc.bias"]
        self.logits = logits.data
        self.loss(logits, self.y).backward()

    def results(self) -> dict[str, float]:
        self.step()
        norm = importlib.import_module("numpy").linalg.norm
        return by_name(self.logits, {name: norm(w.grad) for name, w in self.w.items()})
