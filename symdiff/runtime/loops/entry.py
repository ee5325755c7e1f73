"""The builtin for ordinary calls of a kernel with arrays and loops."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from symdiff import ir
from symdiff.codegen.llvm import jit
from symdiff.codegen.llvm.entry import loops as loop_entry
from symdiff.codegen.llvm.entry.sizes import EVERY, Words
from symdiff.ir import CONST, Expr
from symdiff.ir.loop_program import INDEX, Type, name_of
from symdiff.process.progress import WATCHING
from symdiff.runtime import builtin, cache
from symdiff.runtime.loops.arguments import FLOAT64, INT64
from symdiff.runtime.loops.call import AGAIN, Code
from symdiff.runtime.scalar.compiled import link

_DTYPES = {"f": FLOAT64, "i": INT64}
_NUMBERS = {"f": 0, "i": 1, "b": 2}
_ARRAY_TAKEN, _ARRAY_MADE = 2, 3
_FLOAT_TAKEN = 3

Table = ctypes.Array[ctypes.c_int64]


def entry_of(
    code: Code, keep: bool, integers: bool = True, changed: Sequence[int] = (),
    repeated: Collection[tuple[str, int]] = (),
    served: Mapping[str, Words] | None = None,
) -> Callable[..., Any] | None:  # fmt: skip
    """A builtin that calls the code and returns its output, or the tuple of them; it returns
    NotImplemented for calls that `Code.run` has to serve.

    None if those are all: results of shapes that the arguments do not have, or arrays of truth
    values. Requires code in double precision.

    Parameters
    ----------
    code : of the kernel.
    keep : whether the builtin's code is kept on disk.
    integers : whether Python's integers are taken as real numbers.
    repeated : axes of parameters that may not have one element, which would be repeated.
    changed : the places of arrays that the function changes; they must lie apart from others.
    served : of parameters a word for each axis, of the classes of sizes that are served; those of
        others may have any size.
    """
    layout = builtin.float_layout()
    if layout is None or not builtin.arrays_are_known() or not code.all_known:
        return None
    if code.layout.count > loop_entry.MOST_WORDS or (
        changed and len(code.kernel.program.params) > loop_entry.MOST_CHANGED
    ):
        return None
    program, frame = code.kernel.program, code.layout
    alive: list[Any] = [code]
    takes = [
        _row(
            place, p.type, _ARRAY_TAKEN, frame.sizes, alive, (served or {}).get(p.name, EVERY),
            [k for k in range(len(p.type.shape)) if (p.name, k) in repeated],
        )
        for p, place in zip(program.params, frame.places, strict=False)
    ]  # fmt: skip
    if not integers:
        real = _NUMBERS["f"]
        takes = [[t[0], _FLOAT_TAKEN, *t[2:]] if t and t[1] == real else t for t in takes]
    makes = [
        _row(place, t, _ARRAY_MADE, frame.sizes, alive)
        for t, place in zip(frame.outputs, frame.results, strict=True)
    ]
    if any(row is None for row in (*takes, *makes)) or any(
        p.type.kind == "b" for p in program.params
    ):
        return None
    template = _table([-1 if v is None else v for v in code.frame])
    template[AGAIN] = code.callbacks[AGAIN - 1]
    account = code.outcome.finish
    fields = {
        "function": _address(code.watched or code.function), "finish": _address(code.finish),
        "count": frame.count, "template": ctypes.addressof(template),
        "inputs": len(takes), "outputs": len(makes),
        "watching": ctypes.addressof(WATCHING),
        "used": ctypes.addressof(code.outcome.used),
        "account": id(account),
        "changed": sum(1 << k for k in changed),
        "turn": ctypes.addressof(code.kernel.schedule.state) if code.kernel.is_probed else 0,
    }  # fmt: skip
    for name, rows in (("takes", takes), ("makes", makes)):
        table = _table([v for row in rows for v in row or ()])
        fields[name] = ctypes.addressof(table)
        alive.append(table)
    record = _table([fields.get(name, 0) for name in loop_entry.RECORD])
    key = cache.key("loop entry", jit.host(), layout)
    linked = link(key, lambda: loop_entry.print_entry(*layout), keep, tidy=True)
    return builtin.loop_builtin(linked, record, template, account, *alive)


def _row(
    place: int, t: Type, array: int, sizes: Any, alive: list[Any], served: Words = EVERY,
    repeated: Collection[int] = (),
) -> list[int] | None:  # fmt: skip
    """What a table says of an argument or a result; None if it cannot."""
    if not t.shape:
        return [place, _NUMBERS[t.kind], 0, 0, 0, 0]
    if t.kind not in _DTYPES or len(t.shape) > loop_entry.MOST_AXES:
        return None
    axes = [_axis(n, sizes) for n in t.shape]
    if any(a is None for a in axes):
        return None
    rows = [(*(a or ()), 2 if k in repeated else 1) for k, a in enumerate(axes)]
    table = _table([v for row in rows for v in row])
    alive += [table, served]
    words = ctypes.addressof(served)
    return [place, array, id(_DTYPES[t.kind]), len(axes), ctypes.addressof(table), words]


def _axis(n: Expr, sizes: Any) -> tuple[int, int] | None:
    """The word of a size, or -1, and the size."""
    if n.op is INDEX:
        return sizes[name_of(n)], 0
    if n.op is CONST and (k := ir.integer(n)) is not None and k >= 0:
        return -1, k
    return None


def _table(values: Sequence[int]) -> Table:
    return (ctypes.c_int64 * max(1, len(values)))(*values)


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0
