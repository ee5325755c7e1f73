"""Where several kinks meet: the combinations of their sides that exist.

Near a point at which some u_i vanish, not every choice of their signs occurs: where x > y and
y > z, x > z. Of linear forms that is decided exactly, by eliminating one unknown after the other
(Fourier and Motzkin). Of others nothing is decided here; see `passes.cancel.sides`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from symdiff import ir
from symdiff.ir import ADD, NEG, ONE, SUB, VAR, ZERO, Expr

Form = dict[Expr, Fraction]
"""A linear form: a nonzero factor for each of its unknowns. Constants are left out, or are factors
of 1."""
Side = tuple[Expr, int]
"""The quantity that vanishes at a kink, and its sign on one side."""

MAX_ROWS = 200
"""The most inequalities in an elimination."""


@lru_cache(maxsize=4096)
def form(u: Expr, constants: bool = False) -> Form:
    """An expression as a linear form in all parts that are not a sum, a difference or a multiple;
    with a factor for 1, if `constants` is set."""
    found: Form = {}
    stack = [(Fraction(1), u)]
    while stack:
        factor, e = stack.pop()
        q, e = ir.scaled(e)
        factor *= q
        if e.op in (ADD, SUB):
            stack += [(factor, e.args[0]), (factor if e.op is ADD else -factor, e.args[1])]
        elif e.op is NEG:
            stack.append((-factor, e.args[0]))
        elif e.args or e.op is VAR:
            found[e] = found.get(e, Fraction(0)) + factor
        elif constants and (c := ir.rational(e)) is not None:
            found[ONE] = found.get(ONE, Fraction(0)) + factor * c
        elif constants:
            found[e] = factor
    return {a: q for a, q in found.items() if q}


def alone(terms: Collection[Expr]) -> Iterator[Expr]:
    """The variables among the unknowns of a linear form that no other one depends on."""
    for v in terms:
        if v.op is VAR and not any(v in ir.variables((w,)) for w in terms if w is not v):
            yield v


def solved(terms: Form) -> tuple[Expr, Expr] | None:
    """Such a variable, and its value where the form is 0; None if there is none."""
    for v in alone(terms):
        rest: Expr = ZERO
        for w, q in terms.items():
            if w is not v:
                rest = rest + ir.const(-q / terms[v]) * w
        return v, rest
    return None


def where_others_vanish(u: Expr, others: Iterable[Expr]) -> Fraction | None:
    """The value of a linear form where others are 0, if that is a number."""
    rows: list[tuple[Expr, Form]] = []
    for w in (*others, u):
        reduced = form(w, constants=True)
        for pivot, row in rows:
            if q := reduced.get(pivot):
                reduced = _combined(reduced, Fraction(1), row, -q / row[pivot])
        atoms = [a for a in reduced if a is not ONE]
        if w is u:
            return None if atoms else reduced.get(ONE, Fraction(0))
        if atoms:
            rows.append((atoms[0], reduced))
    return None


def independent_unknowns(loci: Sequence[Expr]) -> bool:
    """Whether the linear forms have variables as unknowns, so that they describe the quantities
    near a point; for a single one, whether its terms have no variables in common."""
    atoms = {a for u in loci for a in form(u)}
    if len(loci) > 1:
        return all(a.op is VAR for a in atoms)
    seen: set[Expr] = set()
    for a in atoms:
        own = set(ir.variables((a,)))
        if own & seen:
            return False
        seen |= own
    return True


def dependent(loci: Sequence[Expr]) -> bool:
    """Whether one of the linear forms is a combination of others."""
    rows = [form(u) for u in loci]
    while rows:
        pivot = rows.pop()
        if not pivot:
            return True
        atom, q = next(iter(pivot.items()))
        rows = [_combined(r, Fraction(1), pivot, -r.get(atom, Fraction(0)) / q) for r in rows]
    return False


def feasible(sides: Iterable[Side]) -> bool | None:
    """Whether linear forms have these signs somewhere; None if the decision takes too long."""
    rows = [{a: s * q for a, q in form(u).items()} for u, s in sides]
    while rows:
        if any(not r for r in rows):
            return False  # 0 > 0
        atom = min((a for r in rows for a in r), key=lambda a: _pairs(rows, a))
        up = [r for r in rows if r.get(atom, 0) > 0]
        down = [r for r in rows if r.get(atom, 0) < 0]
        if _pairs(rows, atom) + len(rows) > MAX_ROWS:
            return None
        rows = [r for r in rows if atom not in r]
        rows += [_combined(a, -b[atom], b, a[atom]) for a in up for b in down]
    return True


def _pairs(rows: list[Form], atom: Expr) -> int:
    signs = [r[atom] > 0 for r in rows if atom in r]
    return sum(signs) * (len(signs) - sum(signs))


def _combined(a: Form, p: Fraction, b: Form, q: Fraction) -> Form:
    """p*a + q*b"""
    total = {k: p * a.get(k, Fraction(0)) + q * b.get(k, Fraction(0)) for k in {**a, **b}}
    return {k: v for k, v in total.items() if v}
