"""Ball arithmetic (python-flint) for the core operations, and its precision.

An unknown ball is `nan`, and an unknown condition is None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.ir import Op
from symdiff.ir.functions import PINNED
from symdiff.ir.plain import BALLS, negated_ball
from symdiff.process.locks import Lock

Value = Any
"""A ball (arb), or for a condition True, False or None (unknown)."""

UNKNOWN = arb("nan")
ROOT_LIMIT = 64
"""Powers with larger denominators are evaluated through exp and log."""

_lock = Lock(whole=True)
"""Guards the precision of balls, which all threads share."""


class Undecided(ArithmeticError):  # noqa: N818
    """The precision does not suffice to decide a condition or a zero."""


@contextmanager
def exclusive(prec: int | None = None) -> Iterator[None]:
    """Own flint's global precision: one thread at a time, restored at the end."""
    with _lock:
        saved = ctx.prec
        try:
            if prec is not None:
                ctx.prec = prec
            yield
        finally:
            ctx.prec = saved


# ------------------------------------------------------------- balls of the core
def _less(a: Value, b: Value) -> bool | None:
    return True if a < b else False if a >= b else None


def _at_most(a: Value, b: Value) -> bool | None:
    return True if a <= b else False if a > b else None


def _equal(a: Value, b: Value) -> bool | None:
    return True if a == b else False if a != b else None


def _not(a: bool | None) -> bool | None:
    return None if a is None else not a


def _and(a: bool | None, b: bool | None) -> bool | None:
    if a is False or b is False:
        return False
    return True if a and b else None


def _or(a: bool | None, b: bool | None) -> bool | None:
    if a or b:
        return True
    return False if a is False and b is False else None


def _where(condition: bool | None, a: Value, b: Value) -> Value:
    return a if condition else b if condition is False else UNKNOWN


def _pinned(h: Value, value: Value, closed: Value) -> Value:
    return value if h.is_zero() else UNKNOWN if h.contains(0) else closed


def _power(a: Value, b: Value) -> Value:
    """a**b over the reals, for an exponent that is not a constant."""
    if b.is_exact() and b.is_integer():
        n = int(b.unique_fmpz())
        if abs(n) < 1 << 20:
            return a**n
        if a.is_zero():
            return arb(0) if n > 0 else UNKNOWN
        size = (b * abs(a).log()).exp()
        return size if n % 2 == 0 else a.sgn() * size
    if a > 0:
        return (b * a.log()).exp()
    return arb(0) if a.is_zero() and b > 0 else UNKNOWN


def constant_power(q: Fraction) -> Callable[[Value], Value]:
    """x -> x**q."""
    if q.denominator == 1:
        n = q.numerator
        if abs(n) < 1 << 20:
            return lambda x: x**n
        return lambda x: _power(x, arb(n))
    if q == Fraction(1, 2):
        return lambda x: x.sqrt()

    def general(x: Value) -> Value:
        if x.is_zero():
            return arb(0) if q > 0 else UNKNOWN
        if not x > 0:
            return UNKNOWN
        if q.denominator <= ROOT_LIMIT and abs(q.numerator) < 1 << 20:
            return x.root(q.denominator) ** q.numerator
        return (arb(fmpq(q.numerator, q.denominator)) * x.log()).exp()

    return general


CORE: Mapping[Op, Callable[..., Value]] = {
    **BALLS, ir.NEG: negated_ball, ir.POW: _power, ir.LT: _less, ir.LE: _at_most, ir.EQ: _equal,
    ir.NOT: _not, ir.AND: _and, ir.OR: _or, ir.WHERE: _where, PINNED: _pinned,
}  # fmt: skip


def as_doubles(op: Op) -> Callable[[Value, Value], bool | None]:
    """A comparison with an infinity: numbers that round to infinity equal it."""
    compare = CORE[op]

    def double(a: Value) -> Value:
        if not a.is_finite():
            return a
        most = arb(2) ** 1024 - arb(2) ** 970
        size = abs(a)
        return a if size < most else UNKNOWN if not size >= most else a.sgn() * arb("inf")

    return lambda a, b: compare(double(a), double(b))


def ball_of(op: Op) -> Callable[..., Value]:
    """The evaluation of an operation on balls."""
    function = CORE.get(op) or op.ball
    if function is None:
        raise UnsupportedError(f"{op.name} cannot be evaluated in ball arithmetic")
    return function


def constant_ball(value: Fraction | float) -> Value:
    """A ball around an exact constant, at the current precision."""
    if isinstance(value, float):
        return arb(value)
    if value.denominator == 1:
        return arb(value.numerator)
    return arb(fmpq(value.numerator, value.denominator))
