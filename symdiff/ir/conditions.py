"""Constructors of conditions, and of values that depend on a condition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symdiff.ir.nodes import (
    AND,
    BOOL,
    BUILDERS,
    CONST,
    EQ,
    FALSE,
    LE,
    LT,
    NAN,
    NOT,
    OR,
    TRUE,
    WHERE,
    Expr,
    Number,
    Op,
    as_expr,
    boolean,
    raw,
)


def _compare(op: Op, test: Callable[[Any, Any], bool], same: bool, a: Any, b: Any) -> Expr:
    a, b = as_expr(a), as_expr(b)
    if a.op is CONST and b.op is CONST:
        return boolean(test(a.value, b.value))
    if a is NAN or b is NAN:
        return FALSE
    if a is b:
        return boolean(same)
    return raw(op, (a, b))


def lt(a: Expr | Number, b: Expr | Number) -> Expr:
    return _compare(LT, lambda x, y: x < y, False, a, b)


def le(a: Expr | Number, b: Expr | Number) -> Expr:
    return _compare(LE, lambda x, y: x <= y, True, a, b)


def eq(a: Expr | Number, b: Expr | Number) -> Expr:
    return _compare(EQ, lambda x, y: x == y, True, a, b)


def ne(a: Expr | Number, b: Expr | Number) -> Expr:
    return not_(eq(a, b))


def gt(a: Expr | Number, b: Expr | Number) -> Expr:
    return lt(b, a)


def ge(a: Expr | Number, b: Expr | Number) -> Expr:
    return le(b, a)


def not_(a: Expr) -> Expr:
    if a.op is BOOL:
        return boolean(not a.value)
    return a.args[0] if a.op is NOT else raw(NOT, (a,))


def and_(a: Expr, b: Expr) -> Expr:
    if a is FALSE or b is FALSE or a is not_(b):
        return FALSE
    if a is TRUE or a is b:
        return b
    return a if b is TRUE else raw(AND, (a, b))


def or_(a: Expr, b: Expr) -> Expr:
    if a is TRUE or b is TRUE or a is not_(b):
        return TRUE
    if a is FALSE or a is b:
        return b
    return a if b is FALSE else raw(OR, (a, b))


def where(condition: Expr, a: Expr | Number, b: Expr | Number) -> Expr:
    """The value of `a` where the condition holds, else of `b`; real or boolean."""
    a, b = as_expr(a), as_expr(b)
    if condition.op is BOOL:
        return a if condition.value else b
    if a is b:
        return a
    if condition.op is NOT:
        return where(condition.args[0], b, a)
    if a.op is WHERE and a.args[0] is condition:
        a = a.args[1]
    if b.op is WHERE and b.args[0] is condition:
        b = b.args[2]
    if a.op.boolean:
        if a is TRUE or b is FALSE:
            return or_(condition, b) if a is TRUE else and_(condition, a)
        if a is FALSE or b is TRUE:
            return and_(not_(condition), b) if a is FALSE else or_(not_(condition), a)
        return or_(and_(condition, a), and_(not_(condition), b))
    return a if a is b else raw(WHERE, (condition, a, b))


BUILDERS.update({LT: lt, LE: le, EQ: eq, NOT: not_, AND: and_, OR: or_, WHERE: where})
