"""Twelve rounds of a branch, compared with the plain chain rule in arithmetic of hundreds of digits."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from symdiff import symgrad
from tests.fuzz.jets import compiled, truths
from tests.fuzz.scalars import Tally, _compared, _text, load

ROUNDS = 12
POINTS = (0.7, -1.3, 2.5, 1e-9, -0.26)
BRANCHES = (
    ("math.sin(x)/x", "x < -0.25", "math.expm1(x)/x"),  # constants that lose all their digits
    ("math.log(1.0 + x*x)", "x < -0.25", "math.sin(x)/x"),
    ("math.exp(-x)", "x*x > 2.0", "math.expm1(x)/x"),
    ("math.sqrt(abs(x))", "math.sin(x) > 0.0", "(x*x - 1.0)/(x - 1.0)"),
)


@pytest.mark.slow
@pytest.mark.parametrize("branch", BRANCHES, ids=[b[0] for b in BRANCHES])
def test_rounds_of_a_branch(branch: tuple[str, str, str], tmp_path: Path) -> None:
    then, condition, other = branch
    step = f"    x = {then} if {condition} else {other}\n"
    source = "def f(x):\n" + step * ROUNDS + "    return x\n"
    f, meant, tally = symgrad(load(source, tmp_path)), compiled(source), Tally()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where the budget of a point is not enough it is said
        for x in POINTS:
            value, slope, _ = truths(meant, (x,), 0)
            for got, true in ((f(x), value), (f.grad(x), slope)):
                if true.kind != "open":
                    fault = _compared(float(got), true, tally)
                    assert fault is None, f"{fault} at {x}: {got}, truth {_text(true)}"
    assert tally.worst < 64
