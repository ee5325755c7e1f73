"""Random programs of nested control flow agree with Python, exactly.

The programs use integers and exact fractions only, so that running them in Python
and evaluating what was captured must give the same numbers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.frontend import capture
from symdiff.ir.plain import exactly
from tests.frontend.refused import define

RULES: dict[ir.Op, Callable[..., Any]] = {
    ir.ADD: lambda a, b: a + b,
    ir.SUB: lambda a, b: a - b,
    ir.MUL: lambda a, b: a * b,
    ir.DIV: lambda a, b: a / b,
    ir.NEG: lambda a: -a,
    ir.POW: lambda a, b: a**b,
    ir.ABS: abs,
    ir.LT: lambda a, b: a < b,
    ir.LE: lambda a, b: a <= b,
    ir.EQ: lambda a, b: a == b,
    ir.NOT: lambda a: not a,
    ir.AND: lambda a, b: a and b,
    ir.OR: lambda a, b: a or b,
    ir.WHERE: lambda c, a, b: a if c else b,
    ir.OPS["maximum"]: max,
    ir.OPS["larger"]: max,
    ir.OPS["smaller"]: min,
    ir.OPS["minimum"]: min,
}


def exact(root: ir.Expr, point: dict[str, Fraction]) -> Fraction:
    value: dict[ir.Expr, Any] = {}
    (root,) = exactly((root,))  # the points are fractions, and so Python decides
    for e in ir.topological((root,)):
        if e.op is ir.VAR:
            value[e] = point[e.value]
        elif not e.args:
            value[e] = e.value
        else:
            value[e] = RULES[e.op](*(value[a] for a in e.args))
    result: Fraction = value[root]
    return result


class Writer:
    """Writes one random function."""

    def __init__(self, seed: int, lists: bool = False) -> None:
        self.rng = random.Random(seed)
        self.lists = lists
        self.budget = 26

    def function(self) -> str:
        body = "\n".join(self.block(1, in_loop=False, depth=0))
        return (
            "def helper(w, p, q):\n"
            "    if p > q:\n"
            "        w[0] = w[0] + p\n"
            "        return q\n"
            "    w[1] = q - w[1]\n"
            "    return w[0] - p\n"
            "def f(x, y):\n"
            "    a, b, c = 0, x, 1\n"
            "    v = [x, y, 2]\n"
            "    w = v\n"
            "    i = 1\n"
            f"{body}\n"
            "    return a + 2 * b + 3 * c + 5 * v[0] + 7 * v[1] + 11 * v[2] + 13 * w[0] - w[1]\n"
        )

    def block(self, indent: int, in_loop: bool, depth: int) -> Iterator[str]:
        for _ in range(self.rng.randint(1, 4)):
            yield from self.statement(indent, in_loop, depth)

    def statement(self, indent: int, in_loop: bool, depth: int) -> Iterator[str]:
        pad = "    " * indent
        self.budget -= 1
        kinds = ["assign", "assign", "element", "swap", "call"]
        kinds += ["list", "alias", "other", "other"] * self.lists
        if self.budget > 0 and depth < 4:
            kinds += ["if", "if", "if", "for", "conditional", "short"]
        kinds += ["break", "continue"] * in_loop + ["return"] * (depth > 0)
        kind = self.rng.choice(kinds)
        if kind == "assign":
            sign = self.rng.choice(["=", "+=", "-="])
            yield f"{pad}{self.rng.choice('abc')} {sign} {self.value()}"
        elif kind == "element":
            yield f"{pad}v[{self.rng.randrange(3)}] = {self.value()}"
        elif kind == "other":
            yield f"{pad}w[{self.rng.randrange(3)}] = {self.value()} + w[1]"
        elif kind == "list":
            yield f"{pad}{self.rng.choice('vw')} = [{self.value()}, {self.value()}, {self.value()}]"
        elif kind == "alias":
            yield f"{pad}{self.rng.choice(['v = w', 'w = v', 'v, w = w, v', 'w = list(v)'])}"
        elif kind == "swap":
            yield f"{pad}a, b = b - 1, a"
        elif kind == "call":
            yield f"{pad}c = helper(v, {self.value()}, {self.value()})"
        elif kind == "conditional":
            yield f"{pad}b = {self.value()} if {self.test()} else {self.value()}"
        elif kind == "short":
            yield f"{pad}a = ({self.value()}) {self.rng.choice(['and', 'or'])} {self.value()}"
        elif kind == "if":
            yield f"{pad}if {self.test()}:"
            yield from self.block(indent + 1, in_loop, depth + 1)
            if self.rng.random() < 0.3:
                yield f"{pad}elif {self.test()}:"
                yield from self.block(indent + 1, in_loop, depth + 1)
            if self.rng.random() < 0.5:
                yield f"{pad}else:"
                yield from self.block(indent + 1, in_loop, depth + 1)
        elif kind == "for":
            yield f"{pad}for i in range({self.rng.randint(1, 3)}):"
            yield from self.block(indent + 1, True, depth + 1)
            if self.rng.random() < 0.3:
                yield f"{pad}else:"
                yield from self.block(indent + 1, in_loop, depth + 1)
        elif kind == "return":
            yield f"{pad}return {self.value()}"
        else:
            yield f"{pad}{kind}"

    def value(self) -> str:
        atoms = ["x", "y", "a", "b", "c", "i", "v[0]", "v[1]", "v[2]", "1", "2", "-3"]
        a, b = self.rng.choice(atoms), self.rng.choice(atoms)
        form = self.rng.choice(["{a}", "{a} + {b}", "{a} - {b}", "{a} / 2", "abs({a})", "max({a}, {b})"])  # fmt: skip
        return form.format(a=a, b=b)

    def test(self) -> str:
        sign = self.rng.choice(["<", "<=", ">", ">=", "=="])
        test = f"{self.value()} {sign} {self.value()}"
        if self.rng.random() < 0.3:
            test = f"{test} {self.rng.choice(['and', 'or'])} not {self.rng.choice('xab')} > 0"
        return test


POINTS = [(Fraction(a, 2), Fraction(b, 2)) for a in range(-3, 4, 2) for b in (-4, -1, 0, 3)]


@pytest.mark.sampled
@pytest.mark.parametrize("start", range(0, 300, 30))
def test_random_programs(start: int) -> None:
    for seed in range(start, start + 30):
        text = Writer(seed).function()
        name = f"<random program {seed}>"
        f = define(text, name)
        (output,) = capture(f, {}).outputs
        for x, y in POINTS:
            want = f(x, y)
            assert exact(output, {"x": x, "y": y}) == want, f"{text}\nat {x}, {y}"


@pytest.mark.sampled
@pytest.mark.parametrize("start", range(0, 400, 40))
def test_random_programs_with_lists_under_two_names(start: int) -> None:
    """What shows the same list is refused where it cannot be followed, never mistaken."""
    refused = 0
    for seed in range(start, start + 40):
        text = Writer(seed, lists=True).function()
        name = f"<random program with lists {seed}>"
        f = define(text, name)
        try:
            (output,) = capture(f, {}).outputs
        except UnsupportedError as error:
            assert "was not made on this path" in error.message or "chose" in error.message
            refused += 1
            continue
        for x, y in POINTS:
            want = f(x, y)
            assert exact(output, {"x": x, "y": y}) == want, f"{text}\nat {x}, {y}"
    assert refused < 20
