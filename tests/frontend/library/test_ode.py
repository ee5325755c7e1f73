"""Initial value problems inside of functions: values of SciPy's solver, derivatives beside closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from symdiff import UnsupportedError, symgrad

TIMES = np.linspace(0.0, 2.0, 7)


def decay(k: float, y0: float, end: float) -> float:
    return solve_ivp(lambda t, y: [-k * y[0]], (0.0, end), [y0], rtol=1e-10, atol=1e-12).y[0, -1]


@pytest.mark.slow
def test_derivatives_by_a_rate_an_initial_value_and_the_end() -> None:
    k, y0, end = 0.7, 2.0, 1.5
    f, y = symgrad(decay), 2.0 * math.exp(-0.7 * 1.5)
    assert f(k, y0, end) == pytest.approx(decay(k, y0, end), rel=1e-13)
    assert f.grad(k, y0, end) == pytest.approx((-end * y, y / y0, -k * y), rel=1e-8)
    assert f.hessian(k, y0, end)[0][0] == pytest.approx(end**2 * y, rel=1e-7)


def predators(p: Any) -> Any:
    def slopes(t: float, z: Any) -> Any:
        x, y = z
        return [p[0] * x - p[1] * x * y, -p[2] * y + p[3] * x * y]

    return solve_ivp(slopes, (0.0, 5.0), [10.0, 5.0], rtol=1e-9, t_eval=np.linspace(0, 5, 11)).y


def oscillator(w: float) -> Any:
    def slopes(t: float, y: Any, w: float) -> Any:
        return np.array([y[1], -w * w * y[0]])

    found = solve_ivp(
        slopes, (0, 2), np.array([1.0, 0.0]), args=(w,), t_eval=TIMES, rtol=1e-9, atol=1e-10
    )
    assert found.success
    return found.y[0]


def ended(a: float) -> float:
    found = solve_ivp(lambda t, y: a * np.cos(y), (0.0, 2.0), [0.1])
    return found.y[0][-1] + found.t[-1] * len(found.t)


def diffused(u: Any) -> Any:
    def slopes(t: float, u: Any) -> Any:
        change = np.zeros(len(u))
        change[1:-1] = u[2:] - 2 * u[1:-1] + u[:-2]
        return change

    return solve_ivp(slopes, (0, 1.0), u, t_eval=[0.5, 1.0], rtol=1e-7).y[:, -1]


PARAMETERS = np.array([1.5, 1.0, 3.0, 1.0])


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("f", "x"), [
    (predators, PARAMETERS), (oscillator, 1.3), (ended, 1.3), (diffused, np.sin(np.linspace(0.0, 3.0, 12))),
    (lambda a: solve_ivp(lambda t, y: a * y, (1.0, 0.0), [1.0], method="RK23", rtol=1e-6).y[0, -1], 0.7),
    (lambda k: solve_ivp(lambda t, y: [-k * y[0]], (0, 1), [1.0], max_step=0.1, first_step=0.05).y, 0.7),
], ids=["predators", "oscillator", "ended", "diffused", "backwards", "limited"])  # fmt: skip
def test_values_are_those_of_scipy(f: Any, x: Any) -> None:
    np.testing.assert_allclose(symgrad(f)(x), f(x), rtol=1e-9)


@pytest.mark.slow
def test_sensitivities_of_an_oscillator() -> None:
    w = 1.3
    found = symgrad(oscillator).jacobian(w)
    np.testing.assert_allclose(found, -TIMES * np.sin(w * TIMES), rtol=1e-7, atol=1e-8)


@pytest.mark.slow
def test_gradients_beside_differences() -> None:
    def total(p: Any) -> Any:
        return np.sum(predators(p) ** 2)

    steps = 1e-4 * np.eye(4)
    differences = [(total(PARAMETERS + e) - total(PARAMETERS - e)) / 2e-4 for e in steps]
    np.testing.assert_allclose(symgrad(total).grad(PARAMETERS), differences, rtol=1e-4)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"method": "BDF"}, "RK45 and RK23 only"),
        ({"dense_output": True}, "dense_output or events"),
    ],
)
def test_what_is_refused(more: Any, message: str) -> None:
    f = symgrad(lambda k: solve_ivp(lambda t, y: -k * y, (0, 1), [1.0], **more).y[0, -1])
    with pytest.raises(UnsupportedError, match=message):
        f(1.0)


@pytest.mark.slow
def test_a_solution_that_ends_before_the_interval_does() -> None:
    f = symgrad(lambda k: solve_ivp(lambda t, y: [k * y[0] ** 2], (0, 2.0), [1.0]).y[0, -1])
    assert f(0.4) == pytest.approx(5.0, rel=1e-2)
    with pytest.raises(ValueError, match="became too small"):
        f(1.0)


@pytest.mark.slow
def test_a_program_that_sympy_does_not_hold_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="SymPy has no expression"):
        assert symgrad(lambda k: decay(k, 1.0, 1.0)).expr
