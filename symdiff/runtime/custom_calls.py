"""Kernels as custom calls of XLA, and what they are handed: see `codegen.llvm.entry.custom_call`.

A kernel's own record (the job of the driver of arrays, the frame of a program with loops) is prepared once
for arguments of given shapes; at a call the handler fills in where buffers lie.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symdiff.codegen.llvm import jit, tiers
from symdiff.codegen.llvm.array_loop import BLOCK, JOB
from symdiff.codegen.llvm.entry.custom_call import ADDRESS, DOUBLE, PLAN, SINGLE, print_handler
from symdiff.codegen.llvm.loops.kernel import FIXED
from symdiff.ir.program import Tree
from symdiff.runtime import cache
from symdiff.runtime.loops.call import Code
from symdiff.runtime.scalar import compiled
from symdiff.runtime.scalar.kernel import Kernel

Pair = tuple[int, int]
Shape = tuple[int, ...]

ALWAYS = 2**62
"""More elements than there are."""


@dataclass(frozen=True)
class Record:
    """How a kernel is called on buffers; the names are those of `PLAN`.

    Attributes
    ----------
    template : the words of the record.
    alive : what must live as long as it is called.
    """

    kernel: int
    template: Sequence[int]
    taken: Sequence[Pair]
    given: Sequence[Pair]
    alive: Any
    moved: Sequence[Pair] = ()
    counted: Sequence[int] = ()
    each: int = 0
    watched: int = 0
    most: int = ALWAYS


class Handler:
    """A handler of XLA's custom calls.

    Parameters
    ----------
    record : how to call a kernel.
    callback : takes the address of a frame, and returns that of an error, or 0; called where the
        kernel cannot tell the results, or would be slower.

    Attributes
    ----------
    function : what XLA calls; valid as long as this lives.
    """

    def __init__(self, record: Record, callback: Callable[[int], int]) -> None:
        self._callback = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(callback)
        key = cache.key("custom call", jit.host())
        self._linked = jit.Linked(*compiled.object_code(key, print_handler, True))
        r = record
        lists = {
            "template": r.template, "taken": _flat(r.taken), "given": _flat(r.given),
            "moved": _flat(r.moved), "counted": r.counted,
        }  # fmt: skip
        arrays = {name: np.array(list(values) or [0], np.int64) for name, values in lists.items()}
        fields = {name: a.ctypes.data for name, a in arrays.items()} | {
            "callback": ctypes.cast(self._callback, ctypes.c_void_p).value or 0, "kernel": r.kernel,
            "words": len(r.template), "each": r.each, "args": len(r.taken), "rets": len(r.given),
            "moves": len(r.moved), "counts": len(r.counted), "watched": r.watched, "most": r.most,
        }  # fmt: skip
        plan = np.array([fields[name] for name in PLAN], np.int64)
        self._alive = record, arrays, plan
        place = ctypes.c_void_p.from_address(self._linked.address("plan"))
        place.value = plan.ctypes.data
        self.function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(
            self._linked.address("handler")
        )


def _flat(pairs: Sequence[Pair]) -> list[int]:
    return [n for pair in pairs for n in pair]


def of_elements(kernel: Kernel, dtype: str, tree: Tree) -> Record | None:
    """A kernel on arrays of one shape and dtype, element by element; None if its results do not nest as a
    number or a tuple of numbers does."""
    order = _order(tree)
    if order is None or sorted(order) != list(range(len(kernel.outputs))):
        return None
    bodies = kernel.bodies(dtype, 0)
    tested = bodies.tested()
    made = [tested, bodies.between and bodies.between()]
    inputs, outputs = len(kernel.params), len(kernel.outputs)
    count = inputs + outputs + kernel.flagged
    item = np.dtype(dtype).itemsize
    first, lists = len(tiers.RECORD), len(tiers.RECORD) + tiers.JOBS * len(JOB)
    memory = lists + 4 * count
    work = memory + (count + tiers.EXTRA) * BLOCK
    words = [0] * (work + count)
    items = [item] * (inputs + outputs) + [1] * kernel.flagged
    words[lists + count : lists + 2 * count] = words[lists + 3 * count : memory] = items
    moved, counted = [], [tiers.RECORD.index("stop")]
    if kernel.flagged:
        moved.append((lists + count - 1, len(words)))
    for name, body in zip(("tested", "between"), made, strict=True):
        if body is None:
            continue
        job = first + len(JOB) * tiers.RECORD.index(name)
        at = {field: job + k for k, field in enumerate(JOB)}
        words[at["body"]], words[at["width"]] = body.address, body.width
        words[at["inputs"]], words[at["count"]] = inputs, count
        moved += [(at[n], lists + k * count) for k, n in enumerate(JOB[1:5])]
        moved += [(at["buffers"], memory), (at["work"], work)]
        moved.append((tiers.RECORD.index(name), job))
        counted.append(at["row"])
    taken = [(lists + k, ADDRESS) for k in range(inputs)]
    given = [(lists + inputs + k, ADDRESS) for k in order]
    return Record(
        tested.driver, words, taken, given, made, moved, counted, int(kernel.flagged),
        tiers.RECORD.index("tried"), kernel.small,
    )  # fmt: skip


def of_program(
    code: Code, shapes: Sequence[Shape], tree: Tree, results: Sequence[Shape]
) -> Record | None:
    """A program with arrays and loops, for arguments of these shapes, as doubles or singles; None where the
    shapes of results are not known before, or the program takes or gives other numbers."""
    order, layout, dtype = _order(tree), code.layout, code.real
    number = DOUBLE if dtype == np.float64 else SINGLE
    if order is None or not code.all_known or len(code.takes) != len(shapes):
        return None
    if any(layout.outputs[k].kind != "f" for k in order):
        return None
    frame, taken = code.frame.copy(), []
    for (place, own, axes), shape in zip(code.takes, shapes, strict=True):
        if own not in (None, dtype) or len(axes) != len(shape):
            return None
        taken.append((place, number if own is None else ADDRESS))
        for size, (word, known) in zip(shape, axes, strict=True):
            if known is None:
                known = frame[word] = size if frame[word] is None else frame[word]
            if known != size:
                return None
    if None in frame:
        return None
    found = [shape_of(frame) for shape_of in _shapes_of(code)]
    if [found[k] for k in order] != list(results) or len(set(order)) < len(found):
        return None
    given = [(layout.results[k], ADDRESS if found[k] else number) for k in order]
    words = np.frombuffer(code.pack(*frame), np.int64).tolist()
    entry = code.watched or code.function
    return Record(
        ctypes.cast(entry, ctypes.c_void_p).value or 0, words, taken, given, code,
        watched=FIXED.index("raised"),
    )  # fmt: skip


def _shapes_of(code: Code) -> list[Callable[[Sequence[Any]], Shape]]:
    def shape_of(made: Any) -> Callable[[Sequence[Any]], Shape]:
        return lambda frame: () if made is None else tuple(f(frame) for f in made[1])

    return [shape_of(made) for made in code.makes]


def _order(tree: Tree) -> list[int] | None:
    """The outputs in the order of results, if these are one or a tuple of them."""
    leaves = [tree] if isinstance(tree, int) else tree
    if not isinstance(leaves, (tuple, list)) or not all(isinstance(t, int) for t in leaves):
        return None
    return [int(t) for t in leaves]
