"""Forces and vibrations of three Lennard-Jones atoms, from the energy alone.

python examples/lennard_jones.py
"""

from __future__ import annotations

import numpy as np

from symdiff import symgrad

EPSILON, SIGMA = 0.0103, 3.40
"""Argon: eV and angstrom."""


def pair(dx, dy, dz):
    """The energy of two atoms apart by (dx, dy, dz)."""
    s6 = (SIGMA**2 / (dx**2 + dy**2 + dz**2)) ** 3
    return 4 * EPSILON * (s6**2 - s6)


@symgrad
def energy(x1, y1, z1, x2, y2, z2, x3, y3, z3):
    atoms = [(x1, y1, z1), (x2, y2, z2), (x3, y3, z3)]
    total = 0.0
    for i in range(3):
        for j in range(i):
            total += pair(*(a - b for a, b in zip(atoms[i], atoms[j], strict=True)))
    return total


def relax(positions: np.ndarray, steps: int = 50) -> np.ndarray:
    """Newton's method with the pseudo-inverse, which leaves rigid motions alone."""
    for _ in range(steps):
        slope = np.array(energy.grad(*positions))
        curvature = np.array(energy.hessian(*positions))
        step = np.linalg.pinv(curvature, rcond=1e-9, hermitian=True) @ slope
        positions = positions - step
        if np.linalg.norm(step) < 1e-12:
            break
    return positions


def main() -> None:
    start = np.array([0.0, 0.0, 0.0, 3.9, 0.1, 0.0, 1.8, 3.4, 0.1])
    found = relax(start)
    print(f"energy {energy(*found):.12f} eV, three times the well: {-3 * EPSILON:.12f}")
    a, b, c = found.reshape(3, 3)
    for p, q in ((a, b), (b, c), (c, a)):
        print(f"distance {np.linalg.norm(p - q):.12f}, 2**(1/6) sigma: {2 ** (1 / 6) * SIGMA:.12f}")
    stiffness = np.linalg.eigvalsh(np.array(energy.hessian(*found)))
    print("stiffness (six rigid motions first):", np.array2string(stiffness, precision=3))


if __name__ == "__main__":
    main()
