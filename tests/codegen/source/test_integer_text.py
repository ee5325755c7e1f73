"""Integers in generated source: the text means what the expression means, whatever nests."""

from __future__ import annotations

import operator
import random

import numpy as np
import pytest

from symdiff import ir, symgrad
from symdiff.codegen.source.loops import Printer
from symdiff.ir import Expr
from symdiff.ir.loop_program import FLOORDIV, INDEX, MOD, LoopProgram, index

i, j, n = index("i"), index("j"), index("n")


def _tree(rng: random.Random, depth: int) -> Expr:
    if depth == 0 or rng.random() < 0.15:
        return rng.choice([i, j, n, ir.const(3), ir.const(-2), ir.const(5)])
    a = _tree(rng, depth - 1)
    kind = rng.choice([operator.add, operator.sub, operator.mul, FLOORDIV, MOD, ir.neg])
    return ir.neg(a) if kind is ir.neg else kind(a, _tree(rng, depth - 1))


MEANT = {
    FLOORDIV: operator.floordiv, MOD: operator.mod, ir.NEG: operator.neg, ir.ADD: operator.add,
    ir.SUB: operator.sub, ir.MUL: operator.mul,
}  # fmt: skip


def _value(e: Expr, at: dict[Expr, int]) -> int:
    if e.op is INDEX:
        return at[e]
    return int(e.value) if e.op is ir.CONST else MEANT[e.op](*(_value(a, at) for a in e.args))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(300))
def test_random_integers(seed: int) -> None:
    rng = random.Random(seed)
    e = _tree(rng, 4)
    while any(v.op is ir.POW for v in ir.topological((e,))):  # a square, which is no such text
        e = _tree(rng, 4)
    text = Printer(LoopProgram("f", (), (), (), ()), "float64").whole(e)
    assert text is not None
    for _ in range(12):
        at = {v: rng.choice([-7, -4, -1, 1, 2, 5, 8]) for v in (i, j, n)}
        try:
            want = _value(e, at)
        except (ZeroDivisionError, AssertionError):
            continue
        names = {str(v.value): k for v, k in at.items()}
        assert eval(text, {}, {ir.format_expr(v): at[v] for v in at} | names) == want, (text, at)


def _thirds(x):
    h = len(x) // 3
    return np.sum(x[::h] ** 2) * h - len(x) % 3 * x[len(x) // (len(x) // 2 + 1)]


def _backwards(x):
    total = 0.0
    for k in range(len(x) - 1, -1, -(len(x) // 3)):
        total += x[k] * (k * (len(x) // 2))
    return total


@pytest.mark.slow
@pytest.mark.parametrize("f", [_thirds, _backwards], ids=lambda f: f.__name__)
def test_sources_of_functions_with_such_sizes(f: object) -> None:
    g = symgrad(f)
    for size in (3, 4, 5, 7, 11):
        x = np.linspace(0.5, 2.0, size)
        g(x)
        scope: dict[str, object] = {}
        exec(g.source().replace(", cache=True", ""), scope)
        made = scope[f.__name__].py_func(x)  # type: ignore[attr-defined]
        assert made == pytest.approx(f(x), rel=1e-14)  # type: ignore[operator]
