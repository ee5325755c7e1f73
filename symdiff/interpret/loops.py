"""The slow reference for programs with arrays and loops: run them statement by statement.

`run` executes a `LoopProgram` program with doubles, or with numbers of any precision
(the midpoints of python-flint's balls), which the tests take as the truth for the
frontend, the derivatives and the compiled code.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from flint import arb

from symdiff import ir
from symdiff.errors import SymdiffError, UnsupportedError
from symdiff.interpret.ball_values import value_of
from symdiff.interpret.balls import Undecided, ball_of, constant_ball, exclusive
from symdiff.ir import Expr, Op, rational
from symdiff.ir.functions import LARGER, SMALLER
from symdiff.ir.linalg import routines
from symdiff.ir.loop_program import (
    ARRAY,
    FLOORDIV,
    INDEX,
    INTEGER,
    LOAD,
    MOD,
    REAL_OF,
    Block,
    Build,
    Call,
    Check,
    Loop,
    LoopProgram,
    Statement,
    Type,
    Update,
    name_of,
)
from symdiff.ir.plain import DOUBLES, as_ball, decides_plainly, in_doubles

Number = Any
"""An int for integers, a bool for conditions, otherwise a real."""


class Numbers(ABC):
    """An arithmetic that programs are run with."""

    bits: int

    @abstractmethod
    def real(self, value: Any) -> Number:
        """A number as a real of this arithmetic."""

    @abstractmethod
    def apply(self, op: Op, args: Sequence[Number]) -> Number:
        """An operation on reals, or on conditions."""

    def plainly(self, value: Number) -> Number:
        """The value of a named number in decisions; a number in doubles is itself."""
        return value

    def half_power(self, x: Number, n: int) -> Number | None:
        """The square root to a power; None if `apply` handles it."""
        return None

    def choose(self, condition: Any, yes: Any, no: Any) -> Any:
        """One of two values."""
        return yes if condition else no

    def decided(self, condition: Any) -> bool:
        """A condition that control flow depends on."""
        return bool(condition)

    def is_open(self, condition: Any) -> bool:
        """Whether a condition that is decided may fail near a point."""
        return False

    def given(self, values: dict[str, Any], condition: Any, holds: bool) -> dict[str, Any]:
        """Values where a condition holds, or does not."""
        return values

    def holds(self, condition: Any) -> bool:
        """A condition that is checked."""
        return bool(condition)

    def whole(self, value: Any) -> int:
        """A value that is an integer."""
        return int(value)

    def place(self, value: Any) -> int:
        """An integer that is a count or an index."""
        return int(value)

    def element(self, a: Any, indices: Sequence[Any]) -> Number:
        """An element of an array, the nearest where an index is out of its range."""
        if 0 in a.shape:
            return self.real(math.nan) if a.dtype == object else 0
        where = map(self.place, indices)
        value = a[tuple(min(max(i, 0), n - 1) for i, n in zip(where, a.shape, strict=True))]
        return value if a.dtype == object else int(value)

    def most(self, value: Any) -> int:
        """An upper bound of a count."""
        return self.place(value)

    def value(self, e: Expr, scope: Mapping[str, Any]) -> Number:
        """The value of an expression of a program; the scope holds the values of names."""
        return evaluate(e, self, scope)

    def make_room(self, count: int) -> None:
        """Refuse to compute too many elements of an array; any number of them here."""
        del count

    def routine(self, name: str, args: Sequence[Any]) -> Sequence[Any]:
        """The results of a routine of a library."""
        found: Sequence[Any] = routines.ROUTINES[name].exact(args, self)
        return found


class Precise(Numbers):
    """Arithmetic with a number of bits: the midpoints of balls."""

    def __init__(self, bits: int = 300) -> None:
        self.bits = bits

    def real(self, value: Any) -> Number:
        """A number as a real of this arithmetic."""
        if isinstance(value, arb):
            return value
        if isinstance(value, Fraction):
            return self.kept(constant_ball(value))
        return (
            arb(int(value)) if isinstance(value, bool | int | np.integer) else as_ball(float(value))
        )

    def apply(self, op: Op, args: Sequence[Number]) -> Number:
        """An operation on reals, or on conditions."""
        if op.ball is None and op.expand is not None:
            return evaluate(op.expand(*_names(len(args))), self, _named(args))
        if op in (LARGER, SMALLER) and args[1].is_nan():
            return args[0]
        value = ball_of(op)(*args)
        return self.kept(value) if isinstance(value, arb) else bool(value)

    def half_power(self, x: Number, n: int) -> Number | None:
        return self.kept(x.sqrt() ** n)

    def kept(self, value: Any) -> Number:
        """The part of a ball that computations use."""
        return value if value.is_exact() else value.mid()


class Proven(Precise):
    """Arithmetic of balls that are not rounded to midpoints: results are proven.

    Parameters
    ----------
    most : the most operations.
    """

    def __init__(self, most: int, bits: int = 300) -> None:
        super().__init__(bits)
        self.left = most

    def kept(self, value: Any) -> Number:
        """The ball itself."""
        return value

    def apply(self, op: Op, args: Sequence[Number]) -> Number:
        """An operation.

        Raises
        ------
        Undecided : if a condition depends on what a ball does not decide, or the budget is spent.
        """
        self.left -= 1
        if op.ball is None and op.expand is not None:
            return super().apply(op, args)
        value = ball_of(op)(*args)
        if value is None or self.left < 0:
            raise Undecided(f"{self.bits} bits do not decide {op.name}")
        return value if isinstance(value, arb) else bool(value)

    def routine(self, name: str, args: Sequence[Any]) -> Sequence[Any]:
        """Routines that put known numbers in order."""
        self.left -= sum(np.size(a) for a in args)
        exact = all(
            isinstance(x, int | np.integer) or x.is_exact() for a in args for x in np.ravel(a)
        )
        if name not in ORDERS or not exact or self.left < 0:
            raise Undecided(f"{name} is not proven")
        return super().routine(name, args)


ORDERS = ("argsort", "argsort_rows", "sort")
"""Routines that only compare."""


class Doubles(Numbers):
    """Arithmetic of NumPy's doubles."""

    bits = 53

    def real(self, value: Any) -> Number:
        """A number as a double."""
        try:
            return np.float64(float(value))
        except OverflowError:
            return np.float64(math.inf if value > 0 else -math.inf)

    def apply(self, op: Op, args: Sequence[Number]) -> Number:
        """An operation on reals, or on conditions."""
        if op in DOUBLE:
            return DOUBLE[op](*args)
        if op.edges is not None:
            return np.float64(value_of(op, tuple(map(float, args))))
        if op.python is None and op.expand is not None:
            return evaluate(_expansion(op, args), self, _named(args))
        return np.float64(in_doubles(op)(*args))

    def half_power(self, x: Number, n: int) -> Number | None:
        return np.sqrt(x) ** n


