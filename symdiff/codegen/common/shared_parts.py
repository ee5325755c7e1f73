"""Parts that formulas share, in whatever order their sums and products were written.

Before:  a*x*b + 1, b*a/y
After:   the part a*b of both; with a name t for it: t*x + 1, t/y

Requires: formulas as they are to be printed.
Ensures: a formula with a name for a part is the same formula when the part is put back, but for
the order of terms and factors, which the text decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ADD, DIV, MUL, NEG, ONE, POW, SUB, ZERO, Expr
from symdiff.ir.formula_text import Formulas, factors, terms

MAX_PAIRS = 4000
"""Largest number of pairs of sums, or of products, whose common part is searched for."""

_SUMS = (ADD, SUB)
_PRODUCTS = (MUL, DIV, NEG, POW)


@dataclass(frozen=True, slots=True)
class Part:
    """A sum of terms with their signs, or a product of bases with their exponents, times `unit`;
    any other node has `node` alone."""

    node: Expr
    members: dict[Expr, Fraction]
    unit: Fraction = Fraction(1)
    is_sum: bool = False


def merged(outputs: Sequence[Expr]) -> tuple[Expr, ...]:
    """Formulas in which nodes of one text are one node."""
    formulas, first = Formulas(), dict[str, Expr]()
    return ir.transform(
        outputs,
        lambda e, args: first.setdefault(formulas.text(e), _with(e, args)),
    )


def _with(e: Expr, args: tuple[Expr, ...]) -> Expr:
    return e if args == e.args else ir.raw(e.op, args, e.value)


class Parts:
    """The sums, products and functions of some formulas, and how often each is written."""

    def __init__(self, roots: Sequence[Expr]) -> None:
        self.roots = tuple(roots)
        self.of: dict[Expr, Part] = {}
        self.uses: Counter[Expr] = Counter(roots)
        order: list[Expr] = []
        stack: list[tuple[Expr, bool]] = [(e, False) for e in roots]
        while stack:
            e, ready = stack.pop()
            if ready:
                order.append(e)
            elif e not in self.of and e.args:
                self.of[e] = _read(e)
                stack.append((e, True))
                stack += [(a, False) for a in _children(self.of[e])]
        for e in reversed(order):
            for a in _children(self.of[e]):
                self.uses[a] += self.uses[e]

    def candidates(self) -> list[Part]:
        """What may get a name: whole nodes that are written more than once, what two sums or two
        products have in common, and powers."""
        found: dict[object, Part] = {}
        counts: Counter[object] = Counter()
        for e, part in self.of.items():
            if self.uses[e] > 1 and not e.op.boolean:
                counts[e] = found.setdefault(e, part) is part and self.uses[e]
        for is_sum in (True, False):
            rows = [
                (e, p)
                for e, p in self.of.items()
                if p.is_sum is is_sum and e.op in _PRODUCTS + _SUMS
            ]
            rows = rows[: int((2 * MAX_PAIRS) ** 0.5)]
            for i, (_, p) in enumerate(rows):
                for _, q in rows[:i]:
                    for members in _common(p, q):
                        key = is_sum, frozenset(members.items())
                        counts[key] += 1
                        if key not in found:
                            found[key] = Part(_built(members, is_sum), members, is_sum=is_sum)
            if not is_sum:
                for _, p in rows:
                    for base, n in p.members.items():
                        if abs(n) != 1:
                            power = {base: abs(n)}
                            key = False, frozenset(power.items())
                            counts[key] += 1
                            found.setdefault(key, Part(_built(power, False), power))
        return [found[k] for k, n in counts.items() if n]

    def count(self, part: Part) -> int:
        """How often a part is written."""
        if not part.members:
            return self.uses[part.node]
        total = 0
        for e, p in self.of.items():
            if p.is_sum is part.is_sum and p.members and _times(p, part):
                total += self.uses[e]
        return total


def replaced(roots: Iterable[Expr], part: Part, name: Expr) -> tuple[Expr, ...]:
    """The formulas with a name for a part, wherever it is written."""
    roots, known = tuple(roots), dict[Expr, Expr]()

    def made(e: Expr) -> Expr:
        if e is part.node:
            return name
        p = _read(e)
        if not p.members:
            return _with(e, tuple(known[a] for a in e.args))
        n = _times(p, part) if p.is_sum is part.is_sum and part.members else 0
        if not n and all(known[a] is a for a in _children(p)):
            return e
        left = dict(p.members)
        unit = p.unit
        if n:
            for a, k in part.members.items():
                left[a] -= n * k
            unit = unit / part.unit**n if not p.is_sum else unit
        if p.is_sum:
            total = ZERO if not n else name if n > 0 else ir.neg(name)
            for a, k in left.items():
                if k:
                    total = (ir.add if k > 0 else ir.sub)(total, known[a])
            return total
        return _product(
            unit, [(name, Fraction(n))] * bool(n) + [(known[a], k) for a, k in left.items()]
        )

    stack: list[tuple[Expr, bool]] = [(e, False) for e in roots]
    while stack:
        e, ready = stack.pop()
        if e in known:
            continue
        if not e.args:
            known[e] = e
        elif ready:
            known[e] = made(e)
        else:
            stack.append((e, True))
            stack += [(a, False) for a in _children(_read(e)) if a not in known]
    return tuple(known[e] for e in roots)


# ---------------------------------------------------------------------- reading
def _read(e: Expr) -> Part:
    if e.op in _SUMS:
        members: dict[Expr, Fraction] = {}
        for sign, term in terms(e):
            members[term] = members.get(term, Fraction(0)) + sign
        if all(abs(k) == 1 for k in members.values()):
            return Part(e, members, is_sum=True)
    elif e.op in _PRODUCTS:
        unit, found = factors(e)
        members = {}
        for base, exponent in found:
            q = ir.rational(exponent)
            if q is None:
                base, q = ir.raw(POW, (base, exponent)), Fraction(1)
            if base is e:  # a power with a symbol as its exponent
                return Part(e, {})
            before = members.get(base, q)
            if base in members and not (
                q.denominator == before.denominator == 1 and q * before > 0
            ):
                return Part(e, {})  # `sqrt(x)*sqrt(x)` has another domain than x
            members[base] = before + q if base in members else q
        if members:
            return Part(e, members, unit)
    return Part(e, {})


def _children(p: Part) -> Sequence[Expr]:
    return list(p.members) if p.members else p.node.args


def _common(p: Part, q: Part) -> list[dict[Expr, Fraction]]:
    """What two sums, or two products, have in common, if that is more than one operand."""
    small, large = sorted((p.members, q.members), key=len)
    both = {a: (k, large[a]) for a, k in small.items() if a in large}
    if len(both) < 2:
        return []
    found = []
    for sign in (1, -1):
        if p.is_sum:
            same = {a: k for a, (k, m) in both.items() if k == sign * m}
            if same and next(iter(same.values())) < 0:
                same = {a: -k for a, k in same.items()}
        else:
            same = {
                a: min(abs(k), abs(m)) * (1 if k > 0 else -1)
                for a, (k, m) in both.items()
                if k * m * sign > 0
            }
            if all(k < 0 for k in same.values()):
                same = {a: -k for a, k in same.items()}
        if len(same) > 1:
            found.append(dict(sorted(same.items(), key=lambda i: id(i[0]))))
    return found


def _times(whole: Part, part: Part) -> int:
    """How many times a part is in a sum (its sign) or a product (its power); 0 if it is not."""
    if not all(a in whole.members for a in part.members):
        return 0
    ratios = {whole.members[a] / k for a, k in part.members.items()}
    if whole.is_sum:
        return int(ratios.pop()) if len(ratios) == 1 else 0
    n = min(ratios, key=abs)
    if len({q > 0 for q in ratios}) > 1:
        return 0
    if len(ratios) > 1 or n.denominator != 1:
        n = Fraction(1 if n > 0 else -1) if abs(n) >= 1 else Fraction(0)
        if any(
            (whole.members[a] - n * k).denominator != whole.members[a].denominator
            for a, k in part.members.items()
        ):
            return 0
    if n and abs(part.unit) != 1 and (n != 1 or abs(whole.unit) != abs(part.unit)):
        return 0
    return int(n)


# ---------------------------------------------------------------------- writing
def _built(members: dict[Expr, Fraction], is_sum: bool) -> Expr:
    if not is_sum:
        return _product(Fraction(1), list(members.items()))
    total = ZERO
    for a, k in sorted(members.items(), key=lambda i: -i[1]):
        total = (ir.add if k > 0 else ir.sub)(total, a)
    return total


def _product(unit: Fraction, members: Iterable[tuple[Expr, Fraction]]) -> Expr:
    top, bottom = ONE, ONE
    for a, k in members:
        if k > 0:
            top = ir.mul(top, ir.power(a, ir.const(k)))
        elif k < 0:
            bottom = ir.mul(bottom, ir.power(a, ir.const(-k)))
    top = ir.mul(ir.const(unit.numerator), top)
    return ir.div(top, ir.mul(ir.const(unit.denominator), bottom))


__all__ = ["Part", "Parts", "merged", "replaced"]
