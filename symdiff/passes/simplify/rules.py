"""Identities for what is no quotient of polynomials: one table, each sampled by a test.

A rule holds on the whole real domain of its left side. What has a condition is a function that
returns None where the condition is not known to hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from symdiff import ir
from symdiff.ir import HALF, ONE, SIGN, Expr
from symdiff.ir.formula_text import factors, of_factors, of_terms, terms
from symdiff.ir.functions import (
    ACOS,
    ACOSH,
    ASIN,
    ASINH,
    ATAN,
    ATANH,
    COS,
    COSH,
    ERF,
    ERFC,
    EXP,
    GAMMA,
    HYPOT,
    LOG,
    LOGADDEXP,
    POLYGAMMA,
    SIN,
    SINH,
    TANH,
    XLOG1PY,
    XLOGY,
)
from symdiff.ir.identities import Bindings, U, V, match, plain
from symdiff.passes.cancel.algebra import linear


@dataclass(frozen=True, slots=True)
class Identity:
    """`before` is `after(bindings)`, unless that is None."""

    name: str
    before: Expr
    after: Callable[[Bindings], Expr | None]


def _product_with_log(log: ir.Op, edge: int) -> Callable[[Bindings], Expr | None]:
    """u*log(v), where the product has the same domain: u does not vanish where the
    logarithm is undefined."""

    def after(bound: Bindings) -> Expr | None:
        u, v = bound[U], bound[V]
        base = u.args[0] if u.op is ir.POW else u
        if u.op is ir.POW and base is v and not edge:
            return ir.mul(u, log(v))
        if u.op.sign == "positive" or ir.rational(u):
            return ir.mul(u, log(v))
        return None

    return after


def _log_of_power(bound: Bindings) -> Expr | None:
    """n*log(u) for log(u**n): u is positive, or n even."""
    n = ir.rational(bound[V])
    if n is None:
        return None
    inner = bound[U]
    if n.denominator == 1 and n % 2 == 0:
        inner = ir.abs_(inner)
    return ir.mul(bound[V], LOG(inner))


def _root_of(bound: Bindings) -> Expr | None:
    """u**v for exp(v*log(u)), where that is undefined for u < 0 too."""
    n = ir.rational(bound[V])
    return ir.power(bound[U], n) if n is not None and n.denominator > 1 else None


IDENTITIES: tuple[Identity, ...] = (
    Identity("xlogy", XLOGY(U, V), _product_with_log(LOG, 0)),
    Identity("xlog1py", XLOG1PY(U, V), _product_with_log(ir.OPS["log1p"], -1)),
    Identity("logaddexp", LOGADDEXP(U, V), plain(LOG(EXP(U) + EXP(V)))),
    Identity("exp-log", EXP(ir.raw(ir.MUL, (V, LOG(U)))), _root_of),
    Identity("log-power", LOG(ir.raw(ir.POW, (U, V))), _log_of_power),
    Identity("sign-times", ir.raw(ir.MUL, (U, SIGN(U))), plain(ir.abs_(U))),
    Identity("abs-sign", ir.raw(ir.MUL, (ir.abs_(U), SIGN(U))), plain(U)),
    Identity("cos-asin", COS(ASIN(U)), plain(ir.sqrt(ONE - U**2))),
    Identity("sin-acos", SIN(ACOS(U)), plain(ir.sqrt(ONE - U**2))),
    Identity("cos-atan", COS(ATAN(U)), plain(ONE / ir.sqrt(U**2 + ONE))),
    Identity("sin-atan", SIN(ATAN(U)), plain(U / ir.sqrt(U**2 + ONE))),
    Identity("cosh-asinh", COSH(ASINH(U)), plain(ir.sqrt(U**2 + ONE))),
    Identity("sinh-asinh", SINH(ASINH(U)), plain(U)),
    Identity("tanh-asinh", TANH(ASINH(U)), plain(U / ir.sqrt(U**2 + ONE))),
    Identity("sinh-acosh", SINH(ACOSH(U)), plain(ir.sqrt(U - ONE) * ir.sqrt(U + ONE))),
    Identity("asinh-sinh", ASINH(SINH(U)), plain(U)),
    Identity("atanh-tanh", ATANH(TANH(U)), plain(U)),
    Identity("acosh-cosh", ACOSH(COSH(U)), plain(ir.abs_(U))),
    Identity("1-erf", ONE - ERF(U), plain(ERFC(U))),
    Identity("1-erfc", ONE - ERFC(U), plain(ERF(U))),
    Identity("hypot", HYPOT(U, V), plain(ir.sqrt(U**2 + V**2))),
    Identity("sqrt-of-square", ir.raw(ir.POW, (U**2, HALF)), plain(ir.abs_(U))),
)  # fmt: skip
"""Every identity; all that match are candidates."""

_BY_OP: dict[ir.Op, list[Identity]] = {}
for _identity in IDENTITIES:
    _BY_OP.setdefault(_identity.before.op, []).append(_identity)


def rewritten(e: Expr) -> Iterator[Expr]:
    """The node rewritten by every identity that applies to it."""
    for identity in _BY_OP.get(e.op, ()):
        bound: Bindings = {}
        if match(identity.before, e, bound):
            after = identity.after(bound)
            if after is not None and after is not e:
                yield after


_COMPLEMENTS = {
    i.before.args[1].op: i
    for i in IDENTITIES
    if i.before.op is ir.SUB and i.before.args[0] is ONE and i.before.args[1].args == (U,)
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


__all__ = [
    "COMPLEMENTED",
    "IDENTITIES",
    "Fraction",
    "Identity",
    "complemented",
    "rewritten",
    "shifted",
    "turned_odd",
]
