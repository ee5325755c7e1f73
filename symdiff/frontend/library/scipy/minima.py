"""Systems of equations and minima, as SciPy finds them: plain Python that is traced like a user's.

Before:  scipy.optimize.fsolve(lambda x: [x[0]**2 - a, x[0]*x[1] - b], [1.0, 1.0])
After:   a loop of damped Newton steps, whose result is a constant of the derivatives; then x = x - solve(J, f), twice

A minimum is a root of the gradient, found by Levenberg-Marquardt steps. Derivatives are those of
the implicit function theorem, as in `implicit`. Systems have few unknowns, whose number is known
when traced.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from symdiff import ir
from symdiff.frontend.arrays.selecting import subscript
from symdiff.frontend.library.primitives import rows, stop_gradient, traced
from symdiff.frontend.library.scipy.implicit import MINIMA, ORDERS, STEPS, must_be_formulas
from symdiff.frontend.trace.closures import Closure
from symdiff.frontend.trace.recorder import ROOM
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Real, Refused, SmallArray, SymArray, Unusable, is_number
from symdiff.ir import Expr
from symdiff.ir.functions.marks import DETACHED
from symdiff.passes import differentiate

NOISE = 1e-14
"""The growth of a value by rounding, relative to its size and 1."""
FEW = 3
"""The most unknowns of a system that is solved by Cramer's rule."""
CLOSE, MOST = 1e-10, 200
"""The relative size of steps at which Newton's method ends, and the largest number of steps."""

WIDTH, NEAR_BOUNDS = 1e-5, 1e-4
"""The width of the interval at which a search between bounds ends, and the relative distance from a
bound where the minimum may be at it."""


class Result(NamedTuple):
    """The part of the result of `scipy.optimize.root` and similar functions that is supported."""

    x: Any
    fun: Any
    success: bool = True
    message: str = ""


class Fit(NamedTuple):
    """The part of the result of `scipy.optimize.least_squares` that is supported."""

    x: Any
    cost: Any
    fun: Any
    success: bool = True


# ------------------------------------------------------------------ parts that the tracer computes
def _at_unknowns(t: Tracer, f: Any, x: Any, args: Any) -> tuple[list[Expr], dict[Expr, Expr]]:
    """The values of f as formulas of its unknowns, and the values of the unknowns."""
    x = _one_by_one(t, x)
    if not isinstance(x, SmallArray) or x.items.ndim != 1:
        raise Refused(
            "unknowns whose number is not known when traced", "start from a list: [1.0, 2.0]"
        )
    unknowns = {ir.var(f"unknown {t.tick()}"): _formula(t, v) for v in x.items.flat}
    start = len(t.block)
    found = t.call(np.ravel, (t.call(f, (_array(list(unknowns)), *args), {}),), {})
    if not isinstance(found, SmallArray):
        raise Refused("a system of equations whose number is not known when traced")
    values = [_formula(t, v) for v in found.items.flat]
    must_be_formulas(t, start, values)
    return values, unknowns


def _one_by_one(t: Tracer, value: Any) -> Any:
    """An array of known size in memory, such as a carried one, as its single elements."""
    if not isinstance(value, SymArray) or not all(n.op is ir.CONST for n in value.shape):
        return value
    items = np.empty([int(n.value) for n in value.shape], object)
    for place in np.ndindex(*items.shape):
        items[place] = subscript(t, value, place if len(place) > 1 else place[0])
    return SmallArray(items, value.kind)


def _formula(t: Tracer, value: Any) -> Expr:
    if not is_number(value):
        raise Refused("a function whose solution is sought returns what is no number")
    found = t.wrap(value)
    return found.expr if isinstance(found, Real) else ir.const(found)


def _substituted(
    values: Sequence[Expr], rows: Sequence[Sequence[Expr]], at: dict[Expr, Expr]
) -> tuple[list[Expr], list[list[Expr]]]:
    return list(ir.substitute(values, at)), [list(ir.substitute(row, at)) for row in rows]