DOUBLE: dict[Op, Callable[..., Any]] = {
    **DOUBLES, ir.NEG: lambda a: -a,
    ir.LT: lambda a, b: bool(a < b), ir.LE: lambda a, b: bool(a <= b),
    ir.EQ: lambda a, b: bool(a == b),
    ir.NOT: lambda a: not a, ir.AND: lambda a, b: a and b, ir.OR: lambda a, b: a or b,
}  # fmt: skip
_WHOLE: dict[Op, Callable[..., Any]] = {
    ir.ADD: lambda a, b: a + b, ir.SUB: lambda a, b: a - b, ir.MUL: lambda a, b: a * b,
    ir.NEG: lambda a: -a, ir.ABS: abs, ir.POW: lambda a, b: a**b,
    FLOORDIV: lambda a, b: a // b if b else 0, MOD: lambda a, b: a % b if b else 0,
    ir.LT: lambda a, b: a < b, ir.LE: lambda a, b: a <= b, ir.EQ: lambda a, b: a == b,
}  # fmt: skip
"""Operations whose results are integers if their arguments are."""


def _names(count: int) -> list[Expr]:
    return [ir.var(f"x{i}") for i in range(count)]


def _expansion(op: Op, args: Sequence[Number]) -> Expr:
    """The expansion of an operation of names; an order, which comes first, may have to be a number."""
    names = _names(len(args))
    assert op.expand is not None
    try:
        return op.expand(*names)
    except NotImplementedError:
        return op.expand(ir.const(Fraction(float(args[0]))), *names[1:])


def _named(args: Sequence[Number]) -> dict[str, Number]:
    return {f"x{i}": a for i, a in enumerate(args)}


