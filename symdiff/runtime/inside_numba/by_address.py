"""Kernels of programs with arrays and loops, called by functions that Numba compiles.

Before:  loss.grad(w)                       inside of an `@njit` function
After:   a frame of words for the kernel (`codegen.llvm.loops.kernel`), filled from the arrays of the caller,
         and a call of the kernel by its address; results are arrays of Numba's

No Python runs in a call that the kernel serves. The first call goes to the function itself, which compares it
with plain Python, and so do calls that end in anything but results within their error bounds: an index out
of range, sizes that NumPy would repeat, arguments or results of sizes that were not probed yet. Threads that do not hold Python's lock, as those
of `prange`, wait for it, as Numba gives it up while they run.
"""

from __future__ import annotations

import ctypes
import functools
import math
import pickle
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from symdiff import ir
from symdiff.codegen.llvm.entry.loops import HEAD, SAMPLE, WORDS
from symdiff.codegen.llvm.loops.kernel import FIXED
from symdiff.errors import TargetError
from symdiff.ir.loop_program import (
    ARRAY,
    INDEX,
    LoopProgram,
    Type,
    kind_of,
    name_of,
    types,
)
from symdiff.ir.program import Tree, flatten_like, nested
from symdiff.runtime.inside_numba.pending_errors import Pending, tell, wait
from symdiff.runtime.loops.call import Code
from symdiff.runtime.loops.kernel import LoopKernel
from symdiff.runtime.loops.probe import SOONER

LARGEST = sys.float_info.max

STATE = ("served",)
"""What changes from call to call: whether the function itself has served one, so that its kernel is compared with
plain Python."""

DONE, RAISED, UNKNOWN = range(3)
"""How a call of Python went: well, with an error that waits to be raised, or with one that cannot be raised."""

_NUMPY = {"f": "np.float64", "i": "np.int64", "b": "np.bool_"}
_NUMBA = {"f": "float64", "i": "int64", "b": "boolean"}
_DTYPES = {"f": np.float64, "i": np.int64, "b": np.bool_}
_PYTHON: dict[str, Callable[[Any], Any]] = {"f": float, "i": int, "b": bool}


@dataclass(frozen=True)
class ArrayProgram:
    """What is called.

    Attributes
    ----------
    raw : the captured program.
    kernel : of the program that is computed.
    kinds : of each result "f", "i" or "b".
    function : the same in Python.
    direct : whether the kernel may be called without Python.
    of_numbers : whether it takes and gives numbers only; of arrays it is called for each element.
    changes : the places of arguments that it changes: Python serves calls in which one shares memory with another.
    """

    raw: LoopProgram
    kernel: LoopKernel
    kinds: Sequence[str]
    function: Callable[..., Any]
    direct: bool
    of_numbers: bool
    changes: Sequence[int] = ()


class Argument(NamedTuple):
    """The type of an argument.

    Attributes
    ----------
    rank : how many axes it has; 0 for a number.
    kind : "f", "i" or "b".
    plain : whether its elements are doubles or 64-bit integers.
    """

    rank: int
    kind: str
    plain: bool


class Result(NamedTuple):
    """A result: "f", "i" or "b", and of how many axes."""

    kind: str
    rank: int

    @property
    def numba(self) -> str:
        """Numba's name of its type."""
        axes = ", ".join([":"] * (self.rank - 1) + ["::1"])
        return f"{_NUMBA[self.kind]}[{axes}]" if self.rank else _NUMBA[self.kind]

    def of(self, value: Any) -> Any:
        """A value of Python's as Numba takes it."""
        made: Any = (
            np.ascontiguousarray(value, _DTYPES[self.kind])
            if self.rank
            else _PYTHON[self.kind](value)
        )
        return made


def together(changes: Sequence[int], args: Sequence[Argument]) -> list[tuple[int, int]]:
    """The pairs of array arguments in which one is changed."""
    arrays = [k for k, a in enumerate(args) if a.rank]
    return [(i, k) for k in arrays for i in arrays if i < k and {i, k} & {*changes}]


