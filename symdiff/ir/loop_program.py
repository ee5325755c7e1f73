"""Programs with arrays and loops: blocks of definitions over the expression DAG.

A scalar is an `Expr`, an array is a name. Arrays are immutable: a change of an element defines a
new array, and the emitter works in place where the old one is no longer used. So an element of an
array is an expression like any other (`load`), and an array that the user overwrites has one name
for each of its states.

A block is a sequence of statements; each defines names for later statements and their blocks.
No name is defined twice in a program.

    Build    every element of a new array from its indices
    Update   one element of an array replaced, or added to
    Loop     a counted or conditional loop with carried values
    Call     a routine of a library, such as a linear solver
    Check    an error at run time, unless a condition holds

Reads outside of an array are defined: the index is moved to the nearest end. Additions to an
element, the adjoints of reads, do the same. A `Check` rejects the reads that the user may not do,
so a `load` in a branch that is not taken is harmless. Derivatives of loops keep values on tapes:
the loop saves them at the end of each iteration, and its reverse, which runs the same iterations
backwards, restores them at the start of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symdiff.errors import Location
from symdiff.ir import (
    ABS,
    ADD,
    CONST,
    MUL,
    NEG,
    POW,
    SUB,
    TRUE,
    VAR,
    WHERE,
    Expr,
    Op,
    const,
    raw,
    substitute,
    topological,
    transform,
    var,
    with_args,
)
from symdiff.ir.names import Names
from symdiff.ir.nodes import leaves as leaves_below
from symdiff.process.lazy_modules import Later

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

Tree = Any


def _floor_fold(a: Fraction, b: Fraction) -> Fraction | None:
    return Fraction(a // b) if b else None


def _mod_fold(a: Fraction, b: Fraction) -> Fraction | None:
    return a - b * (a // b) if b else None


INDEX = Op("index", 0)
"""An integer by its name: of a loop, the size of an axis, an integer result."""

ARRAY = Op("array", 0)
"""An array by its name; `value` is (name, kind)."""

LOAD = Op("load", -1)
"""An element of an array: `load(array, i, j, ...)`."""

FLOORDIV = Op("floordiv", 2, fold=_floor_fold, python="{0} // {1}")
MOD = Op("mod", 2, fold=_mod_fold, python="{0} % {1}")
"""The quotient of integers, rounded down as in Python."""

REAL_OF = Op("real_of", 1, python="float({0})")
"""An integer as a real number, so that arithmetic on it cannot wrap."""

LEAVES = (LOAD, INDEX, FLOORDIV, MOD, REAL_OF)
"""Leaves that formulas of reals treat as variables."""
LARGEST = 2**63 - 1
"""The largest integer of kernels."""
ENDLESS = "a loop makes too many iterations near a point"
"""The message of a check where a loop is only seen to end as it does at a point."""
_INTEGER = frozenset((ADD, SUB, MUL, NEG, WHERE, FLOORDIV, MOD, ABS))


def index(name: str) -> Expr:
    """The integer of this name."""
    return raw(INDEX, (), name)


def array(name: str, kind: str = "f") -> Expr:
    """The array of this name; its kind is "f", "i" or "b" (zero and one)."""
    return raw(ARRAY, (), (name, kind))


def load(a: Expr, *indices: Expr) -> Expr:
    """An element of an array; an integer (0 or 1) if the array has kind "i" ("b")."""
    return raw(LOAD, (a, *indices))


def scalar(name: str, kind: str) -> Expr:
    """The number of this name, real ("f") or an integer."""
    return var(name) if kind == "f" else index(name)


def name_of(e: Expr) -> str:
    """The name of a leaf."""
    return str(e.value[0] if e.op is ARRAY else e.value)


def kind_of(e: Expr, known: dict[Expr, str] | None = None) -> str:
    """The kind of a scalar expression: "b" a truth value, "i" an integer, "f" a real.

    Integers are leaves of integers combined by + - * // % and choices; a whole literal counts
    as an integer, and is converted where a real is needed.
    """
    known = {} if known is None else known
    for n in topological((e,), known):
        if n.op.boolean:
            known[n] = "b"
        elif n.op is INDEX:
            known[n] = "i"
        elif n.op is CONST:
            known[n] = "i" if isinstance(n.value, Fraction) and n.value.denominator == 1 else "f"
        elif n.op is ARRAY:
            known[n] = "i" if n.value[1] in "ib" else "f"
        elif n.op is LOAD:
            known[n] = known[n.args[0]]
        elif n.op is POW:
            power = n.args[1].value if n.args[1].op is CONST and known[n.args[1]] == "i" else -1
            whole = known[n.args[0]] == "i" and power >= 0
            known[n] = "i" if whole else "f"
        elif n.op in _INTEGER:
            parts = n.args[1:] if n.op is WHERE else n.args
            literals = n.op in (WHERE, ABS, NEG) and all(a.op is CONST for a in parts)
            far = literals and any(abs(a.value) > LARGEST for a in parts)  # must be a real
            known[n] = "i" if not far and all(known[a] == "i" for a in parts) else "f"
        else:
            known[n] = "f"
    return known[e]


# ------------------------------------------------------------------- statements
@dataclass(frozen=True, slots=True)
class Type:
    """The type of a value: its shape, integer expressions, () for a number; and its kind."""

    shape: tuple[Expr, ...] = ()
    kind: str = "f"

    def leaf(self, name: str) -> Expr:
        """The value of this type with a name, as an expression."""
        return array(name, self.kind) if self.shape else scalar(name, self.kind)


@dataclass(frozen=True, slots=True)
class Build:
    """`name[i, j, ...] = value` for all indices; no element depends on another.

    The body defines what the value needs for one element.
    """

    name: str
    type: Type
    indices: tuple[str, ...]
    value: Expr
    body: Block = ()


@dataclass(frozen=True, slots=True)
class Update:
    """`name` is `source` with one element replaced by the value, or increased by it, if the
    guard holds."""

    name: str
    source: str
    type: Type
    index: tuple[Expr, ...]
    value: Expr
    guard: Expr = TRUE
    add: bool = False


@dataclass(frozen=True, slots=True)
class Carried:
    """A value that each iteration passes to the next.

    Attributes
    ----------
    name : the value at the start of an iteration.
    type : of the value; a shape is the same in every iteration.
    init : the value before the first; an array is an `ARRAY` leaf.
    next : the value at the end of the iteration.
    result : the name of the value after the last.
    """

    name: str
    type: Type
    init: Expr
    next: Expr
    result: str

    @property
    def leaf(self) -> Expr:
        """The value at the start of an iteration, as an expression."""
        return self.type.leaf(self.name)

    @property
    def after(self) -> Expr:
        """The value after the last iteration, as an expression."""
        return self.type.leaf(self.result)


@dataclass(frozen=True, slots=True)
class Save:
    """At the end of each iteration the value goes to the end of a tape."""

    tape: str
    type: Type
    value: Expr


@dataclass(frozen=True, slots=True)
class Restore:
    """At the start of each iteration the value comes off the end of a tape."""

    tape: str
    type: Type
    name: str


@dataclass(frozen=True, slots=True)
class Loop:
    """`for index in range(count)`, backwards if `reverse`, while the condition holds.

    Attributes
    ----------
    index : name of the integer that counts iterations from 0; if `reverse`, down to 0.
    count : the number of iterations; None if only the condition ends the loop.
    carried : values that go from one iteration to the next.
    body : statements of one iteration.
    condition : tested before each iteration, on the carried values.
    trips : name of the number of iterations done, after the loop.
    saves, restores : values put on and taken off tapes.
    """

    index: str
    count: Expr | None
    carried: tuple[Carried, ...]
    body: Block
    trips: str
    condition: Expr = TRUE
    reverse: bool = False
    saves: tuple[Save, ...] = ()
    restores: tuple[Restore, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """Results of a library routine, by its name in `symdiff.ir.linalg.routines`.

    `args` are scalars and `ARRAY` leaves.
    """

    routine: str
    results: tuple[tuple[str, Type], ...]
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """Raise an error, "index" or "value", unless the condition holds.

    The error "overflow" means that an integer may not fit in 64 bits; the program is then run with
    Python's integers (`symdiff.runtime.loops.exact_integers`), if Python is available.
    """

    condition: Expr
    error: str
    message: str
    location: Location | None = field(default=None, compare=False)


Statement = Build | Update | Loop | Call | Check
Block = tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: its name and type.

    The axes of an array have integer names or constant sizes. A name that several axes share
    means that they are equal, which each call checks.
    """

    name: str
    type: Type

    @property
    def leaf(self) -> Expr:
        """The parameter as an expression."""
        return self.type.leaf(self.name)


