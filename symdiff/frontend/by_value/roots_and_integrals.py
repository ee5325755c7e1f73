"""Roots and integrals of functions of one number that SciPy computes in compiled code.

The double is SciPy's, of the function's doubles. What is recorded has the same derivatives: two steps of Newton from a
root, whose slopes are those of the implicit function up to the third order; and for an integral the rule of Gauss
and Kronrod on the intervals that SciPy arrived at.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from symdiff.frontend.by_value.elementary import FUNCTIONS
from symdiff.frontend.by_value.reals import RECORD, Real, raw, refuse, variable
from symdiff.frontend.by_value.sweeps import pulled_back, pushed_forward, reached
from symdiff.ir import VAR

_NODES = (
    0.995657163025808081, 0.973906528517171720, 0.930157491355708226, 0.865063366688984511, 0.780817726586416897,
    0.679409568299024406, 0.562757134668604683, 0.433395394129247191, 0.294392862701460198, 0.148874338981631211,
    0.0,
)  # fmt: skip
_WEIGHTS = (
    0.0116946388673718743, 0.0325581623079647275, 0.0547558965743519960, 0.0750396748109199528,
    0.0931254545836976055, 0.109387158802297642, 0.123491976262065851, 0.134709217311473326,
    0.142775938577060081, 0.147739104901338491, 0.149445554002916906,
)  # fmt: skip
"""Of the rule with 21 points, by QUADPACK."""


_FEWER = (
    0.0666713443086881376, 0.149451349150580593, 0.219086362515982044, 0.269266719309996355, 0.295524224714752870,
)  # fmt: skip
"""The weights of the rule of Gauss with each second point."""
PIECES = 400
"""Intervals at most, where the slopes are not as smooth as the function."""


def _uncertain(whole: Any, rest: Any) -> bool:
    """Whether the slopes of both rules differ; `rest` is their difference."""
    leaves = [x for x in reached([whole]) if x.op is VAR]
    slopes = pulled_back([whole], [1.0], leaves, False)
    apart = pulled_back([rest], [1.0], leaves, False)
    size = max(map(abs, slopes), default=0.0)
    return any(abs(d) > 1e-7 * size + 1e-13 for d in apart)


def _in_doubles(function: Callable[..., Any], extra: tuple[Any, ...]) -> Callable[[float], float]:
    """The function for compiled code, whose decisions no guard repeats."""
    RECORD.special = True
    return lambda t: float(raw(function(t, *extra)))


def _with_double(found: Any, value: float) -> Any:
    """A result with the double that SciPy gives."""
    if type(found) is Real:
        found.v = value
        return found
    return value


def _root(solver: Callable[..., Any]) -> Any:
    def solved(
        f: Any, *bracket: Any, args: Any = (), full_output: bool = False, **options: Any
    ) -> Any:
        if not RECORD.here():
            return solver(f, *bracket, args=args, full_output=full_output, **options)
        if full_output or options.keys() - {"xtol", "rtol", "maxiter"}:
            raise refuse(f"options of {solver.__name__}, in a function that is run by values")
        extra = args if isinstance(args, tuple) else (args,)
        value = solver(_in_doubles(f, extra), *map(raw, bracket), **options)
        t: Any = variable(value)
        for _ in range(2):
            there = f(t, *extra)
            (slope,) = pushed_forward([there], {t.n: 1.0}, True)
            if raw(slope) == 0:
                raise refuse("a root where the slope is 0, in a function that is run by values")
            t = t - there / slope
        return _with_double(t, value)

    return solved


def _integral(quad: Callable[..., Any]) -> Any:
    def integrated(f: Any, a: Any, b: Any, args: Any = (), **options: Any) -> Any:
        if not RECORD.here():
            return quad(f, a, b, args=args, **options)
        if options.keys() - {"epsabs", "epsrel", "limit"}:
            raise refuse("options of quad, in a function that is run by values")
        low, high = float(raw(a)), float(raw(b))
        if not (math.isfinite(low) and math.isfinite(high)):
            raise refuse("an integral to infinity, in a function that is run by values")
        extra = args if isinstance(args, tuple) else (args,)
        found = quad(_in_doubles(f, extra), low, high, full_output=1, **options)
        value, error, how = found[:3]
        total: Any = 0.0
        width = b - a
        last = how["last"] if high != low else 0
        ends = [[(how[x][k] - low) / (high - low) for x in ("alist", "blist")] for k in range(last)]
        pieces = 0
        while ends:
            left, right = ends.pop()
            middle, half = 0.5 * (left + right), 0.5 * (right - left)
            whole: Any = 0.0
            rest: Any = 0.0
            for k, (node, weight) in enumerate(zip(_NODES, _WEIGHTS, strict=True)):
                for sign in (1.0, -1.0) if node else (1.0,):
                    y = f(a + width * (middle + sign * half * node), *extra) * half
                    whole = whole + y * weight
                    rest = rest + y * (weight - (_FEWER[k // 2] if k % 2 else 0.0))
            pieces += 1
            if pieces < PIECES and _uncertain(whole, rest):
                ends += [[left, middle], [middle, right]]
                continue
            total = total + whole
        if high == low and type(width) is Real:
            total = f(a, *extra)
        return _with_double(total * width, value), error

    return integrated


def add_to_table(module: Any) -> None:
    """The functions of `scipy.optimize` or `scipy.integrate`."""
    if module.__name__ == "scipy.integrate":
        FUNCTIONS[module.quad] = _integral(module.quad)
        return
    for solver in (module.brentq, module.brenth, module.ridder, module.bisect):
        FUNCTIONS[solver] = _root(solver)
