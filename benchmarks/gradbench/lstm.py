"""A network with long short-term memory that reads a text bit by bit; its matrices are diagonal.

Each layer has four gates, with a row of weights and one of biases; its state is a row of outputs and one of cells.
"""

from __future__ import annotations

import numpy as np

from benchmarks.gradbench.evals import Eval, Functions
from symdiff import symgrad


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def layer(weights, biases, hidden, cell, given):
    """What a layer makes of an input: its new outputs and cells. weights and biases have shape (4, b)."""
    forget = sigmoid(given * weights[0] + biases[0])
    ingate = sigmoid(hidden * weights[1] + biases[1])
    outgate = sigmoid(given * weights[2] + biases[2])
    change = np.tanh(hidden * weights[3] + biases[3])
    cell = cell * forget + ingate * change
    return outgate * np.tanh(cell), cell


def objective(main, extra, state, sequence):
    layers = len(main) // 2
    bits = sequence.shape[1]
    gates = main.reshape(layers, 2, 4, bits)
    hidden, cells = state[0::2].copy(), state[1::2].copy()
    total = 0.0
    for t in range(len(sequence) - 1):
        x = sequence[t] * extra[0]
        for k in range(layers):
            x, cell = layer(gates[k, 0], gates[k, 1], hidden[k], cells[k], x)
            hidden[k], cells[k] = x, cell
        predicted = x * extra[1] + extra[2]
        normed = predicted - np.log(2 + np.sum(np.exp(predicted)))
        total += np.sum(sequence[t + 1] * normed)
    return -total / ((len(sequence) - 1) * bits)


def functions(accuracy: str) -> Functions:
    f = symgrad(objective, wrt=("main", "extra"), accuracy=accuracy)

    def jacobian(main, extra, state, sequence):
        return np.concatenate([part.ravel() for part in f.grad(main, extra, state, sequence)])

    return {"objective": f, "jacobian": jacobian}


KEYS = ("main_params", "extra_params", "state", "sequence")


def given(rng, layers, characters, bits=8):
    shapes = [(2 * layers, 4 * bits), (3, bits), (2 * layers, bits)]
    arrays = [rng.random(shape) for shape in shapes]
    text = rng.integers(0, 2, size=(characters, bits)).astype(float)
    return {key: part.tolist() for key, part in zip(KEYS, (*arrays, text), strict=True)}


def sizes():
    rng = np.random.default_rng(31337)
    return {f"l={n},c={c}": given(rng, n, c) for n, c in ((2, 1024), (4, 1024), (6, 4096))}


EVAL = Eval(
    prepare=lambda given: tuple(np.array(given[key], dtype=float) for key in KEYS),
    functions=functions,
    output=lambda name, result, _: np.asarray(result).tolist(),
    example=lambda rng: given(rng, 2, 4, 3),
    derivative="jacobian",
    sizes=sizes,
)
