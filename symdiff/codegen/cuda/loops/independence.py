"""Which loops may run as many threads: those whose iterations are independent, up to numbers
that they collect.

An iteration is independent if what it reads and changes of the carried arrays is its own:
along some axis all of its accesses have one index, that follows the index of the loop.
Loops that stand alone in a loop share its threads, if that holds for each index by itself.
Sums of sums are sums: an inner loop that starts from what the outer one has collected may
start from nothing, and what it collects be added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from symdiff import ir
from symdiff.ir import AND, EQ, LE, LT, ONE, OR, TRUE, WHERE, ZERO, Expr, substitute, topological
from symdiff.ir.integers import in_range, linear
from symdiff.ir.loop_program import (
    ARRAY,
    LOAD,
    Block,
    Build,
    Call,
    Carried,
    Loop,
    Statement,
    Update,
    defined,
    expressions,
    index,
    inner,
    leaves,
    name_of,
    names_in,
    scalar,
    walk,
)
from symdiff.lowering.loops.collected import reduction

SMALL = 64
"""Iterations that are not worth threads of their own."""


@dataclass(frozen=True, slots=True)
class Collected:
    """A carried number that independent iterations may collect in any order.

    Attributes
    ----------
    carried : the value.
    start : what collecting starts from; None for the first index, to be compared by.
    first, second : names of two parts, of which `joined` makes one. Of two indices the
        first part is the lower.
    """

    carried: Carried
    start: Expr | None
    first: Expr
    second: Expr
    joined: Expr

    @property
    def places(self) -> bool:
        """Whether it is the index of a least or greatest value."""
        return self.start is None


@dataclass(frozen=True, slots=True)
class Parallel:
    """A loop that threads share.

    Attributes
    ----------
    levels : the loop and those alone in it whose iterations are shared too.
    collected : the carried numbers of the innermost.
    """

    levels: tuple[Loop, ...]
    collected: tuple[Collected, ...]

    @property
    def space(self) -> list[tuple[str, Expr, bool]]:
        """The indices that are shared: names, how many there are, whether backwards."""
        return [(s.index, s.count, s.reverse) for s in self.levels if s.count is not None]

    def outermost(self) -> dict[str, Carried]:
        """The values that the outermost loop carries, by the names of the innermost."""
        found = {c.name: c for c in self.levels[0].carried}
        for s in self.levels[1:]:
            found = {d.name: c for d in s.carried for n, c in found.items() if n == name_of(d.init)}
        return found


def parallel(s: Loop, sizes: set[Expr]) -> Parallel | None:
    """How threads share a loop, if they can: as many of its levels as possible."""
    levels = _alone(s)
    while levels:
        found = _shared(levels, sizes)
        if found is not None:
            return found
        levels.pop()
    return None


def is_small(counts: Sequence[Expr | None]) -> bool:
    """Whether there are few iterations, whatever the sizes."""
    total = 1
    for n in counts:
        k = None if n is None else ir.integer(n)
        if k is None:
            return False
        total *= max(k, 0)
    return total <= SMALL


def is_work(block: Block, sizes: set[Expr]) -> bool:
    """Whether a block has arrays to build or loops that threads could share."""
    for s in block:
        if isinstance(s, Build) and not is_small(s.type.shape):
            return True
        if isinstance(s, Loop):
            if not is_small((s.count,)) and parallel(s, sizes) is not None:
                return True
            if is_work(s.body, sizes):
                return True
        if isinstance(s, Call):
            return True
    return False


# ------------------------------------------------------------------------- levels
def _plain(s: Loop) -> bool:
    return s.count is not None and s.condition is TRUE


def _alone(s: Loop) -> list[Loop]:
    """A loop and the loops that are all there is in the one around them."""
    levels = [s]
    own = {s.index, *(c.name for c in s.carried)}
    while len(levels[-1].body) == 1 and not levels[-1].saves and not levels[-1].restores:
        outer, body = levels[-1], levels[-1].body[0]
        if not isinstance(body, Loop) or not _plain(body):
            break
        pairs = {(d.init, d.after) for d in body.carried}
        through = {(c.leaf, c.next) for c in outer.carried}
        if len(body.carried) != len(outer.carried) or pairs != through:
            break
        assert body.count is not None
        if own & names_in(body.count):
            break
        levels.append(body)
        own |= {body.index, *(c.name for c in body.carried)}
    return levels


def _shared(levels: Sequence[Loop], sizes: set[Expr]) -> Parallel | None:
    """How the threads share these levels."""
    if not all(map(_plain, levels)):
        return None
    last = _unchained(levels[-1])
    levels = (*levels[:-1], last)
    numbers = [c for c in last.carried if not c.type.shape]
    collected = [_collected(c, last) for c in numbers]
    if any(c is None or (c.places and len(levels) > 1) for c in collected):
        return None
    mine = {c.name for s in levels for c in s.carried if not c.type.shape}
    used = [x for b in walk(last.body) for x in expressions(b)]
    used += [v.value for v in last.saves]
    if mine & names_in(*used):
        return None
    if any((mine - {c.name}) & names_in(c.next) for c in last.carried):
        return None
    if not _separate(levels, sizes):
        return None
    return Parallel(levels, tuple(c for c in collected if c is not None))


# -------------------------------------------------------------------- collecting
_NOTHING = {"add": ZERO, "mul": ONE}


def _unchained(s: Loop) -> Loop:
    """The loop, in which loops do not go on with what it has collected but start anew."""
    body, carried = list(s.body), list(s.carried)
    for k, c in enumerate(carried):
        leaf = c.leaf
        for at, b in enumerate(body):
            if c.type.shape or not isinstance(b, Loop):
                continue
            found = [d for d in b.carried if d.init is leaf and c.next is d.after]
            if not found or (r := reduction(found[0])) is None:
                continue
            others = tuple(d for d in b.carried if d is not found[0])
            rest = list(expressions(replace(b, carried=others)))
            rest += [x for o in body if o is not b for t in walk((o,)) for x in expressions(t)]
            rest += [x for t in walk(b.body) for x in expressions(t)]
            rest += [o.next for o in carried if o is not c]
            if leaf in leaves(rest) or c.next in leaves(rest):
                continue
            d = found[0]
            start, joined = _start(r.kind, c.type.kind), _join(r.kind, leaf, c.next, r.nan)
            body[at] = replace(b, carried=tuple(
                replace(o, init=start) if o is d else o for o in b.carried
            ))  # fmt: skip
            carried[k] = replace(c, next=joined)
            break
    return replace(s, body=tuple(body), carried=tuple(carried))


def _start(kind: str, of: str) -> Expr:
    if kind in _NOTHING:
        return _NOTHING[kind]
    least = ir.const(1 - 2**63) if of == "i" else ir.neg(ir.INF)
    most = ir.const(2**63 - 1) if of == "i" else ir.INF
    return least if kind == "max" else most


def _join(kind: str, a: Expr, b: Expr, nan: bool = False) -> Expr:
    if kind in _NOTHING:
        return ir.raw(ir.ADD if kind == "add" else ir.MUL, (a, b))
    test = ir.raw(LT, (a, b) if kind == "max" else (b, a))
    best = ir.raw(WHERE, (test, b, a))
    return ir.raw(WHERE, (ir.raw(EQ, (b, b)), best, b)) if nan else best


def _collected(c: Carried, s: Loop) -> Collected | None:
    leaf = c.leaf
    first, second = (scalar(f"{c.name} of {part}", c.type.kind) for part in ("one", "another"))
    found = reduction(c)
    if found is not None:
        joined = _join(found.kind, first, second, found.nan)
        return Collected(c, _start(found.kind, c.type.kind), first, second, joined)
    if c.next.op is not WHERE or c.type.kind != "i":
        return None
    test, yes, no = c.next.args
    if test.op in (OR, AND) and (yes, no) == (ONE, ZERO):
        held = ir.raw(EQ, (leaf, ONE))
        rest = [a for a in test.args if a is not held]
        if len(rest) == 1 and leaf not in leaves(rest):
            kind = "max" if test.op is OR else "min"
            start = ZERO if test.op is OR else ONE
            return Collected(c, start, first, second, _join(kind, first, second))
        return None
    here = index(s.index)
    if test.op in (LT, LE) and (yes, no) == (here, leaf) and not s.reverse:
        a, b = test.args
        mine = [x for x in (a, b) if leaf in leaves((x,))]
        if len(mine) == 1:
            other = b if mine[0] is a else a
            swapped = substitute((mine[0],), {leaf: here})[0]
            if swapped is other and here not in leaves(mine):
                joined = substitute((c.next,), {leaf: first, here: second})[0]
                return Collected(c, None, first, second, joined)
    return None


# ---------------------------------------------------------------------- separate
class _Access:
    """Collects how the iterations of some loops use the arrays that they carry."""

    def __init__(self, levels: Sequence[Loop], sizes: set[Expr]) -> None:
        self.sizes = sizes
        self.owner: dict[str, str] = {}
        self.places: dict[str, set[tuple[Expr, ...]]] = {}
        self.changed: set[str] = set()
        self.shapes: dict[str, tuple[Expr, ...]] = {}
        self.fine = True
        self.ranges: dict[Expr, Expr] = {}
        self.own: set[str] = set()
        self.seen: set[Expr] = set()
        self.outer = {c.name for s in levels[:-1] for c in s.carried if c.type.shape}
        for s in levels:
            assert s.count is not None
            self.ranges[index(s.index)] = s.count
        for c in levels[-1].carried:
            if c.type.shape:
                self.owner[c.name] = c.name
                self.shapes[c.name] = c.type.shape

    def expression(self, e: Expr) -> None:
        """What an expression reads; an array as a whole must not be among it."""
        if e.op is ARRAY:
            self.fine &= name_of(e) not in self.owner and name_of(e) not in self.outer
            return
        for n in topological((e,), self.seen):
            self.seen.add(n)
            if n.op is LOAD and name_of(n.args[0]) in self.outer:
                self.fine = False
            if n.op is not LOAD or name_of(n.args[0]) not in self.owner:
                continue
            owner = self.owner[name_of(n.args[0])]
            inside = (
                in_range(i, m, self.ranges, self.sizes)
                for i, m in zip(n.args[1:], self.shapes[owner], strict=True)
            )
            self.fine &= all(inside)
            self.places.setdefault(owner, set()).add(n.args[1:])

    def block(self, block: Block) -> None:
        for s in block:
            self.statement(s)

    def statement(self, s: Statement) -> None:
        self.own |= {n for n, _ in (*defined(s), *inner(s))}
        if isinstance(s, Update) and s.source in self.owner:
            owner = self.owner[s.source]
            for e in (*s.index, s.value, s.guard):
                self.expression(e)
            self.owner[s.name] = owner
            self.changed.add(owner)
            self.places.setdefault(owner, set()).add(s.index)
            return
        if isinstance(s, Loop):
            self.loop(s)
            return
        outer = dict(self.ranges)
        if isinstance(s, Build):
            self.ranges.update({index(i): n for i, n in zip(s.indices, s.type.shape, strict=True)})
            self.block(s.body)
        for e in expressions(s):
            self.expression(e)
        self.ranges = outer

    def loop(self, s: Loop) -> None:
        carried = [c for c in s.carried if c.type.shape and name_of(c.init) in self.owner]
        for c in carried:
            self.owner[c.name] = self.owner[c.result] = self.owner[name_of(c.init)]
        outer = dict(self.ranges)
        if s.count is not None:
            self.ranges[index(s.index)] = s.count
        self.block(s.body)
        for c in carried:
            self.fine &= self.owner.get(name_of(c.next)) == self.owner[c.name]
        rest = replace(s, carried=tuple(c for c in s.carried if c not in carried))
        for e in expressions(rest):
            self.expression(e)
        self.ranges = outer


def _separate(levels: Sequence[Loop], sizes: set[Expr]) -> bool:
    """Whether iterations read and change elements of their own only."""
    last = levels[-1]
    access = _Access(levels, sizes)
    access.block(last.body)
    for c in last.carried:
        if c.type.shape:
            access.fine &= access.owner.get(name_of(c.next)) == c.name
        else:
            access.expression(c.next)
    for v in last.saves:
        access.expression(v.value)
    if not access.fine:
        return False
    inside = access.own | {r.name for r in last.restores}
    inside |= {c.name for s in levels for c in s.carried if not c.type.shape}
    return all(
        _own_places(access.places.get(owner, set()), levels, inside) for owner in access.changed
    )


def _own_places(places: set[tuple[Expr, ...]], levels: Sequence[Loop], inside: set[str]) -> bool:
    """Whether elements at these indices are of one iteration only: each level has an axis
    of its own."""
    rank = len(next(iter(places)))
    axes: Mapping[int, Expr] = {}
    for k in range(rank):
        found = {linear(p[k]) for p in places}
        if len(found) == 1:
            axes = {**axes, k: found.pop()}
    indices = {s.index for s in levels}
    for s in levels:
        if not any(_follows(e, s.index, inside | (indices - {s.index})) for e in axes.values()):
            return False
    return True


def _follows(e: Expr, name: str, others: set[str]) -> bool:
    """Whether an index changes with each iteration of a loop, and with nothing else."""
    if any(name_of(n) in others for n in leaves((e,)) if n.op is not ARRAY):
        return False
    here = index(name)
    if any(n.op is LOAD and here in leaves((n,)) for n in topological((e,))):
        return False
    moved = substitute((e,), {here: ir.add(here, ONE)})[0]
    step = ir.rational(linear(ir.sub(moved, e)))
    return step is not None and step != 0


__all__ = ["Collected", "Parallel", "is_small", "is_work", "parallel"]
