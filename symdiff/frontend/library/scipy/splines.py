"""Interpolants of `scipy.interpolate` that a traced function makes: classes that are traced like a
user's, in place of SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from symdiff.frontend.library.primitives import rows

ArrayLike = Any


class Pieces:
    """A polynomial on each interval between the breaks, with coefficients from the highest power
    on."""

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
        s = s if np.ndim(self._pieces[0]) == 1 else np.asarray(s)[..., None]
        found = 0.0 * s
        for c in self._pieces:
            found = found * s + c[k]
        if self._extrapolate if extrapolate is None else extrapolate:
            return found
        inside = (x >= breaks[0]) & (x <= breaks[-1])
        inside = inside if np.ndim(self._pieces[0]) == 1 else np.asarray(inside)[..., None]
        return np.where(inside, found, np.nan)

    def derivative(self, nu: int = 1) -> Any:
        pieces = self._pieces
        for _ in range(nu):
            top = len(pieces) - 1
            zero = 0.0 * pieces[0]
            pieces = [(top - i) * pieces[i] for i in range(top)] if top > 0 else [zero]
        return Pieces(pieces, self._breaks, self._extrapolate)

    def antiderivative(self, nu: int = 1) -> Any:
        found = self
        for _ in range(nu):
            top = len(found._pieces)
            h = _along(np.diff(found._breaks), found._pieces[0])
            pieces = [found._pieces[i] / (top - i) for i in range(top)]
            parts = 0.0 * h
            for c in pieces:
                parts = (parts + c) * h
            sums = np.cumsum(parts, axis=0)
            starts = np.concatenate([0.0 * parts[:1], sums[:-1]])
            found = Pieces([*pieces, starts], found._breaks, found._extrapolate)
        return found

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        whole = self.antiderivative()
        return whole(b, 0, extrapolate) - whole(a, 0, extrapolate)


def _checked(x: ArrayLike, y: ArrayLike, axis: int, least: int) -> Any:
    x, y = np.asarray(x) * 1.0, np.asarray(y) * 1.0
    if np.ndim(x) != 1 or np.ndim(y) > 2 or axis not in ((0, -1) if np.ndim(y) == 1 else (0,)):
        raise TypeError("interpolants are supported of values along the first of at most two axes")
    if len(x) < least:
        raise ValueError("an interpolant has too few points here")
    return x, y


def _along(h: ArrayLike, y: ArrayLike) -> Any:
    """Numbers for each point, in the shape for a product with the values there."""
    return h if np.ndim(y) == 1 else h[:, None]


def _hermite(x: ArrayLike, y: ArrayLike, slopes: ArrayLike) -> Any:
    """Cubic pieces from values and slopes at the points."""
    h = _along(np.diff(x), y)
    steep = np.diff(y, axis=0) / h
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
    """The spline by its slopes at the points, where the second derivatives of neighbouring pieces
    agree (de Boor, A Practical Guide to Splines, chapter IV)."""

    def __init__(
        self, x: ArrayLike, y: ArrayLike, axis: int = 0, bc_type: Any = "not-a-knot",
        extrapolate: Any = None,
    ) -> None:  # fmt: skip
        x, y = _checked(x, y, axis, 2)
        ends = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
        slopes = _spline_slopes(x, y, _condition(ends[0]), _condition(ends[1]))
        super().__init__(_hermite(x, y, slopes), x, True if extrapolate is None else extrapolate)


def _spline_slopes(x: ArrayLike, y: ArrayLike, start: Any, end: Any) -> Any:
    """The slopes, by elimination of a tridiagonal system."""
    n, h = x.shape[0], np.diff(x)
    steep = np.diff(y, axis=0) / _along(h, y)
    if n == 3 and (start[0] == 0) != (end[0] == 0):
        raise TypeError("a spline of three points is not-a-knot at one end only")
    pivot, above, side = _end(start, h, steep, n, 1.0)
    last_pivot, below_last, last_side = _end(end, h[::-1], steep[::-1], n, -1.0)
    ratios, sides, slopes = np.zeros(n), np.zeros(y.shape), np.zeros(y.shape)
    ratios[0], sides[0] = above / pivot, side / pivot
    for k in range(1, n - 1):
        pivot = 2.0 * (h[k - 1] + h[k]) - h[k] * ratios[k - 1]
        side = 3.0 * (h[k] * steep[k - 1] + h[k - 1] * steep[k])
        ratios[k], sides[k] = h[k - 1] / pivot, (side - h[k] * sides[k - 1]) / pivot
    pivot = last_pivot - below_last * ratios[n - 2]
    slopes[n - 1] = (last_side - below_last * sides[n - 2]) / pivot
    for k in range(n - 1):
        at = n - 2 - k
        slopes[at] = sides[at] - ratios[at] * slopes[at + 1]
    return slopes


def _condition(kind: Any) -> Any:
    """The order of the derivative that is given at an end, and its value; the order 0 for
    not-a-knot."""
    if not isinstance(kind, str):
        return kind
    if kind == "not-a-knot":
        return 0, 0.0
    if kind == "clamped":
        return 1, 0.0
    if kind == "natural":
        return 2, 0.0
    raise TypeError(f"splines with the condition {kind} at an end are not supported")


def _end(condition: Any, h: Any, steep: Any, n: Any, way: float) -> Any:
    """The equation at an end, given the widths and slopes of the pieces from there: the factors of
    its own slope and of its neighbour's, and the right side."""
    order, value = condition
    if order == 1:
        return 1.0, 0.0, value + 0.0 * steep[0]
    if order == 2:
        return 2.0, 1.0, 3.0 * steep[0] - way * value * h[0] / 2.0
    if n == 2:
        return 1.0, 0.0, steep[0]
    if n == 3:
        return 1.0, 1.0, 2.0 * steep[0]
    d = h[0] + h[1]
    return h[1], d, ((h[0] + 2.0 * d) * h[1] * steep[0] + h[0] ** 2 * steep[1]) / d


