"""The formulas of a program with arrays or loops, each as a function of numbers.

What a statement computes for one element or in one iteration is a formula of the elements
that it reads, of what the loop carries, and of integers. So `symdiff check` examines these
formulas as it does functions of numbers.

Before:  for i in range(n): s = s + (exp(x[i]) - 1)/x[i]
After:   term(x_i) = (exp(x_i) - 1)/x_i, where x_i is x[i]
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from symdiff import ir
from symdiff.errors import Location
from symdiff.ir import ADD, CONST, FALSE, TRUE, VAR, Expr, topological, var
from symdiff.ir.loop_program import (
    ARRAY,
    INDEX,
    LOAD,
    Build,
    Loop,
    LoopProgram,
    Statement,
    Update,
    kind_of,
    name_of,
    walk,
)
from symdiff.ir.names import Names
from symdiff.ir.program import Program
from symdiff.pipeline.samples import Point

ORDINARY_INTEGER = 3.0
LABEL = "term"
"""What the value of a formula is called."""

_WORD = re.compile(r"[^\W\d]\w*")
_NUMBERED = re.compile(r"(_\d+)+$")
_PLAIN = frozenset((CONST, VAR, INDEX, ARRAY, LOAD))


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula of a program.

    Attributes
    ----------
    program : the formula, of parameters with names that Python allows.
    names : what the parameters denote, for people.
    whole : the parameters that are integers.
    wrt : the parameters to differentiate by.
    outputs : what its outputs are called, as people read it, if they have another name.
    usual : values that parameters keep: of integers, and defaults.
    bases : points through which lines are drawn along the parameters of `wrt`; empty: as for
        functions of numbers.
    """

    program: Program
    names: Mapping[str, str]
    whole: frozenset[str]
    wrt: tuple[str, ...]
    outputs: Mapping[str, str] = field(default_factory=dict)
    usual: Mapping[str, float] = field(default_factory=dict)
    bases: tuple[Point, ...] = ()


def formulas(
    program: LoopProgram,
    wrt: Sequence[str] | None = None,
    defaults: Mapping[str, float] | None = None,
) -> list[Formula]:
    """The formulas in the order of the program, each once; of parameters only those in
    `wrt` are differentiated by, if it is given. What has no place in the source, such as the doubles
    that decide, is left out."""
    others = {p.name for p in program.params if wrt is not None and p.name not in wrt}
    words = _Words(program)
    found: dict[Expr, Formula] = {}
    roots = [(e, v) for s in walk(program.block) for e, v in _computed(s)]
    for root, summed in [*roots, *((e, None) for e in program.outputs)]:
        for side in _sides(root):
            e = _term(side, summed)
            if e not in found and _worth(e):
                found[e] = _formula(e, program, words, defaults or {}, others)
    return [f for f in found.values() if f.wrt and f.program.locations]


def _computed(s: Statement) -> Iterator[tuple[Expr, Expr | None]]:
    """The numbers that a statement computes, and what is carried to where they are."""
    match s:
        case Build() | Update():
            yield s.value, None
        case Loop():
            for c in s.carried:
                if not c.type.shape:
                    yield c.next, c.leaf


def _term(e: Expr, carried: Expr | None) -> Expr:
    """Of a sum that a loop carries, what is added."""
    if e.op is not ADD or carried not in e.args:
        return e
    return e.args[1] if e.args[0] is carried else e.args[0]


def _sides(e: Expr) -> Iterable[Expr]:
    """A formula on both sides of the conditions on integers in it."""
    if e.op is ARRAY or kind_of(e) != "f":
        return ()
    elements = {n for n in topological((e,)) if n.op is LOAD}
    below = topological((e,), {a for n in elements for a in n.args})
    tests = [n for n in below if n.op.boolean and n.args and _of_integers(n)]
    sides = (ir.substitute((e,), dict.fromkeys(tests, side))[0] for side in (TRUE, FALSE))
    return dict.fromkeys(sides) if tests else (e,)


