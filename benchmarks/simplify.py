"""Simplified derivatives beside SymPy's simplifiers: operations and times.

    python benchmarks/simplify.py CASES [--seconds 10] [--best]

CASES has a line `expression : variable` for each formula, such as `tests/passes/simplify/textbooks.txt` and
`tests/passes/simplify/fields.txt`. Times are of processors, of one process, formula by formula in turn with
the simplifier of symdiff, which keeps nothing from one call to the next: `sympy.simplify` of
SymPy's derivative, cut off after some seconds, with what its cache holds of the other formulas
("warm"); in a second round with its cache cleared before it, and once more without that ("again").
"first" is the first formula of the process, in both. Symbols are real. The ratios are those of the
totals, of the medians, and the geometric mean of those of the formulas. With --best, operations are compared with the fewest of fifteen of SymPy's simplifiers,
which takes minutes; formulas that are longer are printed.
"""

from __future__ import annotations

import argparse
import ast
import signal
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

FUNCTIONS = (
    "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh",
    "acosh", "atanh", "coth", "sqrt", "erf", "erfc", "gamma", "pi", "atan2",
)  # fmt: skip


class TooLongError(Exception):
    """A simplifier of SymPy was cut off."""


def count(text: str) -> int:
    """The operations of a formula as printed."""
    operations = (ast.BinOp, ast.UnaryOp, ast.Call, ast.Compare, ast.BoolOp, ast.IfExp)
    return sum(isinstance(n, operations) for n in ast.walk(ast.parse(text.strip(), mode="eval")))


def limited(way: Callable[[Any], Any], e: Any, seconds: int) -> tuple[Any, float]:
    """What a simplifier gives, None if it fails or is cut off, and the time of the processor that
    it took."""

    def stop(*_: Any) -> None:
        raise TooLongError

    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    start, found = time.process_time(), None
    try:
        found = way(e)
    except Exception:
        pass
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return found, time.process_time() - start


def slope(expression: str, name: str) -> tuple[Any, Any]:
    """SymPy's derivative, and the variable."""
    import sympy

    names = {n.id for n in ast.walk(ast.parse(expression)) if isinstance(n, ast.Name)}
    called = {n.func.id for n in ast.walk(ast.parse(expression)) if isinstance(n, ast.Call)}
    symbols = {n: sympy.Symbol(n, real=True) for n in names - called - {"pi"}}
    known = {n: getattr(sympy, n) for n in FUNCTIONS}
    known |= {"abs": sympy.Abs, "max": sympy.Max, "lgamma": sympy.loggamma}
    f = eval(compile(expression, "formula", "eval"), known | symbols)
    return sympy.diff(f, symbols[name]), symbols[name]


def fewest(d: Any, x: Any, seconds: int) -> str:
    """The shortest text of what SymPy's simplifiers give."""
    import sympy as sp

    ways: tuple[Callable[[Any], Any], ...] = (
        lambda e: e, sp.simplify, sp.factor, sp.together, sp.cancel, sp.ratsimp, sp.trigsimp,
        sp.factor_terms, sp.powsimp, sp.radsimp, lambda e: sp.factor(sp.simplify(e)),
        lambda e: sp.simplify(sp.factor(e)), lambda e: sp.factor_terms(sp.simplify(e)),
        lambda e: sp.collect(sp.expand(e), x), lambda e: sp.collect(sp.factor(e), x),
        lambda e: sp.simplify(e.rewrite(sp.tanh)),
    )  # fmt: skip
    found = [limited(way, d, seconds)[0] for way in ways]
    texts = [str(e).replace("Abs(", "abs(") for e in found if e is not None]
    return min((t for t in texts if "Piecewise" not in t and "Derivative" not in t), key=count)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--best", action="store_true")
    args = parser.parse_args()
    lines = [t for t in args.cases.read_text().splitlines() if t.strip() and t[0] != "#"]

    from sympy import simplify
    from sympy.core.cache import clear_cache

    from symdiff import ir
    from symdiff.frontend.formula.parse import parse
    from symdiff.ir.formula_text import Formulas
    from symdiff.passes.simplify.decimals import decimals_of
    from symdiff.passes.simplify.on_domain import logarithms_apart
    from symdiff.passes.simplify.simplify import short_forms
    from symdiff.pipeline import readable_formulas as formulas
    from symdiff.pipeline import scalar as pipeline

    times: dict[str, list[float]] = {n: [] for n in ("ours", "whole", "warm", "cleared", "again")}
    mine = theirs = longer = 0
    first: tuple[float, float] | None = None
    for k, line in enumerate(lines + lines):
        expression, name = (t.strip() for t in line.split(" : ")[:2])
        program = parse(expression)
        d, x = slope(expression, name)
        made = formulas.closed_for_people(pipeline.derivative(program, [name]).outputs)
        apart = logarithms_apart(program.outputs)
        chain = pipeline.pushforward(apart, {ir.var(name): ir.ONE})
        decimals = decimals_of(program.outputs, program.outputs, expression)
        own = []
        for turn in ("warm", "") if k < len(lines) else ("cleared", "again", ""):
            start = time.process_time()
            (short,) = short_forms(made, chain, program.outputs, literals=decimals)
            own.append(time.process_time() - start)
            if turn == "cleared":
                clear_cache()
            if turn:
                times[turn].append(limited(simplify, d, args.seconds)[1])
            if first is None:
                first = own[0], times["warm"][0]
        if k >= len(lines):
            times["ours"][k - len(lines)] += statistics.mean(own)
            times["ours"][k - len(lines)] /= 2
            continue
        times["ours"].append(statistics.mean(own))
        start = time.process_time()
        formulas.short_derivative(program, [name], literals=decimals)
        times["whole"].append(time.process_time() - start)
        text = Formulas(decimals).text(short.formula)
        mine += count(text)
        if args.best:
            shortest = fewest(d, x, args.seconds)
            theirs += count(shortest)
            if count(text) > count(shortest):
                longer += 1
                print(f"\r{expression} by {name}:\n  {text}\n  {shortest}")
        print(f"\r{k + 1}/{2 * len(lines)}", end="", file=sys.stderr)
    print(file=sys.stderr)
    assert first is not None
    print(f"first    {1e3 * first[0]:.1f} ms, sympy.simplify {1e3 * first[1]:.1f} ms")
    for what, found in times.items():
        print(
            f"{what:8} total {sum(found):8.2f} s, median {1e3 * statistics.median(found):7.1f} ms, "
            f"worst {1e3 * max(found):7.0f} ms"
        )
    for what in ("warm", "cleared", "again"):
        total = sum(times[what]) / sum(times["ours"])
        middle = statistics.median(times[what]) / statistics.median(times["ours"])
        pairs = [(a, b) for a, b in zip(times[what], times["ours"], strict=True) if a and b]
        each = statistics.geometric_mean(a / b for a, b in pairs)
        print(
            f"sympy.simplify, {what}: {total:.1f} times as long, medians {middle:.1f}, "
            f"geometric mean {each:.1f}"
        )
    if args.best:
        print(
            f"{len(lines) - longer} of {len(lines)} no longer, {mine} operations against {theirs}"
        )


if __name__ == "__main__":
    main()
