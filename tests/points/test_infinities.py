"""What arithmetic with infinities gives: where there is no limit, values are those of NumPy,
with the sign of zero, for numbers, arrays and loops alike."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad

ONE_SIDED: dict[str, Any] = {
    "exp(-1/x)": lambda x: np.exp(-1 / x),
    "exp(1/x)": lambda x: np.exp(1 / x),
    "tanh(1/x)": lambda x: np.tanh(1 / x),
    "arctan(1/x)": lambda x: np.arctan(1 / x),
    "1/x": lambda x: 1 / x,
    "abs(1/x)": lambda x: abs(1 / x),
    "(1/x)**3": lambda x: (1 / x) ** 3,
    "1/(1 + exp(1/x))": lambda x: 1 / (1 + np.exp(1 / x)),
    "exp(-exp(1/x))": lambda x: np.exp(-np.exp(1 / x)),
    "exp(-1/sin(x))": lambda x: np.exp(-1 / np.sin(x)),
    "tanh(1/x**3) + 1": lambda x: np.tanh(1 / x**3) + 1,
    "minimum(1/x, 3)": lambda x: np.minimum(1 / x, 3.0),
    "maximum(1/x, 3)": lambda x: np.maximum(1 / x, 3.0),
    "clip(1/x)": lambda x: np.clip(1 / x, -1.0, 2.0),
    "where(1/x > 2)": lambda x: np.where(1 / x > 2, 1.0, x),
    "sign(1/x)": lambda x: np.sign(1 / x),
    "arctan2(1/x, -2)": lambda x: np.arctan2(1 / x, -2.0),
    "cbrt(1/x)": lambda x: np.cbrt(1 / x),
    "logaddexp(1/x, 2)": lambda x: np.logaddexp(1 / x, 2.0),
    "sinh(1/x)": lambda x: np.sinh(1 / x),
}
POINTS = np.array([0.0, -0.0, 1.5, -1.5])


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["fast", "high", "strict", "certified"])
@pytest.mark.parametrize("name", ONE_SIDED)
def test_values_where_there_is_no_limit(name: str, accuracy: str) -> None:
    f = ONE_SIDED[name]
    s = symgrad(f, accuracy=accuracy)
    with np.errstate(all="ignore"):
        want = f(POINTS)
    for _ in range(2):
        np.testing.assert_allclose(s(POINTS), want, rtol=1e-14)
        np.testing.assert_allclose([s(float(x)) for x in POINTS], want, rtol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("accuracy", ["high", "certified"])
def test_the_same_inside_of_loops_and_sums(accuracy: str) -> None:
    def looped(x: Any) -> Any:
        total = 0.0
        for k in range(x.shape[0]):
            total = total + np.exp(-1 / x[k]) + np.tanh(1 / x[k])
        return total

    functions = [
        looped,
        lambda x: np.dot(np.tanh(1 / x), x + 1),
        lambda x: np.prod(np.tanh(1 / x)),
        lambda x: np.mean(np.where(1 / x > 2, 1.0, x)),
    ]
    for f in functions:
        s = symgrad(f, accuracy=accuracy)
        for x in (np.array([0.0, 1.5]), np.array([-0.0, 0.5]), np.array([1.0, -0.0, 0.0])):
            with np.errstate(all="ignore"):
                want = f(x)
            np.testing.assert_allclose(s(x), want, rtol=1e-14)


DECIDED_BY_SIGNS_OF_ZEROS: list[Any] = [
    lambda x: np.where(1 / x > 2, 1.0, x),
    lambda x: np.where(1 / (x * x * x) > 2, 1.0, x),
    lambda x: np.where(1 / (-x) > 2, 1.0, x),
    lambda x: np.where(np.arctan2(x, -1.0) > 0, 1.0, x),
]


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["fast", "high", "strict", "certified"])
@pytest.mark.parametrize("f", DECIDED_BY_SIGNS_OF_ZEROS)
def test_signs_of_zeros_decide_in_every_arithmetic(f: Any, accuracy: str) -> None:
    x = np.array([-0.0, 0.5, 0.0, -1e-120, 1e-120])
    with np.errstate(all="ignore"):
        want, whole = f(x), np.sum(f(x))
        s, total = symgrad(f, accuracy=accuracy), symgrad(lambda x: np.sum(f(x)), accuracy=accuracy)
        for _ in range(2):
            np.testing.assert_array_equal(s(x), want)
            np.testing.assert_array_equal([s(float(v)) for v in x], want)
            assert total(x) == whole


def test_limits_of_derivatives_are_still_filled() -> None:
    bump = symgrad(lambda x: np.exp(-1 / x**2))
    assert [d(0.0) for d in (bump, bump.grad, bump.hessian)] == [0.0, 0.0, 0.0]
    step = symgrad(lambda x: np.tanh(1 / x))
    assert step.grad(0.0) == step.grad(-0.0) == 0.0


@pytest.mark.slow
def test_all_derivatives_of_a_power_of_zero() -> None:
    f = symgrad(lambda y: 0.0**y)
    y = np.array([2.0, 0.5, 0.0])
    np.testing.assert_array_equal(f(y), [0.0, 0.0, 1.0])
    for d in (f.grad, f.diff("y", "y"), f.diff("y", "y", "y")):
        np.testing.assert_array_equal(d(y)[:2], [0.0, 0.0])
        assert d(2.0) == 0.0
    assert math.isinf(f.grad(0.0))


POWERS_OF_ZERO = [
    lambda y: 0.0 ** (2 * y), lambda y: 0.0 ** (y + 1), lambda y: 0.0 ** (y**2), lambda y: np.power(0.0, y) * y,
    lambda y: 0.0**y * np.sin(y), lambda y: np.exp(0.0**y), lambda y: (0.0**y) ** 2, lambda y: 0**y + 0.0 ** (y / 3),
    lambda y: np.where(y > 0, 0.0**y, 1.0), lambda y: 1 / (1 + 0.0**y), lambda y: 0.0**y / y, lambda y: 0.0 ** np.exp(y),
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("f", POWERS_OF_ZERO)
def test_what_powers_of_zero_are_made_into_is_constant(f: Any) -> None:
    s, y = symgrad(f), np.array([2.0, 0.5, 1.0, 3.0])
    np.testing.assert_array_equal(s(y), f(y))
    for d in (s.grad, s.diff("y", "y")):
        np.testing.assert_array_equal(d(y), np.zeros(4))


@pytest.mark.sampled
@pytest.mark.parametrize("function", [math.sinh, math.atan, math.tanh, math.expm1])
def test_what_has_the_sign_of_an_inverse_is_zero_at_infinity(function):
    f = symgrad(lambda x: 1.0 if function(1 / x) == 0 else 2.0)
    assert (f(math.inf), f(2.0)) == (1.0, 2.0)


def test_a_sine_of_a_quotient_is_0_where_its_divisor_is_infinite() -> None:
    f = symgrad(lambda x: 1.0 if math.sin(1 / x) == 0 else 2.0)
    assert [f(math.inf), f(2.0)] == [1.0, 2.0]
