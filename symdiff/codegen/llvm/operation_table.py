"""Ball arithmetic as a table of calls of FLINT's C functions, and the loop that runs such tables.

Before:  exp(b - a)/(1 + exp(b - a))
After:   column a; column b; arb_sub; arb_exp; arb_add; arb_div, with registers for the results

A row of the table is one operation: a kind, a C function, and the places of its result and arguments.
The loop (`codegen.llvm.table_loops`) is the same for all tables, so it is compiled once and kept on disk. For
each element it runs the rows at one precision, and rounds both ends of each output's ball.

Registers: balls (FLINT's `arb_t`, 48 bytes), and truth values of three kinds (one byte: `FALSE`, `TRUE`,
`UNKNOWN`). Decisions in doubles (`ir.plain`) are no rows: their values are columns, as the arguments are.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.interpret.balls import ROOT_LIMIT
from symdiff.interpret.flat import Tape
from symdiff.ir import Expr, Op
from symdiff.ir import functions as f
from symdiff.ir.plain import PREFIX, SINGLE, as_plain, in_doubles, is_plain, real_op
from symdiff.ir.undefined import undefined

BALL = 48
"""Bytes of a ball."""
UNARY, BINARY, WITH_NUMBER, COLUMN, COMPARE, LOGIC, SELECT = range(7)
"""Kinds of rows: f(z, x, bits), f(z, x, y, bits), f(z, x, number, bits), f(z, double), truth values, one of two."""
FALSE, TRUE, UNKNOWN = range(3)
PROVEN, MORE_BITS, ASK = range(3)
"""What is found of an element: all outputs; some need more bits; more bits will not help."""

CORE: Mapping[Op, str] = {
    ir.ADD: "arb_add", ir.SUB: "arb_sub", ir.MUL: "arb_mul", ir.DIV: "arb_div", ir.NEG: "arb_neg",
}  # fmt: skip
COMPARISONS: Mapping[Op, tuple[str, str]] = {
    ir.LT: ("arb_lt", "arb_ge"), ir.LE: ("arb_le", "arb_gt"), ir.EQ: ("arb_eq", "arb_ne"),
}  # fmt: skip
"""What proves a comparison, and what refutes it."""
LARGEST_EXPONENT, LARGEST = 1 << 40, 2**1023
USED = (
    "arb_set", "arb_indeterminate", "arb_is_finite", "arb_rel_accuracy_bits", "arb_get_interval_arf",
    "arf_get_d", "arf_clear", "arb_clear",
)  # fmt: skip
"""The functions that the loop itself calls."""


# ------------------------------------------------------------------------ tables
@dataclass
class Table:
    """Rows, and what their registers begin with.

    Attributes
    ----------
    rows : kind, function, result, three arguments, a number, a second function; all are numbers,
        but for names of C functions.
    balls, truths : how many registers there are, without constants.
    constants : balls that rows only read: exact numbers, or names of functions f(z, bits). They stand before
        the registers: the first one in place -1, the next in place -2.
    truth_constants : the same of truth values.
    columns : the nodes whose doubles are given for each element.
    roots : the registers of the outputs.
    """

    rows: list[tuple[int | str, ...]] = field(default_factory=list)
    balls: int = 0
    truths: int = 0
    constants: list[Fraction | float | str] = field(default_factory=list)
    truth_constants: list[tuple[int, int]] = field(default_factory=list)
    columns: list[Expr] = field(default_factory=list)
    roots: tuple[int, ...] = ()

    def names(self) -> set[str]:
        """The C functions that rows call."""
        called = {x for row in self.rows for x in row if isinstance(x, str)}
        return called | {x for x in self.constants if isinstance(x, str)}


def table_of(tape: Tape, left: Expr = ir.FALSE) -> Table:
    """The table of a program.

    Parameters
    ----------
    left : where elements stay open, whatever their balls are, as doubles decide it: a column is infinite there.

    Raises
    ------
    UnsupportedError : an operation has no C function, or a decision is no matter of doubles alone.
    """
    table = _Builder([tape.nodes[r] for r in tape.roots]).table
    if left is not ir.FALSE:
        table.columns.append(ir.where(as_plain(left), ir.INF, ir.ZERO))
    return table


def with_nan(outputs: Sequence[Expr]) -> tuple[Expr, ...]:
    """The outputs, with 0 where they are certainly nan; and 1 where they are, else 0."""
    nan = undefined(outputs)
    values = (ir.where(c, ir.ZERO, e) for c, e in zip(nan, outputs, strict=True))
    return (*values, *(ir.where(c, ir.ONE, ir.ZERO) for c in nan))


def c_function(op: Op, arity: int) -> str:
    """The C function of an operation with so many arguments."""
    name = CORE.get(op) or ("arb_pow" if op is ir.POW else op.flint)
    if not isinstance(name, str) or arity > 2:
        raise UnsupportedError(f"{op.name} has no C function")
    return name


def powered(q: Fraction) -> list[tuple[str, int | None]]:
    """The C functions that make x**q, one after the other, and their numbers."""
    n, found = q.numerator, list[tuple[str, int | None]]()
    if abs(n) > LARGEST_EXPONENT or q.denominator > ROOT_LIMIT:
        raise UnsupportedError(f"a power of exponent {q}")
    if q.denominator == 2:
        found.append(("arb_sqrt", None))
    elif q.denominator > 1:
        found.append(("arb_root_ui", q.denominator))
    if abs(n) != 1:
        found.append(("arb_pow_ui", abs(n)))
    return [*found, ("arb_inv", None)] if n < 0 else found


class Rows:
    """Makes a table, row by row."""

    def __init__(self) -> None:
        self.table = Table()

    def row(self, kind: int, name: str | int, *args: int, number: int = 0) -> int:
        """A ball computed from others."""
        self.table.balls += 1
        return self._add(kind, name, self.table.balls - 1, args, number)

    def truth(
        self, kind: int, name: str | int, *args: int, number: int = 0, second: str | int = 0
    ) -> int:
        """A truth value."""
        self.table.truths += 1
        return self._add(kind, name, self.table.truths - 1, args, number, second)

    def compared(self, op: Op, *args: int) -> int:
        """A comparison of balls."""
        proves, refutes = COMPARISONS[op]
        return self.truth(COMPARE, proves, *args, second=refutes)

    def logical(self, op: Op, *args: int) -> int:
        """An operation on truth values."""
        which = (ir.NOT, ir.AND, ir.OR).index(op)
        return self.truth(LOGIC, 0, args[0], args[-1], number=9 * which)

    def known(self, value: bool) -> int:
        """A truth value that rows only read."""
        self.table.truths += 1
        self.table.truth_constants.append((self.table.truths - 1, int(value)))
        return self.table.truths - 1

    def called(self, op: Op, *args: int) -> int:
        """An operation that has a C function."""
        name = c_function(op, len(args))
        if not args:
            return self.constant(name)
        return self.row(UNARY if len(args) == 1 else BINARY, name, *args)

    def _add(
        self, kind: int, name: str | int, result: int, args: Sequence[int], number: int,
        second: str | int = 0,
    ) -> int:  # fmt: skip
        a, b, c = (*args, *[args[-1] if args else 0] * 3)[:3]
        self.table.rows.append((kind, name, result, a, b, c, number, second))
        return result

    def constant(self, value: Fraction | float | str) -> int:
        """A ball that rows only read: an exact number, or a C function's."""
        constants = self.table.constants
        if isinstance(value, Fraction) and abs(value) < LARGEST and Fraction(float(value)) == value:
            value = float(value)
        constants.append(value)
        return -len(constants)

    def power(self, x: int, q: Fraction) -> int:
        """x**q."""
        for name, n in powered(q):
            if n is None:
                x = self.row(UNARY, name, x)
            else:
                x = self.row(WITH_NUMBER, name, x, number=n)
        return x


