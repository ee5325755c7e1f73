"""How accurate a module is, against ball arithmetic: of functions of numbers its text run as plain Python.

Before:  the text of a module
After:   ["bit-uniform     mean 0.08, worst 1.1 ulp", ...]

Requires: a module of functions of numbers in double precision.
Ensures: points depend on the function only (`diagnostics.certify`); nothing is compiled and
nothing of Numba is imported: numbers are NumPy's doubles, functions those of the C library.
"""

from __future__ import annotations

import ast
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from symdiff.diagnostics.certify import (
    Accuracy,
    derivatives,
    measure,
    output_labels,
    reference,
)
from symdiff.errors import SymdiffError
from symdiff.interpret import loops
from symdiff.ir import Expr, rational
from symdiff.ir.loop_program import LoopProgram
from symdiff.ir.program import Program
from symdiff.passes.complete.complete import closed_forms
from symdiff.process.syntax_trees import parsed

SAMPLES = 16
"""Points of each kind."""
BUDGET = 400_000
"""Operations of ball arithmetic to measure a module with; see `symdiff.interpret.work`."""


def measured(text: str, program: Program, wrt: Sequence[str]) -> list[str]:
    """The errors of the functions of a module by kind of points, as lines."""
    program = replace(program, outputs=closed_forms(program.outputs))
    truth = derivatives(reference(program), wrt)
    labels = output_labels(program, wrt)
    names = [f"{program.name}_value_and_grad"]
    if not isinstance(program.tree, int):
        names = [program.name, f"{program.name}_jacobian"]
    scope = run(text)

    def answers(point: Sequence[float]) -> list[float]:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            numbers = [np.float64(x) for x in point]
            return [v for name in names for v in flat(scope[name](*numbers))]

    return _lines(measure(program, truth, answers, labels, budget=BUDGET, samples=SAMPLES))


def _lines(found: Accuracy) -> list[str]:
    lines = []
    for k in found.kinds:
        if k.points:
            more = f", {k.nonfinite} not finite" if k.nonfinite else ""
            worst = f"{k.worst:.1f}" if k.worst < 1000 else f"{k.worst:.0e}"
            mean = f"{k.mean:.2f}" if k.mean < 1000 else f"{k.mean:.0e}"
            lines.append(f"{k.kind:14} mean {mean}, worst {worst} ulp{more} ({k.points} points)")
    return lines


def flat(value: Any) -> list[float]:
    """The numbers in what a function returns."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list, np.ndarray)):
        return [x for v in value for x in flat(v)]
    return [float(value)]


def run(text: str) -> dict[str, Any]:
    """The definitions of a module, with plain Python in place of what it imports."""
    tree = parsed(text)
    tree.body = [n for n in tree.body if not isinstance(n, (ast.Import, ast.ImportFrom, ast.Try))]
    doubles = _Doubles()
    tree = ast.fix_missing_locations(doubles.visit(tree))
    scope: dict[str, Any] = doubles.names | {
        "math": math, "np": np, "warnings": warnings, "njit": _njit, "get_num_threads": lambda: 1,
        "intrinsic": lambda f: f, "overload": lambda f: lambda g: g, "__name__": "module",
    }  # fmt: skip
    exec(compile(tree, "module", "exec"), scope)
    scope["_fma"] = fma
    return scope


class _Doubles(ast.NodeTransformer):
    """Numbers of a text as NumPy's doubles, which divide by zero as IEEE has it."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {
            "math of doubles": _Math(),
            "float of doubles": np.float64,
            "int of doubles": whole,
        }
        self._given: list[set[str]] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self._given.append({a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)})
        found = self.generic_visit(node)
        self._given.pop()
        return found

    def visit_Name(self, node: ast.Name) -> ast.expr:
        other = f"{node.id} of doubles"
        own = other not in self.names or any(node.id in names for names in self._given)
        return node if own else ast.Name(other, node.ctx)

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, float):
            return node
        name = f"number {node.value!r}"
        self.names[name] = np.float64(node.value)
        return ast.Name(name, ast.Load())


def whole(x: Any) -> int:
    """An integer; of what is none or huge, some integer."""
    return int(x) if not isinstance(x, float) else int(np.clip(np.nan_to_num(x), -1e9, 1e9))


