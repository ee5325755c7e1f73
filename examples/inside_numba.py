"""Gradients inside of programs that Numba compiles: an optimiser, an integrator, a simulation.

- Newton's method for the minimum of a Morse well, in a compiled loop, from many starts in
  parallel;
- a particle in that well, by the velocity Verlet method, its force the gradient;
- the price of an option and its delta by Monte Carlo, the delta path by path.

    python examples/inside_numba.py
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

from symdiff import symgrad


@symgrad
def well(r):
    """A Morse well with its minimum at 1.1."""
    return (1 - math.exp(-1.7 * (r - 1.1))) ** 2


@symgrad
def payoff(spot, normal):
    """The discounted payoff of a call at 100 in one year, of one normal deviate."""
    end = spot * math.exp(0.02 - 0.5 * 0.2**2 + 0.2 * normal)
    return math.exp(-0.02) * max(end - 100.0, 0.0)


@njit(parallel=True)
def minima(starts):
    """Where Newton's method ends, from each start."""
    found = np.empty_like(starts)
    for i in prange(len(starts)):
        r = starts[i]
        for _ in range(50):
            r -= well.grad(r) / well.hessian(r)
        found[i] = r
    return found


@njit
def oscillate(r, velocity, step, steps):
    """The state of a particle of unit mass after so many steps."""
    force = -well.grad(r)
    for _ in range(steps):
        velocity += 0.5 * step * force
        r += step * velocity
        force = -well.grad(r)
        velocity += 0.5 * step * force
    return r, velocity


@njit
def price(spot, paths, seed):
    """The mean payoff and its mean derivative by the spot price."""
    np.random.seed(seed)
    total = delta = 0.0
    for _ in range(paths):
        value, slopes = payoff.value_and_grad(spot, np.random.normal())
        total += value
        delta += slopes[0]
    return total / paths, delta / paths


def main() -> None:
    print("minima:", minima(np.linspace(0.9, 1.3, 5)).round(12))
    r, velocity = oscillate(1.4, 0.0, 1e-3, 20_000)
    drift = well(r) + velocity**2 / 2 - well(1.4)
    print(f"after 20 time units: r = {r:.6f}, drift of energy {drift:+.1e}")
    value, delta = price(100.0, 200_000, 7)
    print(f"call: {value:.2f}, delta {delta:.3f} (Black-Scholes: 8.92, 0.579)")


if __name__ == "__main__":
    main()
