"""From a Python function to its syntax tree, with exact places in the user's file."""

from __future__ import annotations

import ast
import linecache
import os
import sysconfig
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType

from symdiff.errors import Location, UnsupportedError
from symdiff.frontend import typed_in
from symdiff.process.syntax_trees import parsed

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
FUNCTION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


_STANDARD_LIBRARY = sysconfig.get_path("stdlib")
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def is_own(path: str) -> bool:
    """Whether a file is part of this package."""
    return path.startswith(_OWN)


def is_installed(path: str) -> bool:
    """Whether a file is part of an installed package."""
    return bool({"site-packages", "dist-packages"} & set(path.split(os.sep)))


def is_standard(path: str) -> bool:
    """Whether a file is part of Python's standard library."""
    frozen = path.startswith("<frozen ")
    return frozen or (path.startswith(_STANDARD_LIBRARY) and not is_installed(path))


def of_library(function: FunctionType) -> bool:
    """Whether a Python function belongs to the standard library or NumPy, SciPy."""
    if (function.__module__ or "").partition(".")[0] in ("numpy", "scipy"):
        return True
    return is_standard(function.__code__.co_filename)


def is_library(path: str) -> bool:
    """Whether a file is not the user's own."""
    return is_own(path) or is_installed(path) or is_standard(path)


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One source file: its path as the code object names it, and its lines."""

    path: str
    lines: tuple[str, ...]

    def location(self, node: ast.AST) -> Location:
        """Where a node starts; columns count characters from 1."""
        line = getattr(node, "lineno", 1)
        text = self.lines[line - 1].rstrip("\n") if line <= len(self.lines) else ""
        before = text.encode()[: getattr(node, "col_offset", 0)]
        return Location(self.path, line, len(before.decode(errors="replace")) + 1, text)

    def segment(self, node: ast.expr) -> str:
        """The text of an expression, on one line."""
        try:
            return " ".join(ast.unparse(node).split())
        except RecursionError:
            return "this condition"


@lru_cache(maxsize=64)
def _parse(path: str, lines: tuple[str, ...]) -> tuple[Source, ast.Module]:
    return Source(path, lines), parsed("".join(lines), path)


def no_source_location(fun: FunctionType) -> Location:
    return Location(fun.__code__.co_filename, fun.__code__.co_firstlineno, 1)


def find(fun: FunctionType) -> tuple[Source, FunctionNode]:
    """The syntax tree of a function, from the file that its code names.

    Raises
    ------
    UnsupportedError : if there is no source, or it is not the source of `fun`.
    """
    code = fun.__code__
    linecache.checkcache(code.co_filename)
    shared = code.co_filename in typed_in.SHARED
    lines = [] if shared else linecache.getlines(code.co_filename, fun.__globals__)
    lines = lines or typed_in.lines_of(fun)
    if not lines:
        raise UnsupportedError(
            f"the source of '{fun.__name__}' is not available",
            no_source_location(fun),
            typed_in.why_not(fun),
        )
    try:
        source, tree = _parse(code.co_filename, tuple(lines))
    except SyntaxError:
        raise _changed(fun) from None
    candidates = (n for n in _functions(tree).get(code.co_firstlineno, ()) if _matches(n, code))
    found = next(candidates, None)
    if isinstance(found, ast.Lambda) and (others := list(candidates)):
        around = [n for n in (found, *others) if _spans(n, code)]
        found = max(around, key=lambda n: _span(n)[0], default=None)
    if found is None:
        raise _changed(fun)
    return source, found


def _changed(fun: FunctionType) -> UnsupportedError:
    return UnsupportedError(
        f"the source of '{fun.__name__}' has changed since it was imported",
        no_source_location(fun),
        "import the module again",
    )


def first_line(node: FunctionNode) -> int:
    """The first line in a code object: that of the first decorator."""
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return decorators[0].lineno if decorators else node.lineno


@lru_cache(maxsize=64)
def _functions(tree: ast.Module) -> dict[int, list[FunctionNode]]:
    """The functions of a module by their first lines."""
    found: dict[int, list[FunctionNode]] = {}
    for node in ast.walk(tree):
        if isinstance(node, FUNCTION_NODES):
            found.setdefault(first_line(node), []).append(node)
    return found


@lru_cache(maxsize=1024)
def first_yield(node: FunctionNode) -> ast.AST | None:
    """The first `yield` of a function, if there is one."""
    stack: list[ast.AST] = list(node.body) if isinstance(node.body, list) else [node.body]
    while stack:
        n = stack.pop()
        if isinstance(n, (ast.Yield, ast.YieldFrom)):
            return n
        if not isinstance(n, FUNCTION_NODES):
            stack.extend(ast.iter_child_nodes(n))
    return None


def _matches(node: FunctionNode, code: CodeType) -> bool:
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    a = node.args
    names = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    count = code.co_argcount + code.co_kwonlyargcount
    last = max((n for *_, n in code.co_lines() if n is not None), default=0)
    return (
        name == code.co_name
        and tuple(names) == code.co_varnames[:count]
        and last <= (node.end_lineno or last)
    )


Position = tuple[int, int]
"""A line, from 1, and a column in bytes."""


def _span(node: FunctionNode) -> tuple[Position, Position]:
    """Where the body of a function starts and ends."""
    first, last = (node.body, node.body) if isinstance(node.body, ast.expr) else (node.body[0], node.body[-1])  # fmt: skip
    end = last.end_lineno or last.lineno, last.end_col_offset or last.col_offset
    return (first.lineno, first.col_offset), end


def _spans(node: FunctionNode, code: CodeType) -> bool:
    """Whether all instructions of the code lie within the body of this function; if that holds for
    two functions, one is inside of the other, and the code is that of the inner one."""
    start, end = _span(node)
    known = 0
    for line, last, column, last_column in code.co_positions():
        if line is None or last is None or column is None or last_column is None:
            continue
        if (line, column) == (last, last_column):
            continue  # an instruction without source, such as the first one
        known += 1
        if (line, column) < start or end < (last, last_column):
            return False
    return known > 0
