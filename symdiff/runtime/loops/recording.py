"""An arithmetic that records the operations of a program, for `runtime.loops.ball_program`.

What decides is computed in doubles, as guards where control flow, sizes and indices depend on values. Routines
of linear algebra are recorded as eliminations.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.codegen.llvm.operation_table import CORE
from symdiff.errors import UnsupportedError
from symdiff.interpret.loops import DOUBLE, Doubles, Numbers, evaluate, node_value
from symdiff.interpret.unrolled import TooLong
from symdiff.ir import Expr, Op
from symdiff.ir import functions as f
from symdiff.ir.loop_program import ARRAY, INDEX, LOAD, name_of
from symdiff.ir.plain import is_plain_op, plain_op

Array = np.ndarray[Any, Any]

GIVEN = "given"
"""The operation of an argument's element."""


class Real:
    """A number of a recording, by its place there."""

    __slots__ = ("place",)

    def __init__(self, place: int) -> None:
        self.place = place


class Decider(Real):
    """A number that decides: its double counts."""

    __slots__ = ()


class Truth:
    """A condition of a recording, by its place there."""

    __slots__ = ("place", "recorder")

    def __init__(self, place: int, recorder: Recorder) -> None:
        self.place, self.recorder = place, recorder

    def __bool__(self) -> bool:
        return self.recorder.decided(self)


