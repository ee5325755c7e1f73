"""What a call costs, by the form of its arguments.

    python benchmarks/call_overhead.py [--calls 300]

Nanoseconds of a call of small functions whose own work is some 20: value and gradient of symdiff, the
plain Python function, the dispatcher of Numba (values only; "-" where it refuses the arguments, or a container
that it warns of), and `jax.jit` (value and gradient; "-" where that is not installed). The least of many calls,
after some that compile.
"""

from __future__ import annotations

import argparse
import functools
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np

from symdiff import symgrad

try:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
except ImportError:
    jax = None


@dataclass
class Point:
    x: float
    y: float


if jax is not None:
    jax.tree_util.register_dataclass(Point, ["x", "y"], [])


def f(x, y, scale=2.0):
    return scale * x * y + x


def of_items(p):
    return p[0] * p[1] + p[0]


def of_keys(p):
    return p["x"] * p["y"] + p["x"]


def of_fields(p):
    return p.x * p.y + p.x


def loss(w, labels):
    z = w * np.arange(1.0, len(labels) + 1)
    return np.sum(np.logaddexp(0.0, z) - labels * z)


def loss_in_jax(w, labels):
    z = w * jnp.arange(1.0, len(labels) + 1)
    return jnp.sum(jnp.logaddexp(0.0, z) - labels * z)


def power(x, n):
    return x**n


CASES: list[tuple[str, Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = [
    ("floats", f, (1.5, 2.5, 2.0), {}),
    ("NumPy's doubles", f, (np.float64(1.5), np.float64(2.5), 2.0), {}),
    ("a default omitted", f, (1.5, 2.5), {}),
    ("keywords", f, (1.5,), {"y": 2.5, "scale": 2.0}),
    ("an integer and floats", f, (1.5, 2, 2.0), {}),
    ("integers", f, (1, 2, 2), {}),
    ("an integer exponent", power, (1.5, 3), {}),
    ("arrays without axes", f, (np.array(1.5), np.array(2.5), 2.0), {}),
    ("a tuple", of_items, ((1.5, 2.5),), {}),
    ("a dict", of_keys, ({"x": 1.5, "y": 2.5},), {}),
    ("a dataclass", of_fields, (Point(1.5, 2.5),), {}),
    ("a float, 4 floats", loss, (0.3, np.array([0.0, 1.0, 1.0, 0.0])), {}),
    ("a float, 4 integers", loss, (0.3, np.array([0, 1, 1, 0])), {}),
]


def nanoseconds(call: Callable[..., Any], args: Any, kwargs: Any, calls: int) -> str:
    """The least time of a call; "-" if it is refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(20):
                call(*args, **kwargs)
    except Exception:
        return "-"
    best, now = 10**12, time.perf_counter_ns
    for _ in range(calls):
        start = now()
        call(*args, **kwargs)
        best = min(best, now() - start)
    return str(best)


def in_jax(fun: Callable[..., Any], slope: bool) -> Callable[..., Any]:
    """The same under `jax.jit`, results awaited."""
    fun = loss_in_jax if fun is loss else fun
    call = jax.jit(jax.grad(fun, allow_int=True) if slope else fun)
    return functools.wraps(fun)(lambda *a, **k: jax.block_until_ready(call(*a, **k)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=300)
    calls = parser.parse_args().calls
    print(
        f"{'arguments':24}{'value':>8}{'gradient':>10}{'Python':>8}{'Numba':>8}{'JAX':>8}{'gradient':>10}"
    )
    for name, fun, args, kwargs in CASES:
        ours = symgrad(fun, wrt="w") if fun is loss else symgrad(fun)
        each = [ours, ours.grad, fun, numba.njit(fun)]
        if jax is not None:
            each += [in_jax(fun, False), in_jax(fun, True)]
        row = [nanoseconds(call, args, kwargs, calls) for call in each]
        row += ["-"] * (6 - len(row))
        print(
            f"{name:24}{row[0]:>8}{row[1]:>10}{row[2]:>8}{row[3]:>8}{row[4]:>8}{row[5]:>10}",
            flush=True,
        )


if __name__ == "__main__":
    main()
