"""What calls that were compared with plain Python have shown, and what they found wrong.

A comparison tells about the kinds of arguments, the sizes of their axes and the branches that it
had. Each is compared again when it is new. A difference tells about the whole function: it is kept
until the function, what it captured or the package is another one.
"""

from __future__ import annotations

import ctypes
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from symdiff import ir
from symdiff.codegen.llvm.entry.sizes import EDGES, Words, size_class
from symdiff.errors import Location, VerificationError
from symdiff.ir.loop_program import (
    LOAD,
    Loop,
    LoopProgram,
    Statement,
    Update,
    expressions,
    kind_of,
    walk,
)
from symdiff.ir.program import Program
from symdiff.runtime import cache

if TYPE_CHECKING:
    from symdiff.pipeline.validation.firstcall import Verdict
    from symdiff.pipeline.validation.untaken_branches import Branches

TRIES = 3
"""Calls of some kinds and classes of sizes from which nothing was concluded, after which no more
are compared."""
MORE = 3
"""Calls of a program with loops and branches that are compared after the first one."""

_CLASSES = tuple(map(size_class, range(EDGES[-1] + 1)))
LAST = len(EDGES)

Classes = tuple[tuple[int, ...], ...]


class Sizes:
    """Of each axis of each argument the classes of sizes that were compared, as bits of a word.

    Compiled entries read the words (`codegen.llvm.entry.sizes`).

    Attributes
    ----------
    words : one array for each argument.
    together : those of calls whose arrays had one shape.
    """

    def __init__(self, kinds: Sequence[Any]) -> None:
        ranks = [k[1] if type(k) is tuple else 0 for k in kinds]
        self._kinds = kinds
        self.words: list[Words] = [(ctypes.c_int64 * max(1, n))() for n in ranks]
        self.together: Words = (ctypes.c_int64 * max(1, *ranks, 1))()

    def cover(self, values: Sequence[Any]) -> bool:
        """Whether arrays among the arguments of a call have the kinds of these, and sizes that were
        compared."""
        for words, kind, v in zip(self.words, self._kinds, values, strict=False):
            if type(v) is not np.ndarray:
                if type(kind) is tuple:
                    return False
            elif (v.dtype.str, v.ndim) != kind or not all(
                w >> (_CLASSES[n] if n < len(_CLASSES) else LAST) & 1
                for w, n in zip(words, v.shape, strict=False)
            ):
                return False
        return True

    @staticmethod
    def classes(values: Sequence[Any]) -> Classes:
        """The classes of the sizes of arguments."""
        return tuple([tuple(map(size_class, np.shape(v))) for v in values])

    def known(self, classes: Classes, alike: bool) -> bool:
        """Whether each of the classes was compared."""
        return all(w[a] >> c & 1 for w, a, c in self._bits(classes, alike))

    def add(self, classes: Classes, alike: bool) -> None:
        """Note that they were compared."""
        for words, axis, c in self._bits(classes, alike):
            words[axis] |= 1 << c

    def _bits(self, classes: Classes, alike: bool) -> list[tuple[Words, int, int]]:
        found = [
            (words, axis, c)
            for words, each in zip(self.words, classes, strict=True)
            for axis, c in enumerate(each)
        ]
        same = next((each for each in classes if each), ()) if alike else ()
        return found + [(self.together, axis, c) for axis, c in enumerate(same)]

    def clear(self) -> None:
        """Forget all, also for entries that are still in use."""
        for words in (*self.words, self.together):
            words[:] = [0] * len(words)


def are_alike(values: Sequence[Any]) -> bool:
    """Whether the arrays among arguments have one shape."""
    return len({np.shape(v) for v in values if isinstance(v, np.ndarray)}) < 2


