"""Functions that sums and arguments relate: complements, gamma functions of shifted arguments, odd functions."""

from __future__ import annotations

from fractions import Fraction

from symdiff import ir
from symdiff.ir import ONE, SIGN, Expr
from symdiff.ir.formula_text import factors, of_factors, of_terms, terms
from symdiff.ir.functions import GAMMA, POLYGAMMA
from symdiff.ir.identities import RULES, Form, U
from symdiff.passes.cancel.algebra import linear

_COMPLEMENTS = {
    r.before.args[1].op: r
    for r in RULES
    if Form.SHORT in r.forms
    and r.before.op is ir.SUB
    and r.before.args[0] is ONE
    and r.before.args[1].args == (U,)
}
"""Functions that differ from 1 by another function."""
COMPLEMENTED = frozenset(_COMPLEMENTS)
_Bases = frozenset[tuple[Expr, Expr]]


def complemented(e: Expr) -> Expr:
    """With `c - c*f(u)` in sums, of whatever else, as `c` times one function: `z + 1 - erf(x)` as
    `z + erfc(x)`."""

    def rule(node: Expr, args: tuple[Expr, ...]) -> Expr:
        made = ir.rebuild(node, args)
        return _complemented(made) if made.op in (ir.ADD, ir.SUB) else made

    return ir.transform((e,), rule)[0]


def _complemented(e: Expr) -> Expr:
    """The same of one sum."""
    parts: dict[_Bases, Fraction] = {}
    for sign, term in terms(e):
        unit, bases = factors(term)
        if len(key := frozenset(bases)) < len(bases):
            return e
        parts[key] = parts.get(key, Fraction(0)) + sign * unit
    pairs: dict[_Bases, list[tuple[Expr, Fraction]]] = {}
    for key, unit in parts.items():
        for base, exponent in key:
            rest = key - {(base, exponent)}
            if base.op in COMPLEMENTED and exponent is ONE and rest in parts:
                pairs.setdefault(rest, []).append((base, unit))
    for rest, found in pairs.items():
        used = next(([p] for p in found if p[1] == -parts[rest]), found)
        if sum(unit for _, unit in used) != -parts[rest]:
            continue
        del parts[rest]
        for base, unit in used:
            after = _COMPLEMENTS[base.op].after({U: base.args[0]})
            assert after is not None
            del parts[rest | {(base, ONE)}]
            key = rest | {(after, ONE)}
            parts[key] = parts.get(key, Fraction(0)) - unit
        return _complemented(of_terms((1, of_factors(unit, key)) for key, unit in parts.items()))
    return e


SHIFTED = (GAMMA, POLYGAMMA)
MAX_SHIFT = 3
"""Arguments of gamma functions that differ by more than this stay."""


def shifted(e: Expr) -> Expr:
    """With gamma functions whose arguments differ by integers as one: `gamma(x + 1)` as
    `x*gamma(x)` together with `gamma(x)` (DLMF 5.5.1, 5.5.2)."""
    nodes = [n for n in ir.topological((e,)) if n.op in SHIFTED]
    groups: dict[frozenset[tuple[Expr, Fraction]], list[tuple[Fraction, Expr]]] = {}
    for n in nodes:
        found = dict(linear(n.args[-1]) or {n.args[-1]: Fraction(1)})
        start = found.pop(ONE, Fraction(0))
        groups.setdefault(frozenset(found.items()), []).append((start, n.args[-1]))
    least = {u: min(members, key=lambda m: m[0]) for members in groups.values() for _, u in members}
    starts = {u: start for members in groups.values() for start, u in members}

    def rule(node: Expr, args: tuple[Expr, ...]) -> Expr:
        made = ir.rebuild(node, args)
        if node.op is not GAMMA and not (node.op is POLYGAMMA and node.args[0] is ir.ZERO):
            return made
        first, u = least[node.args[-1]]
        step = starts[node.args[-1]] - first
        if not step or step.denominator != 1 or step > MAX_SHIFT:
            return made
        made = node.op(u) if node.op is GAMMA else node.op(ir.ZERO, u)
        for k in range(int(step)):
            at = ir.add(u, ir.const(k))
            made = ir.mul(at, made) if node.op is GAMMA else ir.add(made, ir.div(ONE, at))
        return made

    return ir.transform((e,), rule)[0] if len(groups) < len(starts) else e


def turned_odd(e: Expr) -> Expr | None:
    """The negative of a product with a difference reversed in an odd function instead:
    `-k*sin(x - m)` as `k*sin(m - x)`."""
    for base, exponent in factors(e)[1]:
        n = ir.integer(exponent)
        if n is None or n % 2 == 0 or base.op.arity != 1 or base.args[0].op is not ir.SUB:
            continue
        inner = base.args[0]
        if base.op is SIGN or base.op(ir.neg(ir.var("x"))).op is ir.NEG:
            other = base.op(ir.sub(inner.args[1], inner.args[0]))
            return ir.substitute((ir.neg(e),), {base: other})[0]
    return None


__all__ = ["COMPLEMENTED", "SHIFTED", "complemented", "shifted", "turned_odd"]
