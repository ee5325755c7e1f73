"""What a call of a function of symdiff costs in a program that JAX compiled.

    python benchmarks/jax_calls.py [--calls 3000]

Gradients under `jax.jit`, in double precision: as a custom call of the kernel's address ("kernel"), by a
callback to Python ("callback"), and JAX's own derivative of the formula, which is nan or loses digits near
zero ("JAX"). Microseconds, results awaited, in turn, the median of each.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from symdiff.interop import jax as ours

jax.config.update("jax_enable_x64", True)


def sinc(x: Any) -> Any:
    return np.sin(x) / x


def spring(x: Any) -> Any:
    return np.sum(np.expm1(x * x) / x)


CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any], Any]] = {
    "a number": (sinc, lambda x: jnp.sin(x) / x, 1.5),
    "1000 elements": (
        lambda x: np.sin(x) / x, lambda x: jnp.sin(x) / x, np.linspace(0.5, 2.0, 1000),
    ),
    "an array": (spring, lambda x: jnp.sum(jnp.expm1(x * x) / x), np.linspace(0.5, 2.0, 1000)),
}  # fmt: skip


def by_callback(fun: Callable[..., Any]) -> Callable[..., Any]:
    made = ours.function(fun)
    slope = jax.jit(jax.grad(lambda x: made(x).sum()))
    backend = jax.default_backend
    jax.default_backend = lambda: "another"  # which has no custom calls
    try:
        jax.block_until_ready(slope(1.5 if fun is sinc else np.linspace(0.5, 2.0, 1000)))
    finally:
        jax.default_backend = backend
    return slope


def timed(call: Callable[..., Any], x: Any) -> float:
    start = time.perf_counter()
    call(x).block_until_ready()
    return 1e6 * (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=3000)
    calls = parser.parse_args().calls
    print(f"JAX {jax.__version__}")
    for name, (fun, theirs, x) in CASES.items():
        made = ours.function(fun)
        x = jnp.asarray(x)
        rivals = [
            jax.jit(jax.grad(lambda x, made=made: made(x).sum())), by_callback(fun),
            jax.jit(jax.grad(lambda x, theirs=theirs: theirs(x).sum())),
        ]  # fmt: skip
        for rival in rivals:
            timed(rival, x)
        times = [[timed(rival, x) for rival in rivals] for _ in range(calls)]
        kernel, callback, own = (statistics.median(t) for t in zip(*times, strict=True))
        print(f"{name:14} kernel {kernel:6.1f}  callback {callback:6.1f}  JAX {own:6.1f}")


if __name__ == "__main__":
    main()
