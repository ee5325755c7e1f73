"""Functions in the loops of SciPy: evaluations of ours beside derivatives by hand.

    python benchmarks/scipy_loops.py

`minimize`, `least_squares`, `curve_fit` and `solve_ivp` call a function and its derivative with arguments that
move from call to call. Each is run with our functions and with the same ones written by hand in NumPy, in turns;
microseconds are those of a whole run, of the best of several, divided by the evaluations.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import integrate, optimize

from symdiff import symgrad

ROUNDS = 25


# ----------------------------------------------------------------------------- minimize
def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_by_hand(x):
    d, e = x[1:] - x[:-1] ** 2, 1 - x[:-1]
    slope = np.zeros_like(x)
    slope[:-1] = -400.0 * x[:-1] * d - 2 * e
    slope[1:] += 200.0 * d
    return np.sum(100.0 * d**2 + e**2), slope


# ------------------------------------------------------------------------ least_squares
T = np.linspace(0.0, 4.0, 60)
DATA = 2.5 * np.exp(-1.3 * T) + 0.5 + 0.02 * np.random.default_rng(0).normal(size=60)


def residuals(p):
    return p[0] * np.exp(-p[1] * T) + p[2] - DATA


def jacobian_by_hand(p):
    e = np.exp(-p[1] * T)
    return np.stack([e, -p[0] * T * e, np.ones_like(T)], axis=1)


# --------------------------------------------------------------------------- curve_fit
def decay(t, a, b, c):
    return a * np.exp(-b * t) + c


def decay_slopes(t, a, b, c):
    e = np.exp(-b * t)
    return np.stack([e, -a * t * e, np.ones_like(t)], axis=1)


# ---------------------------------------------------------------------------- solve_ivp
def oscillator(t, y):
    return np.array([y[1], 5.0 * (1 - y[0] ** 2) * y[1] - y[0]])


def oscillator_slopes(t, y):
    return np.array([[0.0, 1.0], [-10.0 * y[0] * y[1] - 1.0, 5.0 * (1 - y[0] ** 2)]])


def programs() -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """For each kind of loop, a run with our functions and one by hand; they return evaluations."""
    start = np.full(10, -0.9)
    both = symgrad(rosenbrock).value_and_grad
    fit = symgrad(residuals)
    curve = symgrad(decay, wrt=("a", "b", "c")).jacobian
    field = symgrad(oscillator, wrt="y")

    def minimized(f: Any) -> Any:
        found = optimize.minimize(f, start, jac=True, method="L-BFGS-B")
        return found.nfev, found.fun

    def fitted(f: Any, jac: Any) -> Any:
        found = optimize.least_squares(f, [1.0, 1.0, 0.0], jac=jac, method="lm")
        return found.nfev + found.njev, found.cost

    def curved(f: Any, jac: Any) -> Any:
        p, _, info, *_ = optimize.curve_fit(f, T, DATA, [1.0, 1.0, 0.0], jac=jac, full_output=True)
        return info["nfev"], p[0]

    def solved(f: Any, jac: Any) -> Any:
        found = integrate.solve_ivp(f, (0.0, 10.0), [1.0, 0.0], method="Radau", jac=jac)
        return found.nfev + found.njev, found.y[0, -1]

    return {
        "minimize": (lambda: minimized(both), lambda: minimized(rosenbrock_by_hand)),
        "least_squares": (
            lambda: fitted(fit, fit.jacobian),
            lambda: fitted(residuals, jacobian_by_hand),
        ),
        "curve_fit": (
            lambda: curved(decay, lambda t, a, b, c: np.stack(curve(t, a, b, c), axis=1)),
            lambda: curved(decay, decay_slopes),
        ),
        "solve_ivp": (
            lambda: solved(field, field.jacobian),
            lambda: solved(oscillator, oscillator_slopes),
        ),
    }


def main() -> None:
    """Print a table."""
    print(
        "| loop | evaluations | ours, us each | by hand, us each | ratio |\n|---|---|---|---|---|"
    )
    for name, (ours, by_hand) in programs().items():
        best = [np.inf, np.inf]
        for k in range(ROUNDS):
            for j, run in enumerate((ours, by_hand)):
                began = time.perf_counter()
                count, value = run()
                best[j] = min(best[j], (time.perf_counter() - began) / count)
                if j == 0:
                    first = value
                elif k == 0:
                    assert abs(value - first) <= 1e-4 * (1 + abs(value)), (name, value, first)
        a, b = (1e6 * x for x in best)
        print(f"| {name} | {count} | {a:.1f} | {b:.1f} | {a / b:.2f} |", flush=True)


if __name__ == "__main__":
    main()
