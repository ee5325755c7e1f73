"""What the host does to run a program with arrays on a device: kernels launched in order.

    Launch    a kernel, over an index space or with one thread
    Repeat    a loop whose iterations are steps
    Test      a check that needs integers only
    Let       an integer
    Routine   a routine of a library, computed on the host
    Keep      an array put on a tape
    View      an array taken off a tape
    Forget    arrays that are not used any more

Arrays are immutable for the steps as they are for programs: a kernel that changes one gets
a copy, or the array itself if nothing else uses it. Numbers that kernels compute stand in
words of 8 bytes on the device, and stay there; the host reads only those which say how
much there is to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from symdiff.ir import Expr
from symdiff.ir.loop_program import Check, Type

THREADS = 256
"""Threads in a block of a kernel that adds up; blocks of other kernels have at most so many."""
PARTS = 1024
"""Blocks that add up at most, on any device, so that the order of a sum does not depend on
the device."""
WARP = 32
"""Threads that share a row."""

STATUS, FULL = 0, 1
"""The first words: the least number of a check that failed, and whether a tape was full."""


@dataclass(frozen=True, slots=True)
class Word:
    """A number on the device: in which word, "f" or "i"."""

    slot: int
    kind: str


@dataclass(frozen=True, slots=True)
class Argument:
    """What a kernel takes.

    Attributes
    ----------
    role : "array" an address, by its name; "changed" that of an array which it changes;
        "integer" and "real" numbers, by their names; "words" the address of the words;
        "scratch" memory of `size` elements for each thread, "room" how many those are;
        "tape", "end", "capacity" the address of a tape, how many elements it has and how
        many it can have; "part" memory for an element of each block, "parts" how many
        blocks there are.
    name : of what.
    kind : of its elements, "f", "i" or "b".
    size : sizes of the array in scratch memory.
    """

    role: str
    name: str
    kind: str = "i"
    size: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel: its name and what it takes."""

    name: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class TapeUse:
    """What a launch does with a tape.

    Attributes
    ----------
    tape, kind : its name, and the kind of its elements.
    elements : how many it saves or restores; None if the kernel tells, in a word.
    saves : whether it saves them.
    word : where the kernel tells how many there are in the end.
    """

    tape: str
    kind: str
    elements: Expr | None
    saves: bool
    word: int = 0


@dataclass(frozen=True, slots=True)
class Launch:
    """Start a kernel.

    Attributes
    ----------
    kernel : which.
    space : how many threads there are along each axis; None for one thread.
    collects : whether its blocks add up, which `final` completes.
    rows : another kernel that computes the same with the threads of a warp for each
        element, and the iterations that they share.
    makes : new arrays, by their names.
    changes : names of results, and of the arrays that are changed to be them; and whether
        those are not used any more.
    tapes : what it does with tapes.
    """

    kernel: Kernel
    space: tuple[Expr, ...] | None = None
    final: Kernel | None = None
    rows: tuple[Kernel, Expr] | None = None
    makes: tuple[tuple[str, Type], ...] = ()
    changes: tuple[tuple[str, str, Type, bool], ...] = ()
    tapes: tuple[TapeUse, ...] = ()


@dataclass(frozen=True, slots=True)
class Repeat:
    """A loop of steps.

    Attributes
    ----------
    index, count, reverse, trips : as of `structure.Loop`.
    condition : the word in which `test` says whether there is another iteration; None
        for always.
    test : steps before each iteration.
    arrays : carried arrays: name, initial one, next one, result; and whether the initial
        one is not used any more.
    body : steps of an iteration.
    """

    index: str
    count: Expr | None
    reverse: bool
    trips: str
    condition: int | None
    arrays: tuple[tuple[str, str, str, str, bool], ...]
    test: tuple[Step, ...] = ()
    body: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Test:
    """Raise the error of a check unless a condition on integers holds."""

    condition: Expr
    number: int


@dataclass(frozen=True, slots=True)
class Let:
    """An integer by its name."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Routine:
    """Compute results of `symdiff.ir.linalg.routines` on the host from copies, and copy them back.

    Attributes
    ----------
    routine : its name.
    args : arrays by their names, with their types; numbers by their words.
    makes : new arrays, by their names; numbers by their words.
    """

    routine: str
    args: tuple[tuple[str, Type] | Word, ...]
    makes: tuple[tuple[str, Type] | Word, ...]


@dataclass(frozen=True, slots=True)
class Keep:
    """Put an array on the end of a tape."""

    tape: str
    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class View:
    """Take an array off the end of a tape, under a name."""

    tape: str
    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Forget:
    """Arrays that are not used any more."""

    names: tuple[str, ...]


Step = Launch | Repeat | Test | Let | Routine | Keep | View | Forget


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole program for a device.

    Attributes
    ----------
    text : the kernels, one translation unit.
    steps : in their order.
    words : the numbers on the device by their names.
    slots : how many words there are.
    outputs : where the outputs that are numbers stand; None for arrays.
    checked : whether a kernel checks something.
    checks : all checks, in the order that numbers them.
    """

    text: str
    steps: tuple[Step, ...]
    words: Mapping[str, Word]
    slots: int
    outputs: tuple[Word | None, ...]
    checked: bool
    checks: tuple[Check, ...] = ()
