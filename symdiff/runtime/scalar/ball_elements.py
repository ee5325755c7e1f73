"""Elements whose values are proven by compiled ball arithmetic, many in one call.

Every element has a budget of its own. Its precision grows until both ends of each output's ball
round to the same number; Python's locks are not held meanwhile. A decision may read nan where it does not
count, as a side that is not taken has it. Elements that have no finite value, or that
are not decided within the budget, are left to `interpret.certified`, which has the same values
for all others.
"""

from __future__ import annotations

import ctypes
import functools
import weakref
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from symdiff.codegen.llvm import jit
from symdiff.codegen.llvm.operation_table import (
    ASK,
    BALL,
    MORE_BITS,
    PROVEN,
    USED,
    Columns,
    Table,
    evaluable,
    table_of,
)
from symdiff.codegen.llvm.table_loops import NONE, PLAN, PREFIXED, print_loop
from symdiff.errors import UnsupportedError
from symdiff.interpret import Certified, work
from symdiff.ir import FALSE, VAR, Expr, var
from symdiff.ir.functions.columns import MOST_BITS
from symdiff.process.locks import Lock
from symdiff.runtime import cache, threads
from symdiff.runtime.scalar.compiled import Point, Spec

Array = np.ndarray[Any, Any]

SHORT, FIRST, LAST = 80, 128, 16384
"""The first and the last precision in bits; each is twice the one before. Tables of special functions, whose time
grows fast with the precision, begin with the short one."""
SPECIAL = "arb_hypgeom_"
GUARD = 60
"""Bits that an element gets beyond those that it is known to lack."""
SURE = 512
"""Precision from which operations without a value are not tried with more bits, if their arguments have
`KNOWN` bits; below only if these are exact."""
KNOWN, EXACT = 30, 2**63 - 1
CHUNK = 400_000
"""Operations of balls (`interpret.work`) after which signals are looked at, about a tenth of a second at most."""
PARALLEL = 50_000
"""Such operations that are worth handing to a thread,"""
QUICK = 4_000
"""and those after which one element is left to the loop over elements, which looks at signals."""
ROOM = 1 << 16
"""Bytes of registers up to which they stand on the stack."""
CHEAPER = 8
"""How much less an operation costs than an interpreted one."""
HELPERS = ("arb_set_d", "arb_fmpz_div_fmpz", "fmpz_set_str", "fmpz_clear")


@functools.cache
def _library() -> Any:
    """FLINT, which python-flint's extension modules are linked against; None where its functions are
    not found."""
    try:
        import flint.types.arb as module

        library = ctypes.CDLL(module.__file__)
        for name in (*USED, *HELPERS):
            getattr(library, name)
    except (ImportError, OSError, AttributeError, TypeError):
        return None
    return library


def is_there() -> bool:
    """Whether FLINT's functions are found."""
    return _library() is not None


def address_of(name: str) -> int | None:
    """The address of a C function of FLINT."""
    library = _library()
    try:
        return ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    except AttributeError:
        return None


_lock = Lock()
_loops: list[_Loop] = []


class _Loop(NamedTuple):
    run: Any
    climb: Any
    clear: Any
    linked: jit.Linked


def loop() -> _Loop:
    """The compiled loop that runs tables."""
    with _lock:
        if not _loops:
            for name in USED:
                address = address_of(name)
                assert address is not None
                jit.define_symbol(PREFIXED + name, address)
            key = cache.key("balls", jit.host())
            found = cache.load(key)
            externals = tuple(PREFIXED + name for name in USED)
            code = found[0] if found is not None else jit.compile_object(print_loop())
            if found is None:
                cache.store(key, code, externals)
            linked = jit.Linked(code, externals)
            run = ctypes.CFUNCTYPE(None, *_KINDS)(linked.address("run"))
            climb = ctypes.CFUNCTYPE(ctypes.c_int8, _POINTER, _POINTER, _POINTER)
            clear = ctypes.CFUNCTYPE(None, _POINTER, _NUMBER)(linked.address("clear"))
            _loops.append(_Loop(run, climb(linked.address("climb")), clear, linked))
        return _loops[0]


