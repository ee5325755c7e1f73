"""Columns that entries of several families share."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from symdiff.ir import ABS, NEG, OPS, Expr, Op, neg


def at_zero(value: int) -> Callable[..., Fraction | None]:
    """Fold f(0) = value."""
    return lambda x: Fraction(value) if x == 0 else None


def odd(op_name: str) -> Callable[[Expr], Expr | None]:
    """f(-x) = -f(x)."""
    return lambda x: neg(OPS[op_name](x.args[0])) if x.op is NEG else None


def even(op_name: str) -> Callable[[Expr], Expr | None]:
    return lambda x: OPS[op_name](x.args[0]) if x.op in (NEG, ABS) else None


def flint() -> Any:
    import flint

    return flint


@functools.cache
def c_function(name: str, arity: int, libm: str | None = None) -> Op:
    """The operation that a C function of FLINT is, for formulas in the column `flint`; `libm`: the same in doubles, for
    numbers that decide."""
    return Op(name, arity, flint=name, libm=libm)


def like_its_argument(name: str) -> Callable[[Any], Any]:
    """The ball of a function with |f(x)/x - 1| <= |x| near 0. Where the exponent of x is a
    long number, FLINT computes few digits of it."""

    def ball(x: Any) -> Any:
        library = flint()
        if x.abs_upper() < library.arb(2) ** (-4 * library.ctx.prec):
            return x * (1 + x * library.arb(0, 1))
        return getattr(x, name)()

    return ball


# ------------------------------------------------------------ functions by their balls
MOST_BITS = 1250
"""The most bits: with more, balls of special functions may take seconds; with these, they
determine every double for arguments up to the largest."""
NEAR = 2.0**-64
"""Where the last argument is smaller, power series are short."""
Edges = Callable[..., float | None]


def by_balls(
    name: str, ball: Callable[..., Any], edges: Edges, series: bool = False
) -> dict[str, Any]:
    """The columns of a function that kernels evaluate in ball arithmetic (see `Op.edges`). It is
    nan where an argument is.

    Parameters
    ----------
    series : whether it has a power series at 0, of which few terms count near 0.
    """

    def all_edges(*args: float) -> float | None:
        return math.nan if any(map(math.isnan, args)) else edges(*args)

    def bounded(*args: Any) -> Any:
        ctx = flint().ctx
        bits = ctx.prec
        if bits <= MOST_BITS or (series and args[-1].abs_upper() < NEAR):
            return ball(*args)
        ctx.prec = MOST_BITS
        try:
            return ball(*args)
        finally:
            ctx.prec = bits

    return {"libm": f"symdiff_ball_{name}", "ball": bounded, "edges": all_edges}


LARGEST_PARAMETER = 300.0
"""Beyond this, a derivative by a parameter is not computed: balls take too long."""


def slope_by(
    place: int, value: Callable[..., Any], complex_value: Callable[..., Any]
) -> Callable[..., Any]:
    """The ball of the derivative of a function by an argument in which it is analytic.

    With |f| <= M in a disc of radius R, the difference quotient over h on both sides is off by at
    most M h**2/(R**3 - R*h**2), and the derivative changes by at most 2*M*r/(R - r)**2 within r
    (Cauchy's bounds of coefficients).

    Parameters
    ----------
    place : which argument.
    value : the function, from balls.
    complex_value : the same with a complex ball in that place.
    """

    def ball(*args: Any) -> Any:
        library = flint()
        arb, ctx = library.arb, library.ctx
        at, within, before = args[place].mid(), args[place].rad(), ctx.prec
        bits = min(before, MOST_BITS // 3 - 20)
        scale = arb(1) if at.is_zero() or abs(at) > 1 else abs(at).mid()
        ctx.prec = 3 * bits + 60
        try:
            radius = (scale * arb(2) ** -(bits // 4 + 4)).mid()
            step = (radius * arb(2) ** -bits).mid()
            far = any(not abs(a.mid()) <= LARGEST_PARAMETER for a in (args[place], *args[:-1]))
            if far or not within < radius / 4:
                return arb("nan")

            def replaced(new: Any) -> list[Any]:
                return [new if k == place else a for k, a in enumerate(args)]

            disc = library.acb(arb(at, radius), arb(0, radius))
            most = abs(complex_value(*replaced(disc))).upper()
            above, below = value(*replaced(at + step)), value(*replaced(at - step))
            off = most * step**2 / (radius**3 - radius * step**2)
            off += 2 * most * within / (radius - within) ** 2
            return (above - below) / (2 * step) + arb(0, 1) * off
        finally:
            ctx.prec = before

    return ball


def integral(
    integrand: Callable[[Any, bool], Any], low: Any, high: Any, scale: Any, *given: Any
) -> Any:
    """The ball of an integral over an interval.

    Parameters
    ----------
    integrand : a function of a complex ball, and of whether it must be analytic there.
    scale : the rough size of the result, which gets all digits of a number of this size.
    given : balls on which the integrand or the interval depends: the result has no more digits.
    """
    library = flint()
    bits, radii = library.ctx.prec, sum((v.rad() for v in given), library.arb(0))
    if not radii < 1 or not all(v.is_finite() for v in (scale, *given)):
        return library.arb("nan")
    small = (library.arb(2) ** -bits + radii).mid()
    return library.acb.integral(
        integrand, low, high, rel_tol=small, abs_tol=abs(scale).mid() * small, eval_limit=100 * bits
    ).real


HIGHEST = 60
"""The order of the last derivative that is computed."""


def order_of(n: Any) -> int | None:
    """The order of a derivative that a ball is; None if it is not one."""
    found = n.unique_fmpz()
    return int(found) if n.is_exact() and found is not None and 0 <= found <= HIGHEST else None


def no_order(n: float) -> bool:
    """Whether a double is not the order of a derivative."""
    return not (0 <= n <= HIGHEST and n == int(n))


def unknown(name: str, arity: int, text: str) -> Op:
    """A derivative without a formula: code that needs its value is refused with this text."""

    def refuse(*args: Expr) -> Expr:
        raise NotImplementedError(text)

    made: Op = Op(
        name, arity, partials=lambda *args: (made(*args),) * arity, expand=refuse,
        sympy=lambda sp, *args: sp.Function(name)(*args), ball=lambda *args: flint().arb("nan"),
    )  # fmt: skip
    UNKNOWN[made] = text
    return made


UNKNOWN: dict[Op, str] = {}
"""Derivatives that have no formula, and how they are refused."""
