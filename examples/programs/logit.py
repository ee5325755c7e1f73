"""Logistic regression: the loss that SciPy minimises.

python examples/programs/logit.py
"""

from __future__ import annotations

import numpy as np

from symdiff.interop.scipy import minimize

WRT = ("w",)
DERIVATIVE = "value_and_grad"


def function(w, X, y):
    margin = y * (X @ w)
    return np.mean(np.log1p(np.exp(-margin))) + 0.5e-3 * np.sum(w**2)


def data(rng, n=5000, k=20):
    X, truth = rng.normal(size=(n, k)), rng.normal(size=k)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-X @ truth)), 1.0, -1.0)
    return 0.1 * rng.normal(size=k), X, y


def main() -> None:
    w, X, y = data(np.random.default_rng(0), 500, 3)
    found = minimize(function, w, args=(X, y))
    print(f"loss {found.fun:.6f} in {found.nit} steps; 1000 times the weights, where a plain "
          f"log1p(exp(.)) overflows: {minimize(function, 1000 * w, args=(X, y)).fun:.6f}")  # fmt: skip


if __name__ == "__main__":
    main()
