"""A small neural network with a dict of parameters, and its gradient, a dict as well.

python examples/programs/network.py
"""

from __future__ import annotations

import numpy as np

from symdiff import symgrad

WRT = ("params",)
DERIVATIVE = "value_and_grad"
SHAPES = {"W1": (20, 64), "b1": (64,), "W2": (64, 64), "b2": (64,), "W3": (64, 10), "b3": (10,)}


def function(params, x, labels):
    h = np.tanh(x @ params["W1"] + params["b1"])
    h = np.tanh(h @ params["W2"] + params["b2"])
    logits = h @ params["W3"] + params["b3"]
    m = np.max(logits, axis=1, keepdims=True)
    logs = logits - m - np.log(np.sum(np.exp(logits - m), axis=1, keepdims=True))
    return -np.mean(logs[np.arange(len(labels)), labels])


def data(rng, n=128):
    params = {name: 0.3 * rng.normal(size=shape) for name, shape in SHAPES.items()}
    return params, rng.normal(size=(n, 20)), rng.integers(0, 10, n)


def main() -> None:
    params, x, labels = data(np.random.default_rng(0), 32)
    loss = symgrad(function, wrt=WRT, accuracy="fast")
    for step in range(101):
        value, slopes = loss.value_and_grad(params, x, labels)
        params = {name: p - 0.5 * slopes[name] for name, p in params.items()}
        if step % 50 == 0:
            print(f"step {step}: loss {value:.4f}")


if __name__ == "__main__":
    main()
