"""The functions that a module uses of `codegen.source.modules.copied`, as text.

Before:  {"_mul"}
After:   the text of `_two_product`, `_pair_mul`, `_NOWHERE`, ... and `_mul`, in the order of the files

Requires: every name that a definition of those files uses is defined in one of them, a builtin,
or a module that every generated module imports.
Ensures: nothing is copied that is not used; the same names give the same text.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources

FILES = (
    "pair_functions",
    "error_function",
    "wide_numbers",
    "rows_of_numbers",
    "integer_balls",
    "special_functions",
    "ball_functions",
    "extended_balls",
    "by_tiers",
    "arrays_by_tiers",
    "limits_at_guards",
)
"""In the order in which they are copied."""
BALLS = frozenset(
    ("integer_balls", "special_functions", "ball_functions", "extended_balls", "arrays_by_tiers")
)
"""Files where the method `sin` of a number is `_integer_sin`."""
COMPILED = frozenset(("pair_functions", "error_function", "wide_numbers", "rows_of_numbers"))
"""Files whose functions Numba compiles."""
CACHED = '@njit(error_model="numpy", cache=True)'
INLINED = CACHED[:-1] + ", forceinline=True)"
DECORATOR = "@_helper"
FUSED = '''@intrinsic
def _fma(typing, a, b, c):
    """a*b + c, rounded once: an instruction of the processor."""

    def code(context, builder, signature, args):
        return builder.fma(*args)

    return a(a, b, c), code
'''
FLINT = """
try:
    import flint  # balls: what double-double arithmetic leaves flagged
except ImportError:
    flint = None  # then balls are of Python's integers
"""
HELPER = (
    "_helper = njit(\n"
    '    error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True\n'
    ")  # called by compiled code only\n"
)


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or constant that can be copied.

    Attributes
    ----------
    text : with the string below it, if it is a constant.
    uses : the names of other definitions.
    compiled : whether Numba compiles it.
    balls : whether it is of balls.
    """

    text: str
    uses: frozenset[str]
    compiled: bool
    balls: bool = False


@functools.cache
def definitions() -> dict[str, Definition]:
    """All that can be copied, by name, in order."""
    found: dict[str, tuple[str, set[str], bool, bool]] = {}
    for file in FILES:
        source = resources.files("symdiff.codegen.source.modules.copied").joinpath(f"{file}.py")
        text = source.read_text(encoding="utf-8")
        lines = text.splitlines()
        body = ast.parse(text).body
        for k, node in enumerate(body):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                name = node.name
                last: ast.stmt = node
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name, last = node.targets[0].id, node
                after = body[k + 1] if k + 1 < len(body) else node
                if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                    last = after
            else:
                continue
            used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - {name}
            if file in BALLS:
                used |= _methods(node)
            piece = "\n".join(lines[node.lineno - 1 : last.end_lineno])
            compiled = file in COMPILED and isinstance(node, ast.FunctionDef)
            found[name] = (piece, used, compiled, file in BALLS)
    return {
        name: Definition(text, frozenset(used & found.keys()), *kind)
        for name, (text, used, *kind) in found.items()
    }


def _methods(node: ast.stmt) -> set[str]:
    """The functions that the methods of balls may be which a definition calls."""
    found = (n for n in ast.walk(node) if isinstance(n, ast.Attribute))
    return {
        f"_integer_{n.attr}"
        for n in found
        if not (isinstance(n.value, ast.Name) and n.value.id in ("math", "flint"))
    }


def copies(names: Iterable[str], without: Iterable[str] = ()) -> str:
    """The text of definitions with all that they use; each compiled function decorated."""
    known = definitions()
    wanted, stack = set(without), [n for n in names if n in known]
    while stack:
        name = stack.pop()
        if name not in wanted:
            wanted.add(name)
            stack.extend(known[name].uses)
    wanted -= set(without)
    parts: list[str] = []
    before = ""
    for name, definition in known.items():
        if name not in wanted:
            continue
        function = definition.text.startswith(("def ", "class "))
        if not function and before == "constant":
            parts[-1] += "\n" + definition.text
            continue
        before = "function" if function else "constant"
        head = f"{DECORATOR}\n" if definition.compiled else ""
        parts.append(head + definition.text)
    return "".join(f"\n{part}\n\n" for part in parts).rstrip("\n") + "\n" if parts else ""


_OWN = frozenset(
    ("_evaluate", "_stack", "_stack_cuda", "_evaluate_cuda", "_check_fixed", "_only_numbers", "_fma",
     "_helper", "_kernel", "_given", "_check_axes", "_PARALLEL", "_room", "_argsort_rows",
     "_cofactors", "_real", "_single", "_absolute", "_infinite")
)  # fmt: skip
"""What modules define beside copies."""
_ENDS = (
    "", "_loop", "_loops", "_again", "_wide", "_balls", "_compensated", "_corrected", "_broken",
    "_demand", "_inside", "_written", "_written_balls", "_apart", "_found", "_guards",
)  # fmt: skip
"""Of the names of what belongs to a function."""


@functools.cache
def stem(name: str) -> str:
    """What the names of a public function's own parts begin with, after an underscore: its name, or
    another one where a helper has one of theirs."""
    taken = _OWN | definitions().keys()
    while any(f"_{name}{end}" in taken for end in _ENDS):
        name += "_"
    return name


__all__ = ["Definition", "copies", "definitions", "stem"]
