"""Black-Scholes prices of many options, and their Greeks.

python examples/programs/greeks.py
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from symdiff import symgrad

WRT = ("spot", "years", "vol")
DERIVATIVE = "value_and_grad"


def function(spot, strike, years, rate, vol):
    root = vol * np.sqrt(years)
    a = (np.log(spot / strike) + (rate + vol**2 / 2) * years) / root
    return spot * ndtr(a) - strike * np.exp(-rate * years) * ndtr(a - root)


def data(rng, n=100_000):
    return (
        rng.uniform(50, 150, n), rng.uniform(50, 150, n), rng.uniform(0.1, 2, n), 0.02,
        rng.uniform(0.1, 0.5, n),
    )  # fmt: skip


def main() -> None:
    call = symgrad(function, wrt=WRT)
    price, (delta, theta, vega) = call.value_and_grad(*data(np.random.default_rng(0), 1000))
    print(f"mean of 1000 options: price {price.mean():.4f}, delta {delta.mean():.4f}, "
          f"theta {-theta.mean():.4f}, vega {vega.mean():.4f}")  # fmt: skip


if __name__ == "__main__":
    main()
