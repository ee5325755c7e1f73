"""How long things take before and around the arithmetic.

    python benchmarks/latency.py [--largest 10000]

- one call of a compiled scalar gradient, and of value and gradient, in nanoseconds;
- what a call on small arrays costs, whatever it computes, beside JAX: into new arrays, into
  given ones, of arguments that are strided, of integers, that broadcast, and of 1000 elements;
- from a function to its first value and gradient, nothing on disk, for three families of
  functions of six variables and growing size: a sum of products, a chain, and a chain
  whose links are used twice; beside JAX, up to 1000 operations; and of an American option on
  a tree of 30 and 60 steps;
- a process that finds on disk what it compiles, beside Python that imports NumPy.

Processor times throughout.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module, invalidate_caches
from pathlib import Path
from typing import Any

import numpy as np
from peers import Jax
from throughput import inputs, nested, ours
from timing import Clock, children, clock, race
from workloads import WORKLOADS

POINT = tuple(float(x) for x in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8))
VARIABLES = "abcdef"
FAMILIES = ("wide", "deep", "shared")


# ------------------------------------------------------------------ functions as text
def text(family: str, operations: int) -> str:
    """The source of `f(a, b, c, d, e, f_)`, written out, of about so many operations."""
    v = [*VARIABLES[:5], "f_"]
    lines = []
    if family == "wide":
        lines.append("y = 0.0")
        for k in range(max(1, operations // 10)):
            p, q, r = v[k % 6], v[(5 * k + 1) % 6], v[(7 * k + 2) % 6]
            lines.append(
                f"y = y + math.sin({1 + k / 128}*{p} + {q})*math.exp(-({r}*{q}))*({p} + {k + 0.5})"
            )
    elif family == "deep":
        lines.append("y = a")
        for k in range(max(1, operations // 5)):
            lines.append(f"y = math.sin({0.7 + k / 8192}*y + {v[k % 6]}) + 0.1")
    else:
        lines.append("y = a")
        for k in range(max(1, operations // 4)):
            lines.append(f"y = y*math.sin(y) + {v[k % 6]}")
    body = "\n    ".join((*lines, "return y"))
    return f"import math\n\n\ndef f({', '.join(v)}):\n    {body}\n"


class Modules:
    """Functions in files of a folder, each under a name of its own."""

    def __init__(self, folder: str) -> None:
        self.folder, self.count = Path(folder), 0
        sys.path.insert(0, folder)

    def write(self, family: str, operations: int) -> tuple[Path, Any]:
        """A new file, and its module."""
        return self.module(f"{family}_{operations}", text(family, operations))

    def module(self, name: str, text: str) -> tuple[Path, Any]:
        self.count += 1
        path = self.folder / f"{name}_{self.count}.py"
        path.write_text(text)
        invalidate_caches()
        return path, import_module(path.stem)


# ---------------------------------------------------------------------------- compiling
def first_gradient(
    function: Callable[..., float], point: tuple[float, ...] = POINT, **options: Any
) -> float:
    """Seconds from the decorator to the first value and gradient, nothing on disk."""
    from symdiff import symgrad

    start = time.thread_time()
    symgrad(function, cache=False, **options).value_and_grad(*point)
    return time.thread_time() - start


def compiled_gradient(
    function: Callable[..., float], point: tuple[float, ...] = POINT, **options: Any
) -> float:
    """The same to a kernel for numbers, however large the function is."""
    from symdiff import symgrad

    start = time.thread_time()
    f = symgrad(function, cache=False, **options).value_and_grad
    f._compiled({})[1].kernel.fast(*point)
    return time.thread_time() - start


def compile_times(
    largest: int, jax: Jax | None, kernels: bool = True
) -> Iterator[tuple[str, int, dict[str, float]]]:
    """Family, operations, and seconds of each way: to the first result, and up to 1000
    operations to a kernel, if `kernels`; the better of three."""
    with tempfile.TemporaryDirectory() as folder:
        modules = Modules(folder)
        first_gradient(modules.write("wide", 20)[1].f)
        for family in FAMILIES:
            for operations in (100, 1000, 10_000):
                if operations > largest:
                    continue

                def best(measure: Callable[..., float], **options: Any) -> float:
                    files = [modules.write(family, operations) for _ in range(3)]  # noqa: B023
                    return min(measure(module.f, **options) for _, module in files)

                found = {"first": best(first_gradient)}
                if kernels and operations <= 1000:
                    found["kernel"] = best(compiled_gradient)
                    found["fast kernel"] = best(compiled_gradient, accuracy="fast")
                if jax is not None and operations <= 1000:
                    path, _ = modules.write(family, operations)
                    found["JAX"] = jax.ask(do="compile", module=str(path), point=POINT)
                yield family, operations, found


# -------------------------------------------------------------------------------- calls
SCALARS = ("quotient", "rosenbrock", "black_scholes", "morse")


def call_times() -> Iterator[tuple[str, float]]:
    """Seconds of one scalar call; `math.sin` for comparison."""
    from symdiff import symgrad

    point = {w.name: tuple(0.4 * a + 0.6 * b for a, b in w.ranges) for w in WORKLOADS}
    functions = {w.name: symgrad(w.fun) for w in WORKLOADS if w.name in SCALARS}
    clocks: dict[str, Clock] = {"math.sin": clock(math.sin, 0.5, repeat=20_000)}
    for name, f in functions.items():
        at = tuple(float(x) for x in point[name])
        clocks[f"{name}, gradient"] = clock(f.grad, *at, repeat=20_000)
        clocks[f"{name}, value and gradient"] = clock(f.value_and_grad, *at, repeat=20_000)
    yield from race(clocks, 15).items()


def valley(x: np.ndarray) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def overheads(jax: Jax | None) -> dict[str, float]:
    """Seconds of a call on so few elements that they cost nothing, and on 1000."""
    from symdiff import symgrad

    work = next(w for w in WORKLOADS if w.name == "rosenbrock")
    f, fast = ours(work), ours(work, accuracy="fast")
    (a, b), (many, more) = inputs(work, 8), inputs(work, 1000)
    strided = inputs(work, 16)[0][::2]
    vector, points = symgrad(valley).value_and_grad, np.linspace(0.0, 1.0, 8)
    places = {n: nested(work, [np.empty(n) for _ in range(work.results)]) for n in (8, 1000)}
    clocks = {
        "symdiff": clock(f, a, b, repeat=500),
        "out=": clock(lambda: f(a, b, out=places[8]), repeat=500),
        "strided": clock(f, strided, b, repeat=500),
        "integers": clock(f, np.arange(8), b, repeat=500),
        "broadcast": clock(f, a[:, None], b, repeat=500),
        "a Python int": clock(f, a, 2, repeat=500),
        "1000 elements": clock(f, many, more, repeat=500),
        '1000 elements, "fast"': clock(fast, many, more, repeat=500),
        "a function of a vector": clock(vector, points, repeat=500),
    }
    found = race(clocks, 25)
    for size, name in ((8, "JAX"), (1000, "JAX, 1000 elements")) if jax is not None else ():
        assert jax is not None
        jax.ask(do="prepare", name=work.name, size=size)
        found |= race({name: jax.clock(500)}, 25)
    if jax is not None:
        jax.ask(do="vector", size=8)
        found |= race({"JAX, a function of a vector": jax.clock(500)}, 25)
    return found


# ------------------------------------------------------------------------------ a tree
TREE = """
import math


