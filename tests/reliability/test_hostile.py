"""Hostile input, through the command line and `symgrad`: an answer, or one clear message."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from click.testing import CliRunner

from symdiff import SymdiffError, symgrad
from symdiff.cli.commands import main
from tests.fuzz.scalars import load

ANSWERED = {
    "a tower of powers": "x" + "**2" * 40,
    "a constant beyond all doubles": "10**10**10*x",
    "a power of any size": "x**999999999999",
    "a product of many sums": "*".join(f"(x+{k})" for k in range(60)),
    "a sum that must not be expanded": "(x+y+z+w)**60",
    "a quotient that must not be": "((x+1)**5000-1)/x",
    "letters of another alphabet": "\u0445+1",
}
REFUSED = {
    "parentheses": "(" * 20000 + "x" + ")" * 20000,
    "calls": "sin(" * 3000 + "x" + ")" * 3000,
    "signs": "-" * 20000 + "x",
    "terms": "+".join(["x"] * 20000),
    "digits": "x*" + "9" * 100001,
    "an exponent": "x*1e999999999",
    "a name": "a" * 100001 + "+1",
    "what cannot be seen": "x\u200b+1",
    "no text": "x+\0",
    "a function": "(lambda: x)()",
    "an import": "__import__('os').system('true')",
    "an attribute": "x.__class__",
    "an assignment": "(y:=x)",
    "a comprehension": "[x for x in y]",
    "a string": "'a'*x",
    "a shift": "x*(1 << 1000000000000)",
    "nothing": "",
}


@pytest.mark.parametrize("case", ANSWERED)
def test_formulas_with_an_answer(case: str) -> None:
    result = CliRunner().invoke(main, ["diff", "--", ANSWERED[case]])
    assert result.exit_code == 0, result.output
    assert result.output.strip()


@pytest.mark.parametrize("case", REFUSED)
def test_formulas_that_are_refused(case: str) -> None:
    result = CliRunner().invoke(main, ["diff", "--", REFUSED[case]])
    assert result.exit_code == 2, result.output[:200]
    assert "Traceback" not in result.output
    assert 0 < len(result.output) < 2000
    assert result.output.count("\n") <= 5


FILES = {
    "recursion without end": "def f(x):\n    return f(x) + 1\n",
    "recursion of two": "def g(x):\n    return f(x) * x\ndef f(x):\n    return g(x) + 1\n",
    "a while loop without end": "def f(x):\n    n = 0\n    while True:\n        n += 1\n    return x\n",
    "an integer without end": "def f(x):\n    n = 3\n    for _ in range(60):\n        n = n * n\n    return x * n\n",
    "a list without end": "def f(x):\n    return sum([x] * 10**12)\n",
    "a shift": "def f(x):\n    return x * (1 << 10**12)\n",
    "a product of a string": "def f(x):\n    return len('a' * 10**13) * x\n",
}


@pytest.mark.sampled
@pytest.mark.parametrize("case", FILES)
def test_files(case: str, tmp_path: Path) -> None:
    """Refused at a line of the user's, or computed."""
    f = symgrad(load(FILES[case], tmp_path))
    try:
        value = f.grad(0.5)
    except SymdiffError as error:
        assert "Traceback" not in str(error)
        assert len(str(error).splitlines()) <= 8
    else:
        assert math.isfinite(value) or value == math.inf
