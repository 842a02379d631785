"""Whole networks: their parts and sizes, and PyTorch's numbers from the same weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn
from minigrad.nn.models import resnet
from minigrad.utils import exchange, safetensors
from tests.support.slow import slow_but
from tests.support.with_torch import with_torch

NETWORKS = {
    # name: (parameters, blocks in each stage, convolutions in a block, channels at the end)
    "resnet18": (11_689_512, (2, 2, 2, 2), 2, 512),
    "resnet34": (21_797_672, (3, 4, 6, 3), 2, 512),
    "resnet50": (25_557_032, (3, 4, 6, 3), 3, 2048),
    "resnet101": (44_549_160, (3, 4, 23, 3), 3, 2048),
}


def expected_names(stages: tuple[int, ...], convolutions: int) -> Iterator[str]:
    """Yield the names of torchvision's parameters, in its order."""

    def pair(prefix: str, conv: str, norm: str) -> Iterator[str]:
        yield from (f"{prefix}{conv}.weight", f"{prefix}{norm}.weight", f"{prefix}{norm}.bias")

    yield from pair("", "conv1", "bn1")
    for stage, blocks in enumerate(stages, 1):
        for block in range(blocks):
            prefix = f"layer{stage}.{block}."
            for i in range(1, convolutions + 1):
                yield from pair(prefix, f"conv{i}", f"bn{i}")
            if block == 0 and (stage > 1 or convolutions == 3):
                yield from pair(prefix, "downsample.0", "downsample.1")
    yield from ("fc.weight", "fc.bias")


@pytest.mark.parametrize("name", slow_but(1, NETWORKS))
def test_names_order_and_count_are_those_of_torchvision(name: str) -> None:
    count, stages, convolutions, channels = NETWORKS[name]
    net = getattr(nn.models, name)()
    assert [n for n, _ in net.named_parameters()] == list(expected_names(stages, convolutions))
    assert sum(p.numel() for p in net.parameters()) == count
    assert net.conv1.weight.shape == (64, 3, 7, 7)
    assert net.fc.weight.shape == (1000, channels)
    buffers = [n.rpartition(".")[2] for n, _ in net.named_buffers()]
    assert set(buffers) == {"running_mean", "running_var", "num_batches_tracked"}
    norms = [m for m in net.modules() if isinstance(m, nn.BatchNorm2d)]
    assert len(buffers) == 3 * len(norms)


def test_strides_stand_in_the_3x3_convolutions_and_relus_write_in_place() -> None:
    net = nn.models.resnet50(num_classes=3)
    strides = {n: m.stride for n, m in net.named_modules() if isinstance(m, nn.Conv2d)
               and m.stride != (1, 1)}
    assert strides == {"conv1": (2, 2)} | {f"layer{i}.0.{part}": (2, 2) for i in (2, 3, 4)
                                           for part in ("conv2", "downsample.0")}
    assert all(m.inplace for m in net.modules() if isinstance(m, nn.ReLU))
    assert net.fc.out_features == 3


def test_options_of_resnets() -> None:
    net = nn.models.ResNet(resnet.Bottleneck, [1, 1, 1, 1], zero_init_residual=True, groups=2,
                           width_per_group=4, replace_stride_with_dilation=[False, True, True],
                           norm_layer=lambda n: nn.GroupNorm(4, n), num_classes=5)
    assert all(not m.bn3.weight.any() for m in net.modules() if isinstance(m, resnet.Bottleneck))
    assert net.layer4[0].conv2.dilation == (2, 2)
    assert net.layer3[0].conv2.groups == 2
    net.eval()
    shapes = []
    net.layer4.register_forward_hook(lambda m, args, out: shapes.append(out.shape))
    assert net(minigrad.ones(1, 3, 64, 64)).shape == (1, 5)
    assert shapes == [(1, 2048, 8, 8)]
    with pytest.raises(ValueError, match="BasicBlock only supports groups=1 and base_width=64"):
        resnet.BasicBlock(4, 4, groups=2)
    with pytest.raises(NotImplementedError, match="Dilation > 1 not supported in BasicBlock"):
        resnet.BasicBlock(4, 4, dilation=2)
    with pytest.raises(ValueError, match="should be None or a 3-element tuple, got"):
        nn.models.resnet18(replace_stride_with_dilation=[True])


# -------------------------------------------------------------------- against PyTorch


