"""Implied volatilities by Newton's method, in pure Numba.

It imports a module that symdiff wrote and that is checked in beside it; symdiff is not needed to run it:

    python examples/checked_in/implied_volatility.py
"""

from __future__ import annotations

import numpy as np
from call_price_kernels import call_price, call_price_value_and_grad
from numba import njit, prange

STEPS = 30


@njit(parallel=True)
def implied(prices, spot, strikes, time, rate):
    """The volatility at which each call has its price."""
    found = np.empty_like(prices)
    for i in prange(len(prices)):
        sigma = 0.3
        for _ in range(STEPS):
            value, slopes = call_price_value_and_grad(spot, strikes[i], time, rate, sigma)
            step = (value - prices[i]) / slopes[4]
            sigma -= step
            if abs(step) <= 1e-15 * sigma:
                break
        found[i] = sigma
    return found


def main() -> None:
    strikes = np.linspace(80.0, 120.0, 9)
    smile = 0.2 + (strikes - 100.0) ** 2 / 20_000
    prices = call_price(100.0, strikes, 0.5, 0.02, smile)
    found = implied(prices, 100.0, strikes, 0.5, 0.02)
    print("strike   price     volatility")
    for row in zip(strikes, prices, found, strict=True):
        print("{:6.1f}  {:8.4f}  {:.15f}".format(*row))
    print(f"largest error {np.max(np.abs(found - smile)):.1e}")


if __name__ == "__main__":
    main()
