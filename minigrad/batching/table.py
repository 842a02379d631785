"""The table of batching rules.

Elementwise ops and reductions get the rule of their kind; this module lists the rules of the other
ops.  An op without a rule runs once for each example, and its attribute `no_batching` says why.
"""

from __future__ import annotations

from ..op.declaration import REGISTRY, F
from ..ops.reduction import cumulative as scan
from ..ops.reduction import minmax as extreme
from ..ops.reduction import sum_mean as reduce
from . import rules, rules_index, rules_matrix, rules_network, rules_view
from .dispatch import KIND_RULES, RULES, Rule, rule_of
from .rules import along, of_all_elements, part
from .rules_matrix import product_added
from .rules_network import folded

#: Rules of single ops, by class name.
TABLE: tuple[tuple[Rule, str], ...] = (
    (rules.onto_self, "MaskedFillNumber FillNumber Copy"),
    (rules.fill, "MaskedFillTensor FillTensor"),
    (of_all_elements(reduce.Sum), "SumAll"),
    (of_all_elements(reduce.Mean), "MeanAll"),
    (of_all_elements(scan.Prod), "ProdAll"),
    (of_all_elements(extreme.Amax), "MaxAll"),
    (of_all_elements(extreme.Amin), "MinAll"),
    (rules.position, "Argmax Argmin"),
    (along("dim"), "LinearScan Cumsum Cumprod Cummax Cummin Logcumsumexp Softmax LogSoftmax MaxDim "
                   "MinDim MedianDim NanmedianDim Mode Kthvalue Sort Topk Gather ScatterSource "
                   "ScatterNumber ScatterAdd ScatterReduced ScatterReduce GatherBackward"),
    (part("dim"), "Select SelectBackward Slice SliceBackward Split SplitWithSizes UnsafeSplit "
                  "UnsafeSplitWithSizes Unbind UnfoldBackward"),
    (part("dimension"), "SlidingWindows"),
    (part("dim1", "dim2"), "Diagonal DiagonalBackward"),
    (part("dims"), "Flip Rot90"),
    (rules_view.reshaped, "View ReshapeAlias UnsafeView SqueezeAll SqueezeDim SqueezeDims "
                          "Unsqueeze"),
    (rules_view.expand, "Expand"),
    (rules_view.repeat, "Repeat"),
    (rules_view.transpose, "Transpose"),
    (rules_view.matrix_transpose, "T"),
    (rules_view.permute, "Permute"),
    (rules_view.as_strided, "AsStrided"),
    (rules_view.roll, "Roll"),
    (rules.alone, "Tril Triu LinalgInv LinalgDet Slogdet LinalgCholesky LinalgQr QrComplete "
                  "LinalgSvd LinalgEigh Pinverse PinverseOfSymmetric "
                  "LinalgLuFactorEx RowOrder Geqrf LdlFactor OneHot ConstantPadNd"),
    (rules_view.diag, "Diag"),
    (rules_view.diag_embed, "DiagEmbed"),
    (rules_view.cat, "Cat"),
    (rules_view.stack, "Stack"),
    (rules_matrix.einsum, "Einsum"),
    (rules_matrix.mm, "Mm"),
    (rules_matrix.mv, "Mv"),
    (rules_matrix.dot, "Dot"),
    (rules_matrix.bmm, "Bmm"),
    (rules_matrix.addmm, "Addmm"),
    (product_added("batch1", "batch2", lambda a, b: F.matmul(a, b)), "Baddbmm"),
    (product_added("batch1", "batch2", lambda a, b: F.sum(F.matmul(a, b), 0)), "Addbmm"),
    (rules_matrix.addmv, "Addmv"),
    (product_added("vec1", "vec2", lambda a, b: F.mul(F.unsqueeze(a, 1), b)), "Addr"),
    (rules_matrix.cross, "LinalgCross"),
    (rules_matrix.solve, "Solve LinalgSolveTriangular"),
    (rules_index.index_select, "IndexSelect IndexSelectBackward IndexAdd IndexCopy "
                               "IndexReduce IndexFillNumber"),
    (rules_index.take, "Take TakeBackward"),
    (rules_index.index, "Index"),
    (rules_index.index_backward, "IndexBackward"),
    (rules_index.index_put, "IndexPut"),
    (folded(), "MaxPool MaxPoolInput MaxPoolGather AvgPool AvgPoolInput AdaptiveAvgPool "
               "AdaptiveAvgPoolInput AdaptiveMaxPool AdaptiveAvgPool3d AdaptiveAvgPool3dInput "
               "AdaptiveMaxPool3d MaxPool3d AvgPool3d AvgPool3dInput Im2Col Col2Im"),
    (along("axis"), "Resample ResampleInput"),
    (rules_network.convolution, "Convolution"),
    (rules_network.conv_input, "ConvInput"),
    (rules_network.conv_weight, "ConvWeight"),
    (rules_network.embedding, "Embedding EmbeddingRows"),
    (rules_network.embedding_weight, "EmbeddingWeight"),
    (rules_network.loss, "MseLoss L1Loss SmoothL1Loss HuberLoss BinaryCrossEntropy "
                         "BinaryCrossEntropyWithLogits"),
    (rules_network.nll_loss, "NllLoss"),
    (rules_network.nll_loss_input, "NllLossInput"),
    (rules_network.native_layer_norm, "NativeLayerNorm"),
    (rules.elementwise, "Frexp"),
    (rules.draw, "Bernoulli BernoulliOfNumber Binomial NormalOf Poisson SampleDirichlet "
                 "StandardGamma"),
    (rules.dropout, "Dropout"),
    (rules.fill_at_random, "BernoulliFill Cauchy Exponential Geometric LogNormal Normal Random "
                           "Uniform"),
)

KIND_RULES.update(reduction=rules.reduction, elementwise=rules.elementwise)
for _rule, _names in TABLE:
    RULES.update(dict.fromkeys(_names.split(), _rule))


def without_rule() -> list[str]:
    """Return the class names of the ops that run once for each example.

    >>> "Mul" in without_rule()
    False
    """
    return sorted(name for name, op in REGISTRY.items() if rule_of(op) is None)