def _njit(function: Any = None, **options: Any) -> Any:
    return (lambda f: f) if function is None else function


def _library_fma() -> Callable[[float, float, float], float] | None:
    """The C library's fused operation, if Python finds it."""
    import ctypes

    try:
        function = ctypes.CDLL(None).fma
    except (AttributeError, OSError, TypeError):
        return None
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * 3
    call: Callable[[float, float, float], float] = function
    return call if call(1 + 2.0**-30, 1 + 2.0**-30, -1.0) == 2.0**-29 + 2.0**-60 else None


_fused = _library_fma()


def fma(a: float, b: float, c: float) -> np.float64:
    """a*b + c, rounded once."""
    if _fused is not None:
        return np.float64(_fused(a, b, c))
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return np.float64(a) * b + c
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if not exact:
        return np.float64(a) * b + c  # which zero it is
    try:
        return np.float64(exact.numerator / exact.denominator)
    except OverflowError:
        return np.float64(math.inf if exact > 0 else -math.inf)


class _Math:
    """The module `math`, with NumPy's doubles, nan and inf."""

    inf, nan, pi = np.float64(math.inf), np.float64(math.nan), np.float64(math.pi)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if hasattr(np, name):
            found: Callable[..., Any] = getattr(np, name)
            return found
        function = getattr(math, name)

        def call(*args: Any) -> np.float64:
            try:
                return np.float64(function(*args))
            except ValueError:
                return np.float64(math.nan)
            except OverflowError:
                return np.float64(math.inf)

        return call


# --------------------------------------------------------------- arrays and loops
SEEDS = 3
"""Sample arguments of a program with arrays."""
SIZE = 6
"""The size of their axes."""
BITS = 300


def measured_arrays(text: str, functions: Sequence[tuple[str, LoopProgram]]) -> list[str]:
    """The largest errors of a module's functions, relative to the largest element of each result, as
    lines.

    Parameters
    ----------
    functions : the name of each, and its program.
    """
    scope, lines = run(text), []
    arrays = any(p.type.shape for _, program in functions for p in program.params)
    for name, program in functions:
        errors = [
            e for seed in range(SEEDS) if (e := _loss(scope[name], program, seed)) is not None
        ]
        if errors:
            lines.append(f"    {name}: {max(errors):.0e}")
    if not lines:
        return ["What cancels in sums and differences loses digits."]
    return [
        "What cancels in sums and differences loses digits. Measured against ball arithmetic, for",
        f"random arguments{f' with axes of {SIZE}' * arrays}, relative to the largest element:",
        *lines,
    ]


def _loss(function: Callable[..., Any], program: LoopProgram, seed: int) -> float | None:
    """The largest relative error for one sample; None if the program does not take it."""
    args = _sample(program, seed)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = flat(function(*args))
        truth = loops.run(program, args, loops.Precise(BITS))
    except (SymdiffError, IndexError, ValueError, TypeError, ArithmeticError, NotImplementedError):
        return None
    worst, start = 0.0, 0
    for t in truth:
        exact = np.ravel(np.vectorize(float, otypes=[float])(np.asarray(t, object)))
        near = np.array(found[start : start + exact.size])
        start += exact.size
        size = float(np.max(np.abs(exact), initial=0.0))
        if exact.shape != near.shape or not np.isfinite(exact).all():
            return None
        if size:
            worst = max(worst, float(np.max(np.abs(near - exact))) / size)
    return worst


def _sample(program: LoopProgram, seed: int) -> list[Any]:
    """Random arguments: axes of one size that is not known are alike."""
    rng = np.random.default_rng(seed)
    sizes: dict[Expr, int] = {}
    given: list[Any] = []
    for p in program.params:
        shape = [
            int(q) if (q := rational(n)) is not None else sizes.setdefault(n, SIZE)
            for n in p.type.shape
        ]
        drawn = rng.uniform(0.1, 1.5, shape)
        given.append(drawn if p.type.kind == "f" else np.full(shape, 2, np.int64))
    return given


__all__ = ["measured", "measured_arrays"]
