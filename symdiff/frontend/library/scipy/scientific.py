"""Functions of `scipy.signal`, `scipy.linalg` and `scipy.stats` in terms of NumPy's: plain Python
that is traced like a user's, as in `composed`."""

from __future__ import annotations

import math
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from symdiff.frontend.library.complex_numbers.of_operators import pair
from symdiff.frontend.library.primitives import rows
from symdiff.frontend.library.scipy import splines
from symdiff.frontend.library.scipy.distributions import (
    log_gamma,
    lower_branch,
    principal_branch,
    xlogy,
)

ArrayLike = Any


# ------------------------------------------------------------------------- signals
def convolve(in1: ArrayLike, in2: ArrayLike, mode: str = "full", method: str = "auto") -> Any:
    """Convolution of arrays with any number of axes, by sums; SciPy's result differs by
    rounding."""
    a, b = np.asarray(in1), np.asarray(in2)
    if np.ndim(b) != np.ndim(a):
        raise ValueError("arrays of different numbers of axes are convolved")
    return _convolved(a, b, np.pad(a, [(m - 1, m - 1) for m in b.shape]), mode)


def convolve2d(
    in1: ArrayLike, in2: ArrayLike, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0
) -> Any:
    a, b = np.asarray(in1), np.asarray(in2)
    if np.ndim(a) != 2 or np.ndim(b) != 2:
        raise ValueError("convolve2d inputs must both be 2-D arrays")
    widths = [(m - 1, m - 1) for m in b.shape]
    if boundary in ("fill", "pad"):
        windows = np.pad(a, widths, constant_values=fillvalue)
    elif boundary in ("wrap", "circular"):
        windows = np.pad(a, widths, mode="wrap")
    elif boundary in ("symm", "symmetric"):
        windows = np.pad(a, widths, mode="symmetric")
    else:
        raise ValueError("the boundary of convolve2d() is 'fill', 'wrap' or 'symm'")
    return _convolved(a, b, windows, mode)