@functools.cache
def disjoint() -> Any:
    """Whether the stretches of memory in which two arrays lie are disjoint, in code that Numba compiles."""
    import numba

    @numba.njit  # type: ignore[untyped-decorator]
    def ends(a: Any) -> Any:
        low = a.ctypes.data
        high = low + a.itemsize
        for n, step in zip(a.shape, a.strides):  # noqa: B905 (Numba has no strict=)
            low += min(0, (n - 1) * step)
            high += max(0, (n - 1) * step)
        return low, high

    @numba.njit  # type: ignore[untyped-decorator]
    def are_disjoint(a: Any, b: Any) -> Any:
        if a.size == 0 or b.size == 0:
            return True
        (low, high), (first, last) = ends(a), ends(b)
        return high <= first or last <= low

    return are_disjoint


def implementation(made: ArrayProgram, args: Sequence[Argument]) -> Callable[..., Any]:
    """The function that Numba compiles for such arguments: from them to the tuple of all outputs.

    Raises
    ------
    TargetError : for results that compiled code cannot have.
    """
    program = made.kernel.program
    if nested(made.raw.kinds):
        raise TargetError(
            "a list that is computed as an array, in a function that Numba compiles",
            hint="return an array",
        )
    known = types(program)
    ranks = [len(known[name_of(e)].shape) if e.op is ARRAY else 0 for e in program.outputs]
    results = [Result(*pair) for pair in zip(made.kinds, ranks, strict=True)]
    python = _in_python(made.function, program.tree, results)
    code = _direct_code(made, args)
    if code is None:
        return _function(program.name, python, len(args), results)
    direct = _Direct(code, made, args)
    return _function(program.name, direct.served(python), len(args), results, direct)


def in_python(
    name: str, function: Callable[..., Any], tree: Tree, params: int, results: int
) -> Callable[..., Any]:
    """The same for a function of numbers that compiled code cannot compute: it calls Python."""
    made = [Result("f", 0)] * results
    return _function(name, _in_python(function, tree, made), params, made)


def _function(
    name: str,
    python: Callable[..., Any],
    params: int,
    results: Sequence[Result],
    direct: _Direct | None = None,
) -> Callable[..., Any]:
    """The text that Numba compiles: a direct call, if there is one, and what it leaves to Python."""
    unknown = all(r.kind == "f" and (direct is not None or not r.rank) for r in results)
    asked = _Asked(name, python, results, unknown)
    scope = _names() | {"python": asked, "Pending": Pending}
    scope["refusal"] = f"{name}: an error in a thread that does not hold Python's lock"
    given = ", ".join(f"a{k}" for k in range(params))
    names = [f"r{k}" for k in range(len(results))]
    answers = [f"p{k}" for k in range(len(results))]
    declared = ", ".join(f"{p}={r.numba!r}" for p, r in zip(answers, results, strict=True))
    lines = ["done = False", "held = holds_lock() != 0"]
    if direct is not None:
        lines += direct.lines()
        scope |= direct.scope
    lines += [
        "if not done:",
        f"    with objmode(state='int64', {declared}):",
        f"        state, {', '.join(answers)} = python(held, {given})",
        f"    if state == {DONE}:",
        *(f"        {n} = {p}" for n, p in zip(names, answers, strict=True)),
    ]
    if unknown:
        lines.append(f"    elif state == {UNKNOWN}:")
        lines += [
            f"        {n}{'[...]' if r.rank else ''} = np.nan"
            for n, r in zip(names, results, strict=True)
        ] or ["        pass"]
    lines += ["    else:", "        raise Pending(refusal)", f"return ({', '.join(names)},)"]
    text = f"def call({given}):\n" + "\n".join("    " + line for line in lines)
    exec(text, scope)  # contains only numbers and the names above
    return scope["call"]  # type: ignore[no-any-return]


