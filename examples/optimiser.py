"""What one wrong entry of a gradient does to an optimiser.

The paper's conclusion: "a large value of the derivative in one entry of a gradient
causes all of the other entries to vanish (comparatively) ... and (perhaps even more
devastatingly) a corrupted Hessian for second order methods".

We minimise  L(x, y) = (h(x) + y - 5)**2/2 + (y - 1)**2/2  with h = (x**2 - 4)/(x - 2),
whose minimum is at x = 2, y = 1, by gradient descent and by Newton's method, with

- naive: the chain rule term by term, as backpropagation evaluates it;
- naive, guarded: the same with the usual guard, the denominator of h replaced by
  +-1e-4 where it is smaller than that (the paper's h2);
- symdiff: the function as it is written above.

    python examples/optimiser.py [--out docs/images]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from symdiff import symgrad

START = (3.0, 0.0)
MINIMUM = np.array([2.0, 1.0])
STEPS = 120
RATE = 0.6
GUARD = 1e-4

Derivatives = Callable[[float, float], tuple[np.ndarray, np.ndarray]]
"""(x, y) -> gradient and Hessian of the loss."""


@symgrad
def loss(x, y):
    h = (x**2 - 4) / (x - 2)
    return (h + y - 5) ** 2 / 2 + (y - 1) ** 2 / 2


def symdiff_derivatives(x: float, y: float) -> tuple[np.ndarray, np.ndarray]:
    return np.array(loss.grad(x, y)), np.array(loss.hessian(x, y))


def naive_derivatives(x: float, y: float, guard: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """The chain rule on h = f/g and on the loss, nothing cancelled."""
    x = np.float64(x)
    with np.errstate(all="ignore"):
        f, df, ddf = x * x - 4, 2 * x, 2.0
        g, dg = x - 2, 1.0
        if abs(g) < guard:
            g, dg = np.float64(guard if g >= 0 else -guard), 0.0
        h = f / g
        dh = (1 / g) * df + (-f / g**2) * dg
        ddh = ddf / g - 2 * df * dg / g**2 + 2 * f * dg * dg / g**3
        r, s = h + y - 5, y - 1
        gradient = np.array([r * dh, r + s])
        hessian = np.array([[dh * dh + r * ddh, dh], [dh, 2.0]])
    return gradient, hessian


def guarded_derivatives(x: float, y: float) -> tuple[np.ndarray, np.ndarray]:
    return naive_derivatives(x, y, GUARD)


METHODS: dict[str, Derivatives] = {
    "naive": naive_derivatives,
    "naive, guarded": guarded_derivatives,
    "symdiff": symdiff_derivatives,
}


def descend(derivatives: Derivatives, newton: bool) -> np.ndarray:
    """The iterates, one row each; it stops where they are no longer finite."""
    point = np.array(START)
    path = [point]
    for _ in range(STEPS):
        gradient, hessian = derivatives(*(float(v) for v in point))
        if not newton:
            step = RATE * gradient
        elif np.all(np.isfinite(hessian)) and np.linalg.matrix_rank(hessian) == 2:
            step = np.linalg.solve(hessian, gradient)
        else:
            step = np.full(2, np.nan)
        point = point - step
        path.append(point)
        if not np.all(np.isfinite(point)):
            break
    return np.array(path)


def distances(path: np.ndarray) -> np.ndarray:
    return np.linalg.norm(path - MINIMUM, axis=1)


def runs() -> dict[tuple[str, str], np.ndarray]:
    """The path of every method under both optimisers."""
    return {
        (optimiser, name): descend(derivatives, newton)
        for optimiser, newton in (("gradient descent", False), ("Newton", True))
        for name, derivatives in METHODS.items()
    }


def gradient_angle(derivatives: Derivatives, x: float, y: float) -> float:
    """Degrees between the computed gradient and the true one, (x + y - 3, x + 2 y - 4)."""
    computed, _ = derivatives(x, y)
    true = np.array([x + y - 3, x + 2 * y - 4])
    cosine = computed @ true / (np.linalg.norm(computed) * np.linalg.norm(true))
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="One wrong gradient entry in an optimiser.")
    parser.add_argument("--out", type=Path, help="folder for the figure")
    options = parser.parse_args(arguments)
    paths = runs()
    print(f"{'':34}{'steps':>7}{'last distance':>16}{'largest distance':>18}")
    for (optimiser, name), path in paths.items():
        d = distances(path)
        largest = np.nanmax(d)
        print(f"{optimiser + ', ' + name:34}{len(d) - 1:>7}{d[-1]:>16.3g}{largest:>18.3g}")
    print("\nangle between computed and true gradient at y = 1.1, in degrees")
    print(f"{'':18}" + "".join(f"{f'x = 2 + {g:g}':>16}" for g in (1e-2, 1e-5, 1e-9)))
    for name, derivatives in METHODS.items():
        angles = [gradient_angle(derivatives, 2 + g, 1.1) for g in (1e-2, 1e-5, 1e-9)]
        print(f"{name:18}" + "".join(f"{a:>16.3g}" for a in angles))
    if options.out:
        print(draw(paths, options.out / "optimiser.png"))


def draw(paths: dict[tuple[str, str], np.ndarray], file: Path) -> Path:
    """Distance to the minimum against the iteration."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained", sharey=True)
    colours = {"naive": "#e3b505", "naive, guarded": "#d1495b", "symdiff": "#1f5fbf"}
    for (optimiser, name), path in paths.items():
        axes = panels[0 if optimiser == "gradient descent" else 1]
        d = np.maximum(distances(path), 1e-17)
        axes.semilogy(d, "o-", ms=2.5, lw=1, color=colours[name], label=name)
        if not np.isfinite(d[-1]):
            axes.semilogy(len(d) - 2, d[-2], "x", ms=9, color=colours[name], label="then nan")
        axes.set_title(optimiser, fontsize=10)
        axes.set_xlabel("iteration")
        axes.legend(fontsize=7)
    panels[0].set_ylabel("distance to the minimum")
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=100, metadata={"Software": None})
    plt.close(figure)
    return file


if __name__ == "__main__":
    main()