@pytest.fixture(scope="module")
def torch_models() -> Any:
    """The same networks made of PyTorch's layers."""
    pytest.importorskip("torch", reason="parity needs PyTorch")
    return with_torch("minigrad/nn/models/resnet.py")


def step(package: Any, net: Any, images: Any, classes: Any) -> dict[str, Any]:
    """Return what one forward and backward pass gives: outputs, all gradients, all buffers."""
    x = package.from_numpy(images.copy()).requires_grad_()
    out = net(x)
    loss = package.nn.functional.cross_entropy(out, package.from_numpy(classes))
    net.zero_grad()
    loss.backward()
    found = {"output": out, "loss": loss, "gradient of the input": x.grad}
    found |= {f"gradient of {n}": p.grad for n, p in net.named_parameters()}
    found |= {f"buffer {n}": b for n, b in net.named_buffers()}
    return {name: t.detach().numpy().copy() for name, t in found.items()}


def worst(ours: dict[str, Any], theirs: dict[str, Any]) -> tuple[float, str]:
    """Return the largest difference, in parts of the largest value of its tensor, and where."""
    assert list(ours) == list(theirs)
    return max((float(np.abs(ours[n] - theirs[n]).max() / max(np.abs(theirs[n]).max(), 1e-12)), n)
               for n in theirs)


# The rounding of float32 lets an activation near zero fall on the other side now and then, in
# either package, and moves gradients by tenths: in float32 one batch of several has to agree, and
# the outputs of all. A ResNet-50 just made enlarges rounding so much in training that PyTorch's own
# gradients in float32 are far from those in float64; there float64 is compared.
RUNS = [
    ("resnet18", "float32", "train", "state_dict"),
    ("resnet18", "float32", "eval", "safetensors"),
    ("resnet18", "float64", "train", "safetensors"),
    ("resnet50", "float32", "eval", "state_dict"),
    ("resnet50", "float64", "train", "state_dict"),
]
TOLERANCE = {"float32": 1e-4, "float64": 1e-9}


@pytest.mark.parametrize(("name", "dtype", "mode", "way"), slow_but(1, RUNS),
                         ids=["-".join(r) for r in RUNS])
def test_outputs_and_gradients_from_pytorchs_weights(torch_models: Any, tmp_path: Any, name: str,
                                                     dtype: str, mode: str, way: str) -> None:
    import torch

    theirs = trained_a_little(torch, getattr(torch_models, name), dtype)
    ours = getattr(nn.models, name)(num_classes=10).to(getattr(minigrad, dtype))
    state = {n: t.clone() for n, t in theirs.state_dict().items()}
    if way == "safetensors":
        from safetensors.torch import save_file

        save_file(state, tmp_path / "weights.safetensors")
        state = safetensors.load_file(tmp_path / "weights.safetensors")
    ours.load_state_dict(state)
    found = []
    size = 32 if mode == "eval" else 64
    shape = (4 if name == "resnet18" else 2, 3, size, size)
    for seed in range(1 if dtype == "float64" else 5):
        data = batch(seed, dtype, shape)
        results = []
        for package, net in ((minigrad, ours), (torch, theirs)):
            net.load_state_dict(state if package is minigrad else exchange.to_torch(state))
            getattr(net, mode)()
            results.append(step(package, net, *data))
        mine, other = results
        assert worst({"output": mine["output"]}, {"output": other["output"]})[0] < TOLERANCE[dtype]
        found.append(worst(mine, other))
        if found[-1][0] < TOLERANCE[dtype]:
            return
    raise AssertionError(found)


