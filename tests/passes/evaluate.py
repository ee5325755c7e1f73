"""Reference values for tests: the DAG in mpmath, or exactly in fractions; slopes of functions in many digits."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from symdiff import ir
from symdiff.interpret import Certified, ulp_error
from symdiff.ir import Expr

_MP = {
    "exp": mpmath.exp, "log": mpmath.log, "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan,
    "sinh": mpmath.sinh, "cosh": mpmath.cosh, "tanh": mpmath.tanh, "expm1": mpmath.expm1,
    "log1p": mpmath.log1p, "atan": mpmath.atan, "acos": mpmath.acos, "asin": mpmath.asin,
    "abs": abs, "sign": mpmath.sign, "maximum": max, "minimum": min, "taken": lambda a, b: 1 - (a == b) / mpmath.mpf(2), "hypot": mpmath.hypot,
    "erf": mpmath.erf, "gamma": mpmath.gamma, "cbrt": mpmath.cbrt, "pi": lambda: +mpmath.pi,
    "xlogy": lambda u, x: u * mpmath.log(x) if u else u,
    "unit": lambda w, n: w / n if n else mpmath.mpf(0),
}  # fmt: skip


def evaluate(e: Expr, point: dict[str, object], exact: bool = False):
    """The value of a node; exact needs a rational expression."""
    values: dict[Expr, object] = {}

    def number(q):
        return q if exact else mpmath.mpf(q.numerator) / q.denominator

    for n in ir.topological((e,)):
        v = [values.get(a) for a in n.args]
        if n.op is ir.CONST:
            values[n] = number(n.value) if isinstance(n.value, Fraction) else mpmath.mpf(n.value)
        elif n.op is ir.BOOL:
            values[n] = n.value
        elif n.op is ir.VAR:
            values[n] = point[n.value]
        elif n.op is ir.ADD:
            values[n] = v[0] + v[1]
        elif n.op is ir.SUB:
            values[n] = v[0] - v[1]
        elif n.op is ir.MUL:
            values[n] = v[0] * v[1]
        elif n.op is ir.DIV:
            values[n] = v[0] / v[1] if v[1] else mpmath.nan
        elif n.op is ir.NEG:
            values[n] = -v[0]
        elif n.op is ir.POW:
            q = ir.rational(n.args[1])
            k = int(q) if q is not None and q.denominator == 1 else v[1]
            values[n] = v[0] ** k if v[0] else mpmath.mpf(0 if k > 0 else "nan")
        elif n.op is ir.WHERE:
            values[n] = v[1] if v[0] else v[2]
        elif n.op.boolean:
            values[n] = {
                "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "eq": lambda a, b: a == b,
                "not": lambda a: not a, "and": lambda a, b: a and b, "or": lambda a, b: a or b,
            }[n.op.name](*v)  # fmt: skip
        else:
            values[n] = _MP[n.op.name](*v)
    return values[e]


def slope(f: Callable[..., Any], at: Sequence[Any], i: int = 0, step: float = 1e-20) -> float:
    """The derivative of a function of numbers of mpmath by its i-th argument, from both sides."""
    with mpmath.workdps(120):
        ends = [
            f(*(mpmath.mpf(a) + (k == i) * s * mpmath.mpf(step) for k, a in enumerate(at)))
            for s in (1, -1)
        ]
        return float((ends[0] - ends[1]) / (2 * mpmath.mpf(step)))


def slopes(f: Callable[..., Any], at: Sequence[Any], k: int = 0) -> list[Any]:
    """The derivatives of a function of arrays by each element of the k-th of them, in 80 digits."""
    with mpmath.workdps(80):
        h = mpmath.mpf(10) ** -25
        exact = [np.vectorize(mpmath.mpf, otypes=[object])(a) for a in at]
        found = []
        for place in np.ndindex(exact[k].shape):
            ends = []
            for step in (h, -h):
                new = exact[k].copy()
                new[place] += step
                ends.append(np.array(f(*exact[:k], new, *exact[k + 1 :]), object))
            found.append((ends[0] - ends[1]) / (2 * h))
        return found


def flagged_of(
    run: Callable[..., Any], outputs: Sequence[Expr], points: Sequence[Any], ulps: float
) -> int:
    """How many points are flagged; at all others every output is right. `run` gives values and the flag."""
    reference, count = Certified(["x", "y"], outputs), 0
    for point in points:
        values, flagged = run(point)
        if flagged:
            count += 1
            continue
        for value, answer in zip(values, reference.at_with_status(point), strict=True):
            if answer.status == "domain":
                assert math.isnan(value), (outputs, point, value)
            elif answer.status == "exact" and abs(answer.value) > 2.0**-1022:
                assert ulp_error(value, answer.ball) <= ulps, (outputs, point, value, answer)
    return count
