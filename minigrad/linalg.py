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
cholesky_ex = FUNCTIONS["linalg_cholesky_ex"]
cond = FUNCTIONS["linalg_cond"]
cross = FUNCTIONS["linalg_cross"]
det = FUNCTIONS["linalg_det"]
diagonal = FUNCTIONS["linalg_diagonal"]
eigh = FUNCTIONS["linalg_eigh"]
eigvalsh = FUNCTIONS["linalg_eigvalsh"]
householder_product = FUNCTIONS["linalg_householder_product"]
inv = FUNCTIONS["linalg_inv"]
inv_ex = FUNCTIONS["linalg_inv_ex"]
ldl_factor = FUNCTIONS["linalg_ldl_factor"]
ldl_factor_ex = FUNCTIONS["linalg_ldl_factor_ex"]
ldl_solve = FUNCTIONS["linalg_ldl_solve"]
lstsq = FUNCTIONS["linalg_lstsq"]
lu = FUNCTIONS["linalg_lu"]
lu_factor = FUNCTIONS["linalg_lu_factor"]
lu_factor_ex = FUNCTIONS["linalg_lu_factor_ex"]
lu_solve = FUNCTIONS["linalg_lu_solve"]
matmul = FUNCTIONS["matmul"]
matrix_exp = FUNCTIONS["matrix_exp"]
matrix_norm = FUNCTIONS["linalg_matrix_norm"]
matrix_power = FUNCTIONS["linalg_matrix_power"]
matrix_rank = FUNCTIONS["linalg_matrix_rank"]
multi_dot = FUNCTIONS["linalg_multi_dot"]
norm = FUNCTIONS["linalg_norm"]
pinv = FUNCTIONS["linalg_pinv"]
qr = FUNCTIONS["linalg_qr"]
slogdet = FUNCTIONS["linalg_slogdet"]
solve = FUNCTIONS["linalg_solve"]
solve_ex = FUNCTIONS["linalg_solve_ex"]
solve_triangular = FUNCTIONS["linalg_solve_triangular"]
svd = FUNCTIONS["linalg_svd"]
svdvals = FUNCTIONS["linalg_svdvals"]
tensorinv = FUNCTIONS["linalg_tensorinv"]
tensorsolve = FUNCTIONS["linalg_tensorsolve"]
vander = FUNCTIONS["linalg_vander"]
vecdot = FUNCTIONS["linalg_vecdot"]
vector_norm = FUNCTIONS["linalg_vector_norm"]

__all__ = [
    "LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eigh",
    "eigvalsh", "householder_product", "inv", "inv_ex", "ldl_factor", "ldl_factor_ex",
    "ldl_solve", "lstsq", "lu", "lu_factor", "lu_factor_ex", "lu_solve", "matmul", "matrix_exp",
    "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "qr", "slogdet",
    "solve", "solve_ex", "solve_triangular", "svd", "svdvals", "tensorinv", "tensorsolve",
    "vander", "vecdot", "vector_norm",
]