# ------------------------------------------------------------------ expressions
def evaluate(e: Expr, numbers: Numbers, scope: Mapping[str, Any]) -> Number:
    """The value of a scalar expression; the scope holds the values of names."""
    return evaluated((e,), numbers, scope)[e]


def evaluated(
    roots: tuple[Expr, ...], numbers: Numbers, scope: Mapping[str, Any]
) -> dict[Expr, Number]:
    """The values of scalar expressions and of all their nodes."""
    values: dict[Expr, Any] = {}
    for n in _order(roots):
        values[n] = _node(n, [values[a] for a in n.args], numbers, scope)
    return values


@lru_cache(maxsize=4096)
def _order(roots: tuple[Expr, ...]) -> list[Expr]:
    return ir.topological(roots)


def _node(n: Expr, args: list[Any], numbers: Numbers, scope: Mapping[str, Any]) -> Any:
    op = n.op
    if op is ir.CONST:
        whole = isinstance(n.value, Fraction) and n.value.denominator == 1
        return int(n.value) if whole else numbers.real(n.value)
    if op is ir.BOOL:
        return n.value
    if op is ir.VAR or op is INDEX or op is ARRAY:
        return scope[name_of(n)]
    if op is LOAD:
        return numbers.element(args[0], args[1:])
    if op is ir.WHERE:
        return numbers.choose(*args)
    if op is REAL_OF:
        return numbers.real(args[0])
    if (
        all(isinstance(a, int) for a in args)
        and op in _WHOLE
        and not (op is ir.POW and args[1] < 0)
    ):
        return _WHOLE[op](*args)
    if op not in (ir.NOT, ir.AND, ir.OR):
        args = [numbers.real(a) for a in args]
    if op in ir.COMPARISONS and decides_plainly(n):
        args = [numbers.plainly(a) for a in args]
    if op is ir.POW and (q := rational(n.args[1])) is not None and q.denominator == 2:
        found = numbers.half_power(args[0], q.numerator)
        return numbers.apply(op, args) if found is None else found
    return numbers.apply(op, args)


# -------------------------------------------------------------------- statements
class _Run:
    """The defined names, and the tapes."""

    def __init__(self, numbers: Numbers, data: Mapping[str, Any]) -> None:
        self.numbers = numbers
        self.scope: dict[str, Any] = dict(data)
        self.tapes: dict[str, list[Any]] = {}

    def value(self, e: Expr) -> Any:
        return self.numbers.value(e, self.scope)

    def typed(self, e: Expr, t: Type) -> Any:
        """The value converted to a type."""
        return self.value(e) if t.shape else self.element(self.value(e), t.kind)

    def element(self, value: Any, kind: str) -> Any:
        return self.numbers.real(value) if kind == "f" else self.numbers.whole(value)

    def block(self, block: Block) -> None:
        for s in block:
            self.statement(s)

    def statement(self, s: Statement) -> None:
        match s:
            case Build():
                self.build(s)
            case Update():
                self.update(s)
            case Loop():
                self.loop(s)
            case Call():
                args = [self.value(a) for a in s.args]
                results = self.numbers.routine(s.routine, args)
                for (name, _), value in zip(s.results, results, strict=True):
                    self.scope[name] = value
            case Check():
                if s.error != "overflow" and not self.numbers.holds(self.value(s.condition)):
                    error = IndexError if s.error == "index" else ValueError
                    raise error(s.message)

    def build(self, s: Build) -> None:
        shape = tuple(max(self.numbers.place(self.value(n)), 0) for n in s.type.shape)
        self.numbers.make_room(math.prod(shape))
        result = np.empty(shape, np.int64 if s.type.kind == "i" else object)
        for place in np.ndindex(*shape):
            self.scope.update(zip(s.indices, place, strict=True))
            self.block(s.body)
            value = self.element(self.value(s.value), s.type.kind)
            result[place] = self.numbers.place(value) if s.type.kind == "i" else value
        if s.type.kind == "b" and not any(isinstance(v, Expr) for v in result.flat):
            result = result.astype(np.int64)
        self.scope[s.name] = result

    def update(self, s: Update) -> None:
        result = self.scope[s.source]
        guard = self.value(s.guard)
        if isinstance(guard, Expr) or guard:
            result = result.copy()
            place = tuple(self.numbers.place(self.value(i)) for i in s.index)
            if s.add:  # as for loads: this is their adjoint
                place = tuple(
                    max(min(i, n - 1), 0) for i, n in zip(place, result.shape, strict=True)
                )
            if not all(0 <= i < n for i, n in zip(place, result.shape, strict=True)):
                raise SymdiffError(f"{s.name}{list(place)} is outside of {result.shape}")
            value = self.element(self.value(s.value), s.type.kind)
            if s.type.kind != "f":
                value = self.numbers.place(value)
            if s.add:
                args = [result[place], value]
                value = self.numbers.apply(ir.ADD, args) if s.type.kind == "f" else sum(args)
            result[place] = self.numbers.choose(guard, value, result[place])
        self.scope[s.name] = result

    def loop(self, s: Loop) -> None:
        count, given = math.inf, None if s.count is None else self.value(s.count)
        if given is not None:
            count = max(self.numbers.most(given), 0)
        now = {c.name: self.typed(c.init, c.type) for c in s.carried}
        self.scope.update(now)
        trips, exits = 0, list[tuple[Any, dict[str, Any]]]()
        while trips < count:
            condition = self.value(s.condition)
            if not self.numbers.decided(condition):
                now = self.numbers.given(now, condition, False)
                now |= {
                    c.name: self.element(now[c.name], c.type.kind)
                    for c in s.carried
                    if not c.type.shape
                }
                break
            if self.numbers.is_open(condition):
                exits.append((condition, {s.trips: trips, **now}))
                whole = {c.name: now[c.name] for c in s.carried if c.type == INTEGER}
                now |= self.numbers.given(whole, condition, True)
                self.scope.update(now)
            self.scope[s.index] = int(count) - 1 - trips if s.reverse else trips
            for r in s.restores:
                self.scope[r.name] = self.tapes[r.tape].pop()
            self.block(s.body)
            for v in s.saves:
                self.tapes.setdefault(v.tape, []).append(self.typed(v.value, v.type))
            before, now = now, {c.name: self.typed(c.next, c.type) for c in s.carried}
            if isinstance(given, Expr):
                goes_on = self.numbers.apply(ir.LT, [self.numbers.real(trips), given])
                now = {n: self.numbers.choose(goes_on, v, before[n]) for n, v in now.items()}
            self.scope.update(now)
            trips += 1
        last = {s.trips: trips, **now}
        for condition, then in reversed(exits):
            last = {n: self.numbers.choose(condition, v, then[n]) for n, v in last.items()}
        self.scope[s.trips] = last[s.trips]
        self.scope.update((c.result, last[c.name]) for c in s.carried)


