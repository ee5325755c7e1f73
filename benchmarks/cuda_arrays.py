"""Functions with arrays and loops on a CUDA device, beside JAX.

    python benchmarks/cuda_arrays.py [--size 10000000] [--dtype float64,float32] [--only dot]

For each function the value and gradient are timed, on arrays that stay on the device:

    dot       a sum of products: a reduction, and gradients that are memory-bound
    chain     Rosenbrock's function: a sum over neighbours
    stencil   the squares of a five-point stencil, a matrix
    rows      a matrix times a vector through logistic losses: sums of rows and of columns
    pairs     energies of all pairs of points: arithmetic for each pair
    blend     a recurrence along each row, one thread each, with a tape

The table gives microseconds, for the memory-bound ones what share of the bandwidth of a copy
on the device the bytes that must be moved are, and JAX's time over ours (`jax.jit` of
`value_and_grad`), where JAX is installed. `--size` is the number of elements of the largest
array, of `pairs` the number of pairs.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from symdiff import symgrad
from symdiff.runtime.cuda import driver


def elementwise() -> ModuleType:
    """The benchmark of elementwise kernels, which has the clock and the memory."""
    name = "cuda_benchmark"
    if name not in sys.modules:
        path = Path(__file__).with_name("cuda.py")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


# ------------------------------------------------------------------------ functions
# Each takes NumPy or jax.numpy.
def dot(m):
    return lambda x, y: m.sum(x * y)


def chain(m):
    return lambda x: m.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def stencil(m):
    def energy(u):
        lap = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        return m.sum(lap * lap)

    return energy


def rows(m):
    def loss(X, y, w):
        z = X @ w
        return m.sum(m.logaddexp(0.0, z) - y * z)

    return loss


def pairs(m):
    def energy(x, y):
        dx, dy = x[:, None] - x[None, :], y[:, None] - y[None, :]
        return m.sum(1 / (dx * dx + dy * dy + 0.1))

    return energy


def blend(d):
    total = 0.0
    for row in range(d.shape[0]):
        e = 0.0
        for col in range(d.shape[1]):
            e = (1 - e) * d[row, col] + e
        total += e * e
    return total


@dataclass(frozen=True)
class Case:
    """A function, the shapes of its arguments for a number of elements, and how many times
    the largest of them is read or written at least."""

    name: str
    make: Callable[[Any], Callable[..., Any]]
    shapes: Callable[[int], tuple[tuple[int, ...], ...]]
    passes: float
    jax: bool = True


def _square(n: int) -> int:
    return max(3, math.isqrt(n))


CASES = (
    Case("dot", dot, lambda n: ((n,), (n,)), 6),
    Case("chain", chain, lambda n: ((n,),), 3),
    Case("stencil", stencil, lambda n: ((_square(n), _square(n)),), 3),
    Case("rows", rows, lambda n: ((_square(n), _square(n)), (_square(n),), (_square(n),)), 4),
    Case("pairs", pairs, lambda n: ((_square(n),), (_square(n),)), 0),
    Case("blend", lambda m: blend, lambda n: ((max(1, n // 256), 256),), 3, jax=False),
)


@dataclass(frozen=True)
class Shaped:
    """An array in device memory, for whoever understands `__cuda_array_interface__`."""

    buffer: Any
    shape: tuple[int, ...]

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self.buffer.__cuda_array_interface__, "shape": self.shape}


def jax_seconds(case: Case, arrays: Sequence[np.ndarray], wall: Callable[..., float]) -> float:
    """Seconds of JAX's value and gradient, or nan without JAX."""
    if not case.jax or importlib.util.find_spec("jax") is None:
        return math.nan
    import jax

    jax.config.update("jax_enable_x64", True)
    by = tuple(range(len(arrays)))
    f = jax.jit(jax.value_and_grad(case.make(jax.numpy), argnums=by))
    given = [jax.numpy.asarray(a) for a in arrays]
    return wall(lambda: jax.block_until_ready(f(*given)))


def measure(bench: Any, base: ModuleType, case: Case, size: int, dtype: str, copy: float) -> str:
    """One line of the table."""
    kind = np.dtype(dtype)
    shapes = case.shapes(size)
    made = [Shaped(bench.random(math.prod(s), kind, 0.1, 0.9), s) for s in shapes]
    slopes = [Shaped(bench.empty(math.prod(s), kind), s) for s in shapes]
    value = Shaped(bench.empty(1, kind), ())
    f = symgrad(case.make(np), target="cuda").value_and_grad
    out = (value, tuple(slopes) if len(slopes) > 1 else slopes[0])
    ours = bench.seconds(lambda: f(*made, out=out))
    whole = max(math.prod(s) for s in shapes)
    share = case.passes * whole * kind.itemsize / ours / copy
    hosts = [bench.host(a.buffer, a.buffer.size).reshape(a.shape) for a in made]
    bench.clear()
    other = jax_seconds(case, hosts, base.wall)
    moved = f"{100 * share:.0f} %" if case.passes else "-"
    ratio = f"{other / ours:.2f}x" if math.isfinite(other) else "-"
    return f"| {case.name} | {dtype} | {size} | {1e6 * ours:.1f} | {moved} | {ratio} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Functions with arrays on a CUDA device.")
    parser.add_argument("--size", type=int, default=10_000_000)
    parser.add_argument("--dtype", default="float64,float32")
    parser.add_argument("--only", default="", help="names of functions, with commas")
    options = parser.parse_args(arguments)
    base, device = elementwise(), driver.device(0)
    with device.current():
        bench = base.Bench(device)
        copy = bench.copy_bandwidth(min(1 << 30, bench.free_bytes() // 4))
        print(f"copy on the device: {copy / 1e9:.0f} GB/s, read and written\n")
        print("| function | dtype | elements | symdiff, us | of the copy | JAX |")
        print("|---|---|---|---|---|---|")
        for dtype in options.dtype.split(","):
            for case in CASES:
                if not options.only or case.name in options.only.split(","):
                    print(measure(bench, base, case, options.size, dtype, copy), flush=True)


if __name__ == "__main__":
    main()
