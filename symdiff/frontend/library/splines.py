"""Interpolants of `scipy.interpolate` that are made where a function is traced: classes that are traced like
a user's, in place of SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

ArrayLike = Any


class Pieces:
    """A polynomial on each interval between the breaks, by coefficients from the highest power on."""

    def __init__(self, coefficients: Any, breaks: ArrayLike, extrapolate: Any) -> None:
        if extrapolate not in (True, False):
            raise TypeError("interpolants that are extrapolated periodically are not supported")
        self._pieces, self._breaks, self._extrapolate = coefficients, breaks, extrapolate

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        if nu > 0:
            return self.derivative(nu)(x, 0, extrapolate)
        x, breaks = np.asarray(x), self._breaks
        inner = breaks[1:-1]
        k = np.searchsorted(inner, x, side="right")
        s = x - breaks[k]
        found = 0.0 * s
        for c in self._pieces:
            found = found * s + c[k]
        if self._extrapolate if extrapolate is None else extrapolate:
            return found
        return np.where((x >= breaks[0]) & (x <= breaks[-1]), found, np.nan)

    def derivative(self, nu: int = 1) -> Any:
        pieces = self._pieces
        for _ in range(nu):
            top = len(pieces) - 1
            pieces = [(top - i) * pieces[i] for i in range(top)]
            pieces = pieces if top > 0 else [0.0 * self._breaks[1:]]
        return Pieces(pieces, self._breaks, self._extrapolate)

    def antiderivative(self, nu: int = 1) -> Any:
        found = self
        for _ in range(nu):
            top, h = len(found._pieces), np.diff(found._breaks)
            pieces = [found._pieces[i] / (top - i) for i in range(top)]
            parts = 0.0 * h
            for c in pieces:
                parts = (parts + c) * h
            sums = np.concatenate([np.zeros(1), np.cumsum(parts)])
            found = Pieces([*pieces, sums[:-1]], found._breaks, found._extrapolate)
        return found

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        whole = self.antiderivative()
        return whole(b, 0, extrapolate) - whole(a, 0, extrapolate)


def _checked(x: ArrayLike, y: ArrayLike, axis: int, least: int) -> Any:
    x, y = np.asarray(x) * 1.0, np.asarray(y) * 1.0
    if np.ndim(x) != 1 or np.ndim(y) != 1 or axis not in (0, -1):
        raise TypeError("interpolants of several values are not supported: make one of each")
    if len(x) < least:
        raise ValueError("an interpolant has too few points here")
    return x, y


def _hermite(x: ArrayLike, y: ArrayLike, slopes: ArrayLike) -> Any:
    """Cubic pieces by values and slopes at the points."""
    h = np.diff(x)
    steep = np.diff(y) / h
    t = (slopes[:-1] + slopes[1:] - 2 * steep) / h
    return [t / h, (steep - slopes[:-1]) / h - t, slopes[:-1], y[:-1]]


class CubicHermiteSpline(Pieces):
    def __init__(
        self, x: ArrayLike, y: ArrayLike, dydx: ArrayLike, axis: int = 0, extrapolate: Any = None
    ) -> None:
        x, y = _checked(x, y, axis, 2)
        beyond = True if extrapolate is None else extrapolate
        super().__init__(_hermite(x, y, np.asarray(dydx) * 1.0), x, beyond)


class CubicSpline(Pieces):
    """By the slopes at the points, of which the second derivatives of neighbouring pieces agree."""

    def __init__(
        self, x: ArrayLike, y: ArrayLike, axis: int = 0, bc_type: Any = "not-a-knot",
        extrapolate: Any = None,
    ) -> None:  # fmt: skip
        x, y = _checked(x, y, axis, 4)
        slopes = _spline_slopes(x, y, bc_type)
        super().__init__(_hermite(x, y, slopes), x, True if extrapolate is None else extrapolate)


def _spline_slopes(x: ArrayLike, y: ArrayLike, bc_type: Any) -> Any:
    n, h = len(x), np.diff(x)
    steep = np.diff(y) / h
    at = np.arange(1, n - 1)
    system, right = np.zeros((n, n)), np.zeros(n)
    system[at, at - 1] = h[1:]
    system[at, at] = 2 * (h[:-1] + h[1:])
    system[at, at + 1] = h[:-1]
    right[1:-1] = 3 * (h[1:] * steep[:-1] + h[:-1] * steep[1:])
    first, last = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
    system[0, 0], system[0, 1], right[0] = _end(first, h[0], h[1], steep[0], steep[1], 1.0)
    end = _end(last, h[-1], h[-2], steep[-1], steep[-2], -1.0)
    system[n - 1, n - 1], system[n - 1, n - 2], right[n - 1] = end
    return np.linalg.solve(system, right)


def _end(kind: Any, h0: Any, h1: Any, s0: Any, s1: Any, way: float) -> Any:
    """The equation at an end: what its own slope and that of its neighbour are multiplied with, and
    the right side."""
    if kind == "not-a-knot":
        d = h0 + h1
        return h1, d, ((h0 + 2 * d) * h1 * s0 + h0 * h0 * s1) / d
    order, value = {"clamped": (1, 0.0), "natural": (2, 0.0)}.get(kind, kind)
    if order == 1:
        return 1.0, 0.0, value
    if order == 2:
        return 2.0, 1.0, 3 * s0 - way * value * h0 / 2
    raise ValueError("this condition at the end of a spline is not known here")


class PchipInterpolator(Pieces):
    """The monotone interpolant of Fritsch and Butland, SIAM J. Sci. Comput. 5 (1984)."""

    def __init__(self, x: ArrayLike, y: ArrayLike, axis: int = 0, extrapolate: Any = None) -> None:
        x, y = _checked(x, y, axis, 3)
        h = np.diff(x)
        m = np.diff(y) / h
        flat = m[1:] * m[:-1] <= 0
        w1, w2 = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
        before, after = np.where(flat, 1.0, m[:-1]), np.where(flat, 1.0, m[1:])
        inner = np.where(flat, 0.0, (w1 + w2) / (w1 / before + w2 / after))
        first = _pchip_end(h[0], h[1], m[0], m[1])
        last = _pchip_end(h[-1], h[-2], m[-1], m[-2])
        slopes = np.concatenate([np.array([first]), inner, np.array([last])])
        super().__init__(_hermite(x, y, slopes), x, True if extrapolate is None else extrapolate)


def _pchip_end(h0: Any, h1: Any, m0: Any, m1: Any) -> Any:
    d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    too_steep = (np.sign(m0) != np.sign(m1)) & (np.abs(d) > 3 * np.abs(m0))
    return np.where(np.sign(d) != np.sign(m0), 0.0, np.where(too_steep, 3 * m0, d))


class Akima1DInterpolator(Pieces):
    """Akima, J. ACM 17 (1970)."""

    def __init__(
        self, x: ArrayLike, y: ArrayLike, axis: int = 0, *, method: str = "akima",
        extrapolate: Any = None,
    ) -> None:  # fmt: skip
        if method != "akima":
            raise TypeError("of Akima's interpolants only the method 'akima' is supported")
        x, y = _checked(x, y, axis, 3)
        m = np.diff(y) / np.diff(x)
        b1, e1 = 2 * m[0] - m[1], 2 * m[-1] - m[-2]
        ends = np.array([2 * b1 - m[0], b1]), np.array([e1, 2 * e1 - m[-1]])
        m = np.concatenate([ends[0], m, ends[1]])
        change = np.abs(np.diff(m))
        f1, f2 = change[2:], change[:-2]
        both = f1 + f2
        bends = both > 1e-9 * np.max(both)
        mean = (f1 * m[1:-2] + f2 * m[2:-1]) / np.where(bends, both, 1.0)
        slopes = np.where(bends, mean, (m[3:] + m[:-3]) / 2)
        super().__init__(_hermite(x, y, slopes), x, False if extrapolate is None else extrapolate)


def make_interp_spline(
    x: ArrayLike, y: ArrayLike, k: int = 3, t: Any = None, bc_type: Any = None, axis: int = 0,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    if k == 1 and t is None and bc_type is None:
        return _linear(x, y, axis, True)
    if k != 3 or t is not None or not (bc_type is None or isinstance(bc_type, str)):
        raise TypeError("make_interp_spline() is supported for k=3 and 1, without knots t")
    return CubicSpline(x, y, axis, "not-a-knot" if bc_type is None else bc_type, True)


def _linear(x: ArrayLike, y: ArrayLike, axis: int, extrapolate: bool) -> Pieces:
    x, y = _checked(x, y, axis, 2)
    return Pieces([np.diff(y) / np.diff(x), y[:-1]], x, extrapolate)


class interp1d:  # noqa: N801
    def __init__(
        self, x: ArrayLike, y: ArrayLike, kind: Any = "linear", axis: int = -1, copy: bool = True,
        bounds_error: Any = None, fill_value: Any = np.nan, assume_sorted: bool = False,
    ) -> None:  # fmt: skip
        x, y = _checked(x, y, axis, 2)
        if np.any(np.diff(x) <= 0):
            raise ValueError("the points of interp1d() are not sorted: sort them before")
        if kind in ("cubic", 3):
            self._inner: Any = CubicSpline(x, y)
        elif kind in ("linear", "slinear", 1):
            self._inner = _linear(x, y, 0, True)
        else:
            self._inner = _Steps(x, y, kind)
        self._ends = x[0], x[-1]
        self._fill = fill_value
        beyond = isinstance(fill_value, str)
        self._raises = not beyond if bounds_error is None else bounds_error

    def __call__(self, x: Any) -> Any:
        x = np.asarray(x)
        low, high = self._ends
        if self._raises:
            if np.any((x < low) | (x > high)):
                raise ValueError("a value is outside of the interpolation range")
            return self._inner(x)
        found = self._inner(x)
        if isinstance(self._fill, str):
            return found
        below, above = self._fill if isinstance(self._fill, tuple) else (self._fill, self._fill)
        return np.where(x < low, below, np.where(x > high, above, found))


class _Steps:
    """The value of a point next to the place."""

    def __init__(self, x: ArrayLike, y: ArrayLike, kind: Any) -> None:
        if kind not in ("previous", "next", "nearest", "nearest-up", "zero") and kind != 0:
            raise TypeError("this kind of interp1d() is not supported")
        self._x, self._y, self._kind = x, y, kind

    def __call__(self, x: Any) -> Any:
        places, kind = self._x, self._kind
        if kind == "next":
            k = np.searchsorted(places, x, side="left")
        elif kind in ("nearest", "nearest-up"):
            middles = (places[1:] + places[:-1]) / 2
            k = np.searchsorted(middles, x, side="left" if kind == "nearest" else "right")
        else:
            k = np.searchsorted(places, x, side="right") - 1
        return self._y[np.clip(k, 0, len(places) - 1)]


TABLE: dict[str, tuple[Any, int]] = {
    "scipy.interpolate.make_interp_spline": (make_interp_spline, 0)
}
"""As `composed.TABLE`."""

CLASSES: dict[str, type] = {
    f"scipy.interpolate.{c.__name__}": c
    for c in (CubicHermiteSpline, CubicSpline, PchipInterpolator, Akima1DInterpolator, interp1d)
}
"""By the dotted name of the class that each stands for."""