class PchipInterpolator(Pieces):
    """The monotone interpolant of Fritsch and Butland, SIAM J. Sci. Comput. 5 (1984)."""

    def __init__(self, x: ArrayLike, y: ArrayLike, axis: int = 0, extrapolate: Any = None) -> None:
        x, y = _checked(x, y, axis, 3)
        h = _along(np.diff(x), y)
        m = np.diff(y, axis=0) / h
        flat = m[1:] * m[:-1] <= 0
        w1, w2 = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
        before, after = np.where(flat, 1.0, m[:-1]), np.where(flat, 1.0, m[1:])
        inner = np.where(flat, 0.0, (w1 + w2) / (w1 / before + w2 / after))
        first = _pchip_end(h[0], h[1], m[0], m[1])
        last = _pchip_end(h[-1], h[-2], m[-1], m[-2])
        slopes = np.concatenate([first + 0.0 * y[:1], inner, last + 0.0 * y[:1]])
        super().__init__(_hermite(x, y, slopes), x, True if extrapolate is None else extrapolate)


def _pchip_end(h0: Any, h1: Any, m0: Any, m1: Any) -> Any:
    d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    too_steep = (np.sign(m0) != np.sign(m1)) & (np.abs(d) > 3 * np.abs(m0))
    return np.where(np.sign(d) != np.sign(m0), 0.0, np.where(too_steep, 3 * m0, d))


class Akima1DInterpolator(Pieces):
    """The interpolant of Akima, J. ACM 17 (1970)."""

    def __init__(
        self, x: ArrayLike, y: ArrayLike, axis: int = 0, *, method: str = "akima",
        extrapolate: Any = None,
    ) -> None:  # fmt: skip
        if method != "akima":
            raise TypeError("of Akima's interpolants only the method 'akima' is supported")
        x, y = _checked(x, y, axis, 3)
        if np.ndim(y) != 1:
            raise TypeError("Akima's interpolants of several values are not supported")
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
    if k != 3 or t is not None:
        raise TypeError("make_interp_spline() is supported for k=3 and 1, without knots t")
    if isinstance(bc_type, (tuple, list)):
        first, last = _of_pairs(bc_type[0]), _of_pairs(bc_type[1])
    else:
        first = last = _of_pairs(bc_type)
    if len(x) < 4 and "not-a-knot" in (first, last):
        raise ValueError("a spline of less than four points")
    return CubicSpline(x, y, axis, (first, last), True)


def _of_pairs(condition: Any) -> Any:
    """A condition of `make_interp_spline`, a list of pairs, in the terms of `CubicSpline`."""
    if condition is None:
        return "not-a-knot"
    return condition if isinstance(condition, str) else condition[0]


