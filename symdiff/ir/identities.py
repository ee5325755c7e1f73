"""Rules: one table of identities, each an equality of real functions, and one rewriter.

A rule rewrites its left side to its right side wherever it occurs. The right
side is defined wherever the left side is, and has the same value there; a test
samples every rule because it is in the table. `Form` says what a rule serves. The stable forms are classical: see
Higham, Accuracy and Stability of Numerical Algorithms (2002), chapter 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Flag, auto
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ADD, HALF, MUL, ONE, POW, SIGN, SUB, ZERO, Expr, raw
from symdiff.ir.functions import (
    ACOS,
    ACOSH,
    ASIN,
    ASINH,
    ATAN,
    ATAN2,
    ATANH,
    COS,
    COSH,
    ERF,
    ERFC,
    EXP,
    EXPM1,
    HYPOT,
    LOG,
    LOG1P,
    LOGADDEXP,
    SIN,
    SINH,
    TANH,
    UNIT,
    XLOG1PY,
    XLOGY,
)

U, V, W = ir.var("?u"), ir.var("?v"), ir.var("?w")
"""Match any expression in the left side of a rule."""

Bindings = dict[Expr, Expr]


class Form(Flag):
    """What a rule leads to."""

    EARLY = auto()
    """More digits, and better derivatives: before differentiation."""
    STABLE = auto()
    """More digits: in what is compiled."""
    FAMILIAR = auto()
    """Functions that people know: in what is printed, wherever it applies."""
    SHORT = auto()
    """A form that may be shorter: one candidate of what is printed."""


@dataclass(frozen=True, slots=True)
class Rule:
    """`before` becomes `after(bindings)`; None means that the rewrite is not worth it here, or that its
    condition is not known to hold.

    `positive` names the unknowns that are positive where the left side is defined.
    """

    name: str
    before: Expr
    after: Callable[[Bindings], Expr | None]
    forms: Form = Form.STABLE
    positive: tuple[Expr, ...] = ()


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


def _product_with_log(log: ir.Op, edge: int) -> Callable[[Bindings], Expr | None]:
    """u*log(v), where the product has the same domain: u does not vanish where the
    logarithm is undefined."""

    def after(bound: Bindings) -> Expr | None:
        u, v = bound[U], bound[V]
        base = u.args[0] if u.op is POW else u
        if u.op is POW and base is v and not edge:
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


def _power_of_e(bound: Bindings) -> Expr | None:
    """exp(u*v) for exp(u)**v, unless v is a number."""
    return EXP(ir.mul(bound[U], bound[V])) if ir.rational(bound[V]) is None else None


_EARLY = Form.EARLY | Form.STABLE
_READ = Form.FAMILIAR | Form.SHORT

RULES: tuple[Rule, ...] = (
    Rule("log-exp-1", LOG(EXP(U) + 1), plain(LOGADDEXP(ZERO, U)), _EARLY),
    Rule("log-exp", LOG(EXP(U) + EXP(V)), plain(LOGADDEXP(U, V)), _EARLY),
    Rule("log-exp-3", LOG(EXP(U) + EXP(V) + EXP(W)), plain(LOGADDEXP(LOGADDEXP(U, V), W)), _EARLY),
    Rule("log1p-exp", LOG1P(EXP(U)), plain(LOGADDEXP(ZERO, U)), _EARLY),
    Rule("coth", COSH(U) / SINH(U), plain(1 / TANH(U)), _EARLY),
    Rule("tanh", SINH(U) / COSH(U), plain(TANH(U)), _EARLY),
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
    Rule("1-erf", 1 - ERF(U), plain(ERFC(U)), Form.STABLE | Form.SHORT),
    Rule("1+erf", ERF(U) + 1, plain(ERFC(-U))),
    Rule("1-erfc", 1 - ERFC(U), plain(ERF(U)), Form.STABLE | Form.SHORT),
    Rule("squares", U**2 - V**2, plain((U - V) * (U + V))),
    Rule("sqrt-sqrt", ir.sqrt(U) - ir.sqrt(V), _roots, positive=(U, V)),
    Rule("sqrt-c", ir.sqrt(U) - V, _root_less_constant),
    Rule("c-sqrt", U - ir.sqrt(V), _constant_less_root),
    Rule("log-log", LOG(U) - LOG(V), _logarithms, positive=(U, V)),
    Rule("xlogy", XLOGY(U, V), _expanded(XLOGY)),
    Rule("xlog1py", XLOG1PY(U, V), _expanded(XLOG1PY)),
    Rule("1/u-1/v", 1 / U - 1 / V, _quotients),
    Rule("log1p-as-log", LOG1P(U), plain(LOG(U + 1)), Form.FAMILIAR),
    Rule("expm1-as-exp", EXPM1(U), plain(EXP(U) - 1), Form.FAMILIAR),
    Rule("logaddexp-as-log", LOGADDEXP(U, V), plain(LOG(EXP(U) + EXP(V))), _READ),
    Rule("unit", UNIT(U, V), lambda bound: ir.div(bound[U], bound[V]), Form.FAMILIAR),
    Rule("atan2-as-atan", ATAN2(U, ONE), plain(ATAN(U)), Form.FAMILIAR),
    Rule("1-square", raw(MUL, (U + 1, 1 - U)), plain(1 - U**2), Form.FAMILIAR),
    Rule("power-of-e", raw(POW, (EXP(U), V)), _power_of_e, Form.FAMILIAR),
    Rule("xlogy-of-power", XLOGY(U, V), _product_with_log(LOG, 0), _READ),
    Rule("xlog1py-of-power", XLOG1PY(U, V), _product_with_log(LOG1P, -1), Form.SHORT),
    Rule("exp-log", EXP(raw(MUL, (V, LOG(U)))), _root_of, Form.SHORT),
    Rule("log-power", LOG(raw(POW, (U, V))), _log_of_power, Form.SHORT),
    Rule("sign-times", raw(MUL, (U, SIGN(U))), plain(ir.abs_(U)), Form.SHORT),
    Rule("abs-sign", raw(MUL, (ir.abs_(U), SIGN(U))), plain(U), Form.SHORT),
    Rule("cos-asin", COS(ASIN(U)), plain(ir.sqrt(1 - U**2)), Form.SHORT),
    Rule("sin-acos", SIN(ACOS(U)), plain(ir.sqrt(1 - U**2)), Form.SHORT),
    Rule("cos-atan", COS(ATAN(U)), plain(1 / ir.sqrt(U**2 + 1)), Form.SHORT),
    Rule("sin-atan", SIN(ATAN(U)), plain(U / ir.sqrt(U**2 + 1)), Form.SHORT),
    Rule("cosh-asinh", COSH(ASINH(U)), plain(ir.sqrt(U**2 + 1)), Form.SHORT),
    Rule("sinh-asinh", SINH(ASINH(U)), plain(U), Form.SHORT),
    Rule("tanh-asinh", TANH(ASINH(U)), plain(U / ir.sqrt(U**2 + 1)), Form.SHORT),
    Rule("sinh-acosh", SINH(ACOSH(U)), plain(ir.sqrt(U - 1) * ir.sqrt(U + 1)), Form.SHORT),
    Rule("asinh-sinh", ASINH(SINH(U)), plain(U), Form.SHORT),
    Rule("atanh-tanh", ATANH(TANH(U)), plain(U), Form.SHORT),
    Rule("acosh-cosh", ACOSH(COSH(U)), plain(ir.abs_(U)), Form.SHORT),
    Rule("hypot", HYPOT(U, V), plain(ir.sqrt(U**2 + V**2)), Form.SHORT),
    Rule("sqrt-of-square", raw(POW, (U**2, HALF)), plain(ir.abs_(U)), Form.SHORT),
)  # fmt: skip
"""Every rule; of several that match a node, `rewrite` takes the first."""


def rewritings(e: Expr, form: Form) -> Iterator[tuple[Expr, Rule]]:
    """The node by each rule for a form that matches it, and the rule."""
    for rule in _RULES_OF.get(e.op, ()):
        bound: Bindings = {}
        if form in rule.forms and match(rule.before, e, bound):
            after = rule.after(bound)
            if after is not None and after is not e:
                yield after, rule


def rewrite(e: Expr, form: Form) -> tuple[Expr, Rule] | None:
    """The node by the first of these rules, and the rule."""
    return next(rewritings(e, form), None)


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
