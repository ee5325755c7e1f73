"""Fit an epidemic: the SIR equations by the method of Runge and Kutta, and the misfit's gradient.

python examples/programs/epidemic.py
"""

from __future__ import annotations

import numpy as np

from symdiff.interop.scipy import minimize

WRT = ("rates",)
DERIVATIVE = "value_and_grad"
STEP = 0.1


def change(y, beta, gamma):
    s, i, _ = y
    return np.array([-beta * s * i, beta * s * i - gamma * i, gamma * i])


def function(rates, observed):
    beta, gamma = rates
    y = np.array([0.99, 0.01, 0.0])
    misfit = 0.0
    for seen in observed:
        for _ in range(10):
            k1 = change(y, beta, gamma)
            k2 = change(y + STEP / 2 * k1, beta, gamma)
            k3 = change(y + STEP / 2 * k2, beta, gamma)
            k4 = change(y + STEP * k3, beta, gamma)
            y = y + STEP / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        misfit += (y[1] - seen) ** 2
    return misfit


def for_jax():
    import jax.numpy as jnp
    from jax import lax

    def rate(y, beta, gamma):
        s, i, _ = y
        return jnp.array([-beta * s * i, beta * s * i - gamma * i, gamma * i])

    def misfit(rates, observed):
        beta, gamma = rates

        def step(y, _):
            k1 = rate(y, beta, gamma)
            k2 = rate(y + STEP / 2 * k1, beta, gamma)
            k3 = rate(y + STEP / 2 * k2, beta, gamma)
            k4 = rate(y + STEP * k3, beta, gamma)
            return y + STEP / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

        def day(y, seen):
            y = lax.scan(step, y, None, length=10)[0]
            return y, (y[1] - seen) ** 2

        return jnp.sum(lax.scan(day, jnp.array([0.99, 0.01, 0.0]), observed)[1])

    return misfit


def data(rng, n=100):
    days = np.arange(n)
    return np.array([0.4, 0.1]), 0.2 * np.exp(-(((days - 25) / 12) ** 2)) + 0.005 * rng.normal(
        size=n
    )


def main() -> None:
    start, observed = data(np.random.default_rng(0), 60)
    found = minimize(function, start, args=(observed,), method="L-BFGS-B")
    print(f"beta {found.x[0]:.4f}, gamma {found.x[1]:.4f}, misfit {found.fun:.5f}")


if __name__ == "__main__":
    main()