def interpolating_spline(
    x: ArrayLike, y: ArrayLike, w: Any = None, bbox: Any = (None, None), k: int = 3, ext: Any = 0,
    check_finite: bool = False,
) -> Any:  # fmt: skip
    """`InterpolatedUnivariateSpline`."""
    if w is not None or bbox[0] is not None or bbox[1] is not None or ext not in (0, "extrapolate"):
        raise TypeError("InterpolatedUnivariateSpline() is supported without w, bbox and ext")
    return make_interp_spline(x, y, k)


def _linear(x: ArrayLike, y: ArrayLike, axis: int, extrapolate: bool) -> Pieces:
    x, y = _checked(x, y, axis, 2)
    return Pieces([np.diff(y, axis=0) / _along(np.diff(x), y), y[:-1]], x, extrapolate)


class interp1d:  # noqa: N801
    def __init__(
        self, x: ArrayLike, y: ArrayLike, kind: Any = "linear", axis: int = -1, copy: bool = True,
        bounds_error: Any = None, fill_value: Any = np.nan, assume_sorted: bool = False,
    ) -> None:  # fmt: skip
        x, y = _checked(x, y, axis, 2)
        if np.ndim(y) != 1:
            raise TypeError("interp1d() of several values is not supported: make one of each")
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
    """Interpolation by the value of a neighbouring point."""

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


def _de_boor(x: Any, knots: ArrayLike, c: ArrayLike, k: int) -> Any:
    """A spline at points, by its pieces at the ends outside of its knots: C. de Boor, A Practical Guide to
    Splines (1978), chapter X."""
    n = len(knots) - k - 1
    i = np.searchsorted(knots[k + 1 : n], x, side="right") + k
    d = [c[i - k + j] for j in range(k + 1)]
    for r in range(1, k + 1):
        for j in range(k, r - 1, -1):
            low = knots[i - k + j]
            w = (x - low) / (knots[i + j + 1 - r] - low)
            d[j] = (1 - w) * d[j - 1] + w * d[j]
    return d[k]


def splev(x: Any, tck: Any, der: int = 0, ext: int = 0) -> Any:
    """A B-spline with fixed knots, or a derivative of it."""
    knots, c, k = tck
    if ext not in (0, 1, 3):
        raise TypeError("splev with ext=2 is not supported: compare x with the knots")
    x, knots, c = np.asarray(x), np.asarray(knots) * 1.0, np.asarray(c) * 1.0
    n = len(knots) - k - 1
    low, high = knots[k], knots[n]
    if der > k:
        return 0.0 * x
    c = c[:n]
    for r in range(der):
        width = knots[k + 1 : n + k - r] - knots[r + 1 : n]
        c = (k - r) * np.diff(c) / np.where(width > 0, width, 1.0)
    inner = knots[der : len(knots) - der]
    if ext == 3:
        x = np.clip(x, low, high)
    found = _de_boor(x, inner, c, k - der)
    return np.where((x < low) | (x > high), 0.0, found) if ext == 1 else found


class BSpline:
    """A spline by its knots and coefficients, or a derivative of one."""

    def __init__(
        self, t: ArrayLike, c: ArrayLike, k: int, extrapolate: Any = True, axis: int = 0,
        order: int = 0,
    ) -> None:  # fmt: skip
        if extrapolate not in (True, False):
            raise TypeError("BSpline() with extrapolate='periodic' is not supported")
        if np.ndim(c) != 1:
            raise TypeError("BSpline() of several values is not supported: make one of each")
        self.t, self.c, self.k, self.extrapolate = (
            np.asarray(t) * 1.0,
            np.asarray(c),
            k,
            extrapolate,
        )
        self._order = order

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        beyond = self.extrapolate if extrapolate is None else extrapolate
        if beyond not in (True, False):
            raise TypeError("BSpline() with extrapolate='periodic' is not supported")
        x = np.asarray(x)
        found = splev(x, (self.t, self.c, self.k), self._order + nu)
        if beyond:
            return found
        low, high = self.t[self.k], self.t[len(self.t) - self.k - 1]
        return np.where((x < low) | (x > high), np.nan, found)

    def derivative(self, nu: int = 1) -> Any:
        return BSpline(self.t, self.c, self.k, self.extrapolate, 0, self._order + nu)


def _b_spline(
    t: Any, c: Any, k: Any, beyond: Any, x: Any, nu: int = 0, extrapolate: Any = None
) -> Any:
    return BSpline(t, c, k, beyond)(x, nu, extrapolate)


