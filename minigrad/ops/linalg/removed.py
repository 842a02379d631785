"""Functions that PyTorch removed: calling one raises an error that names its replacement."""

from __future__ import annotations

from typing import Any, NoReturn

from ...op.publish import function
from ...tensor.tensor import Tensor

BEGIN = "This function was deprecated since version 1.9 and is now removed."

#: The rest of each error, by the function's name.
REPLACEMENTS = {
    "eig": " `torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than "
           "real tensors mimicking complex tensors.\n\nL, _ = torch.eig(A) should be replaced "
           "with:\nL_complex = torch.linalg.eigvals(A)\n\nand\n\nL, V = torch.eig(A, "
           "eigenvectors=True) should be replaced with:\nL_complex, V_complex = "
           "torch.linalg.eig(A)",
    "lstsq": " `torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`.\n`torch.linalg.lstsq` "
             "has reversed arguments and does not return the QR decomposition in the returned "
             "tuple (although it returns other information about the problem).\n\nTo get the QR "
             "decomposition consider using `torch.linalg.qr`.\n\nThe returned solution in "
             "`torch.lstsq` stored the residuals of the solution in the last m - n columns of the "
             "returned value whenever m > n. In torch.linalg.lstsq, the residuals are in the field "
             "'residuals' of the returned named tuple.\n\nThe unpacking of the solution, as in\n"
             "X, _ = torch.lstsq(B, A).solution[:A.size(1)]\nshould be replaced with:\n"
             "X = torch.linalg.lstsq(A, B).solution",
    "solve": " `torch.solve` is deprecated in favor of `torch.linalg.solve`. `torch.linalg.solve` "
             "has its arguments reversed and does not return the LU factorization.\n\nTo get the "
             "LU factorization see `torch.lu`, which can be used with `torch.lu_solve` or "
             "`torch.lu_unpack`.\nX = torch.solve(B, A).solution should be replaced with:\n"
             "X = torch.linalg.solve(A, B)",
    "symeig": " The default behavior has changed from using the upper triangular portion of the "
              "matrix by default to using the lower triangular portion.\n\nL, _ = torch.symeig(A, "
              "upper=upper) should be replaced with:\nL = torch.linalg.eigvalsh(A, UPLO='U' if "
              "upper else 'L')\n\nand\n\nL, V = torch.symeig(A, eigenvectors=True) should be "
              "replaced with:\nL, V = torch.linalg.eigh(A, UPLO='U' if upper else 'L')",
    "matrix_rank": "\nPlease use the `torch.linalg.matrix_rank` function instead. The parameter "
                   "'symmetric' was renamed in `torch.linalg.matrix_rank()` to 'hermitian'.",
}


def removed(name: str) -> NoReturn:
    """Raise PyTorch's error for a function that it removed."""
    raise RuntimeError(BEGIN + REPLACEMENTS[name])


@function(event=False)
def eig(self: Tensor, eigenvectors: bool = False) -> NoReturn:
    """Raise `RuntimeError`: PyTorch replaced this function by `linalg.eig`.

    >>> from minigrad import ones
    >>> ones(2, 2).eig()
    Traceback (most recent call last):
    RuntimeError: This function was deprecated since version 1.9 and is now removed. ...
    """
    removed("eig")


@function(event=False)
def lstsq(input: Tensor, A: Tensor) -> NoReturn:
    """Raise `RuntimeError`: PyTorch replaced this function by `linalg.lstsq`.

    >>> from minigrad import ones
    >>> ones(2, 2).lstsq(ones(2, 2))
    Traceback (most recent call last):
    RuntimeError: This function was deprecated since version 1.9 and is now removed. ...
    """
    removed("lstsq")


@function(event=False)
def solve(input: Tensor, A: Tensor) -> NoReturn:
    """Raise `RuntimeError`: PyTorch replaced this function by `linalg.solve`.

    >>> from minigrad import ones
    >>> ones(2, 2).solve(ones(2, 2))
    Traceback (most recent call last):
    RuntimeError: This function was deprecated since version 1.9 and is now removed. ...
    """
    removed("solve")


@function(event=False)
def symeig(input: Tensor, eigenvectors: bool = False, upper: bool = True) -> NoReturn:
    """Raise `RuntimeError`: PyTorch replaced this function by `linalg.eigh`.

    >>> from minigrad import ones
    >>> ones(2, 2).symeig()
    Traceback (most recent call last):
    RuntimeError: This function was deprecated since version 1.9 and is now removed. ...
    """
    removed("symeig")


@function(event=False, method_too=False)
def matrix_rank(input: Tensor, tol: Any = None, symmetric: bool = False) -> NoReturn:
    """Raise `RuntimeError`: PyTorch replaced this function by `linalg.matrix_rank`.

    >>> from minigrad import matrix_rank, ones
    >>> matrix_rank(ones(2, 2))
    Traceback (most recent call last):
    RuntimeError: This function was deprecated since version 1.9 and is now removed. ...
    """
    removed("matrix_rank")
