"""Accurate forms: one table of identities, each an equality of real functions.

A rule rewrites its left side to its right side wherever it occurs. The right
side is defined wherever the left side is, and has the same value there; a test
samples every rule because it is in the table. The forms are classical: see
Higham, Accuracy and Stability of Numerical Algorithms (2002), chapter 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ADD, MUL, SUB, ZERO, Expr
from symdiff.ir.functions import (
    COS,
    COSH,
    ERF,
    ERFC,
    EXP,
    EXPM1,
    LOG,
    LOG1P,
    LOGADDEXP,
    SIN,
    SINH,
    TANH,
    XLOG1PY,
    XLOGY,
)

U, V, W = ir.var("?u"), ir.var("?v"), ir.var("?w")
"""Match any expression in the left side of a rule."""

Bindings = dict[Expr, Expr]


@dataclass(frozen=True, slots=True)
class Rule:
    """`before` becomes `after(bindings)`; None means that the rewrite is not worth it here.

    `positive` names the unknowns that are positive where the left side is defined.
    `early` rules also give better derivatives, and apply before differentiation.
    """

    name: str
    before: Expr
    after: Callable[[Bindings], Expr | None]
    positive: tuple[Expr, ...] = ()
    early: bool = False


def plain(after: Expr) -> Callable[[Bindings], Expr | None]:
    return lambda bound: ir.substitute((after,), bound)[0]


def _shift(e: Expr) -> tuple[Expr, Fraction]:
    """e as a node and a constant added to it."""
    if e.op in (ADD, SUB) and (c := ir.rational(e.args[1])) is not None:
        return e.args[0], c if e.op is ADD else -c
    return e, Fraction(0)


def _difference(u: Expr, v: Expr) -> Expr | None:
    """u - v if that is a constant."""
    (a, c), (b, d) = _shift(u), _shift(v)
    return ir.const(c - d) if a is b else None


def _roots(bound: Bindings) -> Expr | None:
    """(u - v)/(sqrt(u) + sqrt(v)), if u - v is constant."""
    u, v = bound[U], bound[V]
    difference = _difference(u, v)
    return None if difference is None else difference / (ir.sqrt(u) + ir.sqrt(v))


def _root_less_constant(bound: Bindings) -> Expr | None:
    """w/(sqrt(w + c**2) + c), if u is w + c**2 and c > 0."""
    u, c = bound[U], ir.rational(bound[V])
    rest, square = _shift(u)
    return rest / (ir.sqrt(u) + bound[V]) if c is not None and c > 0 and square == c * c else None


def _constant_less_root(bound: Bindings) -> Expr | None:
    less = _root_less_constant({U: bound[V], V: bound[U]})
    return None if less is None else -less


def _logarithms(bound: Bindings) -> Expr | None:
    """log1p((u - v)/v), if u - v is constant."""
    difference = _difference(bound[U], bound[V])
    return None if difference is None else LOG1P(difference / bound[V])


def _quotients(bound: Bindings) -> Expr | None:
    """(v - u)/(u*v), if v - u is constant."""
    difference = _difference(bound[V], bound[U])
    return None if difference is None else difference / (bound[U] * bound[V])


def _softplus_less(bound: Bindings) -> Expr | None:
    """log1p(exp(-|u|)) + (1 - v)*u if u > 0, - v*u otherwise: no term is larger than before."""
    u, v = bound[U], bound[V]
    if ir.rational(v) is not None:
        return None
    side = ir.where(ir.lt(ZERO, u), 1 - v, -v)
    return LOG1P(EXP(-ir.abs_(u))) + side * u


def _logistic_less(bound: Bindings) -> Expr | None:
    """((1 - v) - v*exp(u))/(exp(u) + 1), divided by exp(u) if u > 0."""
    u, v = bound[U], bound[V]
    if ir.rational(v) is not None:
        return None
    small = EXP(-ir.abs_(u))
    return ir.where(ir.lt(ZERO, u), (1 - v) * small - v, (1 - v) - v * small) / (small + 1)


def _expanded(op: ir.Op) -> Callable[[Bindings], Expr | None]:
    """op(u, v) in terms of other functions."""
    assert op.expand is not None
    expand = op.expand
    return lambda bound: expand(bound[U], bound[V])


RULES: tuple[Rule, ...] = (
    Rule("log-exp-1", LOG(EXP(U) + 1), plain(LOGADDEXP(ZERO, U)), early=True),
    Rule("log-exp", LOG(EXP(U) + EXP(V)), plain(LOGADDEXP(U, V)), early=True),
    Rule("log-exp-3", LOG(EXP(U) + EXP(V) + EXP(W)), plain(LOGADDEXP(LOGADDEXP(U, V), W)), early=True),
    Rule("log1p-exp", LOG1P(EXP(U)), plain(LOGADDEXP(ZERO, U)), early=True),
    Rule("coth", COSH(U) / SINH(U), plain(1 / TANH(U)), early=True),
    Rule("tanh", SINH(U) / COSH(U), plain(TANH(U)), early=True),
    Rule("log1p", LOG(U + 1), plain(LOG1P(U))),
    Rule("log1m", LOG(1 - U), plain(LOG1P(-U))),
    Rule("logistic", EXP(U) / (EXP(U) + 1), plain(1 / (EXP(-U) + 1))),
    Rule("softplus-v", LOGADDEXP(ZERO, U) - V * U, _softplus_less),
    Rule("logistic-v", 1 / (EXP(U) + 1) - V, _logistic_less),
    Rule("expm1", EXP(U) - 1, plain(EXPM1(U))),
    Rule("1-exp", 1 - EXP(U), plain(-EXPM1(U))),
    Rule("1-cos", 1 - COS(U), plain(2 * SIN(U / 2) ** 2)),
    Rule("cos-1", COS(U) - 1, plain(-2 * SIN(U / 2) ** 2)),
    Rule("cosh-1", COSH(U) - 1, plain(2 * SINH(U / 2) ** 2)),
    Rule("1-cosh", 1 - COSH(U), plain(-2 * SINH(U / 2) ** 2)),
    Rule("1-erf", 1 - ERF(U), plain(ERFC(U))),
    Rule("1+erf", ERF(U) + 1, plain(ERFC(-U))),
    Rule("1-erfc", 1 - ERFC(U), plain(ERF(U))),
    Rule("squares", U**2 - V**2, plain((U - V) * (U + V))),
    Rule("sqrt-sqrt", ir.sqrt(U) - ir.sqrt(V), _roots, positive=(U, V)),
    Rule("sqrt-c", ir.sqrt(U) - V, _root_less_constant),
    Rule("c-sqrt", U - ir.sqrt(V), _constant_less_root),
    Rule("log-log", LOG(U) - LOG(V), _logarithms, positive=(U, V)),
    Rule("xlogy", XLOGY(U, V), _expanded(XLOGY)),
    Rule("xlog1py", XLOG1PY(U, V), _expanded(XLOG1PY)),
    Rule("1/u-1/v", 1 / U - 1 / V, _quotients),
)  # fmt: skip
"""Every rule; of several that match a node, the first applies."""


def rewrite(e: Expr, early: bool = False) -> tuple[Expr, Rule] | None:
    """The node by the first rule that matches it, and the rule; early rules only."""
    for rule in _RULES_OF.get(e.op, ()):
        if early and not rule.early:
            continue
        bound: Bindings = {}
        if match(rule.before, e, bound):
            after = rule.after(bound)
            if after is not None and after is not e:
                return after, rule
    return None


def match(pattern: Expr, e: Expr, bound: Bindings) -> bool:
    """Whether an expression has the shape of a pattern, which binds its unknowns."""
    if pattern in (U, V, W):
        if pattern in bound:
            return bound[pattern] is e
        bound[pattern] = e
        return True
    if pattern.op is not e.op or pattern.value != e.value or len(pattern.args) != len(e.args):
        return False
    orders = [e.args] if pattern.op not in (ADD, MUL) else [e.args, e.args[::-1]]
    for args in orders:
        trial = dict(bound)
        if all(match(p, a, trial) for p, a in zip(pattern.args, args, strict=True)):
            bound.update(trial)
            return True
    return False


def _by_op(rules: tuple[Rule, ...]) -> Mapping[ir.Op, tuple[Rule, ...]]:
    ops = {r.before.op for r in rules}
    return {op: tuple(r for r in rules if r.before.op is op) for op in ops}


_RULES_OF = _by_op(RULES)
