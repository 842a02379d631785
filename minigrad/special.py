"""torch.special: special functions under their mathematical names.

Source: https://docs.pytorch.org/docs/stable/special.html

>>> from minigrad import special, tensor
>>> special.expit(tensor([0.0]))
tensor([0.5000])
"""

from __future__ import annotations

from .ops import function

airy_ai = function("special_airy_ai")
bessel_j0 = function("special_bessel_j0")
bessel_j1 = function("special_bessel_j1")
bessel_y0 = function("special_bessel_y0")
bessel_y1 = function("special_bessel_y1")
chebyshev_polynomial_t = function("special_chebyshev_polynomial_t")
chebyshev_polynomial_u = function("special_chebyshev_polynomial_u")
chebyshev_polynomial_v = function("special_chebyshev_polynomial_v")
chebyshev_polynomial_w = function("special_chebyshev_polynomial_w")
digamma = psi = function("digamma")
entr = function("special_entr")
erf = function("erf")
erfc = function("erfc")
erfcx = function("special_erfcx")
erfinv = function("erfinv")
exp2 = function("exp2")
expit = function("sigmoid")
expm1 = function("expm1")
gammainc = function("igamma")
gammaincc = function("igammac")
gammaln = function("lgamma")
hermite_polynomial_h = function("special_hermite_polynomial_h")
hermite_polynomial_he = function("special_hermite_polynomial_he")
i0 = function("i0")
i0e = function("special_i0e")
i1 = function("special_i1")
i1e = function("special_i1e")
laguerre_polynomial_l = function("special_laguerre_polynomial_l")
legendre_polynomial_p = function("special_legendre_polynomial_p")
log1p = function("log1p")
log_ndtr = function("special_log_ndtr")
log_softmax = function("log_softmax")
logit = function("logit")
logsumexp = function("logsumexp")
modified_bessel_i0 = function("special_modified_bessel_i0")
modified_bessel_i1 = function("special_modified_bessel_i1")
modified_bessel_k0 = function("special_modified_bessel_k0")
modified_bessel_k1 = function("special_modified_bessel_k1")
multigammaln = function("mvlgamma")
ndtr = function("special_ndtr")
ndtri = function("special_ndtri")
polygamma = function("polygamma")
round = function("round")
scaled_modified_bessel_k0 = function("special_scaled_modified_bessel_k0")
scaled_modified_bessel_k1 = function("special_scaled_modified_bessel_k1")
shifted_chebyshev_polynomial_t = function("special_shifted_chebyshev_polynomial_t")
shifted_chebyshev_polynomial_u = function("special_shifted_chebyshev_polynomial_u")
shifted_chebyshev_polynomial_v = function("special_shifted_chebyshev_polynomial_v")
shifted_chebyshev_polynomial_w = function("special_shifted_chebyshev_polynomial_w")
sinc = function("sinc")
softmax = function("softmax")
spherical_bessel_j0 = function("special_spherical_bessel_j0")
xlog1py = function("special_xlog1py")
xlogy = function("xlogy")
zeta = function("special_zeta")

__all__ = [
    "airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "chebyshev_polynomial_t",
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