def _jacobian(values: Sequence[Expr], unknowns: Iterable[Expr]) -> list[list[Expr]]:
    return [list(differentiate.gradient(v, tuple(unknowns))) for v in values]


def _array(rows: Any) -> Any:
    """A traced array of formulas."""
    items = np.empty(np.shape(rows), object)
    for place in np.ndindex(*items.shape):
        e = rows
        for k in place:
            e = e[k]
        items[place] = Real(e)
    return SmallArray(items, "f")


def _solved(t: Tracer, matrix: list[list[Expr]], values: list[Expr]) -> list[Expr]:
    """The solution of a system: by Cramer's rule, for more than `FEW` unknowns by LAPACK."""
    size = len(values)
    if len(matrix) != size or any(len(row) != size for row in matrix):
        raise Refused("a system that has not as many equations as unknowns")
    if size <= FEW:
        whole = _determinant(matrix)
        parts = (
            [_with(row, k, v) for row, v in zip(matrix, values, strict=True)] for k in range(size)
        )
        return [_determinant(part) / whole for part in parts]
    found = t.call(np.linalg.solve, (_array(matrix), _array(values)), {})
    return [_formula(t, subscript(t, found, k)) for k in range(size)]


def _with(row: list[Expr], k: int, value: Expr) -> list[Expr]:
    return [*row[:k], value, *row[k + 1 :]]


def _determinant(rows: list[list[Expr]]) -> Expr:
    if len(rows) == 1:
        return rows[0][0]
    total: Expr = ir.ZERO
    for k, e in enumerate(rows[0]):
        minor = e * _determinant([[*row[:k], *row[k + 1 :]] for row in rows[1:]])
        total = total + minor if k % 2 == 0 else total - minor
    return total


@traced
def newton_step(t: Tracer, f: Any, x: Any, args: Any) -> Any:
    """f at x, and the step that Newton's method subtracts from x."""
    values, at = _at_unknowns(t, f, x, args)
    now, rows = _substituted(values, _jacobian(values, at), at)
    return _array(now), _array(_solved(t, rows, now))


@traced
def refined(t: Tracer, f: Any, x: Any, args: Any) -> Any:
    """A root of f with the derivatives of the implicit function theorem."""
    t.solved(ORDERS, ROOM)
    values, at = _at_unknowns(t, f, x, args)
    at = {n: DETACHED(e) for n, e in at.items()}
    matrix = _jacobian(values, at)
    for _ in range(STEPS):
        now, rows = _substituted(values, matrix, at)
        steps = _solved(t, rows, now)
        at = {n: a - b for (n, a), b in zip(at.items(), steps, strict=True)}
    return _array(list(at.values()))


@traced
def gradient(t: Tracer, f: Any, x: Any, args: Any) -> Any:
    """The gradient of f."""
    values, at = _at_unknowns(t, f, x, args)
    (slopes,) = _jacobian(values, at)
    return _array(list(ir.substitute(slopes, at)))


@traced
def hessian(t: Tracer, f: Any, x: Any, args: Any) -> Any:
    """The value, the gradient and the second derivatives of f."""
    values, at = _at_unknowns(t, f, x, args)
    (slopes,) = _jacobian(values, at)
    now, rows = _substituted(slopes, _jacobian(slopes, at), at)
    return Real(ir.substitute(values, at)[0]), _array(now), _array(rows)


@traced
def _damped(t: Tracer, curves: Any, slopes: Any, damping: Any) -> Any:
    """The step of the Levenberg-Marquardt method."""
    curves, slopes = _one_by_one(t, curves), _one_by_one(t, slopes)
    rows = [[_formula(t, v) for v in row] for row in curves.items]
    more = _formula(t, damping)
    matrix = [[e + more if j == k else e for k, e in enumerate(row)] for j, row in enumerate(rows)]
    return _array(_solved(t, matrix, [_formula(t, v) for v in slopes.items]))


@traced
def room_of_minima(t: Tracer) -> None:
    """Record that plain Python's minimum may have a larger error than its roots."""
    t.solved(ORDERS, MINIMA)