def run(program: LoopProgram, args: Sequence[Any], numbers: Numbers | None = None) -> list[Any]:
    """The outputs of a program: numbers, and NumPy arrays of numbers.

    Parameters
    ----------
    args : one per parameter: numbers or nested sequences of them.
    numbers : the arithmetic; doubles if not given.

    Raises
    ------
    SymdiffError : if an argument does not fit, or values are left on a tape.
    """
    numbers = numbers or Doubles()
    known = {n: _held(v, numbers) for n, v in program.data.items()}
    state = _Run(numbers, known)
    with exclusive(max(numbers.bits, 53)), np.errstate(all="ignore"):
        for p, a in zip(program.params, args, strict=True):
            _bind(state, p.name, p.type, a)
        state.block(program.block)
        if any(state.tapes.values()):
            raise SymdiffError(f"values are left on the tapes of {program.name}")
        return [state.value(e) for e in program.outputs]


def _held(values: Any, numbers: Numbers, kind: str = "") -> Any:
    a = np.asarray(values)
    if kind in ("i", "b") or (not kind and a.dtype.kind in "iub"):
        return a.astype(np.int64)
    result = np.empty(a.shape, object)
    for place in np.ndindex(*a.shape):
        result[place] = numbers.real(a[place])
    return result


def _bind(state: _Run, name: str, t: Type, value: Any) -> None:
    if not t.shape:
        state.scope[name] = state.element(value, t.kind)
        return
    a = _held(value, state.numbers, t.kind)
    if a.ndim != len(t.shape):
        raise UnsupportedError(f"{name} has {a.ndim} axes, not {len(t.shape)}")
    for axis, n in zip(t.shape, a.shape, strict=True):
        if axis.op is INDEX:
            state.scope.setdefault(name_of(axis), n)
        if state.value(axis) != n:
            raise SymdiffError(f"an axis of {name} has the size {n}, not {state.value(axis)}")
    state.scope[name] = a
