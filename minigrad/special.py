"""torch.special: special functions under their names in mathematics.

Source: https://docs.pytorch.org/docs/stable/special.html

>>> from minigrad import special, tensor
>>> special.expit(tensor([0.0]))
tensor([0.5000])
"""

from __future__ import annotations

from .op.publish import FUNCTIONS

bessel_j0 = FUNCTIONS["special_bessel_j0"]
bessel_j1 = FUNCTIONS["special_bessel_j1"]
bessel_y0 = FUNCTIONS["special_bessel_y0"]
bessel_y1 = FUNCTIONS["special_bessel_y1"]
chebyshev_polynomial_t = FUNCTIONS["special_chebyshev_polynomial_t"]
chebyshev_polynomial_u = FUNCTIONS["special_chebyshev_polynomial_u"]
chebyshev_polynomial_v = FUNCTIONS["special_chebyshev_polynomial_v"]
chebyshev_polynomial_w = FUNCTIONS["special_chebyshev_polynomial_w"]
digamma = psi = FUNCTIONS["digamma"]
entr = FUNCTIONS["special_entr"]
erf = FUNCTIONS["erf"]
erfc = FUNCTIONS["erfc"]
erfcx = FUNCTIONS["special_erfcx"]
erfinv = FUNCTIONS["erfinv"]
exp2 = FUNCTIONS["exp2"]
expit = FUNCTIONS["sigmoid"]
expm1 = FUNCTIONS["expm1"]
gammainc = FUNCTIONS["igamma"]
gammaincc = FUNCTIONS["igammac"]
gammaln = FUNCTIONS["lgamma"]
hermite_polynomial_h = FUNCTIONS["special_hermite_polynomial_h"]
hermite_polynomial_he = FUNCTIONS["special_hermite_polynomial_he"]
i0 = FUNCTIONS["i0"]
i0e = FUNCTIONS["special_i0e"]
i1 = FUNCTIONS["special_i1"]
i1e = FUNCTIONS["special_i1e"]
laguerre_polynomial_l = FUNCTIONS["special_laguerre_polynomial_l"]
legendre_polynomial_p = FUNCTIONS["special_legendre_polynomial_p"]
log1p = FUNCTIONS["log1p"]
log_ndtr = FUNCTIONS["special_log_ndtr"]
log_softmax = FUNCTIONS["log_softmax"]
logit = FUNCTIONS["logit"]
logsumexp = FUNCTIONS["logsumexp"]
modified_bessel_i0 = FUNCTIONS["special_modified_bessel_i0"]
modified_bessel_i1 = FUNCTIONS["special_modified_bessel_i1"]
modified_bessel_k0 = FUNCTIONS["special_modified_bessel_k0"]
modified_bessel_k1 = FUNCTIONS["special_modified_bessel_k1"]
multigammaln = FUNCTIONS["mvlgamma"]
ndtr = FUNCTIONS["special_ndtr"]
ndtri = FUNCTIONS["special_ndtri"]
polygamma = FUNCTIONS["polygamma"]
round = FUNCTIONS["round"]
scaled_modified_bessel_k0 = FUNCTIONS["special_scaled_modified_bessel_k0"]
scaled_modified_bessel_k1 = FUNCTIONS["special_scaled_modified_bessel_k1"]
shifted_chebyshev_polynomial_t = FUNCTIONS["special_shifted_chebyshev_polynomial_t"]
shifted_chebyshev_polynomial_u = FUNCTIONS["special_shifted_chebyshev_polynomial_u"]
shifted_chebyshev_polynomial_v = FUNCTIONS["special_shifted_chebyshev_polynomial_v"]
shifted_chebyshev_polynomial_w = FUNCTIONS["special_shifted_chebyshev_polynomial_w"]
sinc = FUNCTIONS["sinc"]
softmax = FUNCTIONS["softmax"]
spherical_bessel_j0 = FUNCTIONS["special_spherical_bessel_j0"]
xlog1py = FUNCTIONS["special_xlog1py"]
xlogy = FUNCTIONS["xlogy"]
zeta = FUNCTIONS["special_zeta"]

__all__ = [
    "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "chebyshev_polynomial_t",
    "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w", "digamma",
    "entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1", "gammainc", "gammaincc",
    "gammaln", "hermite_polynomial_h", "hermite_polynomial_he", "i0", "i0e", "i1", "i1e",
    "laguerre_polynomial_l", "legendre_polynomial_p", "log1p", "log_ndtr", "log_softmax",
    "logit", "logsumexp", "modified_bessel_i0", "modified_bessel_i1", "modified_bessel_k0",
    "modified_bessel_k1", "multigammaln", "ndtr", "ndtri", "polygamma", "psi", "round",
    "scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w", "sinc", "softmax", "spherical_bessel_j0", "xlog1py",
    "xlogy", "zeta",
]
