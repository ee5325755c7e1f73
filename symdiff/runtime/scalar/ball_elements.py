"""Elements whose values are proven by compiled ball arithmetic, many in one call.

Every element has a budget of its own. Its precision grows until both ends of each output's ball
round to the same number; Python's locks are not held meanwhile. Elements that have no finite value, or that
are not decided within the budget, are left to `interpret.certified`, which has the same values
for all others.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from symdiff.codegen.llvm import jit
from symdiff.codegen.llvm.ball_table import (
    ASK,
    BALL,
    FIELDS,
    MORE_BITS,
    PREFIXED,
    PROVEN,
    USED,
    Table,
    columns_of,
    evaluable,
    print_loop,
    table_of,
)
from symdiff.errors import UnsupportedError
from symdiff.interpret import Certified, work
from symdiff.ir import VAR, Expr, var
from symdiff.ir.functions.columns import MOST_BITS
from symdiff.process.locks import Lock
from symdiff.runtime import cache

Array = np.ndarray[Any, Any]

FIRST, LAST = 64, 16384
"""The first and the last precision in bits; each is twice the one before."""
GUARD = 60
"""Bits that an element gets beyond those that it is known to lack."""
SURE = 512
"""Precision from which operations without a value are not tried with more bits, if their arguments have
`KNOWN` bits; below only if these are exact."""
KNOWN, EXACT = 30, 2**63 - 1
CHUNK = 400_000
"""Operations of balls (`interpret.work`) after which signals are looked at, about a tenth of a second at most."""
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
    clear: Any
    linked: jit.Linked


def _loop() -> _Loop:
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
            clear = ctypes.CFUNCTYPE(None, _POINTER, _NUMBER)(linked.address("clear"))
            _loops.append(_Loop(run, clear, linked))
        return _loops[0]


_POINTER, _NUMBER = ctypes.c_void_p, ctypes.c_int64
_KINDS = (
    _POINTER, _POINTER, _POINTER, _NUMBER, _POINTER, _NUMBER, _NUMBER, _POINTER, _NUMBER, _POINTER,
    _POINTER, _POINTER, _NUMBER, _NUMBER, _NUMBER,
)  # fmt: skip


def compiled(program: Certified, params: Sequence[str], single: bool) -> BallElements | None:
    """The outputs of a program for many elements; None where that is not possible."""
    if _library() is None:
        return None
    try:
        table = table_of(program.tape)
    except UnsupportedError:
        return None
    columns = [e for e in table.columns if e.op is not VAR]
    addresses = {name: address_of(name) for name in table.names()}
    if None in addresses.values() or not evaluable(columns):
        return None
    return BallElements(program, table, [var(p) for p in params], addresses, single)


class BallElements:
    """A table, to be run for elements.

    Parameters
    ----------
    program : the same, interpreted.
    params : the variables, in the order of the points.
    addresses : of the C functions.
    single : whether results are rounded to float32.
    """

    def __init__(
        self, program: Certified, table: Table, params: Sequence[Expr],
        addresses: dict[str, Any], single: bool,
    ) -> None:  # fmt: skip
        self.table, self.params, self.single = table, tuple(params), single
        rows = [[addresses[x] if isinstance(x, str) else x for x in row] for row in table.rows]
        self._rows = np.array(rows, np.int64).reshape(-1, FIELDS)
        self._roots = np.array(table.roots, np.int64)
        self._addresses = addresses
        self._decided = [e for e in table.columns if e.op is not VAR]
        nodes = [e for e in program.tape.nodes if e.args]
        self._counts = work.counts(nodes)
        last = MOST_BITS if any(e.op.edges is not None for e in nodes) else LAST
        self.precisions, bits, spent = [FIRST], FIRST, 0
        while (bits := 2 * bits) <= last:
            spent += work.cost(self._counts, bits)
            if spent > program.budget:
                break
            self.precisions.append(bits)

    def __call__(self, points: Array) -> tuple[Array, Array]:
        """The outputs at points (elements, parameters), and which elements are proven."""
        count = len(points)
        values = np.full((count, len(self._roots)), np.nan)
        status = np.full(count, MORE_BITS, np.uint8)
        columns, status[:] = self._columns(points)
        needed = np.zeros(count)
        with _Registers(self.table, self._addresses) as registers:
            for bits in self.precisions:
                pending = np.flatnonzero((status == MORE_BITS) & (needed <= bits))
                if len(pending):
                    registers.set_constants(bits)
                    self._run(registers, bits, pending, columns, values, status, needed)
                elif not (status == MORE_BITS).any():
                    break
        return values, status == PROVEN

    def _columns(self, points: Array) -> tuple[Array, Array]:
        """The doubles that rows read, and the elements where they are finite."""
        found = iter(columns_of(self._decided, self.params, points) if self._decided else ())
        places = {e: k for k, e in enumerate(self.params)}
        columns = np.empty((len(points), len(self.table.columns)))
        for k, e in enumerate(self.table.columns):
            columns[:, k] = points[:, places[e]] if e.op is VAR else next(found)
        finite = np.isfinite(points).all(axis=1) & np.isfinite(columns).all(axis=1)
        return columns, np.where(finite, MORE_BITS, ASK)

    def _run(
        self, registers: _Registers, bits: int, pending: Array, columns: Array, values: Array,
        status: Array, needed: Array,
    ) -> None:  # fmt: skip
        run, cost = _loop().run, work.cost(self._counts, bits)
        size = max(1, CHUNK // cost)
        well = EXACT if bits < SURE else KNOWN
        for start in range(0, len(pending), size):
            some = pending[start : start + size]
            given, found = columns[some], np.empty((len(some), len(self._roots)))
            state, accurate = np.empty(len(some), np.uint8), np.empty(len(some), np.int64)
            run(
                registers.balls.ctypes.data, registers.truths.ctypes.data, self._rows.ctypes.data,
                len(self._rows), given.ctypes.data, given.shape[1], len(some),
                self._roots.ctypes.data, len(self._roots), found.ctypes.data, state.ctypes.data,
                accurate.ctypes.data, bits, self.single, well,
            )  # fmt: skip
            work.spend(len(some) * cost // CHEAPER)
            values[some], status[some] = found, state
            needed[some] = np.where(accurate > -bits, bits + GUARD - accurate.astype(float), 0)


class _Registers:
    """The registers of a call, which are freed at its end."""

    def __init__(self, table: Table, addresses: dict[str, Any]) -> None:
        self.table, self.addresses = table, addresses
        self.balls = np.zeros(max(1, table.balls) * BALL // 8, np.int64)  # zeros are the ball 0
        self.truths = np.zeros(max(1, table.truths), np.uint8)

    def __enter__(self) -> _Registers:
        for place, value in self.table.truth_constants:
            self.truths[place] = value
        return self

    def __exit__(self, *_: object) -> None:
        _loop().clear(self.balls.ctypes.data, self.table.balls)

    def set_constants(self, bits: int) -> None:
        """The constants at a precision."""
        library, precision = _library(), ctypes.c_int64(bits)
        for place, value in self.table.constants:
            ball = ctypes.c_void_p(self.balls.ctypes.data + BALL * place)
            if isinstance(value, str):
                _constant(self.addresses[value])(ball, precision)
            elif isinstance(value, float) or _is_double(value):
                library.arb_set_d(ball, ctypes.c_double(float(value)))
            else:
                _set_fraction(ball, value, precision)


@functools.cache
def _constant(address: int) -> Any:
    return ctypes.CFUNCTYPE(None, _POINTER, _NUMBER)(address)


def _is_double(q: Fraction) -> bool:
    try:
        return Fraction(float(q)) == q
    except OverflowError:
        return False


def _set_fraction(ball: Any, q: Fraction, precision: Any) -> None:
    library, integers = _library(), (ctypes.c_int64 * 2)()  # zeros are FLINT's 0
    places = [ctypes.c_void_p(ctypes.addressof(integers) + 8 * k) for k in range(2)]
    for place, n in zip(places, (q.numerator, q.denominator), strict=True):
        library.fmpz_set_str(place, b"%x" % n, 16)
    library.arb_fmpz_div_fmpz(ball, *places, precision)
    for place in places:
        library.fmpz_clear(place)
