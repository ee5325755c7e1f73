"""The likelihood of a Kalman filter, and its gradient by the logarithms of both noises.

python examples/programs/kalman.py
"""

from __future__ import annotations

import numpy as np

from symdiff.interop.scipy import minimize

WRT = ("theta",)
DERIVATIVE = "value_and_grad"
STEP = 0.1


def function(theta, ys):
    """Minus the logarithm of the likelihood of noisy positions of a body."""
    q, r = np.exp(theta[0]), np.exp(theta[1])
    F = np.array([[1.0, STEP], [0.0, 1.0]])
    H = np.array([[1.0, 0.0]])
    Q = q * np.array([[STEP**3 / 3, STEP**2 / 2], [STEP**2 / 2, STEP]])
    R = np.array([[r]])
    x = np.zeros(2)
    P = np.eye(2)
    total = 0.0
    for y in ys:
        x = F @ x
        P = F @ P @ F.T + Q
        v = y - H @ x
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        total += 0.5 * (v @ np.linalg.solve(S, v) + np.log(np.linalg.det(2 * np.pi * S)))
        x = x + K @ v
        P = (np.eye(2) - K @ H) @ P
    return total


def for_jax():
    import jax.numpy as jnp
    from jax import lax

    def likelihood(theta, ys):
        q, r = jnp.exp(theta[0]), jnp.exp(theta[1])
        F = jnp.array([[1.0, STEP], [0.0, 1.0]])
        H = jnp.array([[1.0, 0.0]])
        Q = q * jnp.array([[STEP**3 / 3, STEP**2 / 2], [STEP**2 / 2, STEP]])
        R = jnp.array([[r]])

        def step(carry, y):
            x, P = carry
            x = F @ x
            P = F @ P @ F.T + Q
            v = y - H @ x
            S = H @ P @ H.T + R
            K = P @ H.T @ jnp.linalg.inv(S)
            term = v @ jnp.linalg.solve(S, v) + jnp.log(jnp.linalg.det(2 * jnp.pi * S))
            return (x + K @ v, (jnp.eye(2) - K @ H) @ P), 0.5 * term

        return jnp.sum(lax.scan(step, (jnp.zeros(2), jnp.eye(2)), ys)[1])

    return likelihood


def data(rng, n=200):
    speed = np.cumsum(np.sqrt(0.3 * STEP) * rng.normal(size=n))
    return np.log([0.1, 0.5]), STEP * np.cumsum(speed) + 0.4 * rng.normal(size=n)


def main() -> None:
    start, ys = data(np.random.default_rng(0))
    found = minimize(function, start, args=(ys,))
    q, r = np.exp(found.x)
    print(f"drawn with 0.3 and 0.16, found in {found.nit} steps: q {q:.3f}, r {r:.3f}")


if __name__ == "__main__":
    main()
