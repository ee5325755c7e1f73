"""The potassium gate of the Hodgkin-Huxley neuron, linearised about a potential.

The rate alpha_n is 0/0 at v = 10 mV, and loses its digits nearby: a removable
singularity that every simulator of this model guards by hand. Here it is written as in
the paper, without a guard.

    python examples/hodgkin_huxley.py
"""

from __future__ import annotations

import math

import numpy as np

from symdiff import symgrad


@symgrad
def alpha_n(v):
    """Opening rate, per ms; v is the depolarisation in mV."""
    return 0.01 * (10 - v) / (math.exp((10 - v) / 10) - 1)


@symgrad
def beta_n(v):
    """Closing rate, per ms."""
    return 0.125 * math.exp(-v / 80)


@symgrad
def steady(v):
    """The open fraction that the gate tends to at a fixed potential."""
    return alpha_n(v) / (alpha_n(v) + beta_n(v))


@symgrad
def gate(n, v):
    """dn/dt."""
    return alpha_n(v) * (1 - n) - beta_n(v) * n


def linearised(v: float) -> tuple[float, float]:
    """(d gate/dn, d gate/dv) at the steady state: the gate's small-signal response."""
    return gate.grad(steady(v), v)


def main() -> None:
    for v in (0.0, 10.0, 20.0, 50.0):
        decay, drive = linearised(v)
        print(
            f"v = {v:4.0f} mV: n = {steady(v):.6f}, time constant {-1 / decay:.4f} ms, drive {drive:.3e}"
        )
    print("rate and slope at 10 mV:", *alpha_n.value_and_grad(10.0))
    v = np.linspace(-50, 120, 2_001)
    slope = steady.grad(v)
    k = int(np.nanargmax(slope))
    print(f"steepest at v = {v[k]:.2f} mV: {slope[k]:.6f} per mV")


if __name__ == "__main__":
    main()