# ------------------------------------------------------------------------ systems
def _tuple(args: Any) -> Any:
    return args if isinstance(args, tuple) else (args,)


def _root(f: Any, x0: Any, args: Any) -> Any:
    """A root by Newton steps, shortened where they do not reduce the residuals."""
    x = np.atleast_1d(np.asarray(x0)) * 1.0
    count, share, is_open = 0, 1.0, True
    while is_open and count < MOST:
        values, step = newton_step(f, x, args)
        there = np.atleast_1d(np.asarray(f(x - share * step, *args)))
        is_better = np.sum(there * there) <= np.sum(values * values)
        is_open = not (np.max(np.abs(step)) <= CLOSE * (1.0 + np.max(np.abs(x))))
        if is_better or not is_open:
            x = x - share * step
            share = min(1.0, 2.0 * share)
        else:
            share = share / 2.0
        count = count + 1
    if is_open:
        raise RuntimeError("no root was found: start nearer to one")
    return refined(f, x, args)


def fsolve(
    func: Any, x0: Any, args: Any = (), fprime: Any = None, full_output: Any = 0, col_deriv: Any = 0,
    xtol: Any = 1.49012e-8, maxfev: Any = 0, band: Any = None, epsfcn: Any = None,
    factor: Any = 100, diag: Any = None,
) -> Any:  # fmt: skip
    if full_output:
        raise TypeError("fsolve() with full_output is not supported")
    return _root(func, x0, _tuple(args))


def root(
    fun: Any, x0: Any, args: Any = (), method: Any = "hybr", jac: Any = None, tol: Any = None,
    callback: Any = None, options: Any = None,
) -> Any:  # fmt: skip
    if jac is True:
        raise TypeError("root() with jac=True is not supported: return the residuals alone")
    x = _root(fun, x0, _tuple(args))
    return Result(x, fun(x, *_tuple(args)))


# ------------------------------------------------------------------------- minima
def _argmin(f: Any, x0: Any, args: Any) -> Any:
    x = _descended(lambda x: hessian(f, x, args), lambda x: f(x, *args), x0)
    return refined(lambda x, *more: gradient(f, x, more), x, args)


def _descended(parts: Any, f: Any, x0: Any) -> Any:
    """A minimum, by Newton steps whose damping grows where the function does not decrease; `parts`
    gives the function, its gradient and its Hessian."""
    room_of_minima()
    x = np.atleast_1d(np.asarray(x0)) * 1.0
    count, damping, is_open = 0, 0.0, True
    while is_open and count < MOST:
        value, slopes, curves = parts(x)
        step = _damped(curves, slopes, damping)
        there = f(x - step)
        falls = np.sum(step * slopes) >= 0 and there <= value + NOISE * (1.0 + abs(value))
        is_small = np.max(np.abs(step)) <= CLOSE * (1.0 + np.max(np.abs(x)))
        is_open = not (is_small and damping == 0)
        least = 1e-3 * (1.0 + np.max(np.abs(curves)))
        if falls or not is_open:
            x = x - step
            damping = 0.0 if damping <= least else damping / 10.0
        else:
            damping = max(least, 10.0 * damping)
        count = count + 1
    if is_open:
        raise RuntimeError("no minimum was found: start nearer to one")
    return x


def minimize(
    fun: Any, x0: Any, args: Any = (), method: Any = None, jac: Any = None, hess: Any = None,
    hessp: Any = None, bounds: None = None, constraints: tuple[()] = (), tol: Any = None,
    callback: Any = None, options: Any = None,
) -> Any:  # fmt: skip
    if bounds is not None or constraints != () or jac is True:
        raise TypeError("minimize() with bounds, constraints or jac=True is not supported")
    x = _argmin(fun, x0, _tuple(args))
    return Result(x, fun(x, *_tuple(args)))


