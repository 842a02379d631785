"""torch.linalg: linear algebra under the names of `torch.linalg`.

Source: https://docs.pytorch.org/docs/stable/linalg.html

>>> from minigrad import linalg, tensor
>>> linalg.norm(tensor([3.0, 4.0]))
tensor(5.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import on_demand
from .ops import function
from .ops.linalg.decompositions import LinAlgError

cholesky = function("linalg_cholesky")
cholesky_ex = function("linalg_cholesky_ex")
cond = function("linalg_cond")
cross = function("linalg_cross")
det = function("linalg_det")
diagonal = function("linalg_diagonal")
eigh = function("linalg_eigh")
eigvalsh = function("linalg_eigvalsh")
householder_product = function("linalg_householder_product")
inv = function("linalg_inv")
inv_ex = function("linalg_inv_ex")
ldl_factor = function("linalg_ldl_factor")
ldl_factor_ex = function("linalg_ldl_factor_ex")
ldl_solve = function("linalg_ldl_solve")
lstsq = function("linalg_lstsq")
lu = function("linalg_lu")
lu_factor = function("linalg_lu_factor")
lu_factor_ex = function("linalg_lu_factor_ex")
lu_solve = function("linalg_lu_solve")
matmul = function("matmul")
matrix_exp = function("matrix_exp")
matrix_norm = function("linalg_matrix_norm")
matrix_power = function("linalg_matrix_power")
matrix_rank = function("linalg_matrix_rank")
multi_dot = function("linalg_multi_dot")
norm = function("linalg_norm")
pinv = function("linalg_pinv")
qr = function("linalg_qr")
slogdet = function("linalg_slogdet")
solve = function("linalg_solve")
solve_ex = function("linalg_solve_ex")
solve_triangular = function("linalg_solve_triangular")
svd = function("linalg_svd")
svdvals = function("linalg_svdvals")
tensorinv = function("linalg_tensorinv")
tensorsolve = function("linalg_tensorsolve")
vander = function("linalg_vander")
vecdot = function("linalg_vecdot")
vector_norm = function("linalg_vector_norm")

if not TYPE_CHECKING:
    __getattr__, __dir__ = on_demand.attributes(__name__)

__all__ = [
    "LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eigh",
    "eigvalsh", "householder_product", "inv", "inv_ex", "ldl_factor", "ldl_factor_ex",
    "ldl_solve", "lstsq", "lu", "lu_factor", "lu_factor_ex", "lu_solve", "matmul", "matrix_exp",
    "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "qr", "slogdet",
    "solve", "solve_ex", "solve_triangular", "svd", "svdvals", "tensorinv", "tensorsolve",
    "vander", "vecdot", "vector_norm",
]
