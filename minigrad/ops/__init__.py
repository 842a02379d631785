"""All operations, one family a file; importing this publishes them."""

from ..op.publish import publish_all
from . import info, overloads
from .creation import (
    create,
    create_like,
    from_data,
    legacy,
    tensor_options,
)
from .indexing import (
    gather,
    index,
    masked,
    scatter,
    scatter_reduce,
)
from .linalg import (
    addmm,
    bilinear,
    decompositions,
    einsum,
    least_squares,
    matmul,
    products,
    svd_eigh,
    triangular,
)
from .math import (
    arithmetic,
    clamp_where_fill,
    comparison,
    division,
    exp_log_trig,
    powers,
    rounding,
    special_functions,
)
from .nn import (
    activation,
    attention,
    batch_norm,
    classification_loss,
    conv,
    conv_transpose,
    dropout,
    group_norm,
    interpolate,
    linear,
    loss,
    pool,
    rnn,
    rnn_stacks,
    rrelu,
    unpool,
)
from .random import generator, random_counts, sampling
from .reduction import (
    any_all,
    covariance,
    cumulative,
    dims,
    distance,
    minmax,
    sorting,
    sum_mean,
    vector_norm,
)
from .shape import (
    as_strided,
    concat,
    convert,
    flip_roll,
    pad,
    slicing,
    unfold,
    view,
)

publish_all()