def minimize_scalar(
    fun: Any, bracket: Any = None, bounds: Any = None, args: Any = (), method: Any = None,
    tol: Any = None, options: Any = None,
) -> Any:  # fmt: skip
    """The minimum, from the least point of the bracket; SciPy begins with 0 and 1."""
    more = _tuple(args)
    if bounds is not None:
        x = _between(fun, bounds[0] * 1.0, bounds[1] * 1.0, more)
        return Result(x, fun(x, *more))
    start, least = 0.0, fun(0.0, *more)
    if bracket is not None:
        start, least = bracket[0] * 1.0, fun(bracket[0] * 1.0, *more)
    for x in (1.0,) if bracket is None else bracket[1:]:
        value = fun(x * 1.0, *more)
        if value < least:
            start, least = x * 1.0, value
    (x,) = _argmin(lambda x, *more: fun(x[0], *more), [start], more)
    return Result(x, fun(x, *more))


def _between(f: Any, low: Any, high: Any, args: Any) -> Any:
    """A minimum between bounds, or the bound at which it is."""
    room_of_minima()

    def slopes(x: Any, *more: Any) -> Any:
        return gradient(lambda x, *more: f(x[0], *more), x, more)

    near = stop_gradient(_by_parabolas(f, low, high, args))
    margin = NEAR_BOUNDS * (1.0 + abs(near))
    if near - low <= margin and slopes(np.array([low]), *args)[0] >= 0:
        return low
    if high - near <= margin and slopes(np.array([high]), *args)[0] <= 0:
        return high
    return refined(slopes, np.array([near]), args)[0]


def _by_parabolas(f: Any, low: Any, high: Any, args: Any) -> Any:
    """A minimum by parabolas through three points and golden sections, as SciPy takes them (Brent,
    Algorithms for Minimization without Derivatives, 1973, chapter 5)."""
    golden = (3.0 - np.sqrt(5.0)) / 2
    x = low + golden * (high - low)
    second = third = x
    value = f(x, *args)
    of_second = of_third = value
    step = before = 0.0
    count, is_open = 1, True
    while is_open:
        middle, least = (low + high) / 2, 1.48e-8 * abs(x) + WIDTH / 3
        p, q = 0.0, 0.0
        if abs(before) > least:
            r = (x - second) * (value - of_third)
            s = (x - third) * (value - of_second)
            p, q = (x - third) * s - (x - second) * r, 2.0 * (s - r)
            p, q = -p if q > 0 else p, abs(q)
        is_parabola = abs(p) < abs(q * before / 2) and p > q * (low - x) and p < q * (high - x)
        if is_parabola:
            before, step = step, p / q
            if x + step - low < 2 * least or high - x - step < 2 * least:
                step = least if middle >= x else -least
        else:
            before = low - x if x >= middle else high - x
            step = golden * before
        size = max(abs(step), least)
        there = x + size if step >= 0 else x - size
        found = f(there, *args)
        if found <= value:
            low, high = (x, high) if there >= x else (low, x)
            third, of_third, second, of_second = second, of_second, x, value
            x, value = there, found
        else:
            low, high = (there, high) if there < x else (low, there)
            if found <= of_second or second == x:
                third, of_third, second, of_second = second, of_second, there, found
            elif found <= of_third or third in (x, second):
                third, of_third = there, found
        least = 1.48e-8 * abs(x) + WIDTH / 3
        count = count + 1
        is_open = abs(x - (low + high) / 2) > 2 * least - (high - low) / 2 and count < 500
    return x


def least_squares(
    fun: Any, x0: Any, jac: Any = "2-point", bounds: None = None, method: Any = "trf",
    ftol: Any = 1e-8, xtol: Any = 1e-8, gtol: Any = 1e-8, x_scale: Any = 1.0, loss: Any = "linear",
    f_scale: Any = 1.0, diff_step: Any = None, tr_solver: Any = None, tr_options: Any = None,
    jac_sparsity: Any = None, max_nfev: Any = None, verbose: Any = 0, args: Any = (),
    kwargs: None = None,
) -> Any:  # fmt: skip
    if bounds is not None or loss != "linear" or kwargs:
        raise TypeError("least_squares() with bounds, a loss or kwargs is not supported")
    x = _argmin(lambda x, *more: np.sum(np.asarray(fun(x, *more)) ** 2) / 2, x0, _tuple(args))
    rest = np.asarray(fun(x, *_tuple(args)))
    return Fit(x, np.sum(rest**2) / 2, rest)


