"""The module path that PyTorch has for each class of `nn`, shown by `repr` and used by pickles."""

from __future__ import annotations

from .. import on_demand

__all__ = ["FILES", "module_in_pytorch"]

_NN = __name__.rpartition(".")[0]

#: PyTorch's file names, and minigrad's.
FILES: dict[str, str] = {
    "activation": "activation", "adaptive": "adaptive_softmax",
    "batchnorm": "batchnorm", "channelshuffle": "shape_layers",
    "container": "containers", "conv": "conv", "distance": "margin_loss",
    "dropout": "dropout", "flatten": "shape_layers", "fold": "shape_layers",
    "instancenorm": "normalization", "lazy": "lazy",
    "linear": "linear", "loss": "loss", "normalization": "normalization", "padding": "padding",
    "pixelshuffle": "shape_layers", "pooling": "pool", "rnn": "rnn",
    "sparse": "embedding", "transformer": "transformer", "upsampling": "shape_layers",
}

#: Files of minigrad that are part of a larger file in PyTorch.
ELSEWHERE = {"attention": "activation", "conv_transpose": "conv", "margin_loss": "loss",
             "norm_pool": "pooling", "parameter_containers": "container",
             "sequence_loss": "loss"}
#: PyTorch's files of classes that share one file in minigrad.
BY_CLASS = {"CosineSimilarity": "distance", "PairwiseDistance": "distance",
            "Flatten": "flatten", "Unflatten": "flatten", "LocalResponseNorm": "normalization",
            "Fold": "fold", "Unfold": "fold", "PixelShuffle": "pixelshuffle",
            "PixelUnshuffle": "pixelshuffle", "Upsample": "upsampling",
            "UpsamplingNearest2d": "upsampling", "UpsamplingBilinear2d": "upsampling",
            "ChannelShuffle": "channelshuffle",
            **{f"Lazy{kind}{n}d": file for n in (1, 2, 3) for kind, file in {
                "Conv": "conv", "ConvTranspose": "conv", "BatchNorm": "batchnorm",
                "InstanceNorm": "instancenorm"}.items()}, "LazyLinear": "linear",
            "NonDynamicallyQuantizableLinear": "linear",
            "LayerNorm": "normalization", "GroupNorm": "normalization", "RMSNorm": "normalization"}

_BY_FILE = {file: name for name, file in reversed(FILES.items())}
_OFFERED = frozenset(on_demand.names_in(_NN))


def module_in_pytorch(module_class: type) -> str:
    """Return the module path PyTorch has for a class, or the real one if `nn` does not export it.

    >>> from minigrad.nn.linear import Linear
    >>> module_in_pytorch(Linear)
    'minigrad.nn.modules.linear'
    """
    package, _, file = module_class.__module__.rpartition(".")
    name = BY_CLASS.get(module_class.__name__) or ELSEWHERE.get(file) or _BY_FILE.get(file)
    if package != _NN or name is None or module_class.__name__ not in _OFFERED | BY_CLASS.keys():
        return module_class.__module__
    return f"{_NN}.modules.{name}"
