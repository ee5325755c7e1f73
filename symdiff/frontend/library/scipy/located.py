"""Methods of distributions from their standard forms: support, location and scale, and frozen ones.

Before:  stats.halfnorm(loc, scale).logpdf(x)
After:   where(z >= 0, -z*z/2 - log(pi/2)/2 - log(scale), -inf) at z = (x - loc)/scale
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import numpy as np

from symdiff.frontend.library.scipy import densities
from symdiff.frontend.library.scipy.densities import Number, Standard
from symdiff.frontend.library.scipy.distributions import positive
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Method, Refused

KINDS = ("pdf", "logpdf", "pmf", "logpmf", "cdf", "sf", "logcdf", "logsf")
METHODS = (*KINDS, "ppf", "isf")


# ------------------------------------------------- plain Python, traced like a user's
def inside(
    value: Number, z: Number, low: Number, high: Number, scale: Number, outside: Number
) -> Number:
    return positive(np.where((z >= low) & (z <= high), value, outside), scale)


def counted(value: Number, k: Number, low: Number, high: Number, outside: Number) -> Number:
    return np.where((k >= low) & (k <= high) & (np.floor(k) == k), value, outside)


def share(
    value: Number, z: Number, low: Number, high: Number, scale: Number, least: Number, most: Number
) -> Number:
    return positive(np.where(z < low, least, np.where(z >= high, most, value)), scale)


def placed(value: Number, q: Number, loc: Number, scale: Number) -> Number:
    """A quantile, if q is a probability."""
    return positive(np.where((q >= 0) & (q <= 1), loc + scale * value, np.nan), scale)


# -------------------------------------------------------------------------- tracing
def _inline(t: Tracer, function: Any, *args: Any) -> Any:
    return t.inline(function, args, {})


def _not_listed(t: Tracer, value: Any) -> Any:
    """SciPy makes an array of a list."""
    return t.call(np.asarray, (value,), {}) if isinstance(value, list | tuple) else value


def _end(t: Tracer, end: Any, shapes: list[Any]) -> Any:
    return _inline(t, end, *shapes) if isinstance(end, FunctionType) else end


def _bound(name: str, of: Standard, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
    """The shapes, the location and the scale of a call."""
    names = (*of.shapes, "loc") if of.whole else (*of.shapes, "loc", "scale")
    values = dict(zip(names, args, strict=False)) | dict(kwargs)
    missing = [n for n in of.shapes if n not in values]
    if missing or len(args) > len(names) or not values.keys() <= {*names}:
        raise Refused(f"stats.{name} takes {', '.join(names)}")
    defaults = {"loc": 0 if of.whole else 0.0, "scale": 1.0}
    return [values.get(n, defaults.get(n)) for n in names]


def _value(t: Tracer, kind: str, of: Standard, x: Any, bound: list[Any]) -> Any:
    shapes, loc = bound[: len(of.shapes)], bound[len(of.shapes)]
    scale = 1.0 if of.whole else bound[-1]
    low, high = (_end(t, e, shapes) for e in (of.low, of.high))
    if kind in ("ppf", "isf"):
        return _inline(t, placed, _quantile(t, kind, of, x, shapes), x, loc, scale)
    if kind in ("pmf", "logpmf"):
        k = t.inline(lambda x, loc: x - loc, (x, loc), {})
        if kind == "pmf" and of.density is not None:
            value = _inline(t, of.density, k, *shapes)
        else:
            log = _inline(t, of.log, k, *shapes)
            value = log if kind == "logpmf" else t.call(np.exp, (log,), {})
        return _inline(t, counted, value, k, low, high, -np.inf if kind == "logpmf" else 0.0)
    if of.whole:
        z = _inline(t, lambda x, loc: np.floor(x - loc), x, loc)
    else:
        z = _inline(t, lambda x, loc, scale: (x - loc) / scale, x, loc, scale)
    if kind in ("pdf", "logpdf"):
        outside = -np.inf if kind == "logpdf" else 0.0
        if kind == "pdf" and of.density is not None:
            value = _inline(
                t, lambda v, scale: v / scale, _inline(t, of.density, z, *shapes), scale
            )
        else:
            value = _inline(t, of.log, z, *shapes)
            if kind == "logpdf":
                value = _inline(t, lambda v, scale: v - np.log(scale), value, scale)
            else:
                value = _inline(t, lambda v, scale: np.exp(v) / scale, value, scale)
        return _inline(t, inside, value, z, low, high, scale, outside)
    is_log, upper = kind.startswith("log"), kind.endswith("sf")
    own, other = (of.above, of.below) if upper else (of.below, of.above)
    direct = (of.log_above if upper else of.log_below) if is_log else None
    if direct is not None:
        value = _inline(t, direct, z, *shapes)
    else:
        assert own is not None or other is not None
        value = _inline(t, own or other, z, *shapes)
        value = value if own else _inline(t, lambda v: 1 - v, value)
        value = t.call(np.log, (value,), {}) if is_log else value
    least, most = (-np.inf, 0.0) if is_log else (0.0, 1.0)
    ends = (most, least) if upper else (least, most)
    return _inline(t, share, value, z, low, high, scale, *ends)


def _quantile(t: Tracer, kind: str, of: Standard, q: Any, shapes: list[Any]) -> Any:
    own, other = of.quantile, of.upper_quantile
    if kind == "isf":
        own, other = other, own
    if own is not None:
        return _inline(t, own, q, *shapes)
    assert other is not None
    return _inline(t, other, _inline(t, lambda v: 1 - v, q), *shapes)


def method(
    t: Tracer, name: str, kind: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """A method of a distribution that is called with its parameters."""
    of = densities.TABLE[name]
    named = {n: _not_listed(t, v) for n, v in kwargs.items()}
    by_name = next((n for n in ("x", "k", "q") if n in named and not args), None)
    x, *others = [_not_listed(t, v) for v in args] if by_name is None else (named.pop(by_name),)
    return _value(t, kind, of, x, _bound(name, of, tuple(others), named))


def has(name: str, kind: str) -> bool:
    """Whether a method of a distribution is known."""
    of = densities.TABLE.get(name)
    if of is None or kind not in METHODS:
        return False
    if kind in ("ppf", "isf"):
        return of.quantile is not None or of.upper_quantile is not None
    if kind in ("pdf", "logpdf", "pmf", "logpmf"):
        return of.whole is kind.endswith("pmf")
    return of.below is not None or of.above is not None


def name_of(distribution: Any) -> str:
    """The name of a distribution of `scipy.stats`; "" for anything else."""
    module = type(distribution).__module__ or ""
    found = getattr(distribution, "name", "") if module.startswith("scipy.stats.") else ""
    return {"reciprocal": "loguniform"}.get(found, found) if isinstance(found, str) else ""


def find(function: Any) -> Callable[..., Any] | None:
    """The traced version of a method of a distribution; None if it is not known."""
    name = name_of(getattr(function, "__self__", None))
    kind = getattr(function, "__name__", "")
    if not name or not has(name, kind):
        return None
    return lambda t, args, kwargs: method(t, name, kind, args, kwargs)


class Frozen:
    """A distribution with its parameters, made in a traced function: `stats.norm(m, s)`."""

    def __init__(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        self.name, self.args, self.kwargs = name, args, kwargs

    def __symdiff_attribute__(self, kind: str) -> Method:
        """A method of the distribution."""
        if not has(self.name, kind):
            raise Refused(f"'{kind}' of stats.{self.name} has no formula here")

        def call(t: Tracer, owner: Any, x: Any) -> Any:
            return method(t, owner.name, kind, (x, *owner.args), owner.kwargs)

        return Method(call, self, kind)


def frozen(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Frozen | None:
    """The object that a call of a distribution makes; None for other functions, or without known
    methods."""
    name = name_of(function)
    if not name or not any(has(name, k) for k in METHODS):
        return None
    return Frozen(name, args, kwargs)


__all__ = ["Frozen", "find", "frozen"]