def f(s, k, r, v, t):
    dt = t/{steps}
    up = math.exp(v*math.sqrt(dt))
    down = 1/up
    growth = math.exp(r*dt)
    p = (growth - down)/(up - down)
    values = [max(k - s*up**({steps} - 2*i), 0.0) for i in range({steps} + 1)]
    for step in range({steps}):
        for i in range({steps} - step):
            hold = (p*values[i] + (1 - p)*values[i + 1])/growth
            values[i] = max(hold, k - s*up**({steps} - step - 1 - 2*i))
    return values[0]
"""
OPTION = 100.0, 105.0, 0.03, 0.25, 1.0


def tree_times() -> Iterator[tuple[int, dict[str, float]]]:
    """Steps of the tree of an American option, and seconds to its first gradient, to a
    kernel, and to one for `"fast"`."""
    with tempfile.TemporaryDirectory() as folder:
        modules = Modules(folder)
        for steps in (30, 60):
            f = modules.module(f"tree_{steps}", TREE.format(steps=steps))[1].f
            yield (
                steps,
                {
                    "first": first_gradient(f, OPTION),
                    "kernel": compiled_gradient(f, OPTION),
                    "fast kernel": compiled_gradient(f, OPTION, accuracy="fast"),
                },
            )


# ---------------------------------------------------------------------------- processes
WARM = """
import sys
import numpy
{setup}
import {module}
from symdiff import symgrad
symgrad({module}.f).grad(0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
print(",".join(m for m in ("sympy", "numba") if m in sys.modules))
"""


def warm_start(rounds: int = 7) -> dict[str, Any]:
    """Seconds of whole processes: bare Python with NumPy, and with a gradient from disk."""
    with tempfile.TemporaryDirectory() as folder:
        names = {}
        for operations in (20, 100, 1000):
            path = Path(folder) / f"wide_{operations}.py"
            path.write_text(text("wide", operations))
            names[operations] = path.stem
        setup = f"sys.path[:0] = {[folder, *sys.path]!r}"
        codes = {f"{n} operations": WARM.format(setup=setup, module=m) for n, m in names.items()}
        codes = {"bare": f"import sys\nimport numpy\n{setup}\n", **codes}
        environment = dict(os.environ, SYMDIFF_CACHE_DIR=str(Path(folder) / "cache"))

        def run(code: str) -> str:
            done = subprocess.run(
                [sys.executable, "-c", code], env=environment, text=True, check=True,
                stdout=subprocess.PIPE,
            )  # fmt: skip
            return done.stdout.strip()

        imported = {name: run(code) for name, code in codes.items()}
        imported = {name: run(code) for name, code in codes.items()}
        clocks = {name: clock(run, code, timer=children) for name, code in codes.items()}
        seconds = race(clocks, rounds)
        return {"seconds": seconds, "imported": imported}


def main() -> None:
    parser = argparse.ArgumentParser(description="Latency of calls, compiling and starting.")
    parser.add_argument("--largest", type=int, default=10_000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    jax = Jax.start()
    print("| one scalar call | ns |\n|---|---|")
    for name, seconds in call_times():
        print(f"| {name} | {seconds * 1e9:.0f} |")
    print("\n| a call on small arrays | microseconds |\n|---|---|")
    for name, seconds in overheads(jax).items():
        print(f"| {name} | {seconds * 1e6:.2f} |")
    print(
        "\n| first value and gradient, seconds | operations | symdiff | its kernel | "
        'kernel, "fast" | JAX |\n|---|---|---|---|---|---|'
    )
    for family, operations, found in compile_times(options.largest, jax):
        cells = [
            f"{found[k]:.3f}" if k in found else ""
            for k in ("first", "kernel", "fast kernel", "JAX")
        ]
        print(f"| {family} | {operations} | {' | '.join(cells)} |", flush=True)
    for steps, found in tree_times() if options.largest >= 10_000 else ():
        cells = [f"{found[k]:.2f}" for k in ("first", "kernel", "fast kernel")]
        print(f"| American option, {steps} steps | | {' | '.join(cells)} | |", flush=True)
    warm = warm_start()
    print("\n| process, everything on disk | seconds over bare | SymPy, Numba |\n|---|---|---|")
    for name, seconds in warm["seconds"].items():
        over = seconds - warm["seconds"]["bare"]
        print(f"| {name} | {over:.3f} | {warm['imported'][name] or 'not imported'} |")
    if jax is not None:
        jax.stop()


if __name__ == "__main__":
    main()