class _Builder(Rows):
    def __init__(self, outputs: Sequence[Expr]) -> None:
        super().__init__()
        self._places: dict[Expr, int] = {}
        self.table.roots = tuple(self._place(e) for e in outputs)

    def _place(self, root: Expr) -> int:
        """The register of a node; rows that compute it are added."""
        stack, places = [root], self._places
        while stack:
            e = stack[-1]
            if e in places:
                stack.pop()
            elif waiting := [a for a in self._read(e) if a not in places]:
                stack.extend(waiting)
            else:
                places[e] = self._made(e)
        return places[root]

    def _read(self, e: Expr) -> Sequence[Expr]:
        """The nodes whose registers a node reads."""
        if is_plain(e):
            return ()
        if (formula := _formula(e)) is not None:
            return (formula,)
        if e.op is ir.POW and ir.rational(e.args[1]) is not None:
            return e.args[:1]
        return e.args

    def _made(self, e: Expr) -> int:
        op, table = e.op, self.table
        if op is ir.VAR or is_plain(e):
            if e not in table.columns:
                table.columns.append(e)
            return self.row(COLUMN, "arb_set_d", number=table.columns.index(e))
        if op is ir.CONST:
            return self.constant(e.value)
        if op is ir.BOOL:
            return self.known(e.value)
        args = [self._places[a] for a in self._read(e)]
        if _formula(e) is not None:
            return args[0]
        if op in COMPARISONS:
            if any(map(ir.is_infinite, e.args)):
                raise UnsupportedError("a comparison with an infinity is one of doubles")
            return self.compared(op, *args)
        if op.boolean:
            return self.logical(op, *args)
        if op is ir.WHERE:
            if e.args[1].op.boolean:
                raise UnsupportedError("a condition is chosen by another one")
            return self.row(SELECT, 0, *args)
        if op is ir.POW and (q := ir.rational(e.args[1])) is not None:
            return self.power(args[0], q)
        return self.called(op, *args)