class _Asked:
    """What compiled code asks for results: how it went, and they. It never raises an error, which Numba would
    leave behind in a `try`: it waits for compiled code to raise it, or is told where results may be unknown."""

    def __init__(
        self, name: str, python: Callable[..., Any], results: Sequence[Result], unknown: bool
    ) -> None:
        self.name, self.python, self.unknown = name, python, unknown
        self.nothing = tuple(
            np.empty((0,) * r.rank, _DTYPES[r.kind]) if r.rank else r.of(0) for r in results
        )

    def __call__(self, held: bool, *args: Any) -> tuple[Any, ...]:
        try:
            return DONE, *self.python(*args)
        except BaseException as error:
            if self.unknown and not held:
                tell(self.name, error)
                return UNKNOWN, *self.nothing
            wait(error)
            return RAISED, *self.nothing

    def __reduce__(self) -> Any:
        """Numba must not keep code on disk that has addresses of this process."""
        raise pickle.PicklingError(f"{self.name} belongs to this process")


def _in_python(
    function: Callable[..., Any], tree: Tree, results: Sequence[Result]
) -> Callable[..., Any]:
    """The function, whose results are as compiled code has them: a tuple."""

    def python(*args: Any) -> Any:
        found: Any = function(*(_in_64_bits(a) for a in args))
        flat = flatten_like(tree, found, len(results), "the result")
        return tuple(r.of(v) for r, v in zip(results, flat, strict=True))

    return python


def _in_64_bits(value: Any) -> Any:
    """An argument, as doubles if it is of narrower floats."""
    narrow = isinstance(value, np.ndarray) and value.dtype in (np.float32, np.float16)
    return value.astype(np.float64) if narrow else value


def _direct_code(made: ArrayProgram, args: Sequence[Argument]) -> Code | None:
    """The kernel, if a call without Python can be distinguished from calls that need it."""
    raw, program = made.raw, made.kernel.program
    if not made.direct or raw.by_rows or raw.stretches.single:
        return None
    if any(e.args for pair in raw.stretches.pairs for e in pair):
        return None  # which of those are 1 does not show in the arguments
    if any(
        e.op is not ARRAY and kind_of(e) != kind
        for e, kind in zip(program.outputs, made.kinds, strict=True)
    ):
        return None
    for p, a in zip(program.params, args, strict=True):
        if p.type.kind == "b" or len(p.type.shape) != a.rank or (p.type.kind, a.kind) == ("i", "f"):
            return None
        if a.rank and a.kind == "i" and not a.plain:
            return None  # NumPy's arithmetic of such may wrap around
    code = made.kernel.code("float64")
    axes = [n for t in (*(p.type for p in program.params), *code.layout.outputs) for n in t.shape]
    if not code.all_known or any(_axis(n) is None for n in axes):
        return None
    return code


def _axis(n: ir.Expr) -> int | str | None:
    """A size that is known, or its name; None for a formula."""
    if n.op is INDEX:
        return name_of(n)
    size = ir.integer(n) if n.op is ir.CONST else None
    return size if size is not None and size >= 0 else None


