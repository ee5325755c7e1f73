"""Python text in which temporaries that are used once stand where they are used.

Before : v1 = x[i]; v2 = f(v1); y[i] = v2 + 1.0
After  : y[i] = f(x[i]) + 1.0
Ensures: the same operations on the same values: nothing moves past what changes a variable
         or memory that it reads, into a loop, or into a branch.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from symdiff.process.syntax_trees import parsed

WIDTH = 96
"""Longer lines are not made."""


def inlined(function: ast.FunctionDef, temporary: re.Pattern[str]) -> None:
    """Rewrite a function; `temporary` matches the names that may go."""
    names = [n for n in ast.walk(function) if isinstance(n, ast.Name)]
    stored = Counter(n.id for n in names if isinstance(n.ctx, ast.Store))
    loaded = Counter(n.id for n in names if isinstance(n.ctx, ast.Load))
    changing = {n for n, k in stored.items() if k > 1}
    once = {n for n, k in stored.items() if k == 1 and temporary.match(n)}
    _Block(once, loaded, changing).block(function.body, 4)


class _Block:
    def __init__(self, once: set[str], loaded: Counter[str], changing: set[str]) -> None:
        self.once, self.loaded, self.changing = once, loaded, changing

    def block(self, body: list[ast.stmt], depth: int) -> None:
        for s in body:
            for inner in (getattr(s, part, None) for part in ("body", "orelse")):
                if inner and isinstance(inner, list):
                    self.block(inner, depth + 4)
        for s in list(body):
            if not isinstance(s, ast.Assign) or not isinstance(s.targets[0], ast.Name):
                continue
            name = s.targets[0].id
            if name in self.once and self.loaded[name] <= 1:
                at = body.index(s)
                if self.loaded[name] == 0 or self.put(name, s.value, body[at + 1 :], depth):
                    body.remove(s)
        if not body:
            body.append(ast.Pass())

    def put(self, name: str, value: ast.expr, rest: Sequence[ast.stmt], depth: int) -> bool:
        """Put a value in the place of its name; whether that could be done."""
        reads = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)} & self.changing
        memory = any(isinstance(n, ast.Subscript) for n in ast.walk(value))
        for s in rest:
            head = _head(s)
            if head is not None and any(_is(n, name) for n in ast.walk(head)):
                new = _Replace(name, value)
                before = ast.unparse(head)
                text = ast.unparse(new.visit(parsed(before, mode="eval").body)) if isinstance(
                    head, ast.expr) else ast.unparse(new.visit(parsed(before)))  # fmt: skip
                if len(text) + depth > WIDTH:
                    return False
                _Replace(name, value).visit(head)
                _put_head(s, name, value)
                return True
            if self.clashes(s, reads, memory):
                return False
        return False

    def clashes(self, s: ast.stmt, reads: set[str], memory: bool) -> bool:
        """Whether a statement changes what is read, or uses a name in what it repeats."""
        for n in ast.walk(s):
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id in reads:
                return True
            if memory and isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store):
                return True
            if memory and isinstance(n, ast.Expr):
                return True
        return False


def _head(s: ast.stmt) -> ast.AST | None:
    """What a statement evaluates once, and first."""
    if isinstance(s, ast.If):
        return s.test
    if isinstance(s, ast.For):
        return s.iter
    return None if isinstance(s, ast.While) else s


def _put_head(s: ast.stmt, name: str, value: ast.expr) -> None:
    """Replace a name that is all of a head."""
    if isinstance(s, ast.If) and _is(s.test, name):
        s.test = value
    elif isinstance(s, ast.For) and _is(s.iter, name):
        s.iter = value


def _is(n: ast.AST, name: str) -> bool:
    return isinstance(n, ast.Name) and n.id == name


class _Replace(ast.NodeTransformer):
    def __init__(self, name: str, value: ast.expr) -> None:
        self.name, self.value = name, value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.value if node.id == self.name else node


def wrapped(text: str) -> str:
    """A text whose lines that are too long go on in further ones, within their brackets."""
    return "\n".join(part for line in text.split("\n") for part in _wrapped(line))


def _wrapped(line: str) -> list[str]:
    depth = len(line) - len(line.lstrip())
    if len(line) <= WIDTH or line[-1] not in ")]" or line.lstrip().startswith("#"):
        return [line]
    commas: list[int] = []
    level, at = 0, len(line) - 1
    for k in reversed(range(len(line))):
        c = line[k]
        if c in "'\"":  # a text may hold brackets
            return [line]
        level += (c in ")]}") - (c in "([{")
        if level == 1 and c == ",":
            commas.append(k + 1)
        if level == 0:
            at = k
            break
    bounds = [at + 1, *reversed(commas), len(line) - 1]
    items = [line[a:b].strip() for a, b in pairwise(bounds)]
    made = [line[: at + 1]]
    inside = " " * (depth + 4)
    now = ""
    for item in items:
        if now and len(inside + now + " " + item) > WIDTH:
            made.append(inside + now)
            now = ""
        now = f"{now} {item}" if now else item
    return [*made, *([inside + now] if now else []), " " * depth + line[-1]]


__all__ = ["inlined", "wrapped"]
