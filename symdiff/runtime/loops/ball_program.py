"""Programs with arrays and loops as tables of balls: their operations recorded, then run by one compiled loop.

Before:  for i: s = s + x[i]**2, for an x of two elements
After:   column x0; arb_pow_ui; column x1; arb_pow_ui; arb_add; ...

A program is run once statement by statement (`interpret.loops`), with an arithmetic that records
operations (`Recorder`). What decides is computed in doubles beside: where control flow, sizes and indices depend on
values, what was decided is kept as guards, and a recording serves the calls in which these hold. Conditions that
choose between two values are truth values of the table, given anew for each call.

Precision grows until results are proven. Where balls grow faster than precision, as in long oscillating
recurrences, the middles of balls are computed with different numbers of bits: results that agree are taken.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.codegen.llvm.operation_table import BALL, BINARY, COLUMN, CORE, SELECT, UNARY, Rows
from symdiff.errors import UnsupportedError
from symdiff.interpret import work
from symdiff.interpret.loops import DOUBLE, Doubles, Numbers, evaluate, node_value, run
from symdiff.interpret.unrolled import TooLong
from symdiff.ir import Expr, Op
from symdiff.ir import functions as f
from symdiff.ir.loop_program import ARRAY, INDEX, LOAD, LoopProgram, name_of
from symdiff.ir.plain import is_plain_op, plain_op
from symdiff.runtime.scalar.ball_elements import (
    CHEAPER,
    CHUNK,
    address_of,
    constant_balls,
    is_there,
    loop,
)

Array = np.ndarray[Any, Any]

MOST = 150_000
"""Operations that are recorded of one program."""
BUDGET = 40_000_000
"""Work of one call (`interpret.work`)."""
FIRST, LAST = 128, 8192
"""The first and the last precision of balls in bits; each is twice the one before."""
CHEAP = 2_000_000
"""Work after which no more bits are spent on elements that are accurate for their array, but not for themselves."""
MIDDLES = (1024, 2048)
"""Precisions at which middles of balls are compared."""
HOPELESS = 1024
"""Bits with which balls that are not finite are given up."""
CLOSE = 4
"""Ulps within which both ends of a ball are near, and how far apart results of both precisions may be."""
SURE = 100
"""Bits that are accurate where rounding is as good as decided."""
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


# ---------------------------------------------------------------------- the table
class _Table(Rows):
    """The table of a recording.

    Attributes
    ----------
    doubles : places whose doubles are columns; the first `given` columns are arguments.
    conditions : registers of truth values that doubles decide, and their places.
    counts : its operations (`work.Counts`).
    """

    def __init__(self, recorder: Recorder, roots: Sequence[int]) -> None:
        super().__init__()
        self.recorder = recorder
        self.doubles: list[int] = []
        self.conditions: list[tuple[int, int]] = []
        operations = recorder.operations
        wanted = bytearray(len(operations))
        for k in roots:
            wanted[k] = 1
        for k in range(len(operations) - 1, -1, -1):
            if wanted[k] and not self._is_given(k):
                for a in operations[k][1]:
                    wanted[a] = 1
        places: dict[int, int] = {}
        counted: Counter[Any] = Counter()
        table, rows = self.table, self.table.rows
        for k, (op, args) in enumerate(operations):
            if not wanted[k]:
                continue
            name = CORE.get(op)
            if name is None:
                places[k] = self._made(k, op, args, places)
            else:
                places[k] = z = table.balls
                table.balls += 1
                a, b = places[args[0]], places[args[-1]]
                kind = UNARY if len(args) == 1 else BINARY
                rows.append((kind, name, z, a, b, b, 0, 0))
            counted[op] += 1
        each = [
            (work.counts([ir.raw(op, (ir.ONE,) * (op.arity or 0))]), n)
            for op, n in counted.items() if isinstance(op, Op)
        ]  # fmt: skip
        plain, functions, slow = (sum(n * c[k] for c, n in each) for k in range(3))
        self.counts = plain, functions, slow
        self.table.roots = tuple(places[k] for k in roots)

    def _is_given(self, k: int) -> bool:
        """Whether a place is a double of each call."""
        op = self.recorder.operations[k][0]
        return op not in CORE and (
            k in self.recorder.plain or (isinstance(op, Op) and is_plain_op(op))
        )

    def _made(self, k: int, op: Any, args: tuple[int, ...], places: dict[int, int]) -> int:
        if op is GIVEN:
            return self.row(COLUMN, "arb_set_d", number=k)
        if k in self.recorder.plain:
            register = self.known(False)
            self.conditions.append((register, k))
            return register
        if self._is_given(k):
            self.doubles.append(k)
            return self.row(COLUMN, "arb_set_d", number=self.recorder.count + len(self.doubles) - 1)
        if not isinstance(op, Op):
            return self.constant(op)
        if op is ir.POW:
            exponent = self.recorder.operations[args[1]][0]
            if isinstance(exponent, Fraction):
                return self.power(places[args[0]], exponent)
        of = [places[a] for a in args]
        if op in ir.COMPARISONS:
            return self.compared(op, *of)
        if op.boolean:
            return self.logical(op, *of)
        return self.row(SELECT, 0, *of) if op is ir.WHERE else self.called(op, *of)


class BallProgram:
    """A program at sizes, in balls.

    Parameters
    ----------
    outputs : numbers and arrays of numbers of the recording, integers and truths.
    """

    def __init__(self, recorder: Recorder, outputs: Sequence[Any]) -> None:
        self.recorder, self.outputs = recorder, outputs
        roots = [
            x.place for v in outputs for x in np.asarray(v, object).flat if isinstance(x, Real)
        ]
        made = _Table(recorder, roots)
        self.table, self.counts = made.table, made.counts
        if any(isinstance(x, float) and math.isinf(x) for x in self.table.constants):
            raise UnsupportedError("an infinity is no ball")
        self._doubles, self._conditions = made.doubles, made.conditions
        self.addresses: dict[str, Any] = {n: address_of(n) for n in self.table.names()}
        if None in self.addresses.values():
            raise UnsupportedError("a C function is not found")
        self.guards = recorder.guards
        wanted = {*self._doubles, *(k for _, k in self._conditions), *self.guards}
        self.size = len(recorder.operations)
        self._order: list[tuple[int, Callable[..., Any] | None, tuple[int, ...]]] = []
        for k in _closure(recorder.operations, wanted):
            op, args = recorder.operations[k]
            self._order.append((k, None if op is GIVEN else recorder.in_doubles(op), args))
        table = [
            [self.addresses[x] if isinstance(x, str) else x for x in row] for row in self.table.rows
        ]
        self._rows = np.array(table, np.int64).reshape(-1, 8)
        self._roots = np.array(self.table.roots, np.int64)
        self.table.rows = []
        recorder.known = {}

    def __call__(self, given: Array, proven: bool, each: bool) -> tuple[Array, Array] | None:
        """The outputs' elements, and which of them are accurate; None if what is decided is something else.

        Parameters
        ----------
        given : the elements of real arguments.
        proven : whether they must be proven.
        each : whether each element is to be accurate for itself, not only for its array.
        """
        decided = self._decided(given)
        return None if decided is None else _Climb(self, *decided, proven, each)()

    def _decided(self, given: Array) -> tuple[Array, list[tuple[int, bool]]] | None:
        """The columns and the conditions; None if guards do not hold."""
        known: dict[int, Any] = {}
        with np.errstate(all="ignore", under="raise"):
            for k, function, args in self._order:
                if function is None:
                    known[k] = np.float64(given[k])
                elif len(args) == 2:
                    known[k] = function(known[args[0]], known[args[1]])
                else:
                    known[k] = function(*[known[a] for a in args])
        if any(known[k] != value for k, value in self.guards.items()):
            return None
        columns = np.array([*given, *(float(known[k]) for k in self._doubles)], float)
        return columns, [(register, bool(known[k])) for register, k in self._conditions]

    def shaped(self, values: Array, result: np.dtype[Any]) -> list[Any]:
        """The outputs from their elements."""
        found, start = [], 0
        for v in self.outputs:
            if isinstance(v, Real):
                x = float(values[start])
                found.append(x if result == np.float64 else result.type(x))
                start += 1
            else:
                count = v.size
                found.append(values[start : start + count].astype(result).reshape(v.shape))
                start += count
        return found

    def arrays(self) -> list[slice]:
        """The elements of each output."""
        found, start = [], 0
        for v in self.outputs:
            count = np.asarray(v, object).size
            found.append(slice(start, start + count))
            start += count
        return found


def _closure(operations: Sequence[tuple[Any, tuple[int, ...]]], wanted: set[int]) -> list[int]:
    """The places that some depend on, in order."""
    stack, found = list(wanted), set(wanted)
    while stack:
        for a in operations[stack.pop()][1]:
            if a not in found:
                found.add(a)
                stack.append(a)
    return sorted(found)


def recorded(program: LoopProgram, values: Sequence[Any], given: Array) -> BallProgram | None:
    """The program in balls, for the sizes of these arguments; None where it has none. Raises `TooLong`."""
    if not is_there():
        return None
    recorder = Recorder(MOST, given.tolist())
    args: list[Any] = []
    start = 0
    for p, value in zip(program.params, values, strict=True):
        if p.type.kind != "f":
            args.append(value)
            continue
        elements = np.empty(np.shape(value), object)
        for k in range(elements.size):
            elements.flat[k] = Real(start + k)
        start += elements.size
        args.append(elements if elements.ndim else elements[()])
    outputs = run(program, args, recorder)
    for v in outputs:
        if not isinstance(v, Real) and not (isinstance(v, np.ndarray) and v.dtype == object):
            raise UnsupportedError("an output is no real")
    return BallProgram(recorder, outputs)


# ---------------------------------------------------------------------- the climb
class _Climb:
    """One call: registers, and precision that grows."""

    def __init__(
        self, program: BallProgram, columns: Array, conditions: Sequence[tuple[int, bool]],
        proven: bool, each: bool,
    ) -> None:  # fmt: skip
        self.program, self.columns, self.proven, self.each = program, columns, proven, each
        table = program.table
        words = (table.balls + len(table.constants)) * BALL // 8
        self.memory = (ctypes.c_int64 * words)()  # zeros are the ball 0
        self.truths = (ctypes.c_uint8 * max(table.truths, 1))()
        for register, value in table.truth_constants:
            self.truths[register] = value
        self.conditions = conditions
        count = len(program._roots)
        self.least, self.most = np.full(count, np.nan), np.full(count, np.nan)
        self.bits = np.zeros(count, np.int64)
        self.state, self.unused = ctypes.c_uint8(), ctypes.c_int64()
        self.balls = ctypes.addressof(self.memory) + BALL * len(table.constants)
        self.loop = loop()
        self.spent = 0

    def __call__(self) -> tuple[Array, Array]:
        try:
            values, good = self._climbed()
            if not (self.proven or good.all()):
                values, good = self._middles(values, good)
            return values, good
        finally:
            self.loop.clear(self.balls, self.program.table.balls)

    def _climbed(self) -> tuple[Array, Array]:
        bits, count = FIRST, len(self.least)
        values, good = np.full(count, np.nan), np.zeros(count, bool)
        while bits <= LAST and self._affords(bits):
            self._run(bits, False)
            exact = (self.least == self.most) | (self.bits >= 2 * SURE)
            values = np.where(exact, self.most, self.least / 2 + self.most / 2)
            good = exact if self.proven else self._accepted(values, exact)
            if exact.all() or (good.all() and self.spent > CHEAP):
                break
            known = self.bits[~exact]
            lost = not np.isfinite(values[~good]).any()
            if lost and bits >= HOPELESS:
                break
            need = bits + 64 - int(known.min()) if known.min() > -bits else 0
            bits *= 2
            while bits < need and not good.all():
                bits *= 2
        return values, good

    def _ends(self, registers: Array) -> tuple[Array, Array, Array]:
        """Both ends of balls in doubles, and how many of their bits are accurate."""
        least, most = np.empty(len(registers)), np.empty(len(registers))
        bits = np.empty(len(registers), np.int64)
        places = [x.ctypes.data for x in (least, most, bits)]
        self.loop.ends(self.balls, registers.ctypes.data, len(registers), *places, 2 * FIRST)
        return least, most, bits

    def _accepted(self, values: Array, exact: Array) -> Array:
        with np.errstate(all="ignore"):
            off = self.most - self.least
            good = exact | (off <= CLOSE * 2.0**-52 * np.abs(values))
            good = self._near_in_arrays(values, off, good)
        return good & ~np.isnan(values)

    def _near_in_arrays(self, values: Array, off: Array, good: Array) -> Array:
        """Also what is near in comparison with the largest element of its array."""
        if not self.each:
            for part in self.program.arrays():
                size = np.abs(values[part])
                if len(size):
                    good[part] |= off[part] <= 2.0**-53 * size.max()
        return good

    def _middles(self, values: Array, good: Array) -> tuple[Array, Array]:
        """Values of which the middles of balls agree at two precisions."""
        found = []
        for bits in MIDDLES:
            if not self._affords(bits):
                return values, good
            self._run(bits, True)
            found.append(np.where(good, values, self.most))
            if not np.isfinite(found[-1]).all():
                return values, good
        a, b = found
        with np.errstate(all="ignore"):
            off = np.abs(a - b)
            near = off <= CLOSE * 2.0**-52 * np.abs(b)
            near = self._near_in_arrays(b, off, near) & (b != 0)
        return b, good | near

    def _affords(self, bits: int) -> bool:
        return self.spent + work.cost(self.program.counts, bits) <= BUDGET

    def _run(self, bits: int, middle: bool) -> None:
        """Run the rows, and round the outputs. Signals are looked at between parts of it."""
        p = self.program
        for register, truth in self.conditions:
            self.truths[register] = truth
        constants = constant_balls(p.table, p.addresses, bits)
        ctypes.memmove(self.memory, constants, ctypes.sizeof(constants))
        cost = work.cost(p.counts, bits)
        self.spent += cost
        rows = p._rows
        size = max(1, int(len(rows) * CHUNK / max(cost, 1)))
        for start in range(0, len(rows), size):
            some = rows[start : start + size]
            self.loop.run(
                self.balls, ctypes.addressof(self.truths), some.ctypes.data, len(some),
                self.columns.ctypes.data, len(self.columns), 1, p._roots.ctypes.data, 0,
                self.least.ctypes.data, ctypes.addressof(self.state),
                ctypes.addressof(self.unused), bits, False, 0, middle,
            )  # fmt: skip
        self.least, self.most, self.bits = self._ends(p._roots)
        self.loop.clear(ctypes.addressof(constants), len(p.table.constants))
        work.spend(cost // CHEAPER)


__all__ = ["BallProgram", "TooLong", "recorded"]