_POINTER, _NUMBER = ctypes.c_void_p, ctypes.c_int64
_KINDS = (
    _POINTER, _POINTER, _POINTER, _NUMBER, _POINTER, _NUMBER, _NUMBER, _POINTER, _NUMBER, _POINTER,
    _POINTER, _POINTER, _NUMBER, _NUMBER, _NUMBER,
)  # fmt: skip


def compiled_elements(
    program: Certified, params: Sequence[str], single: bool, stable: Sequence[Expr] = (),
    left: Expr = FALSE,
) -> BallElements | None:  # fmt: skip
    """The outputs of a program for many elements; None where that is not possible.

    Parameters
    ----------
    stable : other forms of the outputs, equal to them where both are defined.
    left : see `table_of`.
    """
    if _library() is None:
        return None
    try:
        table = table_of(program.tape, left)
    except UnsupportedError:
        return None
    columns = [e for e in table.columns if e.op is not VAR]
    addresses = {name: address_of(name) for name in table.names()}
    if None in addresses.values() or not evaluable(columns):
        return None
    others = None
    if stable:
        others = compiled_elements(Certified(params, stable), params, single)
    return BallElements(program, table, [var(p) for p in params], addresses, single, others)


class BallElements:
    """A table, to be run for elements.

    Parameters
    ----------
    program : the same, interpreted.
    params : the variables, in the order of the points.
    addresses : of the C functions.
    single : whether results are rounded to float32.
    stable : other forms of the outputs, which often need fewer bits. They are taken where the outputs
        have finite balls, which proves that these are defined.
    """

    def __init__(
        self, program: Certified, table: Table, params: Sequence[Expr],
        addresses: dict[str, Any], single: bool, stable: BallElements | None = None,
    ) -> None:  # fmt: skip
        self.stable = stable
        self.table, self.params, self.single = table, tuple(params), single
        rows = [[addresses[x] if isinstance(x, str) else x for x in row] for row in table.rows]
        numbers = np.array(rows, np.int64).ravel(), np.array(table.roots, np.int64)
        self.rows, self.roots = (
            (x.ctypes.data, n) for x, n in zip(numbers, (len(rows), len(table.roots)), strict=True)
        )
        self._numbers = numbers  # which live as long as their addresses are used
        self.addresses = addresses
        self._decided = [e for e in table.columns if e.op is not VAR]
        self._plain = Columns(self._decided, self.params)
        places = {e: k for k, e in enumerate(self.params)}
        self._order = None if self._decided else [places[e] for e in table.columns]
        nodes = [e for e in program.tape.nodes if e.args]
        self.counts = work.counts(nodes)
        last = MOST_BITS if any(e.op.edges is not None for e in nodes) else LAST
        special = any(name.startswith(SPECIAL) for name in addresses)
        self.precisions, bits, spent = [SHORT, FIRST] if special else [FIRST], FIRST, 0
        while (bits := 2 * bits) <= last:
            spent += work.cost(self.counts, bits)
            if spent > program.budget:
                break
            self.precisions.append(bits)
        self._constants: dict[int, ctypes.Array[ctypes.c_int64]] = {}

    def __call__(self, points: Array, parallel: bool | str = False) -> tuple[Array, Array]:
        """The outputs at points (elements, parameters), and which elements are proven; on threads if that pays."""
        values = np.full((len(points), len(self.table.roots)), np.nan)
        status, needed = np.full(len(points), ASK, np.uint8), np.zeros(len(points))
        columns = self._columns(points)
        finite = np.isfinite(points).all(axis=1)
        pending = np.flatnonzero(finite & ~np.isinf(columns).any(axis=1))
        status[pending] = MORE_BITS
        untried = np.full(len(points), self.stable is not None)
        for bits in self.precisions:
            now = pending[needed[pending] <= bits]
            if len(now):
                has_ball = self._run(bits, now, columns, values, status, needed, parallel)
                others = now[has_ball & untried[now] & (status[now] == MORE_BITS)]
                if self.stable is not None and len(others):
                    found, proven = self.stable(points[others], parallel)
                    values[others[proven]], status[others[proven]] = found[proven], PROVEN
                    untried[others] = False
                pending = pending[status[pending] == MORE_BITS]
            if not len(pending):
                break
        return values, status == PROVEN

    def upper_ends(self, points: Array, bits: int, parallel: bool | str = "auto") -> Array:
        """The upper ends of the balls of outputs, computed with so many bits; nan where they are not finite."""
        count = len(points)
        values = np.full((count, len(self.table.roots)), np.nan)
        status, needed = np.empty(count, np.uint8), np.empty(count)
        self._run(bits, np.arange(count), self._columns(points), values, status, needed, parallel)
        return values

    def _columns(self, points: Array) -> Array:
        """The doubles that rows read."""
        if self._order is not None:
            return points[:, self._order]
        found = iter(self._plain(points))
        places = {e: k for k, e in enumerate(self.params)}
        given = [points[:, places[e]] if e.op is VAR else next(found) for e in self.table.columns]
        return np.stack([np.broadcast_to(x, len(points)) for x in given], axis=1).astype(float)

    def _run(
        self, bits: int, pending: Array, columns: Array, values: Array, status: Array, needed: Array,
        parallel: bool | str,
    ) -> Array:  # fmt: skip
        """Compute elements with so many bits; whether their outputs have finite balls."""
        has_ball = np.empty(len(pending), bool)
        each = max(1, work.cost(self.counts, bits))
        size = max(1, CHUNK // each)
        self.constants(bits)  # which threads read
        for start in range(0, len(pending), size):
            some = pending[start : start + size]
            given, found = columns[some], np.full((len(some), len(self.table.roots)), np.nan)
            state, accurate = np.empty(len(some), np.uint8), np.empty(len(some), np.int64)
            job = functools.partial(self._part, bits, (given, found, state, accurate))
            most = len(some) * each // PARALLEL if parallel else 1
            threads.run(job, len(some), max(1, min(most, threads.processors())))
            work.spend(len(some) * each // CHEAPER)
            values[some], status[some] = found, state
            needed[some] = np.where(accurate > -bits, bits + GUARD - accurate.astype(float), 0)
            has_ball[start : start + size] = accurate != NONE
        return has_ball

    def _part(self, bits: int, arrays: Sequence[Array], first: int, last: int) -> None:
        with _Registers(self) as registers:
            registers.run(bits, last - first, *(a[first:].ctypes.data for a in arrays))

    def at(self, point: Sequence[float]) -> list[float] | None:
        """The outputs at one point; None if they are not proven."""
        if self.plan is not None:
            found = (ctypes.c_double * len(self.table.roots))()
            given = (ctypes.c_double * len(self.params))(*point)
            if not self.climb(ctypes.addressof(given), ctypes.addressof(found)):
                return list(found)
        values, proven = self(np.array([point], float))
        return [float(x) for x in values[0]] if proven[0] else None

    def climb(self, point: int, found: int) -> bool:
        """Whether the outputs at a point remain open, at the addresses of both; see `print_loop`."""
        assert self.plan is not None
        work.spend(work.cost(self.counts, FIRST) // CHEAPER)
        return bool(loop().climb(point, found, ctypes.addressof(self.plan)))

    @functools.cached_property
    def plan(self) -> ctypes.Array[ctypes.c_int64] | None:
        """What `climb` takes of the table, with the precisions that take little time; None if it is large, or
        computes float32."""
        size = BALL * (self.table.balls + len(self.table.constants))
        if self.single or size > ROOM:
            return None
        fill = None
        if self._order is None:
            names = tuple(str(p.value) for p in self.params)
            fill = Point(Spec(names, tuple(self.table.columns), None, "float64", "high", True))
        levels, spent = list[int](), 0
        for bits in self.precisions:
            spent += work.cost(self.counts, bits)
            if levels and spent > QUICK:
                break
            at = ctypes.addressof(self.constants(bits))
            levels += [bits, at, EXACT if bits < SURE else KNOWN]
        order, numbers = (np.array(x or [0], np.int64) for x in (self._order, levels))
        truths = np.zeros(max(1, self.table.truths), np.uint8)
        for place, value in self.table.truth_constants:
            truths[place] = value
        others = None if self.stable is None else self.stable.plan
        self._alive = order, numbers, truths, fill, others
        fields = {
            "inputs": len(self.params), "rows": self.rows[0], "row_count": self.rows[1],
            "order": order.ctypes.data, "columns": len(self.table.columns), "roots": self.roots[0],
            "root_count": self.roots[1], "balls": self.table.balls, "truths": truths.ctypes.data,
            "truth_count": self.table.truths, "constants": len(self.table.constants),
            "levels": numbers.ctypes.data, "level_count": len(levels) // 3, "guard": GUARD,
            "fill": 0 if fill is None else fill.linked.address("point"),
            "stable": 0 if others is None else ctypes.addressof(others),
        }  # fmt: skip
        return (ctypes.c_int64 * len(PLAN))(*(fields[name] for name in PLAN))

    @property
    def climbing(self) -> tuple[int, int, int]:
        """The addresses of `climb`, `climbs` and the plan."""
        assert self.plan is not None
        linked = loop().linked
        return linked.address("climb"), linked.address("climbs"), ctypes.addressof(self.plan)

    def constants(self, bits: int) -> ctypes.Array[ctypes.c_int64]:
        """The constants at a precision, in the order of their places."""
        found = self._constants.get(bits)
        if found is None:
            found = constant_balls(self.table, self.addresses, bits)
            weakref.finalize(self, _freed, found, len(self.table.constants)).atexit = False
            found = self._constants.setdefault(bits, found)
        return found


def constant_balls(
    table: Table, addresses: dict[str, Any], bits: int
) -> ctypes.Array[ctypes.c_int64]:
    """The constants of a table at a precision, in the order of their places; `_freed` frees them."""
    constants, library = table.constants, _library()
    found = (ctypes.c_int64 * (len(constants) * BALL // 8))()  # zeros are the ball 0
    precision, first = ctypes.c_int64(bits), ctypes.addressof(found)
    for k, value in enumerate(reversed(constants)):
        ball = ctypes.c_void_p(first + BALL * k)
        if isinstance(value, str):
            _constant(addresses[value])(ball, precision)
        elif isinstance(value, float):
            library.arb_set_d(ball, ctypes.c_double(value))
        else:
            _set_fraction(ball, value, precision)
    return found


def _freed(balls: ctypes.Array[ctypes.c_int64], count: int) -> None:
    loop().clear(ctypes.addressof(balls), count)


class _Registers:
    """The registers of a call, which are freed at its end."""

    def __init__(self, elements: BallElements) -> None:
        self.elements, table = elements, elements.table
        words = (table.balls + len(table.constants)) * BALL // 8
        self.memory = (ctypes.c_int64 * words)()  # zeros are the ball 0
        self.truths = (ctypes.c_uint8 * table.truths)()
        self.balls = ctypes.addressof(self.memory) + BALL * len(table.constants)
        self.loop = loop()

    def __enter__(self) -> _Registers:
        for place, value in self.elements.table.truth_constants:
            self.truths[place] = value
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.clear(self.balls, self.elements.table.balls)

    def run(self, bits: int, count: int, given: int, found: int, state: int, accurate: int) -> None:
        """Run the rows for elements, at addresses of columns, results, states and accurate bits."""
        e = self.elements
        constants = e.constants(bits)
        ctypes.memmove(self.memory, constants, ctypes.sizeof(constants))
        self.loop.run(
            self.balls, ctypes.addressof(self.truths), *e.rows, given, len(e.table.columns), count,
            *e.roots, found, state, accurate, bits, e.single, EXACT if bits < SURE else KNOWN,
        )  # fmt: skip


@functools.cache
def _constant(address: int) -> Any:
    return ctypes.CFUNCTYPE(None, _POINTER, _NUMBER)(address)


def _set_fraction(ball: Any, q: Fraction, precision: Any) -> None:
    library, integers = _library(), (ctypes.c_int64 * 2)()  # zeros are FLINT's 0
    places = [ctypes.c_void_p(ctypes.addressof(integers) + 8 * k) for k in range(2)]
    for place, n in zip(places, (q.numerator, q.denominator), strict=True):
        library.fmpz_set_str(place, b"%x" % n, 16)
    library.arb_fmpz_div_fmpz(ball, *places, precision)
    for place in places:
        library.fmpz_clear(place)
