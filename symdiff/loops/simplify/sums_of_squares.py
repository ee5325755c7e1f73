"""The quantities that are 0 where a sum of squares in loops is 0: the squared elements.

Before:  for i in range(n): s = s + w[i]**2        where(sqrt(s) < eps, 0, w[0]*sin(sqrt(s))/sqrt(s))
After:   s is w[0]**2 + rest**2 in the question whether 0 is the limit of the other side

Requires: a valid program, not differentiated yet.
Ensures: formulas whose values include all that the sum can be, with the other terms next to it. Elements
that are in the sum are no greater than its root, and so are, up to a factor, numbers and arrays that are
sums of products with these; of elements that may be the same one, the mean counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ADD, MUL, POW, TRUE, VAR, WHERE, Expr, substitute
from symdiff.ir import loop_program as lp
from symdiff.ir.effects import dependent
from symdiff.ir.functions import SQUARES
from symdiff.ir.inductive import inductive, made_of
from symdiff.loops.simplify.vanishing import Vanishing
from symdiff.lowering.loops.collected import nests
from symdiff.passes.analysis.roots import loci

MOST_SUMS, MOST_TERMS = 2, 10
"""The most sums in one formula, and the most quantities that are 0 with them."""
TWO = ir.const(2)
SUM = ir.var("the sum")


@dataclass(frozen=True, slots=True)
class _Sum:
    """The squares whose sum a number is.

    over : the indices of the loops and their counts. bases : the squared expressions.
    zeros : the names of numbers and arrays all of whose elements are 0 where the sum is.
    """

    over: tuple[tuple[Expr, Expr], ...]
    bases: tuple[Expr, ...]
    zeros: frozenset[str]


class Sums:
    """The sums of squares of a block.

    Parameters
    ----------
    types : of the names that are not defined in the block.
    """

    def __init__(self, block: lp.Block, types: Mapping[str, lp.Type]) -> None:
        self.block, self.types = block, dict(types)
        for s in lp.walk(block):
            self.types.update(lp.defined(s))
            self.types.update(lp.inner(s))
        self.known: dict[Expr, _Sum] = {}
        for total, nest in nests(block).items():
            if bases := _bases(nest.term):
                whole = {a for b in bases if (a := self._whole(b, nest.over)) is not None}
                self.known[total] = _Sum(nest.over, bases, self._zeros(whole))
        self.built: dict[Expr, tuple[tuple[str, ...], _Sum, Expr]] = {}
        for s in lp.walk(block):
            if isinstance(s, lp.Build) and s.type.kind == "f":
                self._add(s)

    def _add(self, s: lp.Build) -> None:
        """An array each of whose elements depends on one sum."""
        order = ir.topological((s.value,))
        sums = {n: known for n in order if (known := self._sum(n)) is not None}
        if len(sums) == 1:
            ((n, (about, meaning)),) = sums.items()
            made = substitute((s.value,), {n: meaning})[0]
            self.built[lp.array(s.name)] = s.indices, about, made

    def of(self, outputs: Iterable[Expr]) -> tuple[tuple[Expr, Expr], ...]:
        """What the sums in outputs denote, and numbers that are 0 with them, where there are both."""
        order = ir.topological(outputs)
        sums = {n: made for n in order if (made := self._sum(n)) is not None}
        if not 0 < len(sums) <= MOST_SUMS or not any(n.op is WHERE for n in order):
            return ()
        numbers = [
            n for n in order if n.op in (lp.LOAD, VAR) and n not in sums and lp.kind_of(n) == "f"
        ]
        found: list[tuple[Expr, Expr]] = []
        for k, (s, (about, meaning)) in enumerate(sums.items()):
            elements = {
                b: None for n in numbers if n.op is lp.LOAD for at in self._places(n, about)
                for b in substitute(about.bases, at)
            }  # fmt: skip
            within = set(ir.topological(elements))
            other = [n for n in numbers if n not in within and _base(n) in about.zeros]
            if not elements and not other:
                continue
            small = [ir.var(f"part of {n}") for n in range(len(other))]
            terms = (*elements, *small)
            if len(terms) > MOST_TERMS:
                return ()
            mean = ir.ZERO
            for t in terms:
                mean = mean + ir.const(Fraction(1, len(terms))) * ir.power(t, TWO)
            mean = ir.power(ir.var(f"rest {k}"), TWO) + mean
            found.append((s, substitute((meaning,), {SUM: mean, SQUARES(SUM): mean})[0]))
            found += [(n, d * ir.var(f"by {d.value}")) for n, d in zip(other, small, strict=True)]
        return tuple(dict(reversed(found)).items())

    def _sum(self, n: Expr) -> tuple[_Sum, Expr] | None:
        """The sum that is a number, or in an element of an array; and how, in terms of `SUM`."""
        if n in self.known:
            return self.known[n], SUM
        if n.op is not lp.LOAD or n.args[0] not in self.built:
            return None
        indices, about, meaning = self.built[n.args[0]]
        at = dict(zip(map(lp.index, indices), n.args[1:], strict=True))
        bases = substitute(about.bases, at)
        return _Sum(about.over, bases, about.zeros), substitute((meaning,), at)[0]

    def _whole(self, base: Expr, over: Sequence[tuple[Expr, Expr]]) -> Expr | None:
        """The array all of whose elements are squared."""
        if base.op is not lp.LOAD or set(base.args[1:]) != {i for i, _ in over}:
            return None
        return base.args[0] if self._covers(base, over) else None

    def _covers(self, load: Expr, over: Iterable[tuple[Expr, Expr]]) -> bool:
        """Whether indices of loops run over all axes of the loaded array."""
        shape = self.types[lp.name_of(load.args[0])].shape
        if len(shape) != len(load.args) - 1:
            return False
        axes = dict(zip(load.args[1:], shape, strict=True))
        return all(axes.get(i) is count for i, count in over) and len(axes) == len(shape)

    def _places(self, element: Expr, about: _Sum) -> Iterator[dict[Expr, Expr]]:
        """The iterations in which an element is squared, itself or inside an expression."""
        for n in ir.topological(about.bases):
            if n.op is not lp.LOAD or n.args[0] is not element.args[0]:
                continue
            at = {
                i: j for i, j in zip(n.args[1:], element.args[1:], strict=True)
                if any(i is k for k, _ in about.over)
            }  # fmt: skip
            if self._covers(n, about.over) and substitute((n,), at)[0] is element:
                yield at

    def _zeros(self, arrays: set[Expr]) -> frozenset[str]:
        """The quantities that are 0 wherever arrays are 0, and tend to 0 with them."""
        if not arrays:
            return frozenset()
        own = set(map(lp.name_of, arrays))
        touched, made = dependent(self.block, own), made_of(self.block, lambda t: t.kind == "f")
        return frozenset(own | inductive(made, lambda e, found: _vanishes(e, own | found, touched)))


def _bases(e: Expr) -> tuple[Expr, ...]:
    """The bases of the squares that add up to an expression; none for other expressions."""
    if e.op is POW and e.args[1] is TWO:
        return (e.args[0],)
    if e.op is MUL and e.args[0] is e.args[1]:
        return (e.args[0],)
    if e.op is ADD:
        first, second = map(_bases, e.args)
        return (*first, *second) if first and second else ()
    return ()


def _vanishes(e: Expr, zeros: set[str], touched: set[str]) -> bool:
    """Whether an expression is a sum of products of zeros and of values that stay finite."""
    if any(
        n.op.boolean or n.op.kink is not None or next(loci(n), None) is not None
        for n in ir.topological((e,)) if n.args and n.op is not lp.LOAD
    ):  # fmt: skip
        return False
    names = {lp.name_of(n) for n in lp.leaves((e,)) if n.op in (VAR, lp.ARRAY)}
    if names & touched - zeros:
        return False
    known = dict.fromkeys(names & zeros, TRUE)
    return Vanishing(known, {n: ((), c) for n, c in known.items()}).where(e) is TRUE


def _base(e: Expr) -> str:
    """The name of a number, or of the array of an element."""
    return lp.name_of(e.args[0] if e.op is lp.LOAD else e)