def _convolved(a: ArrayLike, b: ArrayLike, windows: ArrayLike, mode: str) -> Any:
    """The convolution of arrays, the first of which is continued on each side by the size of the
    second less 1."""
    rank = np.ndim(a)
    for k in range(rank):
        windows = np.lib.stride_tricks.sliding_window_view(windows, b.shape[k], axis=k)
    found = np.tensordot(windows, np.flip(b), rank)
    if mode == "same":
        starts = [(m - 1) // 2 for m in b.shape]
        return found[tuple([slice(i, i + n) for i, n in zip(starts, a.shape, strict=True)])]
    if mode == "valid":
        ends = [(min(n, m) - 1, max(n, m)) for n, m in zip(a.shape, b.shape, strict=True)]
        return found[tuple([slice(i, j) for i, j in ends])]
    return found


def fftconvolve(in1: ArrayLike, in2: ArrayLike, mode: str = "full") -> Any:
    return convolve(in1, in2, mode)


# ------------------------------------------------------------------ linear algebra
def solve_banded(l_and_u: Any, ab: ArrayLike, b: ArrayLike) -> Any:
    """The solution with the full matrix of the bands."""
    lower, upper = l_and_u
    i, j = np.arange(ab.shape[1])[:, None], np.arange(ab.shape[1])
    band = upper + i - j
    inside = (band >= 0) & (band <= lower + upper)
    return np.linalg.solve(np.where(inside, ab[np.where(inside, band, 0), j], 0.0), b)


# ------------------------------------------------------------------- means
def gmean(
    a: ArrayLike, axis: Any = 0, dtype: Any = None, weights: ArrayLike = None, *,
    keepdims: Any = False,
) -> Any:  # fmt: skip
    return np.exp(np.average(np.log(a), axis, weights, keepdims=keepdims))


def hmean(
    a: ArrayLike, axis: Any = 0, dtype: Any = None, *, weights: ArrayLike = None,
    keepdims: Any = False,
) -> Any:  # fmt: skip
    a = np.asarray(a)
    return 1.0 / np.average(1.0 / np.where(a < 0, np.nan, a), axis, weights, keepdims=keepdims)


def pmean(
    a: ArrayLike, p: Any, *, axis: Any = 0, dtype: Any = None, weights: ArrayLike = None,
    keepdims: Any = False,
) -> Any:  # fmt: skip
    if p == 0:
        return gmean(a, axis, dtype, weights, keepdims=keepdims)
    a = np.asarray(a)
    powers = np.where(a < 0, np.nan, a) ** (1.0 * p)
    return np.average(powers, axis, weights, keepdims=keepdims) ** (1 / p)


# ------------------------------------------------------------------- distributions
def multivariate_normal_logpdf(
    x: ArrayLike, mean: ArrayLike = None, cov: Any = 1, allow_singular: bool = False
) -> Any:
    """The logarithm of the density; like SciPy, it reads the lower triangle of the covariances."""
    x = np.asarray(x)
    if allow_singular:
        raise ValueError("the covariances may be singular")
    if np.ndim(cov) < 2:
        raise ValueError("the covariances of a normal distribution are no matrix")
    below = np.tril(cov, -1)
    both = below + below.T + np.diag(np.diag(cov))
    k = both.shape[0]
    away = x if mean is None else x - mean
    rows = np.reshape(away, (-1, k))
    squares = np.sum(rows * np.linalg.solve(both, rows.T).T, axis=-1)
    found = -(k * math.log(2 * math.pi) + np.linalg.slogdet(both)[1] + squares) / 2
    return found[0] if np.ndim(away) == 1 else np.reshape(found, np.shape(away)[:-1])


def multivariate_normal_pdf(
    x: ArrayLike, mean: ArrayLike = None, cov: Any = 1, allow_singular: bool = False
) -> Any:
    return np.exp(multivariate_normal_logpdf(x, mean, cov, allow_singular))


def multivariate_normal_entropy(mean: ArrayLike = None, cov: Any = 1) -> Any:
    below = np.tril(cov, -1)
    both = below + below.T + np.diag(np.diag(cov))
    k = both.shape[0]
    return (k * (1 + math.log(2 * math.pi)) + np.linalg.slogdet(both)[1]) / 2


def multinomial_logpmf(x: ArrayLike, n: Any, p: ArrayLike) -> Any:
    """The logarithm; the last probability is the rest of the others, as in SciPy."""
    x, p = np.asarray(x), np.asarray(p)
    p = np.concatenate([p[..., :-1], 1.0 - np.sum(p[..., :-1], axis=-1, keepdims=True)], axis=-1)
    size = log_gamma(n + 1.0) - np.sum(log_gamma(x + 1.0), axis=-1)
    found = size + np.sum(xlogy(x, p), axis=-1)
    inside = (np.sum(x, axis=-1) == n) & np.all(x >= 0, axis=-1)
    return np.where(inside, found, -np.inf)


def multinomial_pmf(x: ArrayLike, n: Any, p: ArrayLike) -> Any:
    return np.exp(multinomial_logpmf(x, n, p))


def dirichlet_logpdf(x: ArrayLike, alpha: ArrayLike) -> Any:
    size = log_gamma(np.sum(alpha)) - np.sum(log_gamma(alpha))
    return size + np.sum(xlogy(alpha - 1, x))


def dirichlet_pdf(x: ArrayLike, alpha: ArrayLike) -> Any:
    return np.exp(dirichlet_logpdf(x, alpha))


def multigammaln(a: ArrayLike, d: int) -> Any:
    found = d * (d - 1) * math.log(math.pi) / 4
    for j in range(d):
        found = found + log_gamma(a - j / 2)
    return found


def lambertw(z: ArrayLike, k: int = 0, tol: float = 1e-8) -> Any:
    """The real branches: index 0 from -1/e on, index -1 from there to 0; nan elsewhere."""
    if k == 0:
        return pair(principal_branch(z), 0.0 * z)
    if k == -1:
        return pair(lower_branch(z), 0.0 * z)
    raise ValueError("of Lambert's W only the branches 0 and -1 are real")


def solve(
    a: Any, b: ArrayLike, lower: bool = False, *, assume_a: str | None = None,
    transposed: bool = False,
) -> Any:  # fmt: skip
    if assume_a in ("pos", "positive definite", "sym", "symmetric", "her", "hermitian"):
        a = np.tril(a) + np.tril(a, -1).T if lower else np.triu(a) + np.triu(a, 1).T
    elif assume_a == "diagonal":
        a = np.diag(np.diag(a))
    elif assume_a == "tridiagonal":
        a = np.triu(np.tril(a, 1), -1)
    elif assume_a == "upper triangular":
        a = np.triu(a)
    elif assume_a == "lower triangular":
        a = np.tril(a)
    elif assume_a not in (None, "gen", "general", "banded"):
        raise ValueError(f"{assume_a} is not a recognized matrix structure")
    if assume_a in ("pos", "positive definite"):  # an error for other matrices
        if not np.linalg.cholesky(a)[0, 0] > 0:
            raise ValueError("the matrix is not positive definite")
    return np.linalg.solve(a.T if transposed else a, b)


# ---------------------------------------------------------------------- integrals
def simpson(y: ArrayLike, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    """Simpson's rule; for an even number of points with the correction of Cartwright for the last
    interval."""
    y = np.moveaxis(np.asarray(y), axis, -1)
    n = y.shape[-1]
    h = dx * np.ones(n - 1) if x is None else np.diff(x)
    if n == 2:
        return 0.5 * h[0] * (y[..., 0] + y[..., 1])
    end = n if n % 2 else n - 1
    h0, h1 = h[0 : end - 1 : 2], h[1 : end - 1 : 2]
    f0, f1, f2 = y[..., 0 : end - 2 : 2], y[..., 1 : end - 1 : 2], y[..., 2:end:2]
    inner = (2 - h1 / h0) * f0 + (h0 + h1) ** 2 / (h0 * h1) * f1 + (2 - h0 / h1) * f2
    found = np.sum((h0 + h1) / 6 * inner, axis=-1)
    if n % 2 == 0:
        a, b = h[n - 3], h[n - 2]
        found = found + (2 * b**2 + 3 * a * b) / (6 * (a + b)) * y[..., n - 1]
        found = found + (b**2 + 3 * a * b) / (6 * a) * y[..., n - 2]
        found = found - b**3 / (6 * a * (a + b)) * y[..., n - 3]
    return found


def cumulative_trapezoid(
    y: ArrayLike, x: Any = None, dx: float = 1.0, axis: int = -1, initial: Any = None
) -> Any:
    y = np.moveaxis(np.asarray(y), axis, -1)
    h = dx if x is None else np.diff(x)
    found = np.cumsum(h * (y[..., 1:] + y[..., :-1]) / 2, axis=-1)
    if initial is not None:
        found = np.concatenate([initial + 0.0 * y[..., :1], found], axis=-1)
    return np.moveaxis(found, -1, axis)


# --------------------------------------------------------------------- distances
def _lengths(d: ArrayLike, metric: str) -> Any:
    """The lengths of differences along the last axis."""
    if metric == "euclidean":
        return np.sqrt(np.sum(d * d, axis=-1))
    if metric == "sqeuclidean":
        return np.sum(d * d, axis=-1)
    if metric == "cityblock":
        return np.sum(np.abs(d), axis=-1)
    if metric == "chebyshev":
        return np.max(np.abs(d), axis=-1)
    raise ValueError(f"the metric {metric} is not known here")


def cdist(XA: ArrayLike, XB: ArrayLike, metric: str = "euclidean") -> Any:
    return _lengths(np.asarray(XA)[:, None, :] - np.asarray(XB)[None, :, :], metric)


def pdist(X: ArrayLike, metric: str = "euclidean") -> Any:
    X = np.asarray(X)
    rows, columns = np.triu_indices(X.shape[0], 1)
    return _lengths(X[rows] - X[columns], metric)


# -------------------------------------------------------- filters, splines, exponentials
def lfilter(b: ArrayLike, a: ArrayLike, x: ArrayLike) -> Any:
    """A filter of one axis, by the difference equation."""
    b, a, x = np.asarray(b), np.asarray(a), np.asarray(x)
    y = np.zeros(len(x))
    for i in range(len(x)):
        s = 0.0
        for k in range(len(b)):
            s = s + (b[k] * x[i - k] if i >= k else 0.0)
        for k in range(1, len(a)):
            s = s - (a[k] * y[i - k] if i >= k else 0.0)
        y[i] = s / a[0]
    return y


def piecewise(c: Any, breaks: Any, x: ArrayLike, nu: int = 0) -> Any:
    """A piecewise polynomial of `scipy.interpolate`, extrapolated by the pieces at the ends."""
    order = c.shape[0]
    k = np.clip(np.searchsorted(breaks, x, side="right") - 1, 0, c.shape[1] - 1)
    t = x - breaks[k]
    found = 0.0 * t
    for i in range(order - nu):
        factor = 1.0
        for j in range(nu):
            factor = factor * (order - 1 - i - j)
        found = found * t + factor * c[i][k]
    return found


_PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0, 10559470521600.0,
    670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
"""Coefficients of the approximant of exp of degree 13."""


def expm(A: ArrayLike) -> Any:
    """exp(A) by scaling and squaring with the approximant of degree 13: Higham, SIAM J. Matrix
    Anal. Appl. 26 (2005)."""
    A = np.asarray(A)
    n = A.shape[0]
    size = np.max(np.sum(np.abs(A), axis=0))
    steps = 0
    while size > 5.371920351148152:
        size = size / 2
        steps = steps + 1
    A = A / 2.0**steps
    one = np.eye(n)
    A2 = A @ A
    A4 = A2 @ A2
    A6 = A4 @ A2
    b = _PADE
    U = A @ (
        A6 @ (b[13] * A6 + b[11] * A4 + b[9] * A2) + b[7] * A6 + b[5] * A4 + b[3] * A2 + b[1] * one
    )
    V = A6 @ (b[12] * A6 + b[10] * A4 + b[8] * A2) + b[6] * A6 + b[4] * A4 + b[2] * A2 + b[0] * one
    found = np.linalg.solve(V - U, V + U)
    for _ in range(steps):
        found = found @ found
    return found


TABLE = (
    rows("scipy.stats", 1, gmean, hmean, pmean)
    | rows("scipy.integrate", 1, simpson, cumulative_trapezoid)
    | rows("scipy.spatial.distance", 1, pdist)
    | rows("scipy.spatial.distance", 2, cdist)
    | rows("scipy.signal", 2, convolve, convolve2d, fftconvolve)
    | rows("scipy.signal", 0, lfilter)
    | rows("scipy.linalg", 1, expm)
    | rows("scipy.linalg", 2, solve)
    | rows("scipy.linalg", 3, solve_banded)
    | rows("scipy.special", 0, lambertw, multigammaln)
)
"""Like `composed.TABLE`."""


class MultivariateNormal:
    """`scipy.stats.multivariate_normal` with its parameters."""

    def __init__(
        self, mean: ArrayLike = None, cov: Any = 1, allow_singular: bool = False, seed: Any = None
    ) -> None:
        self.mean, self.cov, self._singular = mean, cov, allow_singular

    def logpdf(self, x: ArrayLike) -> Any:
        return multivariate_normal_logpdf(x, self.mean, self.cov, self._singular)

    def pdf(self, x: ArrayLike) -> Any:
        return np.exp(self.logpdf(x))

    def entropy(self) -> Any:
        return multivariate_normal_entropy(self.mean, self.cov)


class Multinomial:
    """`scipy.stats.multinomial` with its parameters."""

    def __init__(self, n: Any, p: ArrayLike, seed: Any = None) -> None:
        self._n, self._p = n, p

    def logpmf(self, x: ArrayLike) -> Any:
        return multinomial_logpmf(x, self._n, self._p)

    def pmf(self, x: ArrayLike) -> Any:
        return multinomial_pmf(x, self._n, self._p)


class Dirichlet:
    """`scipy.stats.dirichlet` with its parameters."""

    def __init__(self, alpha: ArrayLike, seed: Any = None) -> None:
        self._alpha = np.asarray(alpha)

    def logpdf(self, x: ArrayLike) -> Any:
        return dirichlet_logpdf(np.asarray(x), self._alpha)

    def pdf(self, x: ArrayLike) -> Any:
        return np.exp(self.logpdf(x))


CLASSES: dict[str, type] = {
    "scipy.stats.multivariate_normal": MultivariateNormal,
    "scipy.stats.multinomial": Multinomial,
    "scipy.stats.dirichlet": Dirichlet,
}
"""By the dotted name of the distribution that is called to make an object."""

METHODS: dict[tuple[str, str], Any] = {
    ("multivariate_normal_gen", "logpdf"): multivariate_normal_logpdf,
    ("multivariate_normal_gen", "pdf"): multivariate_normal_pdf,
    ("multivariate_normal_gen", "entropy"): multivariate_normal_entropy,
    ("multinomial_gen", "logpmf"): multinomial_logpmf,
    ("multinomial_gen", "pmf"): multinomial_pmf,
    ("dirichlet_gen", "logpdf"): dirichlet_logpdf,
    ("dirichlet_gen", "pdf"): dirichlet_pdf,
}
"""By the classes of multivariate distributions, and the names of methods."""


def find(function: MethodType) -> FunctionType | None:
    """The traced version of a method of a multivariate distribution; None if it is not known."""
    owner = type(function.__self__)
    if not (owner.__module__ or "").startswith("scipy.stats."):
        return None
    return METHODS.get((owner.__name__, function.__name__))


def interpolant(value: Any) -> tuple[FunctionType, tuple[str, ...]] | None:
    """The traced version of an interpolant of `scipy.interpolate`, and the attributes that are its
    first arguments; None for anything else."""
    module, name = type(value).__module__ or "", type(value).__name__
    if not module.startswith("scipy.interpolate"):
        return None
    if name in splines.CAPTURED:
        found: tuple[FunctionType, tuple[str, ...]] = splines.CAPTURED[name]
        return found
    if getattr(value, "extrapolate", None) is not True:
        return None
    c, breaks = getattr(value, "c", None), getattr(value, "x", None)
    plain = isinstance(c, np.ndarray) and isinstance(breaks, np.ndarray) and c.ndim == 2
    is_power_basis = name in ("PPoly", "CubicSpline", "PchipInterpolator", "Akima1DInterpolator", "CubicHermiteSpline")  # fmt: skip
    return (piecewise, ("c", "x")) if plain and is_power_basis else None  # type: ignore[return-value]
