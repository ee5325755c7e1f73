"""Calls that are compared with plain Python: the first one with each kind of arguments, and those
whose sizes or branches are new. See `symdiff.pipeline.validation`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from symdiff.api.firstcalls import compare_kernel, in_python, unwrapped
from symdiff.errors import VerificationError
from symdiff.ir.loop_program import LoopProgram
from symdiff.ir.program import Program
from symdiff.pipeline.keys import static_key
from symdiff.pipeline.shared_memory import each_once
from symdiff.pipeline.validation.kinds import fingerprint, is_whole, kind, mark
from symdiff.pipeline.validation.seen import Classes, Progress, Sizes, are_alike
from symdiff.runtime import cache
from symdiff.runtime.scalar.fallback import unproven

if TYPE_CHECKING:
    from symdiff.pipeline.validation.firstcall import Verdict

Function = Any
"""A `SymbolicFunction`, which imports this."""


def refuse_different(self: Function) -> None:
    """Refuse every call of a function that was found to be another one than plain Python's, until
    it is changed."""
    source, fun = self._source, unwrapped(self)
    failures, when = source.seen.failures, (id(source.captures), source.epoch)
    if fun is None or not self._options.verify or not failures.may_have(when):
        return
    found = failures.find(fingerprint(fun), when, self._options.cache)
    if found is not None:
        raise found


def _progress(
    self: Function, real: Sequence[Any], key: Any
) -> tuple[Progress, Sizes, tuple[Any, ...]] | None:
    """How far calls like this one have been compared, of which kinds and sizes, and the name of
    those kinds; None if they are not compared."""
    source = self._source
    if not self._options.verify or source.captures.foreign or unwrapped(self) is None:
        return None
    kinds = tuple(map(kind, real[: len(source.parameters.real)]))
    if None in kinds:
        return None
    nested = None if self._nested is None else repr(self._nested[1])
    as_floats = bool(source.path) and any(map(is_whole, kinds))
    arrays = tuple([k if type(k) is tuple else "number" for k in kinds])
    seen, name = source.seen.at(source.epoch), (key, kinds, nested, as_floats)
    return seen.progress(name), seen.sizes((key, arrays, nested, as_floats), arrays), name


def is_settled(self: Function, real: Sequence[Any], static: Mapping[str, Any]) -> bool:
    """Whether calls like this one are compared for new sizes only."""
    found = _progress(self, real, static_key(static))
    return found is None or found[0].settled


def are_known(self: Function, real: Sequence[Any], static: Mapping[str, Any]) -> bool:
    """Whether a call like this one need not be compared."""
    found = _progress(self, real, static_key(static))
    if found is None:
        return True
    given = real[: len(self._source.parameters.real)]
    return found[0].settled and found[1].known(Sizes.classes(given), are_alike(given))


def kept(
    self: Function, real: tuple[Any, ...], static: Mapping[str, Any], out: Any
) -> tuple[Any, ...]:
    """The arguments of a call as they are, if results may be written over them before it is
    compared."""
    if out is None or are_known(self, real, static):
        return real
    copies = {id(v): v.copy() for v in real if isinstance(v, np.ndarray)}
    return tuple([copies.get(id(v), v) for v in real])  # one array stays one


def served(self: Function, real: Sequence[Any], static: Mapping[str, Any]) -> Sizes | None:
    """The sizes for which compiled entries may serve calls like this one; None: all."""
    found = _progress(self, real, static_key(static))
    return None if found is None else found[1]


def called(
    self: Function, real: tuple[Any, ...], static: Mapping[str, Any], result: Any
) -> None:  # fmt: skip
    """After a call: compare it as far as it is new; then compiled entries may serve such calls.

    Raises
    ------
    VerificationError : if it differs from plain Python, or compiled code from what was captured.
    """
    waiting, self._waiting = self._waiting, None
    try:
        if self._selects:
            compare_kernel(self, real, static, static_key(static))
        compare(self, real, static, result)
    except VerificationError:
        _forget(self)
        raise
    if waiting is not None and is_settled(self, real, static):
        waiting()


def _forget(self: Function) -> None:
    """Start again without any kernel, as one was wrong: so it is found wrong again."""
    with self._opening:
        self._begin()
        self._served.begin()


def serve(
    self: Function, real: tuple[Any, ...], static: Mapping[str, Any],
    entry: Callable[..., None], raw: Program | LoopProgram, *about: Any,
) -> None:  # fmt: skip
    """Let a compiled entry serve calls like this one, at once or when it has been compared. `entry`
    and what it receives about the captured program: see `api.entries`."""
    waiting = partial(entry, self, raw, real, static, *about)
    if is_settled(self, real, static):
        waiting()
    else:
        self._waiting = waiting


def compare(
    self: Function, real: tuple[Any, ...], static: Mapping[str, Any], result: Any
) -> None:  # fmt: skip
    """Compare a call with plain Python, if its kinds of arguments, their sizes or the branches that
    it takes are new.

    Raises
    ------
    VerificationError : if they differ; then every call raises it, see `refuse_different`.
    """
    real = real[: len(self._source.parameters.real)]
    found = _progress(self, real, static_key(static))
    if found is None:
        return
    progress, sizes, kinds = found
    classes, alike = Sizes.classes(real), are_alike(real)
    known = sizes.known(classes, alike)
    if progress.busy or (progress.settled and known):
        return
    progress.busy = True
    try:
        if _compared(_Call(self, real, static, result), progress, kinds, classes, known):
            sizes.add(classes, alike)
    finally:
        progress.busy = False


def _compared(
    call: _Call, progress: Progress, kinds: tuple[Any, ...], classes: Classes, known: bool
) -> bool:
    """Compare a call, unless one that is the same in all that counts was compared, here or in an
    earlier process; whether its sizes need no more calls."""
    if progress.hopeless:
        return True
    fun, keep = unwrapped(call.function), call.function._options.cache
    name = mark(fun, (kinds, classes)) if keep and fun is not None else None
    known = known and progress.begun
    stored = None if name is None or known else cache.load(name)
    if stored is not None:
        progress.tell(json.loads(stored[0]), call.program)
        known = True
    new = progress.new(call.program, call.given)
    if known and not new:
        progress.settle()
        return True
    try:
        verdict = call.verdict(new)
    except VerificationError as error:
        if error.lasting and fun is not None:
            call.source.seen.failures.add(fingerprint(fun), error, keep)
        raise
    done = progress.note(call.program, call.given, classes, verdict)
    if verdict.done and name is not None:
        cache.store(name, json.dumps(progress.told()).encode(), ())
    return done


class _Call:
    """A call that is compared with plain Python.

    Attributes
    ----------
    given : its arguments; integers as floats where a derivative takes them so.
    program : the captured one.
    """

    def __init__(
        self, function: Function, real: tuple[Any, ...], static: Mapping[str, Any], result: Any
    ) -> None:
        self.function, self.real, self.static, self.result = function, real, static, result
        self.source = function._source
        self.program: Program | LoopProgram = self.source.raw(
            static, self.source.shapes(static, real)
        )
        self.given = real
        if self.source.path:
            self.given = tuple(map(self._as_float, range(len(real)), real))

    def _as_float(self, k: int, value: Any) -> Any:
        """An argument of a derivative, which takes integers as real numbers where the program
        does."""
        p = self.program
        if not is_whole(kind(value)) or (
            isinstance(p, LoopProgram) and p.params[k].type.kind != "f"
        ):
            return value
        if isinstance(value, np.ndarray) and value.ndim and value.dtype == np.bool_:
            return value  # it is traced as such
        return value.astype(np.float64) if isinstance(value, np.ndarray) else float(value)

    def verdict(self, at: Sequence[int]) -> Verdict:
        """Compare it; of elementwise functions also at these elements."""
        from symdiff.pipeline.validation.firstcall import verify

        again = None if self.source.path else self._again
        dtype = self.function._options.dtype
        return verify(
            self.source.name,
            self._captured,
            self.given,
            self._plain,
            again,
            dtype,
            self._smooth,
            at,
        )

    def _captured(self, values: Sequence[Any]) -> Program | LoopProgram:
        """The program for such arguments."""
        dtypes = {
            id(v): r.dtype
            for v, r in zip(values, self.real, strict=True)
            if isinstance(r, np.ndarray)
        }
        kept = each_once(
            values, lambda v: np.asarray(v).astype(dtypes[id(v)]) if id(v) in dtypes else v
        )
        found: Program | LoopProgram
        found = self.source.raw(self.static, self.source.shapes(self.static, kept))
        return found

    def _plain(self, values: Sequence[Any]) -> Any:
        """What plain Python makes of such arguments."""
        return in_python(self.function, values, self.static)

    def _again(self, values: Sequence[Any]) -> Any:
        """What compiled code makes of them."""
        if all(a is b for a, b in zip(values, self.real, strict=True)):
            return self.result
        with unproven():
            return self.function._run(tuple(values), self.static, None)

    def _smooth(self, values: Sequence[Any]) -> Program | None:
        """The captured program with its guards replaced by limits, if that is another program."""
        source, static = self.source, self.static
        shapes = source.shapes(static, values)
        program = source.raw(static, shapes)
        if isinstance(program, LoopProgram):
            return None
        oracle = source.oracle(static, shapes, source.optimized(static, shapes))
        if oracle is None or oracle.smooth is None:
            return None
        repaired: Program = replace(program, outputs=oracle.smooth)
        return repaired
