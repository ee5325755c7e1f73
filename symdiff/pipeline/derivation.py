"""From a captured function to the programs and optimized programs of its derivatives.

A callable is a captured function and a path of derivations, such as gradient,
then Hessian. What each path emits is kept on disk under the captured program,
so that a second process neither simplifies nor differentiates again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from symdiff.errors import SizesDecideError, SymdiffError, UnsupportedError
from symdiff.frontend import Captures, Parameters, Shapes, must_not_follow
from symdiff.ir import ZERO, Expr, encode
from symdiff.ir.functions import pinned
from symdiff.ir.loop_program import INTEGER, LoopProgram, Stretches
from symdiff.ir.plain import are_builtin
from symdiff.ir.program import OptimizedProgram, Program, with_corners
from symdiff.ir.verify.loops import faults
from symdiff.pipeline import guard_messages
from symdiff.pipeline.argument_shapes import (
    as_integers,
    described,
    is_real,
    is_whole,
    only_compared,
    says_shared,
    shapes_of,
    stretched,
    with_shared,
)
from symdiff.pipeline.derived_on_disk import kept_program
from symdiff.pipeline.keys import alike, shape_key, static_key
from symdiff.pipeline.on_disk import packed, plain_tree, unpacked
from symdiff.pipeline.protocol import Pipeline
from symdiff.pipeline.refusals import ByValue, for_the_call
from symdiff.pipeline.shared_memory import shared_in_call
from symdiff.pipeline.unknown_derivatives import refuse_unknown
from symdiff.pipeline.validation.seen import Seen
from symdiff.pipeline.validation.settings import mode
from symdiff.process.locks import Once
from symdiff.runtime import cache

Step = tuple[str, tuple[str, ...]]
"""What to derive, by the name of the function in `symdiff.pipeline.scalar`, and by what."""


@dataclass(slots=True)
class Sound:
    """That an optimized program agrees with the captured program.

    Attributes
    ----------
    without : the stages that are switched off, as they did not.
    key : names the optimized program on disk; None if it is not kept.
    oracle : the truth, for machine code; None if it has to be computed again, if there is none, or
        if nothing is validated.
    """

    without: frozenset[str] = frozenset()
    key: str | None = None
    oracle: Any = None


@dataclass(slots=True)
class Source:
    """Where the programs of a callable come from, one per set of static values.

    Attributes
    ----------
    name : of the callable.
    parameters : of the function.
    trace : captures the function for given static values, and dimensions of arguments.
    path : the derivations applied to it, in order; none is the value.
    keep : whether programs are kept on disk.
    checkpoint : how reversed loops keep their states; see `symdiff.symgrad`.
    captured : the programs, by static values and what the arguments of the call are; one for
        which numbers and arrays make no difference is one object.
    met, taken, changes : axes of size 1 that are repeated in them, how they take arrays, which they change.
    notes : what simplifying each captured program found, by its identity.
    once : held by the thread that traces, derives or compiles; one for all derivatives.
    sound : what validating its optimized program found, by its identity.
    captures : what the function was captured with, and `epoch`, how often it was when what is
        kept here was made.
    seen : what comparisons of the captured function with plain Python have shown.
    floats : what integers of these kinds give; see `of_integers`.
    integers : the shapes of integers among the arguments of a derivative; see `_of_their_kind`.
    refused : why calls with arguments of these shapes are refused, unless more is known of them.
    by_value : what is known of the function where it is run by values.
    """

    name: str
    parameters: Parameters
    trace: Callable[[Mapping[str, Any], Shapes | None], Program | LoopProgram]
    path: tuple[Step, ...] = ()
    keep: bool = True
    checkpoint: str | int | None = None
    captured: dict[Any, Program | LoopProgram] = field(default_factory=dict)
    met: dict[Any, Stretches] = field(default_factory=dict)
    taken: dict[Any, str] = field(default_factory=dict)
    changes: dict[Any, tuple[str, ...]] = field(default_factory=dict)
    captures: Captures = field(default_factory=Captures)
    epoch: int = 0
    programs: dict[Any, Any] = field(default_factory=dict)
    notes: dict[Any, Any] = field(default_factory=dict)
    once: Once = field(default_factory=Once)
    sound: dict[Any, Sound] = field(default_factory=dict)
    seen: Seen = field(default_factory=Seen)
    floats: dict[Any, str] = field(default_factory=dict)
    integers: dict[Any, Shapes] = field(default_factory=dict)
    refused: dict[Any, UnsupportedError] = field(default_factory=dict)
    by_value: ByValue = field(default_factory=ByValue)

    def then(self, name: str, step: Step) -> Source:
        """The source of a derivative of this callable."""
        return Source(
            name, self.parameters, self.trace, (*self.path, step), self.keep, self.checkpoint, self.captured,
            self.met, self.taken, self.changes, self.captures, self.captures.epoch,
            once=self.once, seen=self.seen, by_value=self.by_value,
        )  # fmt: skip

    def keeping(self, checkpoint: str | int | None) -> Source:
        """The same callable, whose reversed loops keep their states in this way."""
        return replace(self, checkpoint=checkpoint, programs={})

    def fresh(self) -> int:
        """Drop what depends on captured values that have changed since; returns how often that happened."""
        if not self.captures.hold():
            with self.once:
                if not self.captures.hold():
                    for made in (self.captured, self.met, self.taken, self.changes):
                        made.clear()
                    self.captures.renew()
                    self.parameters.again()
        if self.epoch != self.captures.epoch:
            for kept in (
                self.programs, self.notes, self.sound, self.floats, self.integers, self.refused,
            ):  # fmt: skip
                kept.clear()
            self.epoch = self.captures.epoch
        return self.epoch

    def raw(self, static: Mapping[str, Any], shapes: Shapes | None = None) -> Any:
        """The function as captured: a `Program`, or with arrays or loops a `LoopProgram`
        one, which is specialised on the dimensions of the arguments."""
        self.fresh()
        key = static_key(static)
        found = self._captured(key, shapes)
        if found is None:
            with self.once:
                found = self._captured(key, shapes)
                if found is None:
                    found = self._traced(key, static, shapes)
        return found

    def _captured(self, key: Any, shapes: Shapes | None) -> Program | LoopProgram | None:
        if shapes is None:  # as it was called last
            captured = list(self.captured.items())
            same = [
                v for (k, s), v in captured if k == key and s is not None and not says_shared(s)
            ]
            if same:
                return same[-1]
        return self.captured.get((key, shape_key(shapes)))

    def _traced(
        self, key: Any, static: Mapping[str, Any], shapes: Shapes | None
    ) -> Program | LoopProgram:
        found, place = self.trace(static, shapes), (key, shape_key(shapes))
        if isinstance(found, LoopProgram) and (wrong := faults(found)):
            raise UnsupportedError(
                f"{self.name} is captured as a program that is not valid: {wrong[0]}",
                hint="please report it",
            )
        self.taken[place], self.met[place] = found.taken, found.stretches
        self.changes[place] = found.changes
        if isinstance(found, Program):
            found = self._once(replace(found, stretches=Stretches(), changes=()))
        return self.captured.setdefault(place, found)

    def of_integers(
        self, static: Mapping[str, Any], shapes: Shapes, seen: Callable[[], bool]
    ) -> str:
        """What the function returns for integers among the arguments, marked "n" in the shapes:
        "floats"; "some integers", where each result shows; "rounded floats", where floats are stored
        in arrays of integers; or "what Python does", where nothing is known. `seen` says whether it
        returned floats where it was tried."""
        key = static_key(static), shape_key(shapes)
        found = self.floats.get(key)
        if found is None:
            with self.once:
                try:
                    kinds = self.trace(static, shapes).kinds
                except SymdiffError as error:
                    from symdiff.frontend.arrays.casting import ROUNDED

                    rounds = error.message.endswith(ROUNDED)
                    found = "rounded floats" if rounds else "what Python does"
                else:
                    floats = set(kinds) == {"f"} and seen()
                    found = "floats" if floats else "some integers"
                self.floats[key] = found
        return found

    def _once(self, program: Program) -> Program:
        """The program itself, or an equal one that was captured for other arguments."""
        for other in self.captured.values():
            if isinstance(other, Program) and alike(program, other):
                return other
        return program

    def shapes(
        self, static: Mapping[str, Any], values: Sequence[Any], mapped: Sequence[bool] = ()
    ) -> Shapes:
        """What the program for these arguments depends on; of mapped ones the first axis
        does not count."""
        found = shapes_of(self.parameters.real, values, mapped)
        if self.path:
            found = self._of_their_kind(static, found, values, mapped)
        found = self._sized(static, found, values, mapped)
        if changed := self.changed(static, found):
            same = shared_in_call(changed, found, values, mapped, self.captures, bool(self.path))
            found = self._sized(static, with_shared(found, same), values, mapped) if same else found
        if not (reals := self._reals(static, found, values)):
            return found
        known = {n: (0, "r") if n in reals else s for n, s in found.items()}
        try:
            return self._sized(static, known, values, mapped)
        except UnsupportedError:  # they must be integers: the call is refused
            return found

    def _of_their_kind(
        self,
        static: Mapping[str, Any],
        shapes: Shapes,
        values: Sequence[Any],
        mapped: Sequence[bool],
    ) -> Shapes:
        """The shapes of the arguments of a derivative; those that must be integers, as for floats
        the function is another one, are marked "w"."""
        whole = frozenset(n for n, v in zip(shapes, values, strict=False) if is_whole(v))
        if not whole:
            return shapes
        key = static_key(static), shape_key(shapes), whole
        found = self.integers.get(key)
        if found is None:
            with self.once:
                found = self._with_integers(static, shapes, values, mapped, whole)
                self.integers[key] = found
        return found

    def _with_integers(
        self, static: Mapping[str, Any], shapes: Shapes, values: Sequence[Any],
        mapped: Sequence[bool], whole: frozenset[str],
    ) -> Shapes:  # fmt: skip
        """The same, of which these are integers. Numbers that are differentiated by count as floats, if
        they need not be integers."""
        if kept := self._rounding(static, shapes, whole):
            return as_integers(shapes, kept)
        numbers = frozenset(n for n in whole if not shapes[n][0])
        varied = numbers.intersection(*(by for _, by in self.path))
        if varied and (kept := self._rounding(static, shapes, whole - varied)):
            return {**as_integers(shapes, kept), **dict.fromkeys(varied, (0, "r"))}
        sized = self._sized(static, shapes, values, mapped)
        kept = numbers and only_compared(self.raw(static, sized), numbers)
        return as_integers(shapes, kept) if kept else shapes

    def _rounding(
        self, static: Mapping[str, Any], shapes: Shapes, whole: frozenset[str]
    ) -> frozenset[str]:
        """Those of the arguments that make floats be stored in arrays of integers."""

        def rounds(names: frozenset[str]) -> bool:
            traced = self.of_integers(static, as_integers(shapes, names, ("n", "t")), lambda: True)
            return traced == "rounded floats"

        if not rounds(whole):
            return frozenset()
        return frozenset(n for n in whole if rounds(frozenset({n})) or not rounds(whole - {n}))

    def alike(self, static: Mapping[str, Any], one: Sequence[Any], other: Sequence[Any]) -> bool:
        """Whether calls with these arguments have one captured program, or two that are equal."""
        first, second = (self.raw(static, self.shapes(static, values)) for values in (one, other))
        try:
            return first is second or bool(first == second)
        except ValueError:  # they hold arrays
            return False

    def changed(self, static: Mapping[str, Any], shapes: Shapes) -> tuple[str, ...]:
        """The arguments of these shapes that the captured function changes."""
        return self.changes.get((static_key(static), shape_key(shapes)), ())

    def sees_sharing(self, static: Mapping[str, Any], shapes: Shapes) -> bool:
        """Whether results depend on which arguments share memory: what serves calls must look."""
        changed = self.changed(static, shapes)
        several = sum(bool(s[0] or s[1] == "0") for s in shapes.values()) > 1
        return bool(changed) and (several or bool(self.captures.arrays()))

    def _sized(
        self,
        static: Mapping[str, Any],
        found: Shapes,
        values: Sequence[Any],
        mapped: Sequence[bool],
    ) -> Shapes:
        """These shapes, with the sizes that the program must know; with all of them, and the integers of the
        call, where it is refused otherwise."""
        while True:
            try:
                met = self._met(static, found)
            except UnsupportedError as error:
                return self._asked_again(static, found, values, mapped, error)
            if not met.pairs and not met.single and not met.decisive:
                return found
            more = stretched(met, found, values, mapped)
            if more is None:
                return found
            found = more

    def _asked_again(
        self, static: Mapping[str, Any], shapes: Shapes, values: Sequence[Any],
        mapped: Sequence[bool], refused: UnsupportedError,
    ) -> Shapes:  # fmt: skip
        """The shapes for which the function is traced again, as it was refused for arrays of any size.

        Raises
        ------
        UnsupportedError : if it is refused then, too; or as before, if there is no more to know.
        """

        def trace(known: Shapes) -> None:
            place = static_key(static), shape_key(known)
            if place in self.refused:
                raise self.refused[place].without_frames()
            try:
                self.raw(static, known)
            except SizesDecideError:
                raise
            except UnsupportedError as error:
                self.refused[place] = error.without_frames()
                raise

        self.refused[static_key(static), shape_key(shapes)] = refused.without_frames()
        try:
            found = for_the_call(trace, shapes, values, mapped, refused)
        except UnsupportedError:
            del refused  # which holds this frame
            raise
        line = "" if refused.location is None else f" in line {refused.location.line}"
        self.taken[static_key(static), shape_key(found)] = (
            f"for these sizes and integers alone, as otherwise {refused.message}{line}"
        )
        return found

    def _reals(
        self, static: Mapping[str, Any], shapes: Shapes, values: Sequence[Any]
    ) -> frozenset[str]:
        """The numbers that the program has as integers, and the call as floats."""
        program = self._captured(static_key(static), shapes)
        if not isinstance(program, LoopProgram):
            return frozenset()
        whole = {p.name for p in program.params if p.type == INTEGER}
        return frozenset(
            n for n, v in zip(shapes, values, strict=False) if n in whole and is_real(v)
        )

    def _met(self, static: Mapping[str, Any], shapes: Shapes) -> Stretches:
        """The sizes for which what is captured for arguments of these shapes does not hold."""
        self.fresh()
        place = static_key(static), shape_key(shapes)
        if place in self.refused:
            raise self.refused[place].without_frames()
        met = self.met.get(place)
        if met is None or not met.decisive:
            try:
                self.raw(static, shapes)
            except SizesDecideError as error:
                self.met[place] = error.sizes
        return self.met[place]

    def has_one_kernel(self, static: Mapping[str, Any], shapes: Shapes) -> bool:
        """Whether what was captured for these arguments holds for all sizes of arrays that
        are alike."""
        met = self.met[static_key(static), shape_key(shapes)]
        sized = any(len(shape) > 2 for shape in shapes.values())
        return not sized and all(b is not ZERO for _, b in met.pairs)

    def stretches(self, static: Mapping[str, Any], shapes: Shapes) -> Stretches:
        """The sizes for which what was captured for these arguments does not hold."""
        return self.met[static_key(static), shape_key(shapes)]

    def calls(self, static: Mapping[str, Any]) -> list[str]:
        """How the arguments of each kind of call so far are taken."""
        found = []
        for key, shapes in self.captured:
            if key == static_key(static) and shapes is not None:
                each = ", ".join(f"{n} {described(s)}" for n, s in shapes)
                how = self.taken[key, shapes]
                found.append(f"{each}: {how}" if how else each)
        return list(dict.fromkeys(found))

    def how(self, static: Mapping[str, Any], shapes: Shapes) -> str:
        """How arrays of these shapes are taken; empty if as they are. The captured program need not
        say so, as it may be shared with calls that pass numbers."""
        self.raw(static, shapes)
        return self.taken[static_key(static), shape_key(shapes)]

    def scalar(self, static: Mapping[str, Any], shapes: Shapes | None = None) -> Program:
        """The function as captured, which must be one of numbers."""
        found = self.raw(static, shapes)
        if isinstance(found, Program):
            return found
        raise SymdiffError(
            f"{self.name} has arrays or loops, which is not supported here",
            hint="it can be called, differentiated and printed with .source()",
        )

    def program(self, static: Mapping[str, Any], shapes: Shapes | None = None) -> Any:
        """What the path derives, to be differentiated further."""
        raw = self.raw(static, shapes)
        found = self.programs.get(id(raw))
        if found is None:
            with self.once:
                found = self.programs.get(id(raw))
                if found is None:
                    made = raw, self._derived(raw)  # the first lives as long as its identity
                    found = self.programs.setdefault(id(raw), made)
        return found[1]

    def inlined(self, static: Mapping[str, Any], shapes: Shapes | None = None) -> Any:
        """The same, to be called in another function: values at corners are those of a point."""
        if shapes is not None and any(s[1] == "w" for s in shapes.values()):
            must_not_follow()
        found = self.program(static, shapes)
        return with_corners(found, pinned) if isinstance(found, Program) else found

    def _derived(self, program: Any) -> Any:
        """A captured program after the steps of the path."""
        if not self.path:
            return program
        found, notes = self.derived(program)
        if isinstance(program, Program):
            self.notes[id(program)] = notes
        refuse_unknown(found, program)
        return found

    def derived(self, program: Any) -> tuple[Any, Any]:
        """Any program after the steps of the path, and what the passes did to it."""
        pipeline, notes = pipeline_of(program), None
        if isinstance(program, Program):
            from symdiff.pipeline.scalar import Notes

            notes = Notes()
        for kind, by in self.path:
            program = pipeline.derive(program, kind, by, notes, self.checkpoint)
        return program, notes

    def final(self, static: Mapping[str, Any], shapes: Shapes | None = None) -> Any:
        """The program that is emitted: the value is masked outside its domain."""
        program = self.program(static, shapes)
        if isinstance(program, Program):
            from symdiff.pipeline import scalar as pipeline

            if self.path:
                return program
            notes = self.notes[id(program)] = pipeline.Notes()
            return pipeline.value(program, notes)
        from symdiff.pipeline import loops as loop_pipeline

        return loop_pipeline.final(self.shown(static, shapes))

    def rows(
        self, static: Mapping[str, Any], shapes: Shapes | None, which: Sequence[bool]
    ) -> LoopProgram | None:
        """The program for all rows of some of its parameters at once; None where there is
        none."""
        from symdiff.pipeline import loops as loop_pipeline

        program = self.program(static, shapes)
        return loop_pipeline.rows(program if self.path else loop_pipeline.value(program), which)

    def shown(self, static: Mapping[str, Any], shapes: Shapes | None = None) -> LoopProgram:
        """The program of a function with arrays or loops, simplified, for people."""
        from symdiff.pipeline import loops as loop_pipeline

        raw = self.raw(static, shapes)

        def compute() -> LoopProgram:
            program: LoopProgram = self.program(static, shapes)
            return loop_pipeline.shown(program if self.path else loop_pipeline.value(program))

        place = "shown", id(raw)
        if place not in self.programs:
            made = raw, kept_program("shown", raw, self.keep, compute, self.path, self.checkpoint)
            self.programs.setdefault(place, made)
        return self.programs[place][1]  # type: ignore[no-any-return]

    def optimized(
        self, static: Mapping[str, Any], shapes: Shapes | None = None
    ) -> OptimizedProgram:
        """What to compile, from disk if this was emitted before; validated."""
        raw = self.scalar(static, shapes)
        roots = (*raw.outputs, *raw.domain, *raw.assumptions)
        how = mode()
        key = None
        if self.keep and are_builtin(roots):
            key = cache.key("optimized", encode((*roots, *raw.slopes)), len(roots), raw.params, plain_tree(raw.tree), self.path, how, raw.of_derivatives, raw.own)  # fmt: skip
            stored = cache.load(key)
            if stored is not None:
                optimized, known, off, fault = unpacked(raw, stored[0])
                self.sound[id(raw)] = Sound(off, key)
                guard_messages.warn(known, raw)
                _warn_of(self.name, off, fault)
                return optimized
        optimized, known, off, fault = self._validated(raw, static, shapes, how)
        from symdiff.pipeline.by_definition import with_special_points

        optimized, known = with_special_points(optimized, raw, self.path, known)
        self.sound[id(raw)].key = key
        if key is not None:
            cache.store(key, packed(optimized, known, off, fault), ())
        guard_messages.warn(known, raw)
        _warn_of(self.name, off, fault)
        return optimized

    def _validated(
        self, raw: Program, static: Mapping[str, Any], shapes: Shapes | None, how: str
    ) -> tuple[OptimizedProgram, list[tuple[str, Expr]], frozenset[str], Any]:
        """An optimized that agrees with the captured program, the guards to warn of, what had
        to be switched off and why."""
        from symdiff.pipeline import scalar as pipeline
        from symdiff.pipeline.by_definition import made_of

        def emit(without: frozenset[str]) -> tuple[OptimizedProgram, pipeline.Notes]:
            if not without:
                program = self.final(static, shapes)
                notes = self.notes.get(id(raw)) or pipeline.Notes()
            else:
                notes = pipeline.Notes(without=without)
                program = raw if self.path else pipeline.value(raw, notes)
                for kind, by in self.path:
                    program = pipeline.derive(program, kind, by, notes)
            if self.path:  # formulas of derivatives are shown as they are on the domain
                program = pipeline.masked(program, raw, made_of(raw, self.path))
            return pipeline.optimized(program, notes if without else None), notes

        if how == "off":
            optimized, notes = emit(frozenset())
            self.sound[id(raw)] = Sound()
            return optimized, guard_messages.wrong(notes.guards), frozenset(), None
        from symdiff.pipeline.validation.stages import checked

        found = checked(raw, self.path, emit, how == "full")
        self.sound[id(raw)] = Sound(found.without, None, found.oracle)
        known = self.notes.get(id(raw))
        wrong = [] if known is None else guard_messages.wrong(known.guards)
        return found.optimized, wrong, found.without, found.fault

    def oracle(
        self, static: Mapping[str, Any], shapes: Shapes | None, optimized: OptimizedProgram
    ) -> Any:
        """The truth about an optimized program, for its machine code; None if there is none,
        and if not even the program as captured agrees with it."""
        raw = self.scalar(static, shapes)
        sound = self.sound.get(id(raw))
        if sound is not None and sound.oracle is not None:
            return sound.oracle
        from symdiff.pipeline import scalar as pipeline
        from symdiff.pipeline.validation.stages import CAPTURED, oracle_of

        off = frozenset() if sound is None else sound.without
        if CAPTURED in off:
            return None
        notes = pipeline.Notes(without=off)
        pipeline.simplified(raw, notes)  # for the guards
        found = oracle_of(raw, self.path, optimized, notes, mode() == "full")
        if sound is not None:
            sound.oracle = found
        return found


def pipeline_of(program: Program | LoopProgram) -> Pipeline:
    """The pipeline for a captured program."""
    if isinstance(program, Program):
        from symdiff.pipeline import scalar

        return scalar
    from symdiff.pipeline import loops

    return loops


def _warn_of(name: str, without: frozenset[str], fault: Any) -> None:
    """Warn of stages that are switched off."""
    if fault is not None:
        from symdiff.pipeline.validation.stages import named, warn

        warn(name, fault, named(without))