@dataclass(frozen=True, slots=True)
class Stretches:
    """Sizes that must agree unless one of them is 1: NumPy then repeats that axis.

    A program holds for sizes that agree; for others it is traced again with size 1 known.

    Attributes
    ----------
    pairs : the sizes that meet, formulas of those of the parameters; paired with 0 where the
        program depends on whether a size is 1.
    axes : the axes of parameters that the names in the sizes denote.
    single : numbers of elements of arrays where it matters whether they are 1: an array of one
        element has a truth value.
    decisive : sizes that decide what is computed: there is a program for each of them.
    """

    pairs: tuple[tuple[Expr, Expr], ...] = ()
    axes: Mapping[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    single: tuple[Expr, ...] = ()
    decisive: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class LoopProgram:
    """One function with arrays or loops, specialised on its static arguments.

    Attributes
    ----------
    name, params, block : the parameters are in order; their sizes are names that statements may
        use.
    outputs, tree : the results, flattened: scalars, and `ARRAY` leaves; how they nest, as in
        `Program`.
    data : arrays known when traced (float64 or int64), by their names in the block.
    locations : first place in the source of each node that has one.
    stretches, taken : where axes of size 1 would be repeated; how arrays are taken by it, in words.
    by_rows : whether arguments must lie row by row, as of others something is copied that is a view.
    kinds : what each output is in Python, "f", "i" or "b", or "lf" for a list of floats that is an array here; or ().
    changes : parameters whose arrays it changes, or asks the identity of.
    by_element : whether each element of its arrays depends only on that of the arguments read.
    of_derivatives : whether derivatives of other functions stand in it: their kinks have sides.
    orders, room : of solutions that plain Python computes to a tolerance, which derivatives are right, None
        for all; and by how much it may err, of the value and 1.
    """

    name: str
    params: tuple[Parameter, ...]
    block: Block
    outputs: tuple[Expr, ...]
    tree: Tree = 0
    data: Mapping[str, np.ndarray[Any, Any]] = field(default_factory=dict, compare=False)
    locations: Mapping[Expr, Location] = field(default_factory=dict, compare=False)
    stretches: Stretches = field(default=Stretches(), compare=False)
    taken: str = field(default="", compare=False)
    kinds: tuple[str, ...] = ()
    by_rows: bool = field(default=False, compare=False)
    changes: tuple[str, ...] = field(default=(), compare=False)
    by_element: bool = field(default=False, compare=False)
    of_derivatives: bool = False
    orders: int | None = None
    room: float = 0.0


def defined(s: Statement) -> tuple[tuple[str, Type], ...]:
    """The names that a statement defines for later ones, with their types."""
    match s:
        case Build() | Update():
            return ((s.name, s.type),)
        case Loop():
            return (*((c.result, c.type) for c in s.carried), (s.trips, INTEGER))
        case Call():
            return s.results
    return ()


def inner(s: Statement) -> tuple[tuple[str, Type], ...]:
    """The names that a statement defines for its own block."""
    match s:
        case Build():
            return tuple((i, INTEGER) for i in s.indices)
        case Loop():
            carried = ((c.name, c.type) for c in s.carried)
            restored = ((r.name, r.type) for r in s.restores)
            return ((s.index, INTEGER), *carried, *restored)
    return ()


INTEGER = Type((), "i")
REAL = Type((), "f")


def expressions(s: Statement) -> tuple[Expr, ...]:
    """The expressions of a statement itself, without its block; among them the shapes of the
    names that it defines."""
    shapes = tuple(e for _, t in (*defined(s), *inner(s)) for e in t.shape)
    match s:
        case Build():
            return (*shapes, s.value)
        case Update():
            return (*shapes, array(s.source, s.type.kind), *s.index, s.value, s.guard)
        case Loop():
            ends = () if s.count is None else (s.count,)
            carried = (e for c in s.carried for e in (c.init, c.next))
            return (*shapes, *ends, s.condition, *carried, *(v.value for v in s.saves))
        case Call():
            return (*shapes, *s.args)
        case Check():
            return (s.condition,)


def block_of(s: Statement) -> Block:
    """The block inside of a statement."""
    return s.body if isinstance(s, (Build, Loop)) else ()


def plain_loop(s: Loop) -> bool:
    """Whether a loop runs over a range, and uses no tapes."""
    return s.condition is TRUE and s.count is not None and not s.saves and not s.restores


def walk(block: Block) -> Iterator[Statement]:
    """Every statement; the ones inside of a statement follow it."""
    for s in block:
        yield s
        yield from walk(block_of(s))


def own_names(block: Block) -> set[str]:
    """The names that statements, and statements inside of them, define."""
    return {n for s in walk(block) for n, _ in (*defined(s), *inner(s))}


def expressions_in(block: Block) -> list[Expr]:
    """The expressions of statements, and of statements inside of them."""
    return [e for s in walk(block) for e in expressions(s)]


def types(program: LoopProgram) -> dict[str, Type]:
    """The type of every name."""
    found = {p.name: p.type for p in program.params}
    for p in program.params:
        found.update((name_of(e), INTEGER) for e in p.type.shape if e.op is INDEX)
    for name, values in program.data.items():
        shape = tuple(const(n) for n in values.shape)
        found[name] = Type(shape, "i" if values.dtype.kind in "iu" else "f")
    for s in walk(program.block):
        found.update(defined(s))
        found.update(inner(s))
    return found


def leaves(roots: Iterable[Expr]) -> list[Expr]:
    """The names that expressions use, as leaves."""
    return [e for e in leaves_below(roots) if e.op in (VAR, INDEX, ARRAY)]


def names_in(*roots: Expr) -> set[str]:
    """The names that expressions use."""
    return {name_of(e) for e in leaves(roots)}


def uses(s: Statement) -> set[str]:
    """The names from outside that a statement uses, in its block too."""
    own = names_in(*expressions(s))
    for b in block_of(s):
        own |= uses(b)
    for b in block_of(s):
        own -= {n for n, _ in defined(b)}
    return own - {n for n, _ in inner(s)}


def free(block: Block, roots: Iterable[Expr] = ()) -> set[str]:
    """The names from outside that a block, and expressions after it, use."""
    found = names_in(*roots)
    for s in block:
        found |= uses(s)
    return found - {n for s in block for n, _ in defined(s)}


# ------------------------------------------------------------------ rebuilding
def mapped(s: Statement, f: Callable[[Expr], Expr], body: Callable[[Block], Block]) -> Statement:
    """The statement with `f` applied to every expression and `body` to its block."""

    def typed(t: Type) -> Type:
        return Type(tuple(map(f, t.shape)), t.kind) if t.shape else t

    match s:
        case Build():
            return replace(s, type=typed(s.type), value=f(s.value), body=body(s.body))
        case Update():
            return replace(
                s, source=name_of(f(array(s.source, s.type.kind))), type=typed(s.type),
                index=tuple(map(f, s.index)), value=f(s.value), guard=f(s.guard),
            )  # fmt: skip
        case Loop():
            return replace(
                s, count=None if s.count is None else f(s.count), condition=f(s.condition),
                carried=tuple(
                    replace(c, type=typed(c.type), init=f(c.init), next=f(c.next))
                    for c in s.carried
                ),
                body=body(s.body),
                saves=tuple(replace(v, type=typed(v.type), value=f(v.value)) for v in s.saves),
                restores=tuple(replace(r, type=typed(r.type)) for r in s.restores),
            )  # fmt: skip
        case Call():
            results = tuple((n, typed(t)) for n, t in s.results)
            return replace(s, results=results, args=tuple(map(f, s.args)))
        case Check():
            return replace(s, condition=f(s.condition))


def mapped_block(block: Block, f: Callable[[Expr], Expr]) -> Block:
    """The block with `f` applied to every expression, also in the blocks inside of it."""
    return tuple(mapped(s, f, lambda b: mapped_block(b, f)) for s in block)


def names_of(program: LoopProgram) -> Names:
    """A source of names that are new to a program and its tapes."""
    tapes = (v.tape for s in walk(program.block) if isinstance(s, Loop) for v in s.saves)
    return Names((*types(program), *tapes))


def exchanged(roots: Iterable[Expr], mapping: Mapping[Expr, Expr]) -> tuple[Expr, ...]:
    """Leaves replaced by others in expressions that are to be emitted: operations stay as they
    are, even those that constructors would simplify now."""
    return transform(roots, lambda e, args: mapping[e] if e in mapping else with_args(e, args))


def replaced(block: Block, mapping: Mapping[Expr, Expr], *, exactly: bool = False) -> Block:
    """The block with nodes replaced in every expression, `exactly` as in `exchanged`; no
    definition is renamed."""
    put = exchanged if exactly else substitute
    return mapped_block(block, lambda e: put((e,), mapping)[0])


def renamed(block: Block, names: Names, *, exactly: bool = False) -> tuple[Block, dict[Expr, Expr]]:
    """A copy of a block in which every definition has a new name; and a map from the leaves of
    names that later statements see to the new ones. A tape has a new name too if it
    is saved and restored in the block. `exactly` as in `exchanged`."""
    old: dict[str, Type] = {}
    for s in walk(block):
        old.update(defined(s))
        old.update(inner(s))
    new = {n: names.copied(n) for n in old}
    loops = [s for s in walk(block) if isinstance(s, Loop)]
    restored = {r.tape for s in loops for r in s.restores}
    saved = dict.fromkeys(v.tape for s in loops for v in s.saves)
    tapes = {t: names.fresh(t) for t in saved if t in restored}
    mapping = {
        **{var(n): var(m) for n, m in new.items()},
        **{index(n): index(m) for n, m in new.items()},
        **{array(n, k): array(m, k) for n, m in new.items() for k in "fib"},
    }

    def go(b: Block) -> Block:
        return tuple(_renamed(s, new) for s in b)

    def _renamed(s: Statement, new: Mapping[str, str]) -> Statement:
        match s:
            case Build():
                s = replace(s, name=new[s.name], indices=tuple(new[i] for i in s.indices))
            case Update():
                s = replace(s, name=new[s.name])
            case Loop():
                s = replace(
                    s, index=new[s.index], trips=new[s.trips],
                    carried=tuple(
                        replace(c, name=new[c.name], result=new[c.result]) for c in s.carried
                    ),
                    saves=tuple(replace(v, tape=tapes.get(v.tape, v.tape)) for v in s.saves),
                    restores=tuple(
                        replace(r, name=new[r.name], tape=tapes.get(r.tape, r.tape))
                        for r in s.restores
                    ),
                )  # fmt: skip
            case Call():
                s = replace(s, results=tuple((new[n], t) for n, t in s.results))
        return replace(s, body=go(s.body)) if isinstance(s, (Build, Loop)) else s

    return replaced(go(block), mapping, exactly=exactly), mapping


# ----------------------------------------------------------------------- pruning