def curve_fit(
    f: Any, xdata: Any, ydata: Any, p0: Any = None, sigma: Any = None, absolute_sigma: bool = False,
    check_finite: Any = None, bounds: None = None, method: Any = None, jac: Any = None, *,
    full_output: Literal[False] = False, maxfev: Any = None, x_scale: Any = None, ftol: Any = None, xtol: Any = None,
    gtol: Any = None, max_nfev: Any = None, loss: Any = "linear", f_scale: Any = None,
) -> Any:  # fmt: skip
    """The fitted parameters, starting at 1 by default, as in SciPy. There may be many data points:
    the model is evaluated at each of them, and checked to give the same for all at once."""
    if bounds is not None or full_output or (sigma is not None and np.ndim(sigma) > 1):
        raise TypeError("curve_fit() with bounds, full_output or covariances is not supported")
    if loss != "linear":
        raise TypeError(
            "curve_fit() with a loss is not supported: minimise its sum with minimize()"
        )
    x, y = np.asarray(xdata) * 1.0, np.asarray(ydata) * 1.0
    if np.ndim(x) != 1 or np.ndim(y) != 1:
        raise TypeError("curve_fit() of points of several numbers is not supported")
    points = x, y, np.ones(len(y)) if sigma is None else np.asarray(sigma) * 1.0
    start = np.ones(parameters_of(f) - 1) if p0 is None else np.asarray(p0) * 1.0
    found = stop_gradient(
        _descended(lambda p: _squares(f, p, points), lambda p: _squares(f, p, points)[0], start)
    )
    whole, each = f(x, *found), np.array([f(v, *found) for v in x])
    if np.max(np.abs(whole - each)) > CLOSE * np.max(np.abs(whole)):
        raise ValueError("the model of curve_fit() is no function of each point by itself")
    for _ in range(STEPS):
        _, slopes, curves = _squares(f, found, points)
        found = found - np.linalg.solve(curves, slopes)
    return found, covariances()


def _squares(f: Any, p: Any, points: Any) -> Any:
    """Half the sum of the squares of the residuals, with its gradient and Hessian."""
    x, y, sigma = points

    def square(p: Any, x: Any, y: Any, sigma: Any) -> Any:
        return ((f(x, *p) - y) / sigma) ** 2 / 2

    value, slopes, curves = 0.0, np.zeros(len(p)), np.zeros((len(p), len(p)))
    for k in range(len(y)):
        more = hessian(square, p, (x[k], y[k], sigma[k]))
        value, slopes, curves = value + more[0], slopes + more[1], curves + more[2]
    return value, slopes, curves


@traced
def parameters_of(t: Tracer, f: Any) -> int:
    """The number of parameters of a function."""
    if isinstance(f, Closure):
        a = f.node.args
        if a.vararg is None:
            return len(a.posonlyargs) + len(a.args)
    elif inspect.isroutine(f):
        kinds = [p.kind for p in inspect.signature(f).parameters.values()]
        if inspect.Parameter.VAR_POSITIONAL not in kinds:
            return len(kinds)
    raise Refused("how many parameters curve_fit() has to find is not known", "give a start: p0")


@traced
def covariances(t: Tracer) -> Any:
    """SciPy's estimate of the covariances of fitted parameters."""
    return Unusable(
        "the covariances of curve_fit()", "use the parameters only, as curve_fit(...)[0]"
    )


def rosen(x: Any) -> Any:
    """Rosenbrock's function."""
    here, there = np.asarray(x)[:-1], np.asarray(x)[1:]
    return np.sum(100.0 * (there - here**2) ** 2 + (1 - here) ** 2, axis=0)


TABLE = rows(
    "scipy.optimize", 0, fsolve, root, minimize, minimize_scalar, least_squares, curve_fit
) | rows("scipy.optimize", 1, rosen)
"""Like `composed.TABLE`."""
