"""Functions of arrays that NumPy writes in C, or asks the kinds of elements in."""

from __future__ import annotations

import bisect
import math
import statistics
from typing import Any

import numpy as np

from symdiff.frontend.by_value.arrays import ComplexArray, lifted, objects, on_ufunc, plain
from symdiff.frontend.by_value.elementary import FUNCTIONS, library
from symdiff.frontend.by_value.reals import Real, refuse, value_of


def _array(a: Any) -> Any:
    return lifted(objects(a))


def _mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False,
    where: Any = True,
) -> Any:  # fmt: skip
    if out is not None:
        raise refuse("out= of a mean, in a function that is run by values")
    a = _array(a)
    mask = np.broadcast_to(np.asarray(plain(where)).astype(bool), a.shape)
    count = np.sum(mask, axis=axis, keepdims=keepdims)
    kept = a if where is True else np.where(mask, a, 0.0)
    total = np.sum(kept, axis=axis, keepdims=keepdims)
    return total / (np.float64(count) if np.ndim(count) == 0 else count)


def _average(a: Any, axis: Any = None, weights: Any = None, **options: Any) -> Any:
    if weights is None and not options:
        return _mean(a, axis)
    if options:
        raise refuse("options of an average, in a function that is run by values")
    a, weights = _array(a), _array(weights)
    if weights.shape != a.shape:
        weights = weights.reshape([-1 if k == axis % a.ndim else 1 for k in range(a.ndim)])
    return np.sum(a * weights, axis=axis) / np.sum(weights, axis=axis)


def squares(a: Any) -> Any:
    """The squares of the sizes of elements."""
    return a.real * a.real + a.imag * a.imag if type(a) is ComplexArray else a * a


def _angle(z: Any, deg: bool = False) -> Any:
    z = _array(z)
    found = np.arctan2(z.imag, z.real)
    return found * (180 / math.pi) if deg else found


def _variance(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: int = 0,
    keepdims: bool = False, **options: Any,
) -> Any:  # fmt: skip
    if out is not None or options:
        raise refuse("options of a variance, in a function that is run by values")
    a = _array(a)
    apart = a - _mean(a, axis, keepdims=True)
    axes = range(a.ndim) if axis is None else np.atleast_1d(axis)
    n = int(np.prod([a.shape[k] for k in axes]))
    return np.sum(squares(apart), axis=axis, keepdims=keepdims) / np.float64(n - ddof)


def _deviation(*args: Any, **kwargs: Any) -> Any:
    return np.sqrt(_variance(*args, **kwargs))


def _interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """Linear interpolation: at a knot the slope of the piece on its right, and 0 at the last one."""
    if period is not None:
        raise refuse("period= of np.interp, in a function that is run by values")
    xs, ys = list(xp), list(fp)

    def at(x: Any) -> Any:
        v = value_of(x)
        if math.isnan(v):
            return x
        if v < value_of(xs[0]):
            return ys[0] if left is None else left
        if v >= value_of(xs[-1]):
            beyond = right is not None and v > value_of(xs[-1])
            return right if beyond else ys[-1]
        i = bisect.bisect_right([value_of(k) for k in xs], v) - 1
        return ys[i] + (ys[i + 1] - ys[i]) / (xs[i + 1] - xs[i]) * (x - xs[i])

    if np.ndim(x) == 0:
        return at(x[()] if isinstance(x, np.ndarray) else x)
    return lifted(np.frompyfunc(at, 1, 1)(objects(x)))


def _clip(a: Any, a_min: Any = None, a_max: Any = None, **kwargs: Any) -> Any:
    low, high = kwargs.get("min", a_min), kwargs.get("max", a_max)
    found = a if low is None else np.maximum(a, low)
    return found if high is None else np.minimum(found, high)


def _round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    return round(a, decimals) if type(a) is Real else _array(a).round(decimals)


def _isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    return np.isclose(doubles(a), doubles(b), rtol, atol, equal_nan)


def doubles(a: Any) -> Any:
    """The doubles of an array of scalars."""
    if type(a) is ComplexArray:
        return doubles(a.real) + 1j * doubles(a.imag)
    if type(a) is Real:
        return value_of(a)
    return np.frompyfunc(value_of, 1, 1)(objects(a)).astype(float) if np.ndim(a) else a


def _log_sum_exp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False) -> Any:
    a = _array(a)
    top = doubles(np.max(a, axis=axis, keepdims=True))  # any number gives the same function
    terms = np.exp(a - top) if b is None else np.exp(a - top) * b
    found = np.log(np.sum(terms, axis=axis, keepdims=True)) + top
    if keepdims:
        return found
    return np.ravel(found)[0] if axis is None else np.squeeze(found, axis)


def _softmax(a: Any, axis: Any = None) -> Any:
    a = _array(a)
    terms = np.exp(a - doubles(np.max(a, axis=axis, keepdims=True)))
    return terms / np.sum(terms, axis=axis, keepdims=True)


def _log_softmax(a: Any, axis: Any = None) -> Any:
    a = _array(a)
    return a - _log_sum_exp(a, axis, keepdims=True)


def _of_others(function: Any, a: Any, axis: Any, keepdims: bool, *args: Any) -> Any:
    """A function of those elements that are not nan."""
    a = _array(a)
    axes = tuple(range(a.ndim) if axis is None else np.atleast_1d(axis) % a.ndim)
    rows = np.moveaxis(a, axes, range(-len(axes), 0))
    shape = rows.shape[: a.ndim - len(axes)]
    rows = rows.reshape(*shape, -1)
    found = np.empty(shape, object)
    for at in np.ndindex(*shape):
        there = rows[at][~np.isnan(rows[at])]
        found[at] = function(there, *args) if there.size else np.float64(math.nan)
    return lifted(np.expand_dims(found, axes) if keepdims else found)


