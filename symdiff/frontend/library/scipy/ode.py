"""Initial value problems as SciPy integrates them: plain Python that is traced like a user's.

Before:  scipy.integrate.solve_ivp(lambda t, y: -k*y, (0, 1), [1.0], t_eval=times)
After:   a loop of the same Runge-Kutta steps; the step sizes are constants of the derivatives

So values equal those of SciPy's solver, up to rounding errors, and derivatives are those of the
discrete solution with its steps: forward or reverse sensitivities of the same order of accuracy.

The methods are those of Dormand and Prince (1980) and of Bogacki and Shampine (1989), with the interpolants of
Shampine (Mathematics of Computation 46, 1986); the first step is that of Hairer, Norsett and Wanner, Solving Ordinary
Differential Equations I, section II.4.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from symdiff.frontend.library.primitives import rows, trace_stop_gradient, traced
from symdiff.frontend.library.scipy.implicit import ALL, MINIMA
from symdiff.frontend.trace.tracer import Tracer

NEXT = 10 * 2.0**-52
FINE = 1e-10
"""The relative tolerance of solutions that replace those by unknown methods."""
SAFETY, LEAST, MOST = 0.9, 0.2, 10.0
"""The safety factor, and the bounds, of the ratio of consecutive step sizes."""


class Solution(NamedTuple):
    """The part of the result of `scipy.integrate.solve_ivp` that is supported."""

    t: Any
    y: Any
    success: bool = True
    status: int = 0


class Method(NamedTuple):
    """An embedded Runge-Kutta method.

    Attributes
    ----------
    order : of its error estimate, plus 1.
    times, weights : of the stages after the first, and the weights of earlier stages in each.
    step, error : the weights of all stages in the step; and, with the slope at the end, in its
        error.
    dense : for each of these, the coefficients of the powers of the interpolant.
    """

    order: int
    times: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]
    step: tuple[float, ...]
    error: tuple[float, ...]
    dense: tuple[tuple[float, ...], ...]


RK45 = Method(
    5,
    (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0),
    (
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    ),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    (-71 / 57600, 0.0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40),
    (
        (1.0, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432),
        (0.0, 0.0, 0.0, 0.0),
        (0.0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799),
        (0.0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072),
        (0.0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632),
        (0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844),
        (0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423),
    ),
)  # fmt: skip
RK23 = Method(
    3,
    (1 / 2, 3 / 4),
    ((1 / 2,), (0.0, 3 / 4)),
    (2 / 9, 1 / 3, 4 / 9),
    (5 / 72, -1 / 12, -1 / 9, 1 / 8),
    ((1.0, -4 / 3, 5 / 9), (0.0, 1.0, -2 / 3), (0.0, 4 / 3, -8 / 9), (0.0, -1.0, 1.0)),
)


@traced
def constant(t: Tracer, x: Any) -> Any:
    """A number without derivatives."""
    t.solved(ALL, MINIMA)
    return trace_stop_gradient(t, x)


def solve_ivp(
    fun: Any, t_span: Any, y0: Any, method: Any = "RK45", t_eval: Any = None, dense_output: bool = False,
    events: Any = None, vectorized: bool = False, args: Any = None, *, rtol: Any = 1e-3,
    atol: Any = 1e-6, first_step: Any = None, max_step: Any = math.inf,
) -> Any:  # fmt: skip
    if method not in ("RK45", "RK23"):
        raise TypeError("solve_ivp() is supported with the methods RK45 and RK23 only")
    if dense_output or events is not None:
        raise TypeError("solve_ivp() with dense_output or events is not supported: pass t_eval")
    rule = RK45 if method == "RK45" else RK23
    more = () if args is None else tuple(args)
    t, end = t_span[0] * 1.0, t_span[1] * 1.0
    way = 1.0 if end >= t else -1.0
    y = np.asarray(y0) * 1.0
    f = _slope(fun, t, y, more)
    how = fun, end, way, rule, rtol, atol, max_step, more
    size = _first(t, y, f, how) if first_step is None else first_step
    size = constant(size)
    if t_eval is not None:
        times = np.asarray(t_eval) * 1.0
        return Solution(times, _at(t, y, f, size, times, how))
    count = _steps(t, y, f, size, how) + 1
    times, states = np.zeros(count), np.zeros((count, len(y)))
    times[0], states[0] = t, y
    k, rejected = 1, False
    while k < count:
        t, y, f, size, rejected, _ = _tried(t, y, f, size, rejected, how)
        if not rejected:
            times[k], states[k] = t, y
            k = k + 1
    return Solution(times, states.T)


def odeint(
    func: Any, y0: Any, t: Any, args: Any = (), Dfun: Any = None, col_deriv: Any = 0,
    full_output: Any = 0, ml: Any = None, mu: Any = None, rtol: Any = None, atol: Any = None,
    tcrit: Any = None, h0: Any = 0.0, hmax: Any = 0.0, hmin: Any = 0.0, ixpr: Any = 0,
    mxstep: Any = 0, mxhnil: Any = 0, mxordn: Any = 12, mxords: Any = 5, printmessg: Any = 0,
    tfirst: bool = False,
) -> Any:  # fmt: skip
    """The solution by RK45 steps to a smaller tolerance than that of SciPy's solver, whose steps
    differ."""
    if full_output:
        raise TypeError("odeint() with full_output is not supported")
    more = args if isinstance(args, tuple) else (args,)
    slope = func if tfirst else lambda time, y, *rest: func(y, time, *rest)
    times = np.asarray(t) * 1.0
    y = np.atleast_1d(np.asarray(y0)) * 1.0
    way = 1.0 if times[-1] >= times[0] else -1.0
    how = slope, times[-1], way, RK45, FINE, FINE / 100, math.inf, more
    f = _slope(slope, times[0], y, more)
    return _at(times[0], y, f, constant(_first(times[0], y, f, how)), times, how).T


def _steps(t: Any, y: Any, f: Any, size: Any, how: Any) -> Any:
    """The number of steps."""
    _, end, way, *_ = how
    count, rejected = 0, False
    while way * (t - end) < 0:
        t, y, f, size, rejected, _ = _tried(t, y, f, size, rejected, how)
        count = count if rejected else count + 1
    return count


def _at(t: Any, y: Any, f: Any, size: Any, times: Any, how: Any) -> Any:
    """The solution at some times, in the direction of the integration."""
    _, end, way, *_ = how
    states = np.zeros((len(times), len(y)))
    k, rejected = 0, False
    while k < len(times) and times[k] == t:
        states[k] = y
        k = k + 1
    while way * (t - end) < 0 and k < len(times):
        before, start = t, y
        t, y, f, size, rejected, powers = _tried(t, y, f, size, rejected, how)
        while k < len(times) and not rejected and way * (times[k] - t) <= 0:
            states[k] = _between(times[k], before, t, start, powers)
            k = k + 1
    return states.T


def _slope(fun: Any, t: Any, y: Any, more: Any) -> Any:
    return np.asarray(fun(t, y, *more)) * 1.0


def _norm(x: Any) -> Any:
    return math.sqrt(np.mean(x * x))


def _first(t: Any, y: Any, f: Any, how: Any) -> Any:
    """The size of the first step."""
    fun, end, way, rule, rtol, atol, max_step, more = how
    y, f = constant(y), constant(f)
    scale = constant(atol + np.abs(y) * rtol)
    d0, d1 = constant(_norm(y / scale)), constant(_norm(f / scale))
    length = constant(abs(end - t))
    h0 = constant(1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1)
    h0 = constant(min(h0, length))
    slope = constant(_slope(fun, t + h0 * way, y + h0 * way * f, more))
    d2 = constant(_norm((slope - f) / scale) / h0)
    if d1 <= 1e-15 and d2 <= 1e-15:
        h1 = max(1e-6, h0 * 1e-3)
    else:
        h1 = (0.01 / max(d1, d2)) ** (1 / rule.order)
    return constant(min(100 * h0, constant(h1), length, max_step))


def _tried(t: Any, y: Any, f: Any, size: Any, rejected: Any, how: Any) -> Any:
    """A tentative step: its end, the next step size, whether it is rejected, and the interpolant; a
    rejected step changes nothing else."""
    fun, end, way, rule, rtol, atol, max_step, more = how
    least = constant(NEXT * abs(t) + 5e-323)  # ten times the distance to the next number
    size = size if rejected else constant(min(max(size, least), max_step))
    if size < least:
        raise RuntimeError("the step of solve_ivp() became too small")
    after = t + size * way
    after = end if way * (after - end) > 0 else after
    h = after - t
    slopes = _stages(fun, t, y, f, h, rule, more)
    new = y + h * _sum(rule.step, slopes)
    slope = _slope(fun, t + h, new, more)
    scale = atol + np.maximum(np.abs(y), np.abs(new)) * rtol
    error = constant(_norm(h * _sum(rule.error, (*slopes, slope)) / scale))
    factor = constant(MOST if error == 0 else SAFETY * error ** (-1 / rule.order))
    factor = constant(min(1.0 if rejected else MOST, factor) if error < 1 else max(LEAST, factor))
    powers = [h * _sum(weights, (*slopes, slope)) for weights in zip(*rule.dense, strict=True)]
    size = constant(abs(h) * factor)
    if error < 1:
        return after, new, slope, size, False, powers
    return t, y, f, size, True, powers


def _stages(fun: Any, t: Any, y: Any, f: Any, h: Any, rule: Any, more: Any) -> Any:
    slopes = [f]
    for time, weights in zip(rule.times, rule.weights, strict=True):
        slopes.append(_slope(fun, t + time * h, y + h * _sum(weights, slopes), more))
    return slopes


def _sum(weights: Any, parts: Any) -> Any:
    total = weights[0] * parts[0]
    for w, part in zip(weights[1:], parts[1:], strict=True):
        if w:
            total = total + w * part
    return total


def _between(time: Any, before: Any, after: Any, start: Any, powers: Any) -> Any:
    """The interpolant at a time."""
    x = (time - before) / (after - before) if after != before else 0.0
    total, power = start, x
    for part in powers:
        total = total + part * power
        power = power * x
    return total


TABLE = rows("scipy.integrate", 0, odeint, solve_ivp)
"""Like `composed.TABLE`."""