def _formula(e: Expr) -> Expr | None:
    """What is computed in place of a node; None if it has a C function."""
    if e.op is f.PINNED:
        h, value, closed = e.args
        return ir.where(ir.eq(h, ir.ZERO), value, closed)
    return e.op.flint(*e.args) if callable(e.op.flint) else None


# ---------------------------------------------------------------------- columns
def _select(condition: Any, there: Any, other: Any) -> Any:
    if isinstance(condition, np.ndarray):
        return np.where(condition, there, other)
    return there if condition else other


_EXACT: Mapping[Op, Callable[..., Any]] = {
    ir.ADD: operator.add, ir.SUB: operator.sub, ir.MUL: operator.mul, ir.DIV: operator.truediv,
    ir.NEG: operator.neg, ir.ABS: np.abs, ir.WHERE: _select,
    f.FLOOR: lambda x: np.floor(x) + 0.0, f.CEIL: lambda x: np.ceil(x) + 0.0,
    f.TRUNC: lambda x: np.trunc(x) + 0.0, f.ROUND: lambda x: np.rint(x) + 0.0,
    f.MAXIMUM: np.maximum, f.LARGER: np.maximum, f.MINIMUM: np.minimum, f.SMALLER: np.minimum,
    ir.LT: np.less, ir.LE: np.less_equal, ir.EQ: np.equal,
    ir.NOT: np.logical_not, ir.AND: np.logical_and, ir.OR: np.logical_or,
}  # fmt: skip
"""Operations on arrays of doubles that give, element by element, what they give for numbers."""


def evaluable(roots: Sequence[Expr], exactly: bool = False) -> bool:
    """Whether `Columns` has these nodes; with `exactly`, only arithmetic and selections."""
    return all(
        not e.args or e.op in _EXACT or (is_plain(e) and not exactly) for e in ir.topological(roots)
    )


class Columns:
    """Doubles of plain nodes and of conditions at points, as plain Python computes them; at one point as numbers.

    Parameters
    ----------
    roots : these nodes.
    params : the variables, in the order of the points.
    """

    def __init__(self, roots: Sequence[Expr], params: Sequence[Expr]) -> None:
        order = [e for e in ir.topological(roots) if e not in set(params)]
        leaves, inner = [e for e in order if not e.args], [e for e in order if e.args]
        places = {e: k for k, e in enumerate((*params, *leaves, *inner))}
        self._known = list(map(_constant, leaves))
        self._steps = [(_on_doubles(e.op), [places[a] for a in e.args]) for e in inner]
        self._roots = [places[e] for e in roots]

    def __call__(self, points: np.ndarray[Any, Any]) -> list[Any]:
        """The doubles of all points, or one for all."""
        values = [*(points[0] if len(points) == 1 else points.T), *self._known]
        with np.errstate(all="ignore"):
            for function, args in self._steps:
                values.append(function(*[values[a] for a in args]))
        return [values[k] for k in self._roots]


def columns_of(
    roots: Sequence[Expr], params: Sequence[Expr], points: np.ndarray[Any, Any]
) -> list[Any]:
    """The same, where that is asked once."""
    return Columns(roots, params)(points)


def _constant(e: Expr) -> Any:
    known = e.value if e.op in (ir.BOOL, ir.CONST) else in_doubles(e.op)()
    return known if e.op is ir.BOOL else np.float64(float(known))


def _on_doubles(operation: Op) -> Callable[..., Any]:
    """An operation on doubles and on arrays of these."""
    function = _EXACT.get(op := real_op(operation))
    if function is None:
        one = in_doubles(op)

        def function(*args: Any) -> Any:
            arrays = np.broadcast_arrays(*args)
            if not arrays[0].shape:
                return np.float64(one(*map(float, args)))
            found = [one(*map(float, a)) for a in zip(*(x.ravel() for x in arrays), strict=True)]
            return np.array(found).reshape(arrays[0].shape)

    if not operation.name.startswith(PREFIX + SINGLE):
        return function
    return lambda *args: np.float64(np.float32(function(*args)))
