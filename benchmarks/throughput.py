"""Elementwise values and all derivatives on large arrays, beside JAX and C by hand.

    python benchmarks/throughput.py [--size 4000000] [--rounds 9] [--only chain,morse]

The twelve functions of `workloads.py`, on one thread: symdiff with `accuracy="fast"` and by
default, JAX's `jit(vmap(value_and_grad(f)))`, and C written by hand, compiled with
`gcc -O3 -march=native -ffast-math` and glibc's vector library; they take turns, and the
shortest processor time of each counts. symdiff and C write into arrays that are there, JAX makes new
ones, as it always does; "new" is `"fast"` into new arrays too, and "through" with results
that go through the caches however large they are. JAX / C says what is to be had on this
machine. The last columns are symdiff's default on two threads; what memory
alone would take, by the time of `c = a + 3*b` in the same run (a word written is a word
read as well); and the packed and scalar arithmetic instructions of symdiff's fast kernel.
`--size 2048` compares kernels in cache, calls included.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from peers import TRIAD, Arrays, Jax, gcc, packed, source
from timing import clock, geometric_mean, race
from workloads import WORKLOADS, Workload

from symdiff import symgrad
from symdiff.codegen.llvm import jit
from symdiff.runtime.scalar import compiled
from symdiff.runtime.scalar import elementwise as runtime_arrays

AT_ONCE = 400_000
"""Elements that are computed in a row, by several calls if arrays are smaller."""
NEAR_MEMORY = 1.5
"""A C kernel below this multiple of what memory takes counts as bound by memory."""


@dataclass
class Result:
    """One line of the table: seconds by competitor, and instructions."""

    work: Workload
    size: int
    seconds: dict[str, float]
    memory: float
    instructions: tuple[int, int]
    kernels: dict[str, tuple[int, int]] = field(default_factory=dict)

    def ratio(self, one: str, other: str) -> float:
        """The time of one over that of the other; nan if either is missing."""
        return self.seconds.get(one, math.nan) / self.seconds.get(other, math.nan)

    @property
    def near_memory(self) -> bool:
        return self.seconds.get("C", math.inf) < NEAR_MEMORY * self.memory


def ours(work: Workload, **options: Any) -> Callable[..., Any]:
    """What the workload asks for as one symdiff function."""
    f = symgrad(work.fun, wrt=work.by, **options)
    if work.outputs == 1 and work.second is None:
        return f.value_and_grad
    first = f.value_and_grad if work.outputs == 1 else None
    second = f.diff(work.second, work.second) if work.second else None
    params = ", ".join(work.params)
    if first:
        lines, parts = [], [f"first({params})"]
    else:
        lines, rows = slopes_text(work.by, work.outputs, params)
        parts = [f"value({params})", rows]
    parts += [f"second({params})"] if second else []
    slopes = {f"slope{k}": f.diff(n) for k, n in enumerate(work.by)}
    text = "\n    ".join([f"def {work.name}({params}):", *lines, f"return {', '.join(parts)}"])
    return symgrad(written(text + "\n", first=first, value=f, second=second, **slopes), **options)


def slopes_text(by: Sequence[str], outputs: int, params: str) -> tuple[list[str], str]:
    """Statements and an expression of the elementwise derivatives of several outputs, by `slope0`, ..."""
    lines = [f"d{k} = slope{k}({params})" for k in range(len(by))]
    rows = [f"({', '.join(f'd{k}[{i}]' for k in range(len(by)))})" for i in range(outputs)]
    return lines, f"({', '.join(rows)})"


def written(text: str, **names: Any) -> Callable[..., Any]:
    """The function of a Python text, whose source can be read."""
    import linecache

    name = f"<benchmark {len(linecache.cache)}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    exec(compile(text, name, "exec"), names)
    found: Callable[..., Any] = names[text.partition("(")[0].removeprefix("def ")]
    return found


def nested(work: Workload, out: Arrays) -> Any:
    """Arrays for the results, nested as symdiff returns them."""
    count, by = work.outputs, len(work.by)
    if count > 1:
        rows = (tuple(out[count + r * by : count + (r + 1) * by]) for r in range(count))
        return tuple(out[:count]), tuple(rows)
    slopes = tuple(out[1 : 1 + by]) if by > 1 else out[1]
    return (out[0], slopes) if work.second is None else ((out[0], slopes), out[-1])


def inputs(work: Workload, size: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.uniform(*r, size) for r in work.ranges]


def instructions(call: Callable[[], object]) -> tuple[int, int]:
    """Packed and scalar arithmetic of the array kernel that a first call compiles."""
    texts: list[str] = []
    original = jit.compile_object

    def noting(text: str, **options: Any) -> bytes:
        texts.append(text)
        return original(text, **options)

    in_memory, compiled._linked = compiled._linked, WeakValueDictionary()
    jit.compile_object = noting  # type: ignore[assignment]
    try:
        call()
    finally:
        jit.compile_object, compiled._linked = original, in_memory
    body = next(t for t in texts if "@body(" in t)
    return packed(jit.assembly(body))


def agree(name: str, found: Sequence[Any], expected: Sequence[Any]) -> None:
    """Both compute the same thing, up to what plain formulas lose."""
    for a, b in zip(found, expected, strict=True):
        assert np.allclose(a, b, rtol=1e-6, atol=1e-9), name


def through(call: Callable[[], object]) -> None:
    """A call whose results go through the caches, however large they are."""
    usual, runtime_arrays.STREAMED = runtime_arrays.STREAMED, 1 << 60
    try:
        call()
    finally:
        runtime_arrays.STREAMED = usual


def measure(work: Workload, size: int, rounds: int, jax: Jax | None, folder: Path) -> Result:
    """Every competitor on one workload."""
    arrays = inputs(work, size)
    out = [np.empty(size) for _ in range(work.results)]
    places = nested(work, out)
    clocks = {}
    functions = {
        "fast": ours(work, accuracy="fast", parallel=False),
        "symdiff": ours(work, parallel=False),
        "threads": ours(work, parallel=True),
    }
    few = [a[:1000] for a in arrays]
    counted = ours(work, accuracy="fast", parallel=False, cache=False)
    counts = instructions(lambda: counted(*few))
    times = max(1, AT_ONCE // size)
    fast = functions["fast"]
    for name in ("fast", "symdiff"):
        clocks[name] = clock(lambda f=functions[name]: f(*arrays, out=places), repeat=times)
    clocks["new"] = clock(lambda: fast(*arrays), repeat=times)
    clocks["through"] = clock(through, lambda: fast(*arrays, out=places), repeat=times)
    for name, key in (("symdiff", "one"), ("threads", "two")):  # by the clock on the wall
        clocks[key] = clock(
            lambda f=functions[name]: f(*arrays, out=places),
            timer=time.perf_counter, repeat=times,
        )  # fmt: skip
    functions["symdiff"](*arrays, out=places)
    expected = [o[:1000].copy() for o in out]
    kernels = {"fast": counts}
    if (found := gcc(source(work), folder)) is not None:
        kernel, assembly = found
        kernels["C"] = packed(assembly)
        kernel(few, [o[:1000] for o in out])
        agree(work.name, [o[:1000] for o in out], expected)
        in_a_row = clock(lambda: kernel(arrays, out, times))
        clocks["C"] = lambda: in_a_row() / times
        triad, _ = gcc(TRIAD, folder)  # type: ignore[misc]
        three = [np.ones(size) for _ in range(3)]
        triads = clock(lambda: triad(three[:2], three[2:], times))
        clocks["triad"] = lambda: triads() / times
    if jax is not None:
        answer = jax.ask(do="prepare", name=work.name, size=size)
        agree(work.name, answer, [e[:3] for e in expected])
        clocks["JAX"] = jax.clock(times)
    seconds = race(clocks, rounds)
    words = len(arrays) + 2 * work.results
    memory = seconds.get("triad", math.nan) * words / 4
    return Result(work, size, seconds, memory, counts, kernels)


def results(size: int = 4_000_000, rounds: int = 9, only: Sequence[str] = ()) -> Iterator[Result]:
    """The lines of the table as they come."""
    jax = Jax.start()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        for work in WORKLOADS:
            if not only or work.name in only:
                yield measure(work, size, rounds, jax, Path(folder))
    if jax is not None:
        jax.stop()


RATIOS = (
    ("JAX", "fast"), ("JAX", "symdiff"), ("JAX", "C"), ("fast", "C"), ("symdiff", "C"),
)  # fmt: skip
HEAD = (
    "| function | fast, ns | new | through | default, ns | JAX / fast | JAX / default | JAX / C | "
    "fast / C | default / C | two threads | fast / memory | packed/scalar |"
)


def line(r: Result) -> str:
    per = 1e9 / r.size
    cells = [f"{r.seconds[k] * per:.2f}" for k in ("fast", "new", "through", "symdiff")]
    cells += [f"{r.ratio(*pair):.2f}x" for pair in (*RATIOS, ("one", "two"))]
    cells += [f"{r.seconds['fast'] / r.memory:.2f}x", "/".join(map(str, r.instructions))]
    return f"| {r.work.name} | {' | '.join(cells)} |"


def summary(found: Sequence[Result]) -> str:
    means = [f"{geometric_mean(r.ratio(*pair) for r in found):.2f}x" for pair in RATIOS]
    return f"| geometric mean | {' | '.join([*[''] * 4, *means, *[''] * 3])} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Elementwise values and derivatives.")
    parser.add_argument("--size", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    print(f"{HEAD}\n{'|---' * HEAD.count(' | ')}|---|")
    found = []
    for result in results(
        options.size, options.rounds, tuple(filter(None, options.only.split(",")))
    ):
        found.append(result)
        print(line(result), flush=True)
    print(summary(found))


if __name__ == "__main__":
    main()