@dataclass(slots=True)
class Progress:
    """How far calls with arguments of some kinds have been compared.

    Attributes
    ----------
    begun : whether one was compared, or nothing can be concluded.
    settled : whether only sizes may be new. Until then no compiled entry serves such calls.
    branches : those of a function of numbers; None before they count, or if there are none.
    more : calls of a program with loops that are still compared for their branches.
    fruitless : comparisons from which nothing was concluded, by classes of sizes.
    hopeless : whether plain Python takes too long at all sizes.
    busy : whether one is being compared, as the function may call itself.
    """

    begun: bool = False
    settled: bool = False
    branches: Branches | None = None
    more: int = 0
    fruitless: Counter[Classes] = field(default_factory=Counter)
    hopeless: bool = False
    busy: bool = False

    def new(self, program: Program | LoopProgram, values: Sequence[Any]) -> list[int]:
        """Elements of the arguments at which a branch is taken that no compared call took; of
        programs with loops the first, if the call is to be compared for its branches."""
        if isinstance(program, LoopProgram):
            return [0] if self.begun and self.more else []
        branches = self._branches(program)
        return [] if branches is None or not branches.open else branches.new(values)

    def note(
        self, program: Program | LoopProgram, values: Sequence[Any], classes: Classes,
        verdict: Verdict,
    ) -> bool:  # fmt: skip
        """Note a comparison; whether its sizes need no more."""
        self.fruitless[classes] += not verdict.done
        if not verdict.done and not verdict.hopeless and self.fruitless[classes] < TRIES:
            return False
        if isinstance(program, LoopProgram):
            first = not self.begun and has_branches(program)
            cheap = verdict.done and MORE * verdict.steps <= verdict.budget
            self.more = (MORE if cheap else 0) if first else max(0, self.more - 1)
        elif (branches := self._branches(program)) is not None:
            branches.add(verdict.points)
            if unseen := branches.new(values):  # which were not decided, or not at these sizes
                branches.give_up(values, unseen)
        self.begun, self.hopeless = True, verdict.hopeless
        self.settle()
        return True

    def settle(self) -> None:
        """Note that no more calls are compared for their branches, if that is so."""
        branches = self.branches is not None and self.branches.open
        self.settled = self.hopeless or (not branches and not self.more)

    def told(self) -> Any:
        """What another process has to know, as JSON has it."""
        return [self.more, None if self.branches is None else self.branches.told()]

    def tell(self, told: Any, program: Program | LoopProgram) -> None:
        """What another process has found."""
        more, sides = told
        self.more = min(self.more, more) if self.begun else more
        if sides is not None and isinstance(program, Program):
            branches = self._branches(program)
            if branches is not None:
                branches.tell(sides)
        self.begun = True

    def _branches(self, program: Program) -> Branches | None:
        if self.branches is None and has_branches(program):
            from symdiff.pipeline.validation.untaken_branches import Branches

            self.branches = Branches(program)
        return self.branches


def has_branches(program: Program | LoopProgram) -> bool:
    """Whether what a program computes depends on conditions on its arguments. Where in an array a
    negative index is, is none."""
    if isinstance(program, Program):
        found = ir.topological(program.outputs)
        return any(e.op is ir.WHERE and ir.variables((e.args[0],)) for e in found)
    return _chooses(program.outputs) or any(map(_decides, walk(program.block)))


def _decides(statement: Statement) -> bool:
    if isinstance(statement, Update) and _on_data(statement.guard):
        return True
    if isinstance(statement, Loop) and _on_data(statement.condition):
        return True
    return _chooses(expressions(statement))


def _chooses(expressions: Sequence[ir.Expr]) -> bool:
    return any(
        e.op is ir.WHERE and kind_of(e) == "f" and _on_data(e.args[0])
        for e in ir.topological(expressions)
    )


def _on_data(condition: ir.Expr) -> bool:
    return any(e.op in (LOAD, ir.VAR) for e in ir.topological((condition,)))


class Failures:
    """Differences, by the fingerprint of the function; also those of earlier processes."""

    def __init__(self) -> None:
        self._found: dict[str | None, VerificationError] = {}
        self._looked: set[Any] = set()

    def may_have(self, when: Any) -> bool:
        """Whether `find` has to be asked: not if nothing was found, here or on disk, since the
        function was captured as it is now."""
        return bool(self._found) or when not in self._looked

    def find(self, name: str | None, when: Any, keep: bool) -> VerificationError | None:
        """The difference that was found in a function, if there was one."""
        self._looked.add(when)
        found = self._found.get(name)
        if found is None and keep and name is not None:
            stored = cache.load(cache.key("different", name))
            found = None if stored is None else _read(stored[0])
            if found is not None:
                self._found[name] = found
        if found is None:
            return None
        return VerificationError(found.message, found.location, found.hint)

    def add(self, name: str | None, error: VerificationError, keep: bool) -> None:
        """Keep a difference."""
        self._found[name] = error
        if keep and name is not None:
            at = error.location
            place = None if at is None else (at.path, at.line, at.column, at.text)
            told = json.dumps([error.message, place, error.hint]).encode()
            cache.store(cache.key("different", name), told, ())


def _read(told: bytes) -> VerificationError | None:
    try:
        message, place, hint = json.loads(told)
        return VerificationError(message, None if place is None else Location(*place), hint)
    except (ValueError, TypeError):
        return None


class Seen:
    """What is known of one function and its derivatives.

    Attributes
    ----------
    failures : the differences; shared with the functions of leaves of containers.
    """

    def __init__(self) -> None:
        self.failures = Failures()
        self._sizes: dict[Any, Sizes] = {}
        self._progress: dict[Any, Progress] = {}
        self._epoch = 0

    def at(self, epoch: int) -> Seen:
        """The same; nothing counts that was compared before the function was captured again."""
        if epoch != self._epoch:
            self._epoch = epoch
            self._progress.clear()
            for sizes in self._sizes.values():
                sizes.clear()
        return self

    def sizes(self, name: Any, kinds: Sequence[Any]) -> Sizes:
        """The sizes that were compared, for arrays of the same kinds; numbers are all one kind."""
        return self._sizes.get(name) or self._sizes.setdefault(name, Sizes(kinds))

    def progress(self, kinds: Any) -> Progress:
        """The progress of calls with arguments of these kinds."""
        return self._progress.get(kinds) or self._progress.setdefault(kinds, Progress())
