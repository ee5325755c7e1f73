"""Roots and integrals of functions, as SciPy finds them: plain Python that is traced like a user's.

Before:  scipy.optimize.brentq(lambda r: cos(r) - a*r, 0, 1)
After:   a loop of bisections, whose result is a constant of the derivatives; then r = r - f(r)/f'(r), twice

Steps from a root change none of its digits, but by the implicit function theorem the first step has
the first derivatives, -f_a/f', and the second step those of second and third order.

An integral is a sum of Gauss-Legendre rules on panels of equal width. Their number is a constant of
the derivatives, which are sums of the same form: Leibniz' rule, where the nodes depend on the ends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from symdiff import ir
from symdiff.frontend.library.primitives import rows, traced
from symdiff.frontend.trace.recorder import ROOM
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Real, Refused, Unusable, is_number
from symdiff.ir import VAR, Expr, loop_program
from symdiff.ir.functions.marks import DETACHED
from symdiff.passes import differentiate

STEPS = 2
"""Newton steps from a root; each doubles the number of right derivatives."""
ORDERS, ALL = 2**STEPS - 1, 99
"""The orders of correct derivatives: of roots, of integrals."""

MINIMA = 2.0**-10
"""The error bound of minima and solutions of differential equations, relative to their size and 1."""
CONTRACTS = Fraction(1, 4)
"""The bound on f*f''/f'**2 at a root: 1 - 1/m for multiplicity m, 2 at a simple pole."""

ORDER, PANELS = 16, 1024
"""Nodes of a panel, and the most panels."""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(ORDER) / np.array([[2.0], [2.0]])
NODES = NODES + 0.5
"""The nodes and weights on the interval from 0 to 1."""
CONVERGED = 1e-13
"""The largest change of an integral by twice as many panels, relative to the norm of the
integrand."""


class Root(NamedTuple):
    """The part of the result of `scipy.optimize.root_scalar` that is supported."""

    root: Any
    converged: bool = True


_BRACKETS = ("brentq", "brenth", "bisect", "ridder", "toms748")


@traced
def newton_steps(t: Tracer, f: Any, x: Any, args: Any) -> Any:
    """Two Newton steps from a root."""
    if not isinstance(x, Real):
        raise Refused(
            "a root that depends on no parameter", "compute it before the function is called"
        )
    t.solved(ORDERS, ROOM)
    start = len(t.block)
    value = t.call(f, (x, *args), {})
    if not is_number(value):
        raise Refused("a function whose root is sought returns what is no number")
    root, residual = x.expr, t.wrap(value)
    if not isinstance(residual, Real):
        raise Refused("the root of a function that does not depend on it")
    must_be_formulas(t, start, (residual.expr,))
    if root.op is not VAR:
        raise _of_a_loop()
    (slope,) = differentiate.gradient(residual.expr, (root,))
    (curve,) = differentiate.gradient(slope, (root,))
    found = DETACHED(root)
    contraction = residual.expr * curve / (slope * slope)
    (contraction,) = ir.substitute((contraction,), {root: found})
    t.require(
        ir.lt(ir.abs_(contraction), ir.const(CONTRACTS)), "value",
        "an equation is singular at its root, or has none: its derivative is zero or infinite there",
    )  # fmt: skip
    for _ in range(STEPS):
        f_there, slope_there = ir.substitute((residual.expr, slope), {root: found})
        found = found - f_there / slope_there
    return Real(found)


def must_be_formulas(t: Tracer, start: int, values: Sequence[Expr]) -> None:
    """Refuse values that depend on loops which were traced from a place of the block on."""
    statements = loop_program.walk(tuple(t.block[start:]))
    made = {n for s in statements for n, _ in loop_program.defined(s)}
    if made & {loop_program.name_of(e) for e in loop_program.leaves(values)}:
        raise _of_a_loop()


def _of_a_loop() -> Refused:
    return Refused(
        "the root of a function with a loop that stays one",
        "write the Newton steps in the function, with the derivative by hand",
    )