def _nan_median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
) -> Any:
    if out is not None:
        raise refuse("out= of a median, in a function that is run by values")
    return _of_others(np.median, a, axis, keepdims)


def _nan_quantile(function: Any) -> Any:
    def quantile(a: Any, q: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
        if np.ndim(q):
            raise refuse("several quantiles of others than nan, in a function run by values")
        return _of_others(function, a, axis, keepdims, q)

    return quantile


def _by_doubles(function: Any) -> Any:
    """A function whose results are indices: those of the doubles."""
    return lambda a, *args, **kwargs: function(doubles(a), *args, **kwargs)


def _reduction(ufunc: Any) -> Any:
    """The reduction by a ufunc, with its rule at ties."""

    def reduce(a: Any, axis: Any = None, **options: Any) -> Any:
        return on_ufunc(ufunc, "reduce", (_array(a),), {"axis": axis, **options})

    return reduce


def _fitted(x: Any, y: Any, deg: int, **options: Any) -> Any:
    """`np.polyfit`."""
    if any(v is not None and v is not False for v in options.values()):
        raise refuse(
            f"options {', '.join(options)} of polyfit, in a function that is run by values"
        )
    columns = np.vander(_array(x), deg + 1)
    return np.linalg.lstsq(_array(columns), _array(y), rcond=None)[0]


def _polynomial_quotient(u: Any, v: Any) -> tuple[Any, Any]:
    """`np.polydiv`."""
    rest, divisor = list(np.atleast_1d(_array(u))), list(np.atleast_1d(_array(v)))
    n = len(divisor)
    quotient = []
    for k in range(len(rest) - n + 1):
        quotient.append(1.0 / divisor[0] * rest[k])
        rest[k : k + n] = [
            r - quotient[-1] * d for r, d in zip(rest[k : k + n], divisor, strict=True)
        ]
    while len(rest) > 1 and abs(value_of(rest[0])) <= 1e-8:
        del rest[0]
    return _array(quotient or [0.0]), _array(rest)


def _histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, Any]:
    """`np.histogram`: counts, which have no slopes."""
    if not np.ndim(bins) or density or weights is not None:
        raise refuse("np.histogram but for counts in given bins, in a function run by values")
    return np.histogram(doubles(_array(a)), doubles(_array(bins)))[0], _array(bins)


def _search(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    return np.searchsorted(doubles(a), doubles(v), side, sorter)


def _of_data(function: Any, ddof: int | None = None) -> Any:
    """A function of `statistics`, which computes with fractions."""

    def of_data(data: Any, centre: Any = None) -> Any:
        items = list(data)
        if not any(type(x) is Real for x in items):
            return function(items) if centre is None else function(items, centre)
        if len(items) <= (ddof or 0):
            raise statistics.StatisticsError(f"{function.__name__} of {len(items)} numbers")
        middle = sum(items) / len(items) if centre is None else centre
        return (
            middle if ddof is None else sum((x - middle) ** 2 for x in items) / (len(items) - ddof)
        )

    return of_data


def _root_of(function: Any, ddof: int) -> Any:
    of_data = _of_data(function, ddof)
    return lambda data, centre=None: FUNCTIONS[math.sqrt](of_data(data, centre))


FUNCTIONS.update(
    {
        statistics.mean: _of_data(statistics.mean),
        statistics.fmean: _of_data(statistics.fmean),
        statistics.variance: _of_data(statistics.variance, 1),
        statistics.pvariance: _of_data(statistics.pvariance, 0),
        statistics.stdev: _root_of(statistics.variance, 1),
        statistics.pstdev: _root_of(statistics.pvariance, 0),
        np.mean: _mean,
        np.average: _average,
        np.var: _variance,
        np.std: _deviation,
        np.real: lambda a: _array(a).real,
        np.imag: lambda a: _array(a).imag,
        np.angle: _angle,
        np.vdot: lambda a, b: np.dot(np.conj(np.ravel(_array(a))), np.ravel(_array(b))),
        np.polyfit: _fitted,
        np.polydiv: _polynomial_quotient,
        np.histogram: _histogram,
        np.interp: _interp,
        np.nanmedian: _nan_median,
        np.nanquantile: _nan_quantile(np.quantile),
        np.nanpercentile: _nan_quantile(np.percentile),
        np.clip: _clip,
        np.round: _round,
        np.around: _round,
        np.isclose: _isclose,
        np.allclose: lambda *args, **kwargs: bool(np.all(_isclose(*args, **kwargs))),
        np.sum: _reduction(np.add),
        np.prod: _reduction(np.multiply),
        np.max: _reduction(np.maximum),
        np.min: _reduction(np.minimum),
        np.searchsorted: _search,
        np.argsort: _by_doubles(np.argsort),
        np.argmax: _by_doubles(np.argmax),
        np.argmin: _by_doubles(np.argmin),
        np.common_type: lambda *args: np.float64,
    }
)  # fmt: skip
if special := library("scipy.special"):
    FUNCTIONS[special.logsumexp] = _log_sum_exp
    FUNCTIONS.update({special.softmax: _softmax, special.log_softmax: _log_softmax})
