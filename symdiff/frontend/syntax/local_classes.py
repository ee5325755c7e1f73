"""Classes that the traced function defines: dataclasses and plain ones.

Each run of the definition makes a class whose methods are closures; `records` makes its objects.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from abc import ABC, ABCMeta, abstractmethod
from typing import Any, ClassVar

from symdiff.frontend.library import of_numba
from symdiff.frontend.syntax import records
from symdiff.frontend.trace.closures import Closure, bind
from symdiff.frontend.trace.frames import Frame, child_frame, class_frame
from symdiff.frontend.trace.tracer import Tracer

OUTSIDE = "define it at the top of the file"


def define(t: Tracer, node: ast.ClassDef) -> None:
    """`class C: ...`."""
    if node.keywords:
        t.refuse("a class with a metaclass is defined inside of the function", OUTSIDE, node)
    bases = tuple(t.evaluate(b) for b in node.bases)
    for b, at in zip(bases, node.bases, strict=True):
        if b not in (object, ABC) and not (isinstance(b, type) and records.makes(b)):
            t.refuse("a subclass of this class is defined inside of the function", OUTSIDE, at)
    makers = [_maker(t, d) for d in node.decorator_list]
    around = child_frame(t.frame, node.name)
    members = _members(t, node, around)
    kind: type = ABCMeta if any(type(b) is ABCMeta for b in bases) else type
    members |= {records.LOCAL: True, "__module__": str(t.frame.outer("__name__"))}
    made: Any = kind(node.name, bases, members)
    for options in reversed(makers):
        try:
            made = dataclasses.dataclass(**options)(made)
        except (TypeError, ValueError) as error:
            t.refuse(f"{type(error).__name__} when traced: {error}", "", node)
    around.env["__class__"] = made
    bind(t, node.name, made)


def _maker(t: Tracer, decorator: ast.expr) -> dict[str, Any]:
    """The options of `@dataclass`."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    options = decorator.keywords if isinstance(decorator, ast.Call) else []
    if t.evaluate(called) is not dataclasses.dataclass or any(k.arg is None for k in options):
        t.refuse("a class inside of the function has a decorator", OUTSIDE, decorator)
    return {str(k.arg): t.evaluate(k.value) for k in options}


def _members(t: Tracer, node: ast.ClassDef, around: Frame) -> dict[str, Any]:
    """The names that the body of a class defines, and its annotations."""
    home, inside = t.frame, class_frame(t.frame, node.name, _bound(node))
    annotations: dict[str, Any] = {}
    t.frame = inside
    for s in node.body:
        t.step(s)
        match s:
            case ast.FunctionDef():
                inside.env[s.name] = _method(t, s, around)
            case ast.AnnAssign(target=ast.Name(id=name)):
                text = home.source.segment(s.annotation)
                if "InitVar" in text or "KW_ONLY" in text:
                    t.refuse("a field for the constructor only", OUTSIDE, s)
                annotations[name] = ClassVar if "ClassVar" in text else object
                if s.value is not None:
                    inside.env[name] = _default(t, s.value)
            case ast.Assign():
                t.run_block([s])
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case _:
                t.refuse("this statement in a class inside of the function", OUTSIDE, s)
    t.frame = home
    return {**inside.env, "__annotations__": annotations}


def _bound(node: ast.ClassDef) -> set[str]:
    """The names that the body of a class binds."""
    found = {s.name for s in node.body if isinstance(s, ast.FunctionDef)}
    for s in node.body:
        if isinstance(s, ast.Assign) or (isinstance(s, ast.AnnAssign) and s.value is not None):
            targets = s.targets if isinstance(s, ast.Assign) else [s.target]
            found |= {
                n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)
            }
    return found


def _default(t: Tracer, value: ast.expr) -> Any:
    """The default of a field; `field(...)` is called as in Python."""
    if isinstance(value, ast.Call) and t.evaluate(value.func) is dataclasses.field:
        return dataclasses.field(**{str(k.arg): t.evaluate(k.value) for k in value.keywords})
    return t.evaluate(value)


_LEAVE = (functools.cache, functools.lru_cache, functools.wraps)
"""Decorators, or their makers, that return an equivalent function."""

_WRAPPERS = (property, staticmethod, classmethod, functools.cached_property)


def _method(t: Tracer, node: ast.FunctionDef, around: Frame) -> Any:
    """A method, with its decorators."""
    made: Any = dataclasses.replace(Closure.make(t, node), home=around)
    for d in reversed(node.decorator_list):
        if isinstance(d, ast.Attribute) and d.attr == "setter" and isinstance(d.value, ast.Name):
            of = t.frame.env.get(d.value.id)
            if isinstance(of, property):
                made = property(of.fget, made)
                continue
        wrapper = _decorator(t, d)
        if wrapper in _WRAPPERS:
            made = wrapper(made)
        elif wrapper is not abstractmethod:
            made = _applied(t, wrapper, d, made)
            if not isinstance(made, records.FUNCTIONS):
                t.refuse("a method of a class becomes something else by its decorator", OUTSIDE, d)
    return made


def decorated(t: Tracer, node: ast.FunctionDef, made: Any) -> Any:
    """A function that the traced one defines, after its decorators."""
    decorators = [_decorator(t, d) for d in node.decorator_list]
    for d, decorator in reversed([*zip(node.decorator_list, decorators, strict=True)]):
        made = _applied(t, decorator, d, made)
    return made


def _decorator(t: Tracer, node: ast.expr) -> Any:
    """A decorator; None for one that returns an equivalent function, whatever its arguments."""
    maker = node.func if isinstance(node, ast.Call) else node
    if isinstance(maker, (ast.Name, ast.Attribute)):
        found = t.evaluate(maker)
        if of_numba.leaves(found) or found in _LEAVE:
            return None
    return t.evaluate(node)


def _applied(t: Tracer, decorator: Any, at: ast.expr, made: Any) -> Any:
    """`decorator(made)`."""
    t.at = at
    return made if decorator is None else t.call(decorator, (made,), {})


__all__ = ["decorated", "define"]
