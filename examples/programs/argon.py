"""The energy of Lennard-Jones atoms at positions (n, 3), and the forces on them.

python examples/programs/argon.py
"""

from __future__ import annotations

import numpy as np

from symdiff import symgrad

WRT = ("r",)
DERIVATIVE = "value_and_grad"


def function(r):
    total = 0.0
    for i in range(len(r)):
        for j in range(i + 1, len(r)):
            d = r[i] - r[j]
            s6 = 1.0 / np.dot(d, d) ** 3
            total += 4.0 * (s6**2 - s6)
    return total


def for_jax():
    import jax.numpy as jnp

    def energy(r):
        i, j = np.triu_indices(len(r), 1)
        d = r[i] - r[j]
        s6 = 1.0 / jnp.sum(d**2, axis=1) ** 3
        return jnp.sum(4.0 * (s6**2 - s6))

    return energy


def data(rng, n=4):
    lattice = np.stack(np.meshgrid(*[1.1 * np.arange(n)] * 3), -1).reshape(-1, 3)
    return (lattice + 0.05 * rng.normal(size=lattice.shape),)


def main() -> None:
    (r,) = data(np.random.default_rng(0), 2)
    energy = symgrad(function)
    for _ in range(500):
        r = r - 1e-3 * energy.grad(r)
    print(f"eight atoms relaxed: energy {energy(r):.6f}, force {np.abs(energy.grad(r)).max():.1e}")


if __name__ == "__main__":
    main()
