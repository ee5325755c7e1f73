"""The functions of which the modules here are written:

symdiff compile models.py:call_price -o call_price_kernels.py
symdiff compile models.py:morse -o morse_kernels.py
symdiff compile models.py:average -o average_kernels.py
"""

from math import erfc, exp, log, sqrt


def call_price(S, K, T, r, sigma):
    """Black-Scholes price of a European call."""
    d1 = (log(S / K) + (r + sigma**2 / 2) * T) / (sigma * sqrt(T))
    d2 = d1 - sigma * sqrt(T)
    return S * erfc(-d1 / sqrt(2)) / 2 - K * exp(-r * T) * erfc(-d2 / sqrt(2)) / 2


def morse(r, depth=4.7, width=1.9, bond=0.74):
    """Potential energy of a diatomic molecule."""
    return depth * (1 - exp(-width * (r - bond))) ** 2


def average(x, alpha):
    """Squared error of an exponentially weighted moving average."""
    mean, loss = x[0], 0.0
    for k in range(1, len(x)):
        loss = loss + (x[k] - mean) ** 2
        mean = alpha * x[k] + (1 - alpha) * mean
    return loss
