"""Roots, integrals, minima and solutions of differential equations inside of functions, beside SciPy's: times, and errors against 40 digits.

    python benchmarks/solvers.py [--rounds 15]

Microseconds of processor time in turn, the least of each: the function in plain Python with SciPy, the
same compiled, and its gradient. Errors are relative, in units of 2**-52.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any

import mpmath
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq, minimize
from timing import clock, race

from symdiff import symgrad


def anomaly(m: float, e: float) -> float:
    return brentq(lambda x: x - e * math.sin(x) - m, 0.0, 7.0)


def friction(re: float, rough: float) -> float:
    def colebrook(f: float) -> float:
        root = math.sqrt(f)
        return 1 / root + 2 * math.log10(rough / 3.7 + 2.51 / (re * root))

    return brentq(colebrook, 1e-3, 1.0)


def distance(omega: float, z: float) -> float:
    return quad(lambda x: 1 / math.sqrt(omega * (1 + x) ** 3 + 1 - omega), 0.0, z)[0]


def gamma(a: float) -> float:
    return quad(lambda t: t ** (a - 1) * math.exp(-t), 0.0, math.inf)[0]


def valley(a: float) -> float:
    return minimize(lambda x: (a - x[0]) ** 2 + 3.0 * (x[1] - x[0] ** 2) ** 2, [-1.0, 1.0]).x[1]


def oscillator(w: float, end: float) -> float:
    def slopes(t: float, y: Any) -> Any:
        return [y[1], -w * w * y[0]]

    return solve_ivp(slopes, (0.0, end), [1.0, 0.0], rtol=1e-10, atol=1e-12).y[0, -1]


def exact_anomaly(m: Any, e: Any) -> Any:
    return mpmath.findroot(lambda x: x - e * mpmath.sin(x) - m, 1.5)


def exact_friction(re: Any, rough: Any) -> Any:
    def colebrook(f: Any) -> Any:
        root = mpmath.sqrt(f)
        return 1 / root + 2 * mpmath.log10(
            mpmath.mpf(rough) / mpmath.mpf(3.7) + mpmath.mpf(2.51) / (re * root)
        )

    return mpmath.findroot(colebrook, (0.018, 0.019), solver="anderson")


def exact_distance(omega: Any, z: Any) -> Any:
    w = mpmath.mpf(omega)
    return mpmath.quad(lambda x: 1 / mpmath.sqrt(w * (1 + x) ** 3 + 1 - w), [0, 1, z])


CASES: list[tuple[Callable[..., float], Callable[..., Any], tuple[float, ...]]] = [
    (anomaly, exact_anomaly, (1.2, 0.3)),
    (friction, exact_friction, (1e5, 1e-4)),
    (distance, exact_distance, (0.3, 2.0)),
    (gamma, mpmath.gamma, (2.5,)),
    (valley, lambda a: a * a, (1.2,)),
    (oscillator, lambda w, end: mpmath.cos(w * end), (1.3, 2.0)),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    print(
        "| function | SciPy, us | value, us | gradient, us | error of SciPy | of the value | of the gradient |"
    )
    print("|---|---|---|---|---|---|---|")
    for f, exact, at in CASES:
        g = symgrad(f)
        value, slopes = g(*at), g.grad(*at)
        slopes = slopes if isinstance(slopes, tuple) else (slopes,)
        with mpmath.workdps(40):
            truth = exact(*map(mpmath.mpf, at))
            wanted = [
                mpmath.diff(
                    exact, tuple(map(mpmath.mpf, at)), tuple(int(k == j) for j in range(len(at)))
                )
                for k in range(len(at))
            ]

            def ulp(x: float, y: Any) -> float:
                return float(abs(x - y) / abs(y)) * 2.0**52

            errors = ulp(f(*at), truth), ulp(value, truth), max(map(ulp, slopes, wanted))
        found = race(
            {
                n: clock(c, *at, repeat=200)
                for n, c in (("plain", f), ("value", g), ("grad", g.grad))
            },
            options.rounds,
        )
        times = " | ".join(f"{1e6 * found[n]:.1f}" for n in ("plain", "value", "grad"))
        print(f"| {f.__name__} | {times} | {' | '.join(f'{e:.1f}' for e in errors)} |")


if __name__ == "__main__":
    main()
