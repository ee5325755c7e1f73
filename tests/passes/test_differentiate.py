"""The chain rule: against high-precision differences, and nothing leaks from branches."""

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symdiff import ir
from symdiff.ir import functions as F
from symdiff.passes.differentiate import gradient, pullback, pushforward
from tests.passes.evaluate import evaluate

x, y = ir.var("x"), ir.var("y")
mpmath.mp.dps = 50

atoms = st.sampled_from([x, y]) | st.integers(1, 3).map(ir.const)
binary = st.sampled_from([ir.add, ir.sub, ir.mul, ir.div, F.MAXIMUM, F.MINIMUM, F.HYPOT])
unary = st.sampled_from([F.SIN, F.COS, F.EXP, F.TANH, F.ATAN, ir.abs_, lambda e: ir.sqrt(1 + e**2),
                         lambda e: F.LOG(2 + e**2), lambda e: (1 + e**2) ** y])  # fmt: skip
branch = st.builds(lambda a, b, c: ir.where(ir.lt(a, b), b * 2, c), atoms, atoms, atoms)
expressions = st.recursive(
    atoms | branch,
    lambda inner: (
        st.builds(lambda f, a: f(a), unary, inner)
        | st.builds(lambda f, a, b: f(a, b), binary, inner, inner)
    ),
    max_leaves=6,
)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(expressions, st.floats(0.3, 2), st.floats(0.4, 1.9))
def test_forward_and_reverse_against_differences(e, a, b):
    point = {"x": mpmath.mpf(a), "y": mpmath.mpf(b)}
    reverse = gradient(e, (x, y))
    for i, v in enumerate((x, y)):
        forward = pushforward((e,), {v: ir.ONE})[0]
        h = mpmath.mpf(10) ** -20
        up = evaluate(e, {**point, v.value: point[v.value] + h})
        down = evaluate(e, {**point, v.value: point[v.value] - h})
        values = [evaluate(d, point) for d in (reverse[i], forward)]
        difference = (up - down) / (2 * h)
        if mpmath.isfinite(difference) and all(mpmath.isfinite(v) for v in values):
            size = 1 + abs(difference)
            if abs(difference) < 1e8:  # away from kinks and steep points
                assert abs(values[0] - values[1]) < mpmath.mpf(10) ** -25 * size
                assert abs(values[0] - difference) < mpmath.mpf(10) ** -12 * size


@pytest.mark.parametrize(("e", "at", "truth"), [
    (ir.where(ir.lt(0, x), ir.sqrt(x), 0), 0, 0),
    (ir.where(ir.lt(0, x), ir.sqrt(x), 0), -1, 0),
    (ir.where(ir.lt(0, x), F.LOG(x), x), -1, 1),
    (ir.where(ir.lt(0, x), ir.sqrt(x), 0) + 2 * ir.where(ir.lt(0, x), ir.sqrt(x), 0), 0, 0),
    (F.MAXIMUM(x, 2 + ir.sqrt(x)), 0, None),
    (F.MAXIMUM(2 + x, ir.sqrt(x)), 0, 1),
    (F.MAXIMUM(x, 0), 0, 0.5),
    (F.MINIMUM(x, 0), 0, 0.5),
    (ir.abs_(x), 0, 0),
    (F.SIGN(x), 0, 0),
], ids=repr)  # fmt: skip
def test_branches_ties_and_kinks(e, at, truth):
    value = evaluate(gradient(e, (x,))[0], {"x": mpmath.mpf(at)})
    if truth is None:
        assert not mpmath.isfinite(value)
    else:
        assert value == truth


def test_norm_at_zero_is_zero():
    for norm in (ir.sqrt(x**2 + y**2), F.HYPOT(x, y), ir.sqrt(x**2 + 4 * y**4)):
        at = {"x": mpmath.mpf(0), "y": mpmath.mpf(0)}
        assert [evaluate(d, at) for d in gradient(norm, (x, y))] == [0, 0]


def test_branches_join_into_one():
    e = ir.where(ir.lt(0, x), x**2, 3 * x)
    assert gradient(e, (x,))[0] is ir.where(ir.lt(0, x), 2 * x, ir.const(3))


def test_nested_branches_stay_linear():
    e = x
    for i in range(40):
        e = ir.where(ir.lt(i, x), e * 2, e + x)
    assert len(ir.topological(gradient(e, (x,)))) < 40 * 12


def test_pullback_weighs_outputs():
    a, b = ir.var("a"), ir.var("b")
    (d,) = pullback((x**2, F.SIN(x)), (a, b), (x,))
    point = {"x": mpmath.mpf("0.3"), "a": mpmath.mpf(2), "b": mpmath.mpf(5)}
    truth = 2 * mpmath.mpf("0.6") + 5 * mpmath.cos(point["x"])
    assert abs(evaluate(d, point) - truth) < mpmath.mpf(10) ** -40


@pytest.mark.slow
def test_a_chain_of_2000():
    v = x
    for _ in range(2000):
        v = F.SIN(v) + F.COS(v) / 3
    assert len(ir.topological(gradient(v, (x,)))) < 20_000