def _of_integers(e: Expr) -> bool:
    """Whether a condition does not depend on real values."""
    return all(
        kind_of(n) == "i" for n in topological((e,)) if n.op in (VAR, LOAD, INDEX)
    )  # fmt: skip


def _worth(e: Expr) -> bool:
    """Whether a formula can lose anything: it is more than one operation."""
    inner = [n for n in topological((e,)) if n.op not in _PLAIN and kind_of(n) == "f"]
    return len(inner) > 1 or any(n.op not in ir.ARITHMETIC for n in inner)


def _formula(
    e: Expr, program: LoopProgram, words: _Words, defaults: Mapping[str, float], others: set[str]
) -> Formula:
    taken = Names((LABEL,))
    leaves: dict[Expr, Expr] = {}
    names: dict[str, str] = {}
    whole, fixed = set(), set()
    seen: set[Expr] = set()
    stack = [e]
    while stack:
        n = stack.pop()
        if n in seen:
            continue
        seen.add(n)
        integer = kind_of(n) == "i" and n.op is not CONST
        if not (integer or n.op in (VAR, LOAD)):
            stack.extend(reversed(n.args))
            continue
        text = words.text(n)
        if text in names.values():  # two values of one name
            text = ir.format_expr(n, 60)
        name = taken.fresh("".join(c if c.isalnum() else "_" for c in text).strip("_") or "k")
        leaves[n], names[name] = var(name), text
        if integer:
            whole.add(name)
        if name_of(n.args[0] if n.op is LOAD else n) in others if n.op in (VAR, LOAD) else False:
            fixed.add(name)
    (root,) = ir.substitute((e,), leaves)
    wrt = tuple(n for n in names if n not in whole | fixed)
    locations = _moved(e, leaves, program.locations)
    made = Program(LABEL, tuple(names), (root,), 0, (), (), locations)
    usual = dict.fromkeys(whole, ORDINARY_INTEGER)
    usual |= {n: float(defaults[text]) for n, text in names.items() if text in defaults}
    return Formula(made, names, frozenset(whole), wrt, usual=usual)


def _moved(
    e: Expr, leaves: Mapping[Expr, Expr], places: Mapping[Expr, Location]
) -> dict[Expr, Location]:
    """Where the nodes of a formula stand in the source."""
    new: dict[Expr, Expr] = dict(leaves)
    found: dict[Expr, Location] = {}
    for n in topological((e,), leaves):
        new[n] = ir.rebuild(n, tuple(new[a] for a in n.args))
        if n in places:
            found.setdefault(new[n], places[n])
    return found


class _Words:
    """What people call the names of a program: as its source does, where a name has got a number."""

    def __init__(self, program: LoopProgram) -> None:
        files = {place.path for place in program.locations.values()}
        lines = (line for path in sorted(files) for line in linecache.getlines(path))
        self.source = {word for line in lines for word in _WORD.findall(line)}
        self.sizes = {
            name_of(n): f"len({p.name})" if len(p.type.shape) == 1 else f"{p.name}.shape[{k}]"
            for p in program.params for k, n in enumerate(p.type.shape) if n.op is INDEX
        }  # fmt: skip

    def of(self, name: str) -> str:
        """A name, as people write it."""
        if name in self.sizes:
            return self.sizes[name]
        stem = _NUMBERED.sub("", name)
        return stem if name not in self.source and stem in self.source else name

    def text(self, e: Expr) -> str:
        """A leaf as people write it."""
        if e.op is LOAD:
            return f"{self.of(name_of(e.args[0]))}[{', '.join(map(self.text, e.args[1:]))}]"
        if e.op in (INDEX, VAR):
            return self.of(name_of(e))
        if e.op is ir.WHERE:  # an index that may be negative
            return self.text(e.args[2])
        text = ir.format_expr(e, 60)
        text = text[1:-1] if text.startswith("(") and text.endswith(")") else text
        return _WORD.sub(lambda m: self.of(m[0]), text)
