"""Sum over Kronecker deltas.

Before:  for i in range(n): s = s + a[j, i]*(1 if i == k else 0)
After:   s = s + (a[j, k] if 0 <= k < n else 0)

Requires: a valid program.
Ensures: the same values, except that a product with a zero of a delta is zero even where
the other factor is not finite. A loop whose sum has only one nonzero term
is replaced by that term; a loop all of whose changes of arrays are of that
kind, by the one iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symdiff import ir
from symdiff.ir import ADD, AND, DIV, EQ, MUL, NEG, SUB, TRUE, WHERE, ZERO, Expr, substitute
from symdiff.ir import loop_program as lp
from symdiff.ir.blocks import with_inside


def contracted(block: lp.Block, roots: Sequence[Expr]) -> tuple[lp.Block, tuple[Expr, ...]]:
    """The block and the expressions after it, with sums over deltas contracted."""
    everything = [*roots, *lp.expressions_in(block)]
    if not any(e.op is WHERE and _is_delta(e.args[0]) for e in ir.topological(everything)):
        return block, tuple(roots)
    result: list[lp.Statement] = []
    known: dict[Expr, Expr] = {}
    for s in block:
        (s,) = lp.replaced((s,), known)
        s = with_inside(s, contracted)
        if isinstance(s, lp.Loop) and lp.plain_loop(s):
            s, sums = _without_sums(s)
            known.update(sums)
            if (once := _one_iteration(s)) is not None:
                statements, ends = once
                result += statements
                known.update(ends)
                continue
        s = lp.mapped(s, distributed, lambda b: b)
        result.append(s)
    return tuple(result), tuple(map(distributed, substitute(roots, known)))


# ------------------------------------------------------------------- expressions
def _is_delta(condition: Expr) -> bool:
    """Whether a condition requires that an index has one value."""
    return any(
        c.op is EQ
        and all(lp.kind_of(a) == "i" for a in c.args)
        and any(e.op is lp.INDEX for e in lp.leaves(c.args))
        for c in ir.conjuncts(condition)
    )


def _delta(e: Expr) -> tuple[Expr, Expr] | None:
    """The condition and the value of `where(condition, value, 0)`."""
    if e.op is WHERE and e.args[2] is ZERO and _is_delta(e.args[0]):
        return e.args[0], e.args[1]
    return None


def distributed(e: Expr) -> Expr:
    """The expression with the factors of a delta moved into its value."""

    def rule(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op in (MUL, DIV, NEG):
            for k, a in enumerate(args):
                if (found := _delta(a)) is not None and (n.op is not DIV or k == 0):
                    condition, value = found
                    rest = ir.apply(n.op, *args[:k], value, *args[k + 1 :])
                    return ir.where(condition, rest, ZERO)
        if n.op is WHERE and args[2] is ZERO and (found := _delta(args[1])) is not None:
            return ir.where(ir.and_(args[0], found[0]), found[1], ZERO)
        if n.op in (ADD, SUB):
            left, right = map(_delta, args)
            if left is not None and right is not None and left[0] is right[0]:
                return ir.where(left[0], ir.apply(n.op, left[1], right[1]), ZERO)
        return ir.rebuild(n, args)

    return e if e.op is lp.LOAD else ir.transform((e,), rule)[0]


def _solved(condition: Expr, i: Expr, hidden: set[str]) -> tuple[Expr, Expr] | None:
    """The one value of an index for which a condition can hold, and the rest of the condition."""
    if condition.op is AND:
        a, b = condition.args
        for first, second in ((a, b), (b, a)):
            if (found := _solved(first, i, hidden)) is not None:
                return found[0], ir.and_(found[1], second)
        return None
    if condition.op is not EQ:
        return None
    for left, right in (condition.args, condition.args[::-1]):
        shift = ZERO
        if left.op in (ADD, SUB) and left.args[0] is i:
            left, shift = i, left.args[1] if left.op is ADD else -left.args[1]
        if left is i and not lp.names_in(right - shift) & hidden:
            return right - shift, TRUE
    return None


# -------------------------------------------------------------------------- loops
def _term(e: Expr, s: lp.Loop) -> Expr | None:
    """The value of a term in the one iteration where it is not zero."""
    found = _delta(e)
    i, hidden = lp.index(s.index), lp.own_names((s,))
    if found is None or s.count is None or (at := _solved(found[0], i, hidden)) is None:
        return None
    place, rest = at
    rest, value = substitute((rest, found[1]), {i: place})
    if (lp.names_in(rest) | lp.names_in(value)) & hidden:
        return None
    return ir.where(ir.and_(_in_range(place, s.count), rest), value, ZERO)


def _in_range(place: Expr, count: Expr) -> Expr:
    return ir.and_(ir.le(ZERO, place), ir.lt(place, count))


def _without_sums(s: lp.Loop) -> tuple[lp.Loop, dict[Expr, Expr]]:
    """A loop without the sums that only one iteration adds to, and their results."""
    carried, sums = [], dict[Expr, Expr]()
    for c in s.carried:
        leaf, result = c.leaf, c.after
        extra = ZERO
        if not c.type.shape and c.type.kind == "f":
            left = ZERO
            found = False
            for term in _terms(distributed(c.next)):
                if term is leaf:
                    found = True
                elif (once := _term(term, s)) is not None:
                    extra = extra + once
                else:
                    left = left + term
            if found and extra is not ZERO and not _reads(s, c):
                c = replace(c, next=leaf + left)
                sums[result] = result + extra
        carried.append(c)
    return replace(s, carried=tuple(carried)), sums


def _reads(s: lp.Loop, c: lp.Carried) -> bool:
    """Whether an iteration uses a value other than to add to it."""
    others = [d.next for d in s.carried if d is not c]
    roots = [*others, *lp.expressions_in(s.body)]
    count = sum(e is lp.scalar(c.name, "f") for t in _terms(c.next) for e in lp.leaves((t,)))
    return count != 1 or any(lp.name_of(e) == c.name for e in lp.leaves(roots))


def _terms(e: Expr) -> list[Expr]:
    """The terms of a sum."""
    if e.op is ADD:
        return [*_terms(e.args[0]), *_terms(e.args[1])]
    if e.op is SUB:
        return [*_terms(e.args[0]), *(-t for t in _terms(e.args[1]))]
    return [e]


def _one_iteration(s: lp.Loop) -> tuple[list[lp.Statement], dict[Expr, Expr]] | None:
    """The one iteration that changes anything, and the results of the loop."""
    arrays = [c for c in s.carried if c.type.shape]
    if not arrays or len(arrays) < len(s.carried) or s.count is None:
        return None
    place: Expr | None = None
    for b in lp.walk(s.body):
        if isinstance(b, lp.Check):
            return None
        if isinstance(b, lp.Update):
            at = _change(b, s)
            if at is None or (place is not None and at is not place):
                return None
            place = at
        elif (
            not isinstance(b, lp.Loop)
            or not lp.plain_loop(b)
            or any(not c.type.shape for c in b.carried)
        ):
            return None
    if place is None:
        return None
    here = {lp.index(s.index): place}
    inside = _in_range(place, s.count)
    starts = {c.leaf: c.init for c in arrays}
    body = lp.replaced(lp.replaced(s.body, here), starts)

    def where_inside(b: lp.Statement) -> lp.Statement:
        if isinstance(b, lp.Update):
            return replace(b, guard=ir.and_(inside, b.guard))
        return replace(b, body=tuple(map(where_inside, b.body))) if isinstance(b, lp.Loop) else b

    ends = {c.after: substitute((c.next,), starts)[0] for c in arrays}
    return list(map(where_inside, body)), ends


def _change(b: lp.Update, s: lp.Loop) -> Expr | None:
    """The iteration in which an update changes anything."""
    if not b.add or (found := _delta(distributed(b.value))) is None:
        return None
    hidden = lp.own_names((s,))
    at = _solved(found[0], lp.index(s.index), hidden)
    return None if at is None else at[0]
