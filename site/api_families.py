"""How the API's large modules are parted: a page per family of names, found by where they stand."""

from __future__ import annotations

__all__ = ["FAMILIES", "family_of"]

#: For each page of `api_pages.MODULES` that is parted: page of the family, title, files it is from.
FAMILIES: dict[str, dict[str, tuple[str, str]]] = {
    "minigrad": {
        "making": ("Making tensors", "create create_like from_data legacy"),
        "random": ("Random numbers", "sampling random_counts generator"),
        "shape": ("Shapes", "view concat flip_roll as_strided"),
        "parts": ("Parts, places and order",
                  "slicing index gather masked sorting comparison"),
        "maths": ("Arithmetic and reductions",
                  "arithmetic division powers rounding clamp_where_fill special_functions "
                  "all_or_along nan_sums cumulative activation"),
        "statistics": ("Statistics, combinations and windows",
                       "quantile histogram gradient minmax covariance combinations windows "
                       "renorm"),
        "scattered": ("Parts written, joined and split", "view_scatter unravel split_by_axis"),
        "linalg": ("Linear algebra", "matmul products vector_products decompositions triangular "
                   "svd_eigh distance norms vector_norm"),
        "systems": ("Linear systems and contractions", "solve_ex least_squares einsum"),
        "factors": ("Factors of matrices", "lu ldl householder"),
        "networks": ("Convolutions, pooling and losses",
                     "conv conv_transpose pool pool3d pad unfold loss ctc_loss linear bilinear "
                     "softmax"),
        "layers": ("Functions of layers", "rnn_stacks batch_norm group_norm dropout rrelu"),
        "types": ("Types and devices",
                  "tensor dtypes device default_device attributes info"),
        "numbers": ("Real numbers and storages", "real_numbers storages"),
        "settings": ("Files and settings", "files formatting threads anomaly_mode switches"),
    },
    "autograd": {
        "backward": ("Backward passes and modes",
                     "backward grad_mode anomaly_mode graph contexts variable"),
        "function": ("Functions of your own", "function nested_io saved_tensor"),
        "gradcheck": ("Checks of gradients", "check_function deprecated numerical"),
    },
    "autograd.profiler": {
        "profile": ("Recording", "contexts"),
        "events": ("What was recorded", "profiler_util"),
    },
    "nn": {
        "module": ("Modules", "module"),
        "parameter": ("Parameters and buffers", "parameter tensor uninitialized"),
        "containers": ("Containers", "containers parameter_containers"),
        "linear": ("Linear layers, embeddings and attention", "linear embedding attention"),
        "conv": ("Convolution, padding and shaping",
                 "conv conv_transpose padding shape_layers"),
        "pool": ("Pooling", "pool norm_pool"),
        "rnn": ("Recurrent layers", "rnn"),
        "transformer": ("Transformers", "transformer"),
        "activation": ("Activations and dropout", "activation dropout"),
        "norm": ("Normalization", "batchnorm normalization"),
        "loss": ("Losses", "loss margin_loss adaptive_softmax"),
        "lazy": ("Layers that wait for their first input", "lazy"),
    },
    "linalg": {
        "factors": ("Factors of matrices",
                    "decompositions svd_eigh lu ldl householder"),
        "systems": ("Linear systems and inverses", "solve_ex triangular least_squares"),
    },
    "nn.functional": {
        "conv": ("Convolution, pooling and shaping",
                 "conv conv_transpose pool unpool unfold pad interpolate"),
        "activation": ("Activations and dropout", "functional activation functional_dropout"),
        "linear": ("Linear maps, distances, attention and normalization",
                   "linear bilinear distance attention functional_attention functional_norm"),
        "loss": ("Losses", "loss classification_loss functional_loss"),
    },
    "distributions": {
        "base": ("What distributions share",
                 "distribution exp_family kl constraint_registry"),
        "composed": ("Distributions made of others",
                     "independent transformed_distribution mixture_same_family"),
        "numbers": ("Distributions of real numbers",
                    "normal log_normal half_normal uniform von_mises"),
        "tails": ("Distributions with heavier tails", "laplace cauchy half_cauchy studentT gumbel"),
        "positive": ("Distributions of positive numbers",
                     "exponential gamma chi2 weibull pareto generalized_pareto inverse_gamma"),
        "shares": ("Distributions of shares and quotients",
                   "beta fishersnedecor relaxed_bernoulli kumaraswamy continuous_bernoulli"),
        "counts": ("Distributions of counts",
                   "bernoulli binomial geometric negative_binomial poisson"),
        "categories": ("Distributions of categories",
                       "categorical one_hot_categorical multinomial"),
        "vectors": ("Distributions of vectors",
                    "dirichlet logistic_normal multivariate_normal lowrank_multivariate_normal "
                    "relaxed_categorical"),
        "matrices": ("Distributions of matrices", "by_matrix wishart lkj_cholesky"),
        "transforms": ("Transforms", "transform transforms_elementwise"),
        "vectors_transformed": ("Transforms of vectors and events",
                                "transforms_events transforms_vector"),
    },
    "nn.utils.prune": {
        "pruning": ("Pruning", "prune"),
        "methods": ("What is pruned", "pruning_methods"),
    },
    "optim": {
        "optimizer": ("What optimizers share", "optimizer"),
        "adam": ("Adam and its variants", "adam adam_variants"),
        "descent": ("SGD, Adagrad, Adadelta and RMSprop", "sgd adagrad rmsprop"),
        "curvature": ("L-BFGS", "lbfgs"),
    },
    "optim.lr_scheduler": {
        "factors": ("Factors and steps", "scheduler factors"),
        "cycles": ("Cycles and cosines", "cycles cosine"),
        "composed": ("Composed, and by what is measured", "composed plateau"),
    },
}
#: For what no family of a parted module claims.
FURTHER = ("further", "Further")


def family_of(page: str, module: str) -> tuple[str, str]:
    """Return the page and the title of the family to which a name from `module` belongs."""
    last = module.rpartition(".")[2]
    for address, (title, files) in FAMILIES[page].items():
        if last in files.split():
            return address, title
    return FURTHER
