"""Loops that only add to elements of arrays, as sums for each element.

    for i in range(n):                           w[j] = w[j] + sum over i of g[i]*x[i, j]
        for j in range(m):            becomes
            w[j] += g[i]*x[i, j]

Reversed loops end like this: each iteration adds to many elements, and many iterations to
one. Threads cannot share that, but each can add up one element, in the order of the loops.

Requires: the indices of an addition are sums of indices of the loops around it, each with
          the factor 1 or -1, so that those of the element give those of some of the loops;
          the other loops are summed over.
Ensures : the same sums of the same terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from symdiff import ir
from symdiff.codegen.cuda.loops.independence import parallel
from symdiff.ir import CONST, ONE, TRUE, ZERO, Expr, substitute, topological, var
from symdiff.ir.effects import has_checks
from symdiff.ir.integers import degree, in_range, linear
from symdiff.ir.loop_program import (
    ARRAY,
    LOAD,
    REAL,
    Block,
    Build,
    Carried,
    Loop,
    Statement,
    Update,
    defined,
    expressions_in,
    free,
    index,
    inner,
    leaves,
    load,
    name_of,
    renamed,
    replaced,
    walk,
)
from symdiff.ir.names import Names
from symdiff.ir.prune import pruned


@dataclass(frozen=True, slots=True)
class _Term:
    """An addition: the loops around it, and what stands before it in the body of each."""

    loops: tuple[Loop, ...]
    before: tuple[Block, ...]
    update: Update


def gathered(s: Loop, names: Names, sizes: set[Expr]) -> tuple[Statement, ...] | None:
    """The statements that a loop becomes: builds, and a loop with the rest if there is any;
    None if it stays as it is."""
    arrays = [c for c in s.carried if c.type.shape]
    if not arrays or s.saves or s.restores or any(c.type.kind != "f" for c in arrays):
        return None
    found = _Terms(s).found
    if found is None:
        return None
    builds = []
    for c in arrays:
        made = _sum(c, found[c.name], names, sizes)
        if made is None:
            return None
        builds.append(made)
    numbers = tuple(c for c in s.carried if not c.type.shape)
    if not numbers:
        return tuple(builds)
    rest = replace(s, carried=numbers)
    rest = replace(rest, body=pruned(s.body, [c.next for c in numbers]))
    return (rest, *builds) if parallel(rest, sizes) is not None else None


def without_constants(block: Block, outputs: Sequence[Expr]) -> tuple[Block, tuple[Expr, ...]]:
    """The block without arrays of one number each that are only read: adjoints start from
    zeros, to which sums are added."""
    values = {
        s.name: s.value for s in walk(block)
        if isinstance(s, Build) and not s.body and s.value.op is CONST
    }  # fmt: skip
    roots = [*outputs, *expressions_in(block)]
    found = {
        n: values[name_of(n.args[0])] for n in topological([e for e in roots if e.op is not ARRAY])
        if n.op is LOAD and name_of(n.args[0]) in values
    }  # fmt: skip
    if found:
        block, outputs = replaced(block, found), substitute(outputs, found)
    return pruned(block, outputs), tuple(outputs)


class _Terms:
    """Collects the additions to the arrays that a loop carries."""

    def __init__(self, s: Loop) -> None:
        self.owner = {c.name: c.name for c in s.carried if c.type.shape}
        self.terms: dict[str, list[_Term]] = {n: [] for n in self.owner}
        self.fine = s.count is not None and s.condition is TRUE
        self.seen: set[Expr] = set()
        self.block(s.body, (s,), ())
        for c in s.carried:
            if c.type.shape:
                self.fine &= self.owner.get(name_of(c.next)) == c.name
            else:
                self.reads((c.init, c.next))

    @property
    def found(self) -> dict[str, list[_Term]] | None:
        """The additions to each array; None if something else is done with one."""
        return self.terms if self.fine else None

    def reads(self, roots: Sequence[Expr]) -> None:
        """Expressions that must not read the arrays."""
        self.fine &= all(e.op is not ARRAY or name_of(e) not in self.owner for e in roots)
        for n in topological([e for e in roots if e.op is not ARRAY], self.seen):
            self.seen.add(n)
            self.fine &= n.op is not LOAD or name_of(n.args[0]) not in self.owner

    def block(self, block: Block, loops: tuple[Loop, ...], before: tuple[Block, ...]) -> None:
        for k, s in enumerate(block):
            if isinstance(s, Update) and s.source in self.owner:
                self.reads((*s.index, s.value, s.guard))
                owner = self.owner[s.name] = self.owner[s.source]
                self.fine &= s.add
                self.terms[owner].append(_Term(loops, (*before, block[:k]), s))
            elif isinstance(s, Loop) and any(
                c.type.shape and name_of(c.init) in self.owner for c in s.carried
            ):
                self.loop(s, loops, (*before, block[:k]))
            else:
                self.fine &= not has_checks(s)
                self.fine &= not any(isinstance(b, Loop) and b.saves for b in walk((s,)))
                self.reads(expressions_in((s,)))

    def loop(self, s: Loop, loops: tuple[Loop, ...], before: tuple[Block, ...]) -> None:
        """A loop that carries some of the arrays on."""
        mine = [c for c in s.carried if c.type.shape and name_of(c.init) in self.owner]
        for c in mine:
            self.owner[c.name] = self.owner[c.result] = self.owner[name_of(c.init)]
        self.fine &= s.count is not None and s.condition is TRUE
        self.fine &= not s.saves and not s.restores
        self.block(s.body, (*loops, s), before)
        for c in mine:
            self.fine &= self.owner.get(name_of(c.next)) == self.owner[c.name]
        rest = [c for c in s.carried if c not in mine]
        self.reads([e for c in rest for e in (c.init, c.next)])


def _sum(c: Carried, terms: Sequence[_Term], names: Names, sizes: set[Expr]) -> Build | None:
    """The array as the sum of what is added to it."""
    places = tuple(names.fresh("at") for _ in c.type.shape)
    total: Expr = load(c.init, *map(index, places))
    body: list[Statement] = []
    for t in terms:
        made = _one_term(t, c, places, names, sizes, t.loops)
        made = made or _one_term(t, c, places, names, sizes, t.loops[::-1])
        if made is None:
            return None
        statements, value = made
        block, mapping = renamed(tuple(statements), names)
        body += block
        total = ir.raw(ir.ADD, (total, substitute((value,), mapping)[0]))
    return Build(c.result, c.type, places, total, tuple(body))


def _one_term(
    t: _Term,
    c: Carried,
    places: Sequence[str],
    names: Names,
    sizes: set[Expr],
    order: Sequence[Loop],
) -> tuple[list[Statement], Expr] | None:
    """Statements that add up what an addition adds to the element at some places, and the
    name of the sum; the first of the loops in an order that can be are not summed over."""
    left = {s.index: s for s in order}
    known: dict[Expr, Expr] = {}
    tests: list[Expr] = []
    for e, place in zip(t.update.index, places, strict=True):
        e, here = linear(substitute((e,), known)[0]), index(place)
        solved = _solved(e, here, left)
        if solved is None:
            if any(n.op is LOAD for n in topological((e,))):
                return None
            tests.append(ir.eq(e, here))
            continue
        name, value = solved
        known = {k: substitute((v,), {index(name): value})[0] for k, v in known.items()}
        known[index(name)] = value
        del left[name]
    ranges = {index(p): n for p, n in zip(places, c.type.shape, strict=True)}
    for s in t.loops:
        assert s.count is not None
        if s.index in left:
            ranges[index(s.index)] = s.count
            continue
        at, count = known[index(s.index)], substitute((s.count,), known)[0]
        if not in_range(at, count, ranges, sizes):
            tests += [ir.le(ZERO, at), ir.lt(at, count)]
    for k, s in enumerate(t.loops):  # a sum must know how long it is before it starts
        later = {index(x.index) for x in t.loops[k:] if x.index in left}
        count = substitute((s.count,), known)[0] if s.count is not None else ONE
        if s.index in left and later & set(leaves((count,))):
            return None
    return _assembled(t, set(left), known, tests, names)


def _solved(e: Expr, here: Expr, loops: dict[str, Loop]) -> tuple[str, Expr] | None:
    """The index of a loop, the first that can be, from that of an element."""
    for name in loops:
        leaf = index(name)
        if leaf not in leaves((e,)) or any(
            n.op is LOAD and leaf in leaves((n,)) for n in topological((e,))
        ):
            continue
        if degree(e, leaf) > 2:
            continue  # three places do not say that it is linear
        at = [substitute((e,), {leaf: ir.const(k)})[0] for k in (0, 1, 2)]
        step = ir.rational(linear(ir.sub(at[1], at[0])))
        if step in (1, -1) and ir.rational(linear(ir.sub(at[2], at[1]))) == step:
            rest = linear(ir.sub(here, at[0]))
            return name, rest if step == 1 else linear(ir.neg(rest))
    return None


def _assembled(
    t: _Term, summed: set[str], known: dict[Expr, Expr], tests: Sequence[Expr], names: Names
) -> tuple[list[Statement], Expr] | None:
    value, guard = t.update.value, t.update.guard
    wanted: list[Expr] = [value, guard]
    inside: list[Statement] = []
    deeper = 0
    for s, before in zip(reversed(t.loops), reversed(t.before), strict=True):
        needed = pruned(before, wanted)
        if any(x.type.shape for b in walk(needed) if isinstance(b, Loop) for x in b.carried):
            return None
        if any(not isinstance(b, Loop) for b in walk(needed)) or (needed and deeper):
            return None
        inside = [*needed, *inside]
        wanted += [var(n) for n in free(needed)]
        deeper += s.index in summed
    own = {n for s in t.loops for n, _ in inner(s)} - {s.index for s in t.loops}
    own |= {n for s in t.loops for b in s.body for n, _ in defined(b)}
    if (free(tuple(inside), (value, guard)) - {n for b in inside for n, _ in defined(b)}) & own:
        return None
    for test in tests:
        guard = ir.and_(guard, test)
    term = value if guard is TRUE else ir.raw(ir.WHERE, (guard, value, ZERO))
    (term,) = substitute((term,), known)
    block = list(replaced(tuple(inside), known))
    for s in reversed([s for s in t.loops if s.index in summed]):
        start, end = names.fresh("sum"), names.fresh("sum")
        assert s.count is not None
        (count,) = substitute((s.count,), known)
        carried = Carried(start, REAL, ZERO, ir.raw(ir.ADD, (var(start), term)), end)
        block = [Loop(s.index, count, (carried,), tuple(block), names.fresh("trips"))]
        term = var(end)
    return block, term


__all__ = ["gathered"]
