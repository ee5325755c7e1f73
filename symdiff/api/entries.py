"""Which compiled entries serve the calls of a function, once calls of their kind were made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from symdiff.api import comparing, whole_arguments
from symdiff.codegen.llvm.entry.dispatch import MOST
from symdiff.codegen.llvm.entry.sizes import EVERY, Words
from symdiff.frontend import Shapes
from symdiff.ir.loop_program import LoopProgram
from symdiff.ir.program import OptimizedProgram, Program
from symdiff.pipeline.argument_shapes import says_shared
from symdiff.pipeline.derivation import Source
from symdiff.pipeline.kernels.scalar import nested, placed
from symdiff.pipeline.validation.seen import Sizes
from symdiff.runtime.dispatch import CompiledEntry, DispatchStub, refusing
from symdiff.runtime.forms import Form
from symdiff.runtime.scalar.fallback import Tiered
from symdiff.runtime.scalar.kernel import Kernel

Function = Any
"""A `SymbolicFunction`, which imports this."""

_FAST = {np.dtype(name): name for name in ("float64", "float32")}
"""Arrays that compiled entries take."""
Kind = str | tuple[str, int, int, int, bool]
"""What a compiled entry serves: numbers, floats, a program with arrays, or arrays of a dtype and
number of dimensions as those arguments that the bits tell, but for one number of elements, with
numbers that may be integers or not."""
Route = Callable[[Sequence[Any], Any], Any]
"""A shorter way than the general path: it is given the arguments and `out=`, and returns NotImplemented for calls
that it does not serve."""
MOST_INPUTS = 60
"""Arguments of calls with arrays that go straight to a compiled entry."""


def note(
    f: Function, raw: Program, real: Sequence[Any], static: Mapping[str, Any], shapes: Shapes,
    optimized: OptimizedProgram, kernel: Tiered,
) -> None:  # fmt: skip
    """After a call: more of its kind may go straight to a compiled entry, if compiling
    pays."""
    sees = f._source.sees_sharing(static, shapes)
    if (
        (sees and (static or not _arguments_say(f, shapes)))
        or not may_be_used(f, shapes)
        or kernel.always
        or f._emitted.get(id(raw)) != (optimized, kernel)
    ):
        return
    if (raw.kinds and not f._source.path) or raw.of_python:
        return  # which entries do not know of
    if not f._source.has_one_kernel(static, shapes):
        return
    given = [type(a) is np.ndarray for a in real]
    whole = whole_arguments.always_floats(f, real, static)
    if not any(given):
        if kernel.pays and all(isinstance(v, (float, int)) for v in real):
            _use(f, "numbers" if whole else "floats", optimized, kernel.kernel, static)
        return
    dtypes = {a.dtype for a in real if type(a) is np.ndarray}
    ranks = {a.ndim for a in real if type(a) is np.ndarray}
    if len(dtypes) > 1 or len(ranks) > 1 or len(real) > MOST_INPUTS:
        return
    if (dtype := _FAST.get(dtypes.pop())) is not None and (rank := ranks.pop()):
        weak = all(type(v) in (float, int, bool) for v in real if type(v) is not np.ndarray)
        if dtype == "float64" or weak:
            which = sum(1 << k for k, is_array in enumerate(given) if is_array)
            never = 1 if f._source.stretches(static, shapes).single else -1
            kind = dtype, rank, which, never, not whole
            sizes = comparing.served(f, real, static)
            words = EVERY if sizes is None else sizes.together
            if sees:
                flat = kernel.kernel.fast_arrays(*kind, words)
                call = nested(flat, optimized.tree, len(optimized.outputs)).call
                f._route = _looking(f, shapes, lambda args, _: call(*args), False)
            else:
                _use(f, kind, optimized, kernel.kernel, static, words)


def _arguments_say(f: Function, shapes: Shapes) -> bool:
    """Whether the arguments alone say which arrays share memory, of a function that changes some, and the
    program is for those that do not."""
    return not (f._source.captures.arrays() or says_shared(shapes.items()))


def _looking(f: Function, shapes: Shapes, route: Route, places: bool = True) -> Route:
    """A shorter way for calls in which no argument shares memory with one that is changed; `places`: whether
    it takes `out=`."""
    names = list(shapes)
    changed = [names.index(n) for n in f._source.changed({}, shapes)]

    def call(args: Sequence[Any], out: Any) -> Any:
        if len(args) < len(names) or (out is not None and not places):
            return NotImplemented
        for k in changed:
            for i in range(len(names)):
                arrays = type(args[i]) is type(args[k]) is np.ndarray
                if i != k and arrays and np.may_share_memory(args[i], args[k]):
                    return NotImplemented
        return route(args, out)

    return call


def may_be_used(f: Function, shapes: Shapes) -> bool:
    """Whether calls like one of arguments of these shapes may go straight to a compiled entry,
    which takes arrays of truth values for arrays of numbers, and any integers for those that a program
    was captured for."""
    if any(s[1] == "b" or (not s[0] and len(s) > 2) for s in shapes.values()):
        return False
    if f._source.captures.prints:
        return False
    always = f._options.accuracy == "certified" or f._options.target == "cuda"
    always = always or f._options.engine != "llvm"
    return not (f._options.dtype or always) and (f._selects or not f._source.parameters.static)


def _use(
    f: Function, kind: Kind, optimized: OptimizedProgram, kernel: Kernel,
    static: Mapping[str, Any], sizes: Words = EVERY,
) -> None:  # fmt: skip
    """Calls with "numbers", or with small arrays of a kind, go straight to the compiled
    entry, once there was one."""
    if not f._served.takes(kind, static):
        return
    tree, count = optimized.tree, len(optimized.outputs)
    if isinstance(kind, str):
        flat = kernel.fast if kind == "numbers" else kernel.fast_floats
        f._open(kind, nested(flat, tree, count), static)
        return
    flat = kernel.fast_arrays(*kind, sizes)
    entry = nested(flat, tree, count)
    f._open(kind, entry._replace(placed=placed(flat, optimized)), static)


def use_for_program(
    f: Function, raw: LoopProgram, real: Sequence[Any], static: Mapping[str, Any], shapes: Shapes
) -> None:
    """Calls of a program with arrays or loops as well, once there was one with doubles, by a shorter
    way in Python or a compiled entry; with
    integers for numbers too, if results are floats whichever those are. Of integer parameters
    only if results are floats nonetheless. Of a program that changes its arguments, the entry refuses those
    that share memory; it does not see captured arrays."""
    sees = f._source.sees_sharing(static, shapes)
    sizes, names = comparing.served(f, real, static), f._source.parameters.real
    route: Route | None = None if static else f._arrays.route(raw)
    if sees and not _arguments_say(f, shapes):
        f._route = None
        return
    if route is not None and sizes is not None:
        route = partial(_compared, sizes, route)
    f._route = _looking(f, shapes, route) if sees and route is not None else route
    whole = whole_arguments.always_floats(f, real, static)
    whole = whole or all(p.type.shape for p in raw.params)
    if any(p.type.kind == "i" for p in raw.params) and not (
        whole_arguments.floats_of_these(f, real, static)
    ):
        return  # results that may be integers, of integers that an entry cannot refuse
    kind = f"program {id(raw)} {whole}"
    if f._served.takes(kind, static):
        words = {} if sizes is None else dict(zip(names, sizes.words, strict=True))
        f._open(kind, f._arrays.entry(raw, whole, words), static)


def _compared(
    sizes: Sizes, route: Callable[[Sequence[Any], Any], Any], args: Sequence[Any], out: Any
) -> Any:
    """A shorter way in Python, for sizes that were compared."""
    return route(args, out) if sizes.cover(args) else NotImplemented


class Served:
    """The calls of a function that compiled entries serve.

    In front of everything there is one dispatch stub, with the entries and the forms of calls. Of a function
    with static parameters it has forms only; there is a stub with entries for each of the values
    that these had.

    Attributes
    ----------
    call : what a call goes to.
    """

    def __init__(self, general: Callable[..., Any], source: Source, keep: bool) -> None:
        self.call = self._general = general
        self._source, self._keep = source, keep
        self._stubs: dict[Selection | None, DispatchStub] = {}
        self._entries: dict[Selection, dict[Kind, Callable[..., Any]]] = {}

    def begin(self) -> None:
        """Forget the entries and forms; a call may be on its way through them."""
        self._entries = {}
        for stub in self._stubs.values():
            stub.begin()

    def entries(self, static: Mapping[str, Any]) -> Mapping[Kind, Callable[..., Any]]:
        """The compiled entries for values of the static parameters, by what they serve."""
        return self._entries.get(_selection(static.values()), {})

    def takes(self, kind: Kind, static: Mapping[str, Any]) -> bool:
        """Whether there is room for an entry of a kind that is not there."""
        key = _selection(static.values())
        if not _selects(key):
            return False
        if key not in self._entries:
            return len(self._entries) < MOST_SELECTIONS
        return kind not in self._entries[key] and len(self._entries[key]) < MOST

    def open(self, kind: Kind, entry: CompiledEntry | None, static: Mapping[str, Any]) -> None:
        """Add an entry, if it is taken; None if there is none for the kind."""
        if not self.takes(kind, static):
            return
        key = _selection(static.values())
        self._entries.setdefault(key, {})[kind] = refusing if entry is None else entry.call
        if entry is None:
            return
        if "out" in self._source.parameters.names:
            entry = entry._replace(placed=refusing)
        stub = self._stub(key if static else None)
        stub.add(entry)
        if not static:
            self.call = stub.call

    def ask(self, static: Mapping[str, Any]) -> Callable[..., Any] | None:
        """What asks the entries for values of the static parameters, if there are some."""
        key = _selection(static.values())
        if not _selects(key) or key not in self._entries:
            return None
        stub = self._stubs.get(key if static else None)
        return None if stub is None else stub.ask

    def learn(self, form: Form) -> None:
        """Serve calls of a form."""
        stub = self._stub(None)
        stub.learn(form)
        self.call = stub.call

    def _stub(self, key: Selection | None) -> DispatchStub:
        """The stub in front of everything, or that of a selection."""
        if key not in self._stubs:
            general = self._general if key is None else refusing
            inputs, captures = len(self._source.parameters.real), self._source.captures
            self._stubs[key] = DispatchStub(general, inputs, self._keep, captures)
        return self._stubs[key]


Selection = tuple[tuple[type, Any], ...]
_SELECTING = (bool, int, str, float, type(None))
"""Types of static arguments that are identical if equal, except 0.0, which equals -0.0."""
MOST_SELECTIONS = 64
"""Values of static parameters up to which calls go straight to compiled entries."""


def _selection(values: Iterable[Any]) -> Selection:
    return tuple([(type(v), v) for v in values])


def _selects(key: Selection) -> bool:
    """Whether there may be entries for these values."""
    return all(t in _SELECTING and (v or t is not float) for t, v in key)
