"""The likelihood of a Gaussian process, and its gradient by the parameters of the kernel.

python examples/programs/gaussian_process.py
"""

from __future__ import annotations

import numpy as np

from symdiff import symgrad
from symdiff.interop.scipy import minimize

WRT = ("theta",)
DERIVATIVE = "value_and_grad"


def function(theta, X, y):
    """Minus the logarithm of the likelihood; theta: logarithms of length, height and noise."""
    length, height, noise = np.exp(theta)
    squares = np.sum((X[:, None, :] - X[None, :, :]) ** 2, axis=-1)
    K = height**2 * np.exp(-0.5 * squares / length**2) + noise**2 * np.eye(len(y))
    L = np.linalg.cholesky(K)
    a = np.linalg.solve(L.T, np.linalg.solve(L, y))
    return 0.5 * y @ a + np.sum(np.log(np.diag(L))) + 0.5 * len(y) * np.log(2 * np.pi)


def data(rng, n=100):
    X = rng.normal(size=(n, 3))
    return np.log([1.0, 1.0, 0.1]), X, np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=n)


def main() -> None:
    start, X, y = data(np.random.default_rng(0), 40)
    found = minimize(symgrad(function, wrt=WRT, accuracy="fast"), start, args=(X, y))
    length, height, noise = np.exp(found.x)
    print(f"length {length:.3f}, height {height:.3f}, noise {noise:.3f} in {found.nit} steps")


if __name__ == "__main__":
    main()
