"""torch.linalg: linear algebra under its own names.

Source: https://docs.pytorch.org/docs/stable/linalg.html

>>> from minigrad import linalg, tensor
>>> linalg.norm(tensor([3.0, 4.0]))
tensor(5.)
"""

from __future__ import annotations

from .op.publish import FUNCTIONS
from .ops.linalg.decompositions import LinAlgError

cholesky = FUNCTIONS["linalg_cholesky"]
cond = FUNCTIONS["linalg_cond"]
cross = FUNCTIONS["linalg_cross"]
det = FUNCTIONS["linalg_det"]
eigh = FUNCTIONS["linalg_eigh"]
eigvalsh = FUNCTIONS["linalg_eigvalsh"]
inv = FUNCTIONS["linalg_inv"]
lstsq = FUNCTIONS["linalg_lstsq"]
matmul = FUNCTIONS["matmul"]
matrix_norm = FUNCTIONS["linalg_matrix_norm"]
matrix_power = FUNCTIONS["linalg_matrix_power"]
matrix_rank = FUNCTIONS["linalg_matrix_rank"]
multi_dot = FUNCTIONS["linalg_multi_dot"]
norm = FUNCTIONS["linalg_norm"]
pinv = FUNCTIONS["linalg_pinv"]
qr = FUNCTIONS["linalg_qr"]
slogdet = FUNCTIONS["linalg_slogdet"]
solve = FUNCTIONS["linalg_solve"]
solve_triangular = FUNCTIONS["linalg_solve_triangular"]
svd = FUNCTIONS["linalg_svd"]
svdvals = FUNCTIONS["linalg_svdvals"]
vecdot = FUNCTIONS["linalg_vecdot"]
vector_norm = FUNCTIONS["linalg_vector_norm"]

__all__ = [
    "LinAlgError", "cholesky", "cond", "cross", "det", "eigh", "eigvalsh", "inv", "lstsq",
    "matmul", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "qr",
    "slogdet", "solve", "solve_triangular", "svd", "svdvals", "vecdot", "vector_norm",
]