class RegularGridInterpolator:
    """Interpolation on a grid with any number of axes, by products of the weights of each axis."""

    def __init__(
        self, points: Any, values: ArrayLike, method: str = "linear", bounds_error: bool = True,
        fill_value: Any = np.nan,
    ) -> None:  # fmt: skip
        self.grid = [np.asarray(p) * 1.0 for p in points]
        self.values = np.asarray(values) * 1.0
        if np.ndim(self.values) != len(self.grid):
            raise TypeError("RegularGridInterpolator() of several values is not supported")
        for places in self.grid:
            if np.any(np.diff(places) <= 0):
                raise TypeError("RegularGridInterpolator() takes grids in ascending order")
        self._method, self._raises, self._fill = method, bounds_error, fill_value

    def __call__(self, xi: Any, method: Any = None) -> Any:
        kind = self._method if method is None else method
        if kind not in ("linear", "nearest"):
            raise TypeError("RegularGridInterpolator() takes method='linear' or 'nearest'")
        rank = len(self.grid)
        if isinstance(xi, tuple):
            columns: Any = np.broadcast_arrays(*xi)
        else:
            xi = np.asarray(xi)
            if np.ndim(xi) == 1:
                xi = np.reshape(xi, (-1, rank))
            columns = [xi[..., k] for k in range(rank)]
        if len(columns) != rank:
            raise ValueError("the points and the grid have different numbers of coordinates")
        corners: Any = [((), 1.0)]
        outside = False
        for x, places in zip(columns, self.grid, strict=True):
            outside = (x < places[0]) | (x > places[-1]) | outside
            k = np.searchsorted(places[1:-1], x, side="right")
            w = (x - places[k]) / (places[k + 1] - places[k])
            if kind == "nearest":
                corners = [((*index, np.where(w <= 0.5, k, k + 1)), 1.0) for index, _ in corners]
            else:
                below = [((*index, k), (1 - w) * weight) for index, weight in corners]
                corners = below + [((*index, k + 1), w * weight) for index, weight in corners]
        if self._raises and np.any(outside):
            raise ValueError("a requested point is out of bounds of the grid")
        found: Any = 0.0
        for index, weight in corners:
            found = found + weight * self.values[index]
        return found if self._raises or self._fill is None else np.where(outside, self._fill, found)


def _on_grid(
    points: Any, values: Any, kind: Any, raises: Any, fill: Any, xi: Any, method: Any = None
) -> Any:
    return RegularGridInterpolator(points, values, kind, raises, fill)(xi, method)


CAPTURED: dict[str, Any] = {
    "BSpline": (_b_spline, ("t", "c", "k", "extrapolate")),
    "RegularGridInterpolator": (
        _on_grid,
        ("grid", "values", "method", "bounds_error", "fill_value"),
    ),
}
"""Of interpolants that SciPy made: the traced version, and the attributes that it takes first."""


def bisplev(x: Any, y: Any, tck: Any, dx: int = 0, dy: int = 0) -> Any:
    """A tensor product of B-splines at a point; outside its knots that at the closest point."""
    a, b, c, k, m = tck
    if np.ndim(x) or np.ndim(y) or dx or dy:
        raise TypeError(
            "bisplev of grids, and its derivatives, are not supported: call it point by point"
        )
    a, b = np.asarray(a) * 1.0, np.asarray(b) * 1.0
    c = np.reshape(np.asarray(c) * 1.0, (len(a) - k - 1, len(b) - m - 1))
    x = np.clip(x, a[k], a[len(a) - k - 1])
    y = np.clip(y, b[m], b[len(b) - m - 1])
    rows = np.stack([_de_boor(y, b, row, m) for row in c])
    return _de_boor(x, a, rows, k)


TABLE = rows(
    "scipy.interpolate", 0, splev, bisplev, make_interp_spline,
    InterpolatedUnivariateSpline=interpolating_spline,
)  # fmt: skip
"""Like `composed.TABLE`."""

CLASSES: dict[str, type] = {
    f"scipy.interpolate.{c.__name__}": c
    for c in (
        CubicHermiteSpline,
        CubicSpline,
        PchipInterpolator,
        Akima1DInterpolator,
        interp1d,
        BSpline,
        RegularGridInterpolator,
    )
}
"""By the dotted name of the class that each replaces."""