class Recorder(Numbers):
    """Arithmetic that records operations.

    Parameters
    ----------
    most : the most operations.
    given : the elements of real arguments.

    Attributes
    ----------
    operations : of each place, the operation, or what its number is; and the places of its arguments.
    plain : places of conditions that doubles decide.
    guards : what was decided, by the doubles at places.
    """

    bits = 300

    def __init__(self, most: int, given: Sequence[float]) -> None:
        self.limit = most
        self._plans: dict[Expr, Any] = {}
        self.operations: list[tuple[Any, tuple[int, ...]]] = [(GIVEN, ())] * len(given)
        self.known: dict[int, Any] = {k: np.float64(x) for k, x in enumerate(given)}
        self.count = len(given)
        self.plain: set[int] = set()
        self.guards: dict[int, Any] = {}
        self._constants: dict[Any, Real] = {}
        self._doubles = Doubles()
        self._functions: dict[Op, Callable[..., Any]] = {}

    # ------------------------------------------------------------------ recording
    def _add(self, op: Any, args: tuple[int, ...]) -> int:
        self.operations.append((op, args))
        if len(self.operations) > self.limit:
            raise TooLong
        return len(self.operations) - 1

    def real(self, value: Any) -> Real:
        """A number as a place."""
        if isinstance(value, Real):
            return value
        if isinstance(value, Truth):
            raise UnsupportedError("a condition is used as a number")
        key = value if isinstance(value, int | Fraction) else float(value).hex()
        found = self._constants.get(key)
        if found is None:
            exact = isinstance(value, int | Fraction | np.integer)
            number = Fraction(int(value)) if isinstance(value, np.integer) else value
            number = Fraction(number) if exact else float(value)
            found = self._constants[key] = Real(self._add(number, ()))
        return found

    def value(self, e: Expr, scope: Mapping[str, Any]) -> Any:
        """The value of an expression of a program; how it is computed is found once."""
        plan = self._plans.get(e)
        if plan is None:
            plan = self._plans[e] = _plan(e)
        if not isinstance(plan, list):
            return scope[plan] if isinstance(plan, str) else evaluate(e, self, scope)
        values: list[Any] = []
        operations, first = self.operations, len(plan)
        for kind, what, args in plan:
            if kind == NAME:
                values.append(scope[what])
            elif kind == NUMBER:
                values.append(what)
            elif kind == ELEMENT:
                array, *indices = (values[a] for a in args)
                try:
                    values.append(array[tuple(indices)] if min(indices) >= 0 else None)
                except (IndexError, TypeError):
                    values.append(None)
                found = values[-1]
                if type(found) is not Real:
                    values[-1] = self.element(array, indices)
            else:
                of = [values[a] for a in args]
                if kind == CALLED and all(type(a) is Real for a in of):
                    operations.append((what.op, tuple([a.place for a in of])))
                    values.append(Real(len(operations) - 1))
                else:
                    values.append(node_value(what, of, self, scope))
        if len(operations) > self.limit:
            raise TooLong
        return values[first - 1]

    def apply(self, op: Op, args: Sequence[Any]) -> Any:
        """An operation on reals, or on conditions."""
        if op.boolean:
            return self._condition(op, args)
        if op is ir.WHERE:
            return self.choose(*args)
        if op is f.PINNED:
            h, value, closed = args
            return self.choose(self._condition(ir.EQ, [h, self.real(0)]), value, closed)
        if not is_plain_op(op):
            formula = op.flint if callable(op.flint) else None
            if formula is None and op.flint is None and op.ball is None:
                formula = op.expand
            if formula is not None:
                return self.real(evaluate(_written(op, formula), self, _named(args)))
        return Real(self._add(op, tuple(a.place for a in args)))

    def _condition(self, op: Op, args: Sequence[Any]) -> Any:
        if op not in ir.COMPARISONS:
            known = [a for a in args if not isinstance(a, Truth)]
            if op is ir.NOT and known:
                return not known[0]
            if op is not ir.NOT and known:
                absorbing = op is ir.OR
                if any(bool(a) is absorbing for a in known):
                    return absorbing
                rest = [a for a in args if isinstance(a, Truth)]
                return rest[0] if rest else not absorbing
        place = self._add(op, tuple(a.place for a in args))
        if op in ir.COMPARISONS and (
            all(isinstance(a, Decider) or self._is_double(a.place) for a in args)
            or any(self.is_infinite(a.place) for a in args)
        ):
            self.plain.add(place)
        return Truth(place, self)

    def _is_double(self, place: int) -> bool:
        """Whether a number is a double in all arithmetic."""
        op, _ = self.operations[place]
        return op is GIVEN or isinstance(op, float | Fraction) or is_plain_op(op)

    def is_infinite(self, place: int) -> bool:
        """Whether a number is an infinity of the program."""
        op = self.operations[place][0]
        return isinstance(op, float) and math.isinf(op)

    def plainly(self, value: Any) -> Any:
        """A number in decisions."""
        return Decider(value.place) if isinstance(value, Real) else value

    def half_power(self, x: Any, n: int) -> Any:
        """A power of a square root."""
        return None

    # ------------------------------------------------------------------- deciding
    def choose(self, condition: Any, yes: Any, no: Any) -> Any:
        """One of two values."""
        if not isinstance(condition, Truth) or yes is no:
            return yes if condition else no
        if isinstance(yes, bool | Truth | np.ndarray) or isinstance(no, bool | Truth | np.ndarray):
            return yes if self.decided(condition) else no
        if isinstance(yes, int) and isinstance(no, int):
            return yes if yes == no or self.decided(condition) else no
        places = condition.place, self.real(yes).place, self.real(no).place
        return Real(self._add(ir.WHERE, places))

    def decided(self, condition: Any) -> bool:
        """A condition that control flow depends on, in doubles."""
        return bool(self._held(condition)) if isinstance(condition, Truth) else bool(condition)

    def _held(self, value: Any) -> Any:
        found = self.guards[value.place] = self.double(value.place)
        return found

    def holds(self, condition: Any) -> bool:
        """A condition that is checked, as the call has done."""
        return True if isinstance(condition, Truth) else bool(condition)

    def whole(self, value: Any) -> int:
        """An integer, in doubles."""
        return int(self._held(value) if isinstance(value, Real) else value)

    def place(self, value: Any) -> int:
        """An integer that is a count or an index."""
        return self.whole(value)

    def double(self, place: int) -> Any:
        """The double at a place, computed when it is asked for. Raises FloatingPointError if it underflows: then
        it says nothing."""
        known, stack = self.known, [place]
        with np.errstate(under="raise"):
            while stack:
                k = stack[-1]
                if k in known:
                    stack.pop()
                    continue
                op, args = self.operations[k]
                waiting = [a for a in args if a not in known]
                if waiting:
                    stack += waiting
                else:
                    known[k] = self._double(op, [known[a] for a in args])
        return known[place]

    def _double(self, op: Any, args: Sequence[Any]) -> Any:
        return self.in_doubles(op)(*args)

    def in_doubles(self, op: Any) -> Callable[..., Any]:
        """What computes an operation, or gives a constant, in doubles."""
        found = self._functions.get(op)
        if found is None:
            if not isinstance(op, Op):
                value = self._doubles.real(op)
                return lambda: value
            apply = self._doubles.apply
            found = PLAIN.get(op) or DOUBLE.get(op) or (lambda *args: apply(op, args))
            self._functions[op] = found
        return found

    # ------------------------------------------------------------------- routines
    def routine(self, name: str, args: Sequence[Any]) -> Sequence[Any]:
        """The results of a routine of a library."""
        if name in ROUTINES:
            return ROUTINES[name](self, *args)
        raise UnsupportedError(f"{name} is not recorded")

    def dot(self, x: Any, y: Any) -> Any:
        """The sum of products."""
        terms = [self.apply(ir.MUL, [a, b]) for a, b in zip(x, y, strict=True)]
        return functools.reduce(self.add, terms) if terms else self.real(0)

    def add(self, a: Any, b: Any) -> Any:
        """A sum."""
        return self.apply(ir.ADD, [a, b])

    def doubles(self, a: Any) -> Array:
        """An array's elements in doubles."""
        return np.array([self.double(x.place) for x in a.flat], float).reshape(a.shape)


