"""The Greeks of a European call, all from one plain price formula.

python examples/black_scholes.py
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from symdiff import symgrad


def d1(spot, strike, years, rate, vol):
    return (math.log(spot / strike) + (rate + vol**2 / 2) * years) / (vol * math.sqrt(years))


@symgrad(wrt=("spot", "years", "rate", "vol"))
def call(spot, strike, years, rate, vol):
    """The Black-Scholes price of a call."""
    a = d1(spot, strike, years, rate, vol)
    b = a - vol * math.sqrt(years)
    return spot * ndtr(a) - strike * math.exp(-rate * years) * ndtr(b)


gamma = call.diff("spot", "spot")
vanna = call.diff("spot", "vol")


def greeks(spot, strike, years, rate, vol):
    """The textbook names for the derivatives."""
    delta, per_year, rho, vega = call.grad(spot, strike, years, rate, vol)
    return {
        "delta": delta,
        "theta": -per_year,
        "rho": rho,
        "vega": vega,
        "gamma": gamma(spot, strike, years, rate, vol),
        "vanna": vanna(spot, strike, years, rate, vol),
    }


def main() -> None:
    print("price", call(100.0, 105.0, 0.5, 0.02, 0.2))
    for name, value in greeks(100.0, 105.0, 0.5, 0.02, 0.2).items():
        print(f"{name:6}{value: .12f}")
    spots = np.linspace(50, 200, 2_001)
    delta = call.grad(spots, 105.0, 0.5, 0.02, 0.2)[0]
    print(f"delta of {len(spots)} spots: {delta.min():.3g} ... {delta.max():.3g}")


if __name__ == "__main__":
    main()