class _Direct:
    """The lines that call a kernel by its address."""

    def __init__(self, code: Code, made: ArrayProgram, args: Sequence[Argument]) -> None:
        self.code, self.made, self.args = code, made, args
        self.layout, self.program = code.layout, made.kernel.program
        template = np.frombuffer(
            code.pack(*(0 if v is None else v for v in code.frame)), np.int64
        ).copy()
        self.state = (ctypes.c_int64 * len(STATE))()
        self.scope: dict[str, Any] = {
            "template": template,
            "state_at": ctypes.addressof(self.state), "kernel": _address(code.watched or code.function),
            "finish": _address(code.finish), "used_at": ctypes.addressof(code.outcome.used),
            "turn_at": ctypes.addressof(code.kernel.schedule.state),
        }  # fmt: skip
        _alive.append((self, code, self.state, code.kernel.schedule.state))

    def served(self, python: Callable[..., Any]) -> Callable[..., Any]:
        """The function in Python, once the call that goes there has told what it has to; after it the kernel counts
        as compared."""

        def call(*args: Any) -> Any:
            self.code.outcome.finish()
            found = python(*args)
            self.state[STATE.index("served")] = 1
            return found

        return call

    def lines(self) -> list[str]:
        """From the arguments `a0`, ... to the results `r0`, ...; `done` says whether they are right."""
        raised = FIXED.index("raised")
        lines = [
            "frame = template.copy()",
            "reals = frame.view(np.float64)",
            "fits = True",
            *(
                f"fits = fits and disjoint(a{i}, a{k})"
                for i, k in together(self.made.changes, self.args)
            ),
        ]
        alive = self._arguments(lines)
        self._results(lines)
        lines += [
            f"if fits and word_at(state_at, {STATE.index('served')}) != 0:",
            "    if not held:",
            f"        frame[{FIXED.index('parallel')}] = 0",
            "    status = invoke(kernel, frame.ctypes.data)",
        ]
        lines += [
            f"    if status == 0 and frame[{raised}] == 0:",
            "        done = True",
            "    else:",
            "        release(finish, frame.ctypes.data)",
            "    if word_at(used_at, 0) != 0:  # something is to be told",
            "        done = False",
            *self._numbers("    "),
            *(f"    {line}" for line in self._sizes()),
            f"alive = {' + '.join(alive) or '0'}",
        ]
        return lines

    def _arguments(self, lines: list[str]) -> list[str]:
        """Put them into the frame; what must live while the kernel runs."""
        alive, known = [], set[str]()
        ones = not self.made.raw.stretches.pairs
        for k, (p, place) in enumerate(zip(self.program.params, self.layout.places, strict=False)):
            if not p.type.shape:
                where = "reals" if p.type.kind == "f" else "frame"
                lines.append(f"{where}[{place}] = {'float' if p.type.kind == 'f' else 'int'}(a{k})")
                continue
            a = self.args[k]
            as_it_is = a.plain and a.kind == p.type.kind
            text = f"a{k}" if as_it_is else f"a{k}.astype({_NUMPY[p.type.kind]})"
            lines.append(f"b{k} = np.ascontiguousarray({text})")
            lines.append(f"frame[{place}] = b{k}.ctypes.data")
            alive.append(f"b{k}.size")
            for axis, n in enumerate(p.type.shape):
                size, is_called = f"b{k}.shape[{axis}]", _axis(n)
                if not isinstance(is_called, str):
                    lines.append(f"fits = fits and {size} == {is_called}")
                elif is_called in known:
                    lines.append(f"fits = fits and {size} == frame[{self.layout.sizes[is_called]}]")
                else:
                    known.add(is_called)
                    lines.append(f"frame[{self.layout.sizes[is_called]}] = {size}")
                if not ones:
                    lines.append(f"fits = fits and {size} != 1")
        return alive

    def _results(self, lines: list[str]) -> None:
        """Make room for them."""
        for k, (t, place) in enumerate(zip(self.layout.outputs, self.layout.results, strict=True)):
            if t.shape:
                sizes = [_axis(n) for n in t.shape]
                shape = ", ".join(
                    f"frame[{self.layout.sizes[n]}]" if isinstance(n, str) else str(n)
                    for n in sizes
                )
                lines.append(f"r{k} = np.empty(({shape},), {_NUMPY[t.kind]})")
                lines.append(f"frame[{place}] = r{k}.ctypes.data")
            else:
                lines.append(f"r{k} = {_zero(t)}")

    def _sizes(self) -> list[str]:
        """Refuse calls that are to be probed, as compiled entries do (`codegen.llvm.entry.loops`)."""
        if not self.code.kernel.is_probed:
            return []
        params = [p.type for p in self.program.params]
        names = [f"b{k}" if t.shape else f"float(a{k})" for k, t in enumerate(params)]
        names += [f"r{k}" for k in range(len(self.layout.outputs))]
        known = [
            f"is_probed(turn_at, {which}, {f'largest({name})' if t.shape else f'abs({name})'}, sooner)"
            for which, (t, name) in enumerate(
                zip((*params, *self.layout.outputs), names, strict=True)
            )
            if t.kind == "f"
        ]
        return [
            "left = count_down(turn_at)",
            "done = done and left > 0",
            f"sooner = left <= word_at(turn_at, {SOONER})",
            *(f"done = done and {size}" for size in known),
        ]

    def _numbers(self, indent: str) -> list[str]:
        """Read the results that are numbers."""
        texts = {"f": "reals[{}]", "i": "frame[{}]", "b": "frame[{}] != 0"}
        return [
            f"{indent}r{k} = {texts[t.kind].format(place)}"
            for k, (t, place) in enumerate(
                zip(self.layout.outputs, self.layout.results, strict=True)
            )
            if not t.shape
        ]