def _quotient(a: float, b: float) -> float:
    a, b = float(a), float(b)
    return a / b if b else float(np.divide(a, b))


PLAIN: dict[Op, Callable[..., Any]] = {
    plain_op(ir.ADD): lambda a, b: float(a) + float(b),
    plain_op(ir.SUB): lambda a, b: float(a) - float(b),
    plain_op(ir.MUL): lambda a, b: float(a) * float(b),
    plain_op(ir.DIV): _quotient,
    ir.WHERE: lambda c, a, b: a if c else b,
}  # fmt: skip
"""The most frequent operations of what decides."""

NAME, NUMBER, ELEMENT, CALLED, OTHER = range(5)
"""Steps of a plan: a name's value, an integer, an array's element, an operation that is one row if its arguments are
reals, another node."""


def _plan(e: Expr) -> Any:
    """How an expression is computed: its steps, or the name that it is."""
    if e.op in (ir.VAR, INDEX, ARRAY):
        return name_of(e)
    nodes = ir.topological((e,))
    places = {n: k for k, n in enumerate(nodes)}
    steps: list[tuple[int, Any, tuple[int, ...]]] = []
    for n in nodes:
        args = tuple(places[a] for a in n.args)
        if n.op in (ir.VAR, INDEX, ARRAY):
            steps.append((NAME, name_of(n), ()))
        elif n.op is ir.CONST and isinstance(n.value, Fraction) and n.value.denominator == 1:
            steps.append((NUMBER, int(n.value), ()))
        elif n.op is LOAD:
            steps.append((ELEMENT, None, args))
        else:
            direct = n.args and n.op in SIMPLE and n.op is not ir.POW
            steps.append((CALLED if direct else OTHER, n, args))
    return steps


SIMPLE = frozenset((*CORE, f.EXP, f.LOG, f.SIN, f.COS, ir.ABS))


@functools.cache
def _written(op: Op, formula: Callable[..., Any]) -> Expr:
    """What an operation of names is."""
    try:
        found: Expr = formula(*(ir.var(f"x{k}") for k in range(op.arity or 0)))
    except NotImplementedError as error:
        raise UnsupportedError(f"{op.name} has no formula of names") from error
    return found


def _named(args: Sequence[Any]) -> dict[str, Any]:
    return {f"x{k}": a for k, a in enumerate(args)}


# ------------------------------------------------------------------------ routines
def _matmul(r: Recorder, a: Any, b: Any) -> tuple[Any, ...]:
    left, right = np.atleast_2d(a), b if b.ndim == 2 else b[:, None]
    made = np.empty((left.shape[0], right.shape[1]), object)
    for i, j in np.ndindex(*made.shape):
        made[i, j] = r.dot(left[i], right[:, j])
    made = made[0] if a.ndim == 1 else made
    return (made[..., 0] if b.ndim == 1 else made,)


