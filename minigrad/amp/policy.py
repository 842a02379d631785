"""The operations that autocast runs in the lower precision, and the ones it runs in float32.

The lists are PyTorch's: tests compare the CPU's with it, and CUDA's are from its documentation. An
operation in neither list runs in the dtype of its arguments.

Source: https://docs.pytorch.org/docs/stable/amp.html#autocast-op-reference
"""

from __future__ import annotations

__all__ = ["FUNCTIONS_IN_FLOAT32", "FUNCTIONS_LOWER", "LOWER", "OPS_IN_FLOAT32"]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PRODUCTS = _names("""
    Mm Bmm Addmm Baddbmm Addbmm Convolution ConvInput ConvWeight TransposedConvolution Einsum
    ScaledDotProduct PreluKernel LstmLayer GruLayer RnnLayer
""")

#: Ops whose floating inputs are cast to the lower precision, for each device type.
LOWER = {
    "cpu": _PRODUCTS,
    "cuda": _PRODUCTS | _names("Mv Addmv Addr"),
}

#: Functions that read dtypes before they call such an op, or compute more after it.
FUNCTIONS_LOWER = _names("linear prelu scaled_dot_product_attention")

_LOSSES = _names("""
    MseLoss L1Loss SmoothL1Loss HuberLoss BinaryCrossEntropy BinaryCrossEntropyWithLogits NllLoss
""")
_MATRICES = _names("LinalgInv LinalgCholesky Pinverse LinalgEigh LinalgSvd LinalgQr")

#: Ops whose floating inputs are cast to float32.
OPS_IN_FLOAT32 = {
    "cpu": _LOSSES | _MATRICES | _names("Prod ProdAll"),
    "cuda": _LOSSES | _names("""
        Acos Asin Cosh Erfinv Exp Expm1 Log Log10 Log2 Log1p Reciprocal Rsqrt Sinh Tan PowNumber
        PowTensor PowOfNumber Softplus NativeLayerNorm NativeGroupNorm Logsumexp Norm NormAll
        LinalgVectorNorm Prod ProdAll Softmax LogSoftmax Cumprod Cumsum Sum SumAll
    """),
}

_COMPOSED_LOSSES = _names("""
    kl_div cross_entropy cosine_embedding_loss hinge_embedding_loss margin_ranking_loss
    multi_margin_loss multilabel_margin_loss poisson_nll_loss soft_margin_loss triplet_margin_loss
""")

#: The same for functions composed of several ops.
FUNCTIONS_IN_FLOAT32 = {
    "cpu": _COMPOSED_LOSSES | _names("cdist trace"),
    "cuda": _COMPOSED_LOSSES | _names("cdist dist cosine_similarity"),
}
