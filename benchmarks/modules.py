"""Accuracy and cost of generated modules, against proven truth.

    python benchmarks/modules.py FOLDER --cache DIR [--sample 4] [--time]

FOLDER is that of the accuracy benchmark (`bench_accuracy.py` and `corpus/`), DIR holds its truth
(`bench_accuracy.py corpus --cache DIR --truth-only`) and the modules that are written. Printed is
the mean error in bits of gradients, of the texts run as plain Python, or with `--time` as Numba compiles them:
then also how long arrays of ordinary points take over a module with `--accuracy fast`, in alternating
runs.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

BUCKETS = ("bits", "ordinary", "special", "removable")
POINTS = 100_000


def benchmark(folder: Path) -> Any:
    """The accuracy benchmark, as a module."""
    spec = importlib.util.spec_from_file_location("bench_accuracy", folder / "bench_accuracy.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["bench_accuracy"] = module
    spec.loader.exec_module(module)
    return module


def text_of(program: Any, accuracy: str = "high") -> str:
    """The module of a program."""
    import linecache

    from symdiff.export.scalar import module_text
    from symdiff.frontend.capture import capture

    file = f"<bench-{program.key}>"
    source = program.source
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    env: dict[str, Any] = {"np": np, "math": math}
    exec(compile(source, file, "exec"), env)
    captured = capture(env["f"])
    return module_text(captured, captured.params, accuracy=accuracy)


def written(program: Any, place: Path, accuracy: str = "high") -> Any:
    """The module of a program; a text that did not change keeps what Numba compiled of it."""
    name = f"m_{program.key.replace('/', '_').replace('-', '_')}_{accuracy}"
    text = text_of(program, accuracy)
    path = place / f"{name}.py"
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def as_python(text: str) -> Any:
    """A module run as plain Python, for arrays of points."""
    from types import SimpleNamespace

    from symdiff.export.measured import flat, run

    scope = run(text)

    def mapped(name: str) -> Any:
        def call(*columns: Any) -> Any:
            rows = [flat(scope[name](*map(np.float64, row))) for row in zip(*columns, strict=True)]
            found = np.array(rows).T
            return found[0] if len(found) == 1 else list(found)

        return call

    return SimpleNamespace(f=mapped("f"), f_grad=mapped("f_grad"))


def values(module: Any, columns: list[Any], names: list[str], bench: Any) -> Any:
    """The value and the slopes at points."""
    slopes = module.f_grad(*columns)
    slopes = [slopes] if len(names) == 1 else list(slopes)
    return np.array([bench.full(v, columns[0]) for v in (module.f(*columns), *slopes)])


def scored(bench: Any, points: Any, result: Any) -> dict[str, float]:
    """Mean bits of error of the gradient, by bucket."""
    found, low = {}, 0
    for bucket, (p, truth, limits) in points.items():
        part = result[:, low : low + len(p)]
        low += len(p)
        truth = np.where(np.isfinite(truth[:, :1]), truth, math.nan)
        keep(found, bucket, bench.score(part[1:].T.ravel(), truth[:, 1:].ravel()))
        if bucket == "special" and limits.any():
            some = bench.score(part[1:, limits].T.ravel(), truth[limits, 1:].ravel())
            keep(found, "removable", some)
    return found


def keep(found: dict[str, float], bucket: str, score: Any) -> None:
    if score is not None:
        found[bucket] = score["bits"]


def ratio(bench: Any, program: Any, place: Path, module: Any, points: Any) -> float | None:
    """Time over that of double arithmetic alone, for arrays of ordinary points."""
    if "ordinary" not in points:
        return None
    fast = written(program, place, "fast")
    p = np.resize(points["ordinary"][0], (POINTS, len(program.args)))
    columns = [np.ascontiguousarray(c) for c in np.asarray(p, float).T]
    taken: dict[Any, list[float]] = {module: [], fast: []}
    for turn in range(4):
        for m, times in taken.items():
            start = time.perf_counter()
            m.f_value_and_grad(*columns)
            if turn:
                times.append(time.perf_counter() - start)
    return min(taken[module]) / min(taken[fast])


def costs(place: Path) -> None:
    """Value and gradient of the functions of `cost.py` beside double arithmetic alone."""
    import numba
    from cost import FUNCTIONS

    from symdiff.export.scalar import module_text
    from symdiff.frontend.capture import capture

    numba.set_num_threads(1)
    rng, ratios = np.random.default_rng(0), []
    for fun, ranges in FUNCTIONS:
        captured, made = capture(fun), {}
        for accuracy in ("high", "fast"):
            path = place / f"cost_{fun.__name__}_{accuracy}.py"
            path.write_text(module_text(captured, captured.params, accuracy=accuracy))
            spec = importlib.util.spec_from_file_location(path.stem, path)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[path.stem] = module
            spec.loader.exec_module(module)
            made[accuracy] = getattr(module, f"{fun.__name__}_value_and_grad")
        points = [rng.uniform(a, b, 2 * POINTS) for a, b in ranges]
        taken: dict[str, list[float]] = {name: [] for name in made}
        for turn in range(8):
            for name, call in made.items():
                start = time.process_time()
                call(*points)
                if turn:
                    taken[name].append(time.process_time() - start)
        ratios.append(min(taken["high"]) / min(taken["fast"]))
        each = min(taken["fast"]) / (2 * POINTS) * 1e9
        print(f"| {fun.__name__} | {each:.1f} | {ratios[-1]:.2f} |", flush=True)
    print(f"geometric mean {math.exp(np.mean(np.log(ratios))):.2f}, worst {max(ratios):.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cost", action="store_true", help="only the time of cost.py's functions")
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--sample", type=int, default=1, help="every so many programs")
    parser.add_argument("--points", type=int, default=256)
    parser.add_argument("--time", action="store_true")
    parser.add_argument("--only", help="programs with this in their key")
    args = parser.parse_args()
    sys.setrecursionlimit(20000)
    np.seterr(all="ignore")
    if args.cost:
        return costs(args.cache)
    bench = benchmark(args.folder)
    bench.alarmed = lambda seconds, run, *rest: run(*rest)
    programs, _ = bench.load(str(args.folder / "corpus"), 250)
    if args.only:
        programs = [p for p in programs if args.only in p.key]
    rows: list[dict[str, float]] = []
    ratios = []
    for program in programs[:: args.sample]:
        known = bench.cached_truth(program, args.points, str(args.cache), compute=False)
        if known is None or not known["truth"]:
            continue
        points = known["truth"]
        try:
            module = written(program, args.cache) if args.time else as_python(text_of(program))
            every = np.concatenate([points[b][0] for b in points])
            columns = [np.ascontiguousarray(c) for c in np.asarray(every, float).T]
            start = time.perf_counter()
            rows.append(scored(bench, points, values(module, columns, program.args, bench)))
            taken = time.perf_counter() - start
            one = ratio(bench, program, args.cache, module, points) if args.time else None
        except Exception as error:
            print(f"{program.key}: {type(error).__name__}: {error}", flush=True)
            continue
        if one is not None:
            ratios.append(one)
        bits = " ".join(f"{rows[-1][b]:6.2f}" if b in rows[-1] else "     -" for b in BUCKETS)
        cost = "" if one is None else f"  {one:5.2f}x"
        print(f"{program.key:45} {bits}{cost}  {taken:.1f} s", flush=True)
    means = [np.mean([r[b] for r in rows if b in r]) for b in BUCKETS]
    print(f"\n| gradients of modules, {len(rows)} programs | {' | '.join(BUCKETS)} |")
    print("|---|---|---|---|---|")
    print(f"| mean bits of error | {' | '.join(f'{m:.2f}' for m in means)} |")
    if ratios:
        print(f"\ntime over double arithmetic alone: median {np.median(ratios):.2f}, "
              f"geometric mean {math.exp(np.mean(np.log(ratios))):.2f}, worst {max(ratios):.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