def _reduced(r: Recorder, a: Any, b: Any) -> tuple[Any, Any, list[Any], int]:
    """Gaussian elimination of [a, b], with the pivots that are the largest in doubles: both, the pivots, and
    the sign of the order of rows."""
    a, b, n, sign = a.copy(), b.copy(), len(a), 1
    near = r.doubles(a)
    for k in range(n):
        with np.errstate(all="ignore"):
            p = k + int(np.argmax(np.nan_to_num(np.abs(near[k:, k]), nan=-1.0)))
            if p != k:
                for m in (a, b, near):
                    m[[k, p]] = m[[p, k]]
                sign = -sign
            near[k + 1 :] -= np.outer(near[k + 1 :, k] / near[k, k], near[k])
        for i in range(k + 1, n):
            t = r.apply(ir.DIV, [a[i, k], a[k, k]])
            for m, first in ((a, k + 1), (b, 0)):
                for j in range(first, m.shape[1]):
                    m[i, j] = r.apply(ir.SUB, [m[i, j], r.apply(ir.MUL, [t, m[k, j]])])
    return a, b, [a[k, k] for k in range(n)], sign


def _solve(r: Recorder, a: Any, b: Any) -> tuple[Any, ...]:
    a, x, pivots, _ = _reduced(r, a, b[:, None] if b.ndim == 1 else b)
    for i in reversed(range(len(a))):
        for j in range(x.shape[1]):
            rest = x[i, j]
            for k in range(i + 1, len(a)):
                rest = r.apply(ir.SUB, [rest, r.apply(ir.MUL, [a[i, k], x[k, j]])])
            x[i, j] = r.apply(ir.DIV, [rest, pivots[i]])
    return (x[:, 0] if b.ndim == 1 else x,)


def _inv(r: Recorder, a: Any) -> tuple[Any, ...]:
    one = np.empty(a.shape, object)
    for i, j in np.ndindex(*a.shape):
        one[i, j] = r.real(int(i == j))
    return _solve(r, a, one)


def _det(r: Recorder, a: Any) -> tuple[Any, ...]:
    _, _, pivots, sign = _reduced(r, a, a[:, :0])
    product = functools.reduce(lambda x, y: r.apply(ir.MUL, [x, y]), pivots, r.real(sign))
    return (product,)


def _slogdet(r: Recorder, a: Any) -> tuple[Any, ...]:
    (d,) = _det(r, a)
    return r.apply(ir.SIGN, [d]), r.apply(f.LOG, [r.apply(ir.ABS, [d])])


def _cofactors(r: Recorder, a: Any) -> tuple[Any, ...]:
    (d,), (inverse,) = _det(r, a), _inv(r, a)
    made = np.empty(a.shape, object)
    for i, j in np.ndindex(*a.shape):
        made[i, j] = r.apply(ir.MUL, [d, inverse[j, i]])
    return (made,)


def _cholesky(r: Recorder, a: Any) -> tuple[Any, ...]:
    made = np.full(a.shape, r.real(0), object)
    for j in range(len(a)):
        for i in range(j, len(a)):
            rest = a[i, j]
            for k in range(j):
                rest = r.apply(ir.SUB, [rest, r.apply(ir.MUL, [made[i, k], made[j, k]])])
            if i == j:
                made[i, j] = r.apply(ir.POW, [rest, r.real(Fraction(1, 2))])
            else:
                made[i, j] = r.apply(ir.DIV, [rest, made[j, j]])
    return (made,)


def _argsort(r: Recorder, a: Any) -> tuple[Any, ...]:
    if a.dtype != object:
        return (np.argsort(a, axis=-1, kind="stable"),)
    for x in a.flat:
        r.guards[x.place] = r.double(x.place)
    return (np.argsort(r.doubles(a), axis=-1, kind="stable"),)


def _sort(r: Recorder, a: Any) -> tuple[Any, ...]:
    return (a[_argsort(r, a)[0]],)


def _difference(r: Recorder, y: Any, a: Any, x: Any) -> tuple[Any, ...]:
    (product,) = _matmul(r, a, x)
    made = np.empty(y.shape, object)
    for at in np.ndindex(*y.shape):
        made[at] = r.apply(ir.SUB, [y[at], product[at]])
    return (made,)


ROUTINES: dict[str, Callable[..., tuple[Any, ...]]] = {
    "matmul": _matmul, "solve": _solve, "inv": _inv, "det": _det, "slogdet": _slogdet,
    "cofactors": _cofactors, "cholesky": _cholesky, "argsort": _argsort, "argsort_rows": _argsort,
    "sort": _sort, "difference": _difference,
}  # fmt: skip
