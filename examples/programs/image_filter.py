"""Learn the filter that makes one image of another.

python examples/programs/image_filter.py
"""

from __future__ import annotations

import numpy as np

from symdiff import symgrad

WRT = ("kernel",)
DERIVATIVE = "value_and_grad"


def function(kernel, image, target):
    h, w = image.shape
    out = np.zeros((h - 4, w - 4))
    for i in range(5):
        for j in range(5):
            out = out + kernel[i, j] * image[i : h - 4 + i, j : w - 4 + j]
    return np.mean((out - target) ** 2)


def data(rng, n=256):
    image = rng.random((n, n))
    return rng.normal(size=(5, 5)), image, image[2:-2, 2:-2]


def main() -> None:
    kernel, image, target = data(np.random.default_rng(0), 64)
    misfit = symgrad(function, wrt=WRT)
    for _ in range(2000):
        kernel = kernel - 0.1 * misfit.grad(kernel, image, target)
    print(
        f"misfit {misfit(kernel, image, target):.2e}; the centre of the filter: {kernel[2, 2]:.6f}"
    )


if __name__ == "__main__":
    main()