def batch(seed: int, dtype: str, shape: Any = (4, 3, 64, 64)) -> tuple[Any, Any]:
    """Return images and classes."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, shape).astype(dtype), rng.integers(0, 10, shape[0])


def trained_a_little(torch: Any, make: Any, dtype: str) -> Any:
    """Return a network whose running moments are those of data, not those it starts with."""
    torch.manual_seed(0)
    net = make(num_classes=10).to(getattr(torch, dtype))
    with torch.no_grad():
        for _ in range(10):
            net(torch.from_numpy(batch(9, dtype)[0]))
    return net


@pytest.mark.slow
def test_weights_go_back_to_pytorch(torch_models: Any, tmp_path: Any) -> None:
    import torch
    from safetensors.torch import load_file

    ours = nn.models.resnet18(num_classes=10)
    safetensors.save_file(ours.state_dict(), tmp_path / "weights.safetensors", {"made": "here"})
    for state in (load_file(tmp_path / "weights.safetensors"),
                  exchange.to_torch(ours.state_dict())):
        theirs = torch_models.resnet18(num_classes=10)
        assert str(theirs.load_state_dict(state)) == "<All keys matched successfully>"
        for name, value in theirs.state_dict().items():
            expected = ours.state_dict()[name].numpy()
            assert value.numpy().dtype == expected.dtype
            np.testing.assert_array_equal(value.numpy(), expected, name)
    again = exchange.from_torch(theirs.state_dict())
    assert str(ours.load_state_dict(again)) == "<All keys matched successfully>"
    assert again._metadata == theirs.state_dict()._metadata
    assert isinstance(torch.as_tensor(exchange.to_torch([ours.conv1.weight])[0]), torch.Tensor)


@pytest.mark.parametrize("name", slow_but(1, ["resnet18", "resnet50"]))
def test_weights_start_as_pytorchs_do(torch_models: Any, name: str) -> None:
    import torch

    nets = []
    for package, models in ((minigrad, nn.models), (torch, torch_models)):
        package.manual_seed(1)
        nets.append(getattr(models, name)().state_dict())
    for key, expected in nets[1].items():
        np.testing.assert_allclose(nets[0][key].numpy(), expected.numpy(), 1e-5, 1e-7, err_msg=key)


def saved_bytes(package: Any, net: Any, images: Any) -> int:
    """Return how much memory the graph of a forward pass keeps, beside the parameters."""
    kept: dict[int, int] = {}
    own = {p.data_ptr() for p in [*net.parameters(), *net.buffers()]}

    def pack(tensor: Any) -> Any:
        if tensor.data_ptr() not in own:
            kept[tensor.data_ptr()] = max(kept.get(tensor.data_ptr(), 0), tensor.nbytes)
        return tensor

    with package.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        out = net(package.from_numpy(images))
    assert out.grad_fn is not None  # what is counted is alive until here
    return sum(kept.values())


@pytest.mark.parametrize("name", slow_but(1, ["resnet18", "resnet50"]))
def test_a_graph_keeps_no_more_than_pytorchs(torch_models: Any, name: str) -> None:
    import torch

    images = np.zeros((2, 3, 64, 64), "float32")
    ours = saved_bytes(minigrad, getattr(nn.models, name)(), images)
    theirs = saved_bytes(torch, getattr(torch_models, name)(), images)
    assert ours <= 1.02 * theirs, (ours, theirs)


# -------------------------------------------------------------------- files


def test_safetensors_files_hold_tensors_of_all_layouts(tmp_path: Any) -> None:
    pytest.importorskip("safetensors", reason="needs the extra safetensors")
    given = {
        "plain": minigrad.arange(6.0).reshape(2, 3),
        "transposed": minigrad.arange(6).reshape(2, 3).t(),
        "half": minigrad.ones(3).half(),
        "truth": minigrad.tensor([True, False]),
        "number": minigrad.tensor(3, dtype=minigrad.int32),
        "empty": minigrad.zeros(0, 4),
        "trained": nn.Parameter(minigrad.ones(2)),
    }
    safetensors.save_file(given, tmp_path / "file")
    found = safetensors.load_file(str(tmp_path / "file"))
    assert found.keys() == given.keys()
    for name, tensor in given.items():
        assert found[name].dtype == tensor.dtype
        assert found[name].shape == tensor.shape
        assert found[name].tolist() == tensor.tolist()
        assert not found[name].requires_grad
    found["plain"].add_(1)  # its own memory, to be written to


def test_safetensors_refuses_what_is_no_tensor(tmp_path: Any) -> None:
    with pytest.raises(TypeError, match=r"cannot save 'step', of type int: a safetensors file "
                                        r"holds only tensors by name"):
        safetensors.save_file({"step": 3}, tmp_path / "file")


def test_safetensors_says_what_is_missing(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setitem(__import__("sys").modules, "safetensors", None)
    monkeypatch.setitem(__import__("sys").modules, "safetensors.numpy", None)
    for call in (lambda: safetensors.save_file({}, tmp_path / "file"),
                 lambda: safetensors.load_file(tmp_path / "file")):
        with pytest.raises(ImportError, match=r"with the extra \[safetensors\]"):
            call()