def brentq(
    f: Any, a: Any, b: Any, args: Any = (), xtol: Any = 2e-12, rtol: Any = 8.881784197001252e-16,
    maxiter: Any = 100, full_output: bool = False, disp: bool = True,
) -> Any:  # fmt: skip
    """A root by bisection; Newton steps give the remaining digits."""
    if xtol <= 0 or rtol < 8.881784197001252e-16:
        raise ValueError("the tolerances of a root are too small")
    args = args if isinstance(args, tuple) else (args,)
    low, high = a * 1.0, b * 1.0
    first, last = f(low, *args), f(high, *args)
    if not ((first <= 0 and last >= 0) or (first >= 0 and last <= 0)):
        raise ValueError("f(a) and f(b) must have different signs")
    falls = first > last
    middle = (low + high) / 2
    while abs(high - low) > xtol + rtol * abs(middle):
        value = f(middle, *args)
        if (value > 0) == falls:
            low = middle
        else:
            high = middle
        middle = (low + high) / 2
    found = newton_steps(f, middle, args)
    return (found, Root(found)) if full_output else found


def _by_secants(
    f: Any, x0: Any, x1: Any, args: Any, tol: Any, rtol: Any, maxiter: Any
) -> Any:  # fmt: skip
    """The steps of SciPy's secant method, with its second point."""
    a = x0
    b = x0 * (1 + 1e-4) + (1e-4 if x0 * (1 + 1e-4) >= 0 else -1e-4) if x1 is None else x1 * 1.0
    u, v = f(a, *args), f(b, *args)
    if abs(v) < abs(u):
        a, b, u, v = b, a, v, u
    gap, count = math.inf, 0
    while gap > tol + rtol * abs(b) and count < maxiter:
        if v == u:
            c = (a + b) / 2
        elif abs(v) > abs(u):
            c = (b * (-u / v) + a) / (1 - u / v)
        else:
            c = (a * (-v / u) + b) / (1 - v / u)
        gap = 0.0 if v == u else abs(c - b)
        a, u = b, v
        b = c
        v = f(b, *args)
        count = count + 1
    if gap > tol + rtol * abs(b):
        raise RuntimeError("newton() did not converge")
    return b


def newton(
    func: Any, x0: Any, fprime: Any = None, args: Any = (), tol: Any = 1.48e-8, maxiter: Any = 50,
    fprime2: Any = None, x1: Any = None, rtol: Any = 0.0, full_output: bool = False,
    disp: bool = True,
) -> Any:  # fmt: skip
    """Newton's method with the given derivative; without one secants, as in SciPy."""
    if fprime2 is not None:
        raise TypeError("newton() needs no fprime2; or use brentq() with a bracket")
    args = tuple(args)
    if fprime is None:
        found = _by_secants(func, x0 * 1.0, x1, args, tol, rtol, maxiter)
        found = newton_steps(func, found, args)
        return (found, Root(found)) if full_output else found
    found, step, count = x0 * 1.0, math.inf, 0
    while abs(step) > tol + rtol * abs(found) and count < maxiter:
        step = func(found, *args) / fprime(found, *args)
        found = found - step
        count = count + 1
    if abs(step) > tol + rtol * abs(found):
        raise RuntimeError("newton() did not converge")
    found = newton_steps(func, found, args)
    return (found, Root(found)) if full_output else found


def root_scalar(
    f: Any, args: Any = (), method: Any = None, bracket: Any = None, fprime: Any = None,
    fprime2: Any = None, x0: Any = None, x1: Any = None, xtol: Any = None, rtol: Any = None,
    maxiter: Any = None, options: Any = None,
) -> Any:  # fmt: skip
    """By the bracket if there is one, else by Newton's method or secants."""
    known = (None, *(_BRACKETS if bracket is not None else ()), "newton", "secant")
    if method not in known or fprime is True or (method == "newton" and fprime is None):
        raise TypeError(
            f"root_scalar() by {method} is not supported: give a bracket, or fprime as a function"
        )
    if bracket is not None and method not in ("newton", "secant"):
        return Root(brentq(f, bracket[0], bracket[1], args))
    args = args if isinstance(args, tuple) else (args,)
    return Root(newton(f, x0, None if method == "secant" else fprime, args, x1=x1))