def _zero(t: Type) -> str:
    return {"f": "0.0", "i": "0", "b": "False"}[t.kind]


_alive: list[Any] = []
"""What compiled code of Numba's has the addresses of, which lives as long as the process."""


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@cache
def _intrinsics() -> dict[str, Any]:
    """`invoke(address, frame)` calls a kernel, `release(address, frame)` frees what one that failed has kept, and
    `word_at(address, k)` reads a word."""
    from llvmlite import ir as llvm
    from numba import types
    from numba.extending import intrinsic

    word, byte = llvm.IntType(64), llvm.IntType(8)

    def caller(result: Any, returned: Any) -> Any:
        @intrinsic  # type: ignore[untyped-decorator]
        def call(typingctx: Any, address: Any, frame: Any) -> Any:
            def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
                kind = llvm.FunctionType(returned, [byte.as_pointer()])
                at, record = values
                function = builder.inttoptr(at, kind.as_pointer())
                found = builder.call(function, [builder.inttoptr(record, byte.as_pointer())])
                return context.get_dummy_value() if result is types.none else found

            return result(types.int64, types.int64), codegen

        return call

    @intrinsic  # type: ignore[untyped-decorator]
    def word_at(typingctx: Any, address: Any, k: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            place = builder.gep(builder.inttoptr(values[0], word.as_pointer()), [values[1]])
            return builder.load(place)

        return types.int64(types.int64, types.int64), codegen

    @intrinsic  # type: ignore[untyped-decorator]
    def count_down(typingctx: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            place = builder.inttoptr(values[0], word.as_pointer())
            left = builder.sub(builder.load(place), word(1))
            builder.store(left, place)
            return left

        return types.int64(types.int64), codegen

    return {
        "count_down": count_down,
        "invoke": caller(types.int32, llvm.IntType(32)),
        "release": caller(types.none, llvm.VoidType()),
        "word_at": word_at,
    }


@cache
def _sizes() -> dict[str, Any]:
    """`largest(array)`, of some elements, and `is_probed(state, which, size, sooner)`: whether a call may have such
    numbers now, as compiled entries say it."""
    from numba import njit

    word_at = _intrinsics()["word_at"]

    @njit  # type: ignore[untyped-decorator]
    def largest(a: Any) -> float:
        flat, found = a.ravel(), 0.0
        for k in range(0, flat.size, max(1, flat.size // SAMPLE)):
            size = abs(flat[k])
            if not size <= found:
                found = size
            if math.isnan(found):
                break
        return found

    @njit  # type: ignore[untyped-decorator]
    def is_probed(state: int, which: int, size: float, sooner: bool) -> bool:
        if not size <= LARGEST:
            return False
        if not sooner:
            return True
        e = max(math.frexp(size)[1] + 1022, 0) if size > 0.0 else 0
        place = HEAD + WORDS * which
        if e == 0:
            return bool(word_at(state, place + 2) != 0)
        return bool(word_at(state, place) <= e <= word_at(state, place + 1))

    return {"largest": largest, "is_probed": is_probed}


def _names() -> dict[str, Any]:
    """What the compiled text calls."""
    from numba import objmode, types

    lock = types.ExternalFunction("PyGILState_Check", types.int32())
    return (
        {"np": np, "objmode": objmode, "holds_lock": lock, "disjoint": disjoint()}
        | _intrinsics()
        | _sizes()
    )
