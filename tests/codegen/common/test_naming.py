"""Names for what several formulas share: the same formulas, in fewer operations."""

from __future__ import annotations

import random
import re
from functools import cache

import pytest

from symdiff import ir
from symdiff.codegen.common.naming import fewest, named, put_back
from symdiff.codegen.common.shared_parts import Parts, merged, replaced
from symdiff.frontend.formula.parse import parse
from symdiff.ir import Expr
from symdiff.ir.formula_text import Formulas
from symdiff.passes.simplify.check import equal
from symdiff.passes.simplify.simplify import simplify
from symdiff.pipeline.readable_formulas import short_derivative


def formulas(*texts: str) -> tuple[Expr, ...]:
    return tuple(parse(t).outputs[0] for t in texts)


def written_out(outputs: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The formulas with their names put back."""
    definitions, shown = named(outputs)
    known: dict[Expr, Expr] = {}
    for name, e in definitions:
        (known[ir.var(name)],) = ir.substitute((e,), known)
    return ir.substitute(shown, known)


def shown(outputs: tuple[Expr, ...]) -> list[str]:
    lengths = Formulas()
    definitions, left = named(outputs)
    return [f"{n} = {lengths.text(e)}" for n, e in definitions] + [lengths.text(e) for e in left]


@cache
def jacobian(*texts: str) -> list[Expr]:
    """All partial derivatives of some formulas, each as it is printed alone."""
    params = sorted({p for t in texts for p in parse(t).params})
    return [
        short.formula
        for p in params
        for t in texts
        for short in short_derivative(parse(f"0*{p} + {t}"), [p])
    ]


QUATERNION = (
    "1 - 2*(y**2 + z**2)/(w**2 + x**2 + y**2 + z**2)",
    "2*(x*y - z*w)/(w**2 + x**2 + y**2 + z**2)",
)
CAMERA = (
    "f*(X/Z)*(1 + a*((X/Z)**2 + (Y/Z)**2)) + 2*p*(X/Z)*(Y/Z)",
    "g*(Y/Z)*(1 + a*((X/Z)**2 + (Y/Z)**2)) + p*(Y/Z)**2",
)
ARM = ("l*cos(q) + m*cos(q + r) + n*cos(q + r + s)", "l*sin(q) + m*sin(q + r) + n*sin(q + r + s)")


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        # factors and terms in any order, signs, powers
        (
            ("a*x*sin(b*y)*exp(c)", "1 + sin(b*y)*x*exp(c)", "z/(exp(c)*sin(b*y)*x)"),
            ["t = x*exp(c)*sin(b*y)", "a*t", "t + 1", "z/t"],
        ),
        (
            ("sqrt(alpha + 2*beta + delta)", "(delta + alpha + 2*beta)/7", "exp(1 - alpha - 2*beta - delta)"),
            ["t = alpha + 2*beta + delta", "sqrt(t)", "t/7", "exp(1 - t)"],
        ),
        (
            ("x/(x**2 + y**2)**(3/2)", "y/(x**2 + y**2)**(3/2)", "1/(y**2 + x**2)**3"),
            ["t = (x**2 + y**2)**(3/2)", "x/t", "y/t", "1/t**2"],
        ),
    ],
)  # fmt: skip
def test_parts_are_shared_in_whatever_order_they_were_written(
    texts: tuple[str, ...], expected: list[str]
) -> None:
    assert shown(formulas(*texts)) == expected


def test_names_do_not_look_like_those_of_variables() -> None:
    found = shown(jacobian("sin(t1 - t2)*a*exp(t1*c)", "cos(t1 - t2)*a*exp(c*t1)"))
    assert any(t.startswith("s") and " = " in t for t in found)
    assert not any(t.startswith("t") and " = " in t for t in found)


def test_products_of_roots_keep_their_domain() -> None:
    """`sqrt(x)*sqrt(x)` is no x where a name is put into it."""
    s = ir.sqrt(ir.var("x"))
    e = ir.raw(ir.MUL, (ir.raw(ir.MUL, (s, s)), ir.var("y")))
    (part,) = [p for p in Parts((e, ir.var("y") + e)).candidates() if p.node is e]
    (left, _) = replaced((e, ir.var("y") + e), part, ir.var("t"))
    assert left is ir.var("t")
    (same,) = replaced((e,), Parts((s, s + 1)).of[s], ir.var("t"))
    assert not equal(ir.var("x") * ir.var("y"), same, strict=True)
    assert ir.variables((same,)) == [ir.var("t"), ir.var("y")]


@pytest.mark.sampled
@pytest.mark.parametrize("texts", [QUATERNION, CAMERA, ARM], ids=["quaternion", "camera", "arm"])
def test_jacobians_with_their_names_put_back_are_what_they_were(texts: tuple[str, ...]) -> None:
    outputs = tuple(jacobian(*texts))
    for choice in (outputs, put_back(outputs, simplify)):
        again = written_out(choice)
        for before, after in zip(outputs, again, strict=True):
            assert not before.args or equal(before, after), (before, after)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("texts", "most"), [(QUATERNION, 75), (CAMERA, 85), (ARM, 30)], ids=["quaternion", "camera", "arm"]
)  # fmt: skip
def test_jacobians_take_few_operations(texts: tuple[str, ...], most: int) -> None:
    outputs = jacobian(*texts)
    choices = [outputs, put_back(outputs, simplify)]
    definitions, left = named(choices[fewest(*choices)])
    lengths = Formulas()
    assert sum(map(lengths.length, [*(e for _, e in definitions), *left])) <= most


def test_names_of_random_formulas_put_back() -> None:
    rng = random.Random(11)
    x, y, z = (ir.var(n) for n in "xyz")

    def made(depth: int) -> Expr:
        if depth == 0:
            return rng.choice((x, y, z, ir.const(rng.randrange(1, 4))))
        a, b = made(depth - 1), made(depth - 1)
        return rng.choice((a + b, a - b, a * b, a / (b**2 + 1), ir.sqrt(a**2 + 1), b / ir.sqrt(a * a + 2)))  # fmt: skip

    for _ in range(6):
        shared = made(2)
        outputs = tuple(shared * made(2) + made(2) for _ in range(4))
        for before, after in zip(outputs, written_out(outputs), strict=True):
            assert not before.args or equal(before, after, strict=False), (before, after)
        for before, after in zip(outputs, merged(outputs), strict=True):
            assert not before.args or equal(before, after, strict=False)


@pytest.mark.sampled
@pytest.mark.parametrize("texts", [QUATERNION, CAMERA, ARM], ids=["quaternion", "camera", "arm"])
def test_every_name_stands_for_something_that_is_used_twice(texts: tuple[str, ...]) -> None:
    outputs = jacobian(*texts)
    for choice in (outputs, put_back(outputs, simplify)):
        definitions, left = named(choice)
        lengths = Formulas()
        made = [lengths.text(e) for e in (*(e for _, e in definitions), *left)]
        for name, e in definitions:
            assert e.args, (name, e)
            assert sum(len(re.findall(rf"\b{name}\b", text)) for text in made) > 1, name
