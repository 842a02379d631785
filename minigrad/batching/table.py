"""Which op has which batching rule.  An op that is not named here runs once for each example."""

from __future__ import annotations

from ..op import REGISTRY, F
from ..ops import extreme, reduce, scan
from . import rules
from .dispatch import RULES, Rule
from .rules import along, folded, part, product_added, whole

ELEMENTWISE = """
    Add Sub Rsub RsubNumber Mul Neg Addcmul Div DivRounded FloorDivide Remainder RemainderNumber
    Fmod FmodNumber Reciprocal Addcdiv
    PowNumber PowTensor PowOfNumber Sqrt Rsqrt Abs Sign Sgn Floor Ceil Trunc RoundToInteger
    RoundToDecimals Frac
    Exp Exp2 Expm1 Log Log2 Log10 Log1p Logaddexp Logaddexp2 XlogyTensors XlogyOfNumber XlogyNumber
    Sigmoid Logit Sin Cos Tan Asin Acos Atan Atan2 Hypot Sinc Deg2rad Rad2deg Sinh Cosh Tanh Asinh
    Acosh Atanh Erf Erfc Erfinv Lgamma Digamma Polygamma CopysignTensors CopysignNumber NanToNum
    Relu ReluInPlace LeakyRelu LeakyReluInPlace PreluKernel Threshold ThresholdInPlace Hardshrink
    Softshrink Hardtanh HardtanhInPlace HardsigmoidOp HardswishOp EluOp GeluOp SiluOp MishOp
    Softplus
    Logsigmoid
    Eq Ne Lt Le Gt Ge Isnan Isinf Isfinite Isposinf Isneginf Signbit LogicalAnd LogicalOr LogicalXor
    LogicalNot BitwiseAnd BitwiseOr BitwiseXor BitwiseNot BitwiseLeftShift BitwiseRightShift
    IscloseOp Heaviside
    Maximum Minimum Fmax Fmin ClampNumbers ClampTensors ClampMinNumber ClampMinTensor ClampMaxNumber
    ClampMaxTensor LerpTensor LerpNumber Where
    Clone ToCopy Alias Zero
"""

#: Rules with the ops that have them.
TABLE: tuple[tuple[Rule, str], ...] = (
    (rules.elementwise, ELEMENTWISE),
    (rules.onto_self, "MaskedFillNumber FillNumber Copy"),
    (rules.fill, "MaskedFillTensor FillTensor"),
    (rules.reduction, "Sum Mean Nansum Var VarAll Std StdAll Norm NormAll LinalgVectorNorm "
                      "Logsumexp Any All CountNonzero Prod Amax Amin Aminmax"),
    (whole(reduce.Sum), "SumAll"),
    (whole(reduce.Mean), "MeanAll"),
    (whole(scan.Prod), "ProdAll"),
    (whole(extreme.Amax), "MaxAll"),
    (whole(extreme.Amin), "MinAll"),
    (rules.position, "Argmax Argmin"),
    (along("dim"), "LinearScan Cumsum Cumprod Cummax Cummin Logcumsumexp Softmax LogSoftmax MaxDim "
                   "MinDim MedianDim NanmedianDim Mode Kthvalue Sort Topk Gather ScatterSource "
                   "ScatterNumber ScatterAdd GatherBackward"),
    (part("dim"), "Select SelectBackward Slice SliceBackward Split SplitWithSizes UnsafeSplit "
                  "UnsafeSplitWithSizes Unbind UnfoldBackward"),
    (part("dimension"), "SlidingWindows"),
    (part("dim1", "dim2"), "Diagonal DiagonalBackward"),
    (part("dims"), "Flip Rot90"),
    (rules.reshaped, "View UnsafeView SqueezeAll SqueezeDim SqueezeDims Unsqueeze"),
    (rules.expand, "Expand"),
    (rules.repeat, "Repeat"),
    (rules.transpose, "Transpose"),
    (rules.matrix_transpose, "T"),
    (rules.permute, "Permute"),
    (rules.roll, "Roll"),
    (rules.alone, "Tril Triu LinalgInv LinalgDet Slogdet LinalgCholesky LinalgQr QrComplete "
                  "LinalgSvd LinalgEigh Pinverse OneHot ConstantPadNd"),
    (rules.diag, "Diag"),
    (rules.diag_embed, "DiagEmbed"),
    (rules.cat, "Cat"),
    (rules.stack, "Stack"),
    (rules.einsum, "Einsum"),
    (rules.mm, "Mm"),
    (rules.mv, "Mv"),
    (rules.dot, "Dot"),
    (rules.bmm, "Bmm"),
    (product_added("mat1", "mat2", lambda a, b: F.matmul(a, b)), "Addmm"),
    (product_added("batch1", "batch2", lambda a, b: F.matmul(a, b)), "Baddbmm"),
    (product_added("batch1", "batch2", lambda a, b: F.sum(F.matmul(a, b), 0)), "Addbmm"),
    (product_added("mat", "vec", lambda a, b: F.matmul(a, b)), "Addmv"),
    (product_added("vec1", "vec2", lambda a, b: F.mul(F.unsqueeze(a, 1), b)), "Addr"),
    (rules.cross, "LinalgCross"),
    (rules.solve, "Solve"),
    (rules.index_select, "IndexSelect IndexSelectBackward IndexAdd IndexCopy IndexFillNumber"),
    (rules.take, "Take TakeBackward"),
    (rules.index, "Index"),
    (rules.index_backward, "IndexBackward"),
    (rules.index_put, "IndexPut"),
    (folded(), "MaxPool MaxPoolInput MaxPoolGather AvgPool AvgPoolInput AdaptiveAvgPool "
               "AdaptiveAvgPoolInput AdaptiveMaxPool"),
    (rules.convolution, "Convolution"),
    (rules.conv_input, "ConvInput"),
    (rules.conv_weight, "ConvWeight"),
    (rules.embedding, "Embedding EmbeddingRows"),
    (rules.embedding_weight, "EmbeddingWeight"),
    (rules.loss, "MseLoss L1Loss SmoothL1Loss HuberLoss BinaryCrossEntropy "
                 "BinaryCrossEntropyWithLogits"),
    (rules.nll_loss, "NllLoss"),
    (rules.nll_loss_input, "NllLossInput"),
    (rules.native_layer_norm, "NativeLayerNorm"),
    (rules.draw, "Bernoulli BernoulliFill Dropout Exponential Normal NormalOf Random Uniform"),
)

for _rule, _names in TABLE:
    RULES.update(dict.fromkeys(_names.split(), _rule))


def without_rule() -> list[str]:
    """Return the ops that run once for each example, by the names of their classes.

    >>> "Mul" in without_rule()
    False
    """
    return sorted(set(REGISTRY) - set(RULES))