# ----------------------------------------------------------------------- integrals
def quad(
    func: Any, a: Any, b: Any, args: Any = (), full_output: Any = 0, epsabs: Any = 1.49e-8,
    epsrel: Any = 1.49e-8, limit: Any = 50, points: Any = None,
) -> Any:  # fmt: skip
    """An integral by more and more panels, until their number makes no difference: derivatives are
    as accurate only where the integrand is smooth, so `epsabs` cannot relax the criterion. It is
    the sum of those between `points`, which move with the parameters that they depend on."""
    args = args if isinstance(args, tuple) else (args,)
    ends = [a, b]
    if points is not None:
        if _infinite(a) or _infinite(b):
            raise ValueError("an integral to infinity has no points; split it")
        inner = np.sort(np.minimum(np.maximum(np.array(points), min(a, b)), max(a, b)))
        inner = inner if a <= b else inner[::-1]
        ends = [a, *[inner[k] for k in range(len(points))], b]
    if full_output:
        raise TypeError("quad() with full_output is not supported")
    count, coarse, before = 1, 0.0, 0.0
    is_open = True
    while is_open and count < PANELS:
        count = 2 * count
        fine, square = _panels(func, ends, args, count)
        # parts may cancel by symmetry before convergence, but squares do not; for an integrand
        # that is 0 everywhere, whose derivative may be anything, all panels are used
        is_close = abs(fine - coarse) <= CONVERGED * math.sqrt(square)
        is_open = not (is_close and abs(square - before) <= 100 * CONVERGED * square and square > 0)
        coarse, before = fine, square
    if is_open and before != 0:
        raise ValueError(
            "an integral does not converge: split it at kinks by points=, or transform it"
        )
    found, _ = _panels(func, ends, args, 2 * count)  # as derivatives may need more
    return approximate(found)


def _panels(f: Any, ends: Any, args: Any, count: Any) -> Any:
    """The integral by so many panels between ends, and that of the square of the integrand."""
    total, square = 0.0, 0.0
    for k in range(len(ends) - 1):
        part, of_square = _piece(f, ends[k], ends[k + 1], args, count)
        total, square = total + part, square + of_square
    return total, square


def _piece(f: Any, a: Any, b: Any, args: Any, count: Any) -> Any:
    total, square = 0.0, 0.0
    s, weight = _node(0, count)
    for i in range(ORDER * count):
        part = weight * _part(f, a, b, args, s)
        total, square = total + part, square + part * part / WEIGHTS[i % ORDER] * count
        s, weight = _node(i + 1, count)  # carried, so that the integrand sees a number
    return total, square


def _node(i: Any, count: Any) -> Any:
    """A node, from 0 to 1, and its weight: of a rule on panels in t, whose first three derivatives
    by t vanish at the ends, so that those of the integrand may be infinite there."""
    t = (i // ORDER + NODES[i % ORDER]) / count
    s = t**4 * (35.0 - t * (84.0 - t * (70.0 - 20.0 * t)))
    return s, 140.0 * (t * (1.0 - t)) ** 3 * WEIGHTS[i % ORDER] / count


def _part(f: Any, a: Any, b: Any, args: Any, s: Any) -> Any:
    """The integrand over s from 0 to 1."""
    below, above = _infinite(a), _infinite(b)
    if below * above == 1:
        return 0.0
    if below and above:
        far = (1.0 - s) / s
        return above * (f(far, *args) + f(-far, *args)) / (s * s)
    if above:
        return above * f(a + above * (1.0 - s) / s, *args) / (s * s)
    if below:
        return -below * f(b + below * (1.0 - s) / s, *args) / (s * s)
    return (b - a) * f(a + (b - a) * s, *args)


def _infinite(x: Any) -> int:
    """1 for inf, -1 for -inf, else 0; for a parameter 0."""
    return 0 if not isinstance(x, float) else 1 if x == math.inf else -1 if x == -math.inf else 0


@traced
def approximate(t: Tracer, x: Any) -> Any:
    """An integral that plain Python computes to a tolerance, with its own error estimate."""
    t.solved(ALL, ROOM)
    return x, Unusable("the error that quad() estimates", "use the integral only, as quad(...)[0]")


TABLE = rows("scipy.integrate", 0, quad) | rows(
    "scipy.optimize", 0, newton, root_scalar, **dict.fromkeys(("brentq", "brenth", "bisect", "ridder"), brentq)
)  # fmt: skip
"""Like `composed.TABLE`."""
