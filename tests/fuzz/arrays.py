"""Differential fuzzing of programs with arrays and loops.

    python -m tests.fuzz.arrays --programs 1000 --seed 0

draws programs, compiles each once, and calls it with arrays of several sizes. Values are
compared with the same source in ball arithmetic, derivatives with dual numbers over balls of the
same source; where NumPy raises an error, so must the compiled program. What fails is shrunk, and
written to a folder with its arguments.
"""

from __future__ import annotations

import importlib.util
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from symdiff import SymdiffError, symgrad
from tests.fuzz.array_programs import PARAMETERS, Generator, Source, smaller
from tests.fuzz.command import SHRINK, run
from tests.fuzz.duals import CloseError, truth

SIZES = (3, 8, 0, 1, 2, 5, 17)
"""Of `n`: remainders of vectors among them. The first decides what is captured first."""
RELATIVE, OF_PLAIN = 1e-9, 64.0
"""How far a result may be from the truth: relative to its size, and to what plain Python makes
of it."""
SECONDS = 90
"""For one program."""


@dataclass(frozen=True)
class Outcome:
    """What became of a program: `kind` is "fine", "refused", "left out", or how it failed."""

    kind: str
    detail: str = ""
    points: int = 0

    @property
    def failed(self) -> bool:
        return self.kind not in ("fine", "refused", "left out", "slow")


class SlowError(Exception):
    """A program takes too long."""


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raise `SlowError` after some time, in the main thread of systems that have alarms."""

    def ring(*_: Any) -> None:
        raise SlowError

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


_loaded = 0


def loaded(source: Source, folder: Path, decorator: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a program, as a module of a file of its own."""
    global _loaded
    _loaded += 1
    name = f"fuzzed_{source.seed}_{_loaded}"
    path = folder / f"{name}.py"
    path.write_text(source.text())
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.symgrad = decorator  # type: ignore[attr-defined]
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module.f  # type: ignore[no-any-return]


def arguments(source: Source, n: int, seed: int) -> tuple[list[Any], list[Any]]:
    """Random arguments, and a direction for each."""
    rng = np.random.default_rng((source.seed, n, seed))
    sizes = {"n": n, "m": (n * 2 + 1) % 5 + 1}
    args: list[Any] = []
    directions: list[Any] = []
    for name in source.parameters:
        spec = PARAMETERS[name]
        if spec == "i":
            args.append(rng.integers(0, max(n, 1), n))
            directions.append(np.zeros(n))
            continue
        shape = tuple(sizes[a] for a in spec.split())
        value = rng.uniform(-1.5, 1.5, shape)
        direction = rng.choice([-1.0, 0.5, 1.0, 2.0], shape)
        args.append(value if shape else float(value))
        directions.append(direction if shape else float(direction))
    return args, directions


def copies(args: list[Any]) -> list[Any]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


def examined(source: Source, folder: Path, sizes: tuple[int, ...] = SIZES) -> Outcome:
    """Compile a program and compare it with its source."""
    plain = loaded(source, folder, lambda f: f)
    real = [p for p in source.parameters if PARAMETERS[p] != "i"]
    try:
        traced = loaded(source, folder, symgrad)
        compiled = symgrad(traced, wrt=real)
    except SymdiffError as error:
        return Outcome("refused", str(error))
    points = 0
    for n in sizes:
        found = at_size(source, plain, compiled, n)
        if found.failed or found.kind == "refused":
            return found
        points += found.points
    return Outcome("fine" if points else "left out", points=points)


def at_size(source: Source, plain: Any, compiled: Any, n: int) -> Outcome:
    """Compare a program with its source for one size."""
    args, directions = arguments(source, n, 0)
    error: Exception | None = None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            expected = plain(*copies(args))
        except Exception as e:
            error = e
        try:
            value = compiled(*copies(args))
        except SymdiffError as e:
            if type(e).__name__ in ("UnsupportedError", "ConditionError"):
                return Outcome("refused", str(e))
            return Outcome("fine") if error is not None else Outcome("raises", f"n = {n}: {e}")
        except ArithmeticError as e:
            return Outcome("fine") if error is not None else Outcome("raises", f"n = {n}: {e}")
        except SlowError:
            raise
        except Exception as e:
            return Outcome("crash", f"n = {n}: {type(e).__name__}: {e}")
        if error is not None:
            return Outcome("no error", f"n = {n}: {type(error).__name__}: {error}; got {value}")
        if np.shape(value) != np.shape(expected):
            return Outcome("shape", f"n = {n}: {np.shape(value)} for {np.shape(expected)}")
        try:
            values, slopes = truth(plain, copies(args), directions)
        except (CloseError, TypeError, ZeroDivisionError):
            return Outcome("left out")
        rounding = np.abs(np.asarray(expected, float) - values)
        if not far(rounding, values, 1e-4) and (gap := far(value, values, RELATIVE, rounding)):
            return Outcome("value", f"n = {n}: {value} for {values}, plain {expected}, {gap}")
        try:
            if np.ndim(expected):
                _, got = compiled.jvp(
                    tuple(copies(args)), tuple(real_directions(source, directions))
                )
                size = np.max(np.abs(slopes), initial=0.0)
            else:
                got, size = contracted(compiled.grad(*copies(args)), source, directions)
        except SlowError:
            raise
        except SymdiffError as e:
            return Outcome("derivative refused", f"n = {n}: {e}")
        except Exception as e:
            return Outcome("derivative crash", f"n = {n}: {type(e).__name__}: {e}")
    lost = rounding * 10 + 1e-9 * size
    if not np.all(np.isfinite(slopes)):
        return Outcome("fine", points=1)
    if gap := far(got, slopes, RELATIVE, lost):
        return Outcome("derivative", f"n = {n}: {got} for {slopes}, {gap}")
    return Outcome("fine", points=1)


def real_directions(source: Source, directions: list[Any]) -> list[Any]:
    return [d for p, d in zip(source.parameters, directions, strict=True) if PARAMETERS[p] != "i"]


def contracted(gradient: Any, source: Source, directions: list[Any]) -> tuple[Any, float]:
    """A gradient times the direction, and the size of the terms."""
    parts = gradient if isinstance(gradient, tuple) else (gradient,)
    pairs = zip(parts, real_directions(source, directions), strict=True)
    terms = [np.asarray(g) * d for g, d in pairs]
    return sum(np.sum(t) for t in terms), float(sum(np.sum(np.abs(t)) for t in terms))


def far(got: Any, want: Any, relative: float, rounding: Any = 0.0) -> str:
    """How far numbers are from the truth, if that is too far; "" if not."""
    if np.shape(got) != np.shape(want) and np.shape(rounding) == np.shape(want):
        if np.size(got) != np.size(want):
            return f"shape {np.shape(got)} for {np.shape(want)}"
    got, want = np.asarray(got, float), np.asarray(want, float)
    if not got.size or not np.all(np.isfinite(want)):
        return ""
    error = np.abs(got - want)
    allowed = relative * np.maximum(1.0, np.max(np.abs(want))) + OF_PLAIN * np.asarray(rounding)
    bad = ~(error <= allowed)
    return f"by {np.max(np.where(bad, error, 0))}" if np.any(bad) else ""


# ----------------------------------------------------------------------------- shrinking
def shrunk(
    source: Source, outcome: Outcome, folder: Path, tries: int = 150
) -> tuple[Source, Outcome]:
    """The smallest program found that fails in the same way."""
    again = True
    while again and tries > 0:
        again = False
        for candidate in smaller(source):
            tries -= 1
            if tries < 0:
                break
            try:
                with limited(SECONDS):
                    found = examined(candidate, folder)
            except SlowError:
                continue
            except Exception:  # not a program any more
                continue
            if found.kind == outcome.kind:
                source, outcome, again = candidate, found, True
                break
    return source, outcome


@dataclass
class Tally:
    """What became of programs, and of their features."""

    kinds: Counter[str] = field(default_factory=Counter)
    features: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    points: int = 0
    failures: list[tuple[Source, Outcome]] = field(default_factory=list)

    def add(self, source: Source, outcome: Outcome) -> None:
        self.kinds[outcome.kind] += 1
        self.points += outcome.points
        self.features.update(source.features)
        if outcome.kind == "refused":
            first = outcome.detail.splitlines()[0]
            self.refusals[first.split(": ", 1)[-1]] += 1
        if outcome.failed:
            self.failures.append((source, outcome))


def fuzz(
    programs: int, seed: int, folder: Path, say: Callable[[str], None] = lambda _: None,
    shrink: bool = True,
) -> Tally:  # fmt: skip
    """Examine programs, those of the seeds from one on."""
    tally = Tally()
    for k in range(programs):
        source = Generator(seed + k).program()
        try:
            with limited(SECONDS):
                outcome = examined(source, folder)
            if outcome.failed and shrink:
                source, outcome = shrunk(source, outcome, folder)
        except SlowError:
            outcome = Outcome("slow")
        except KeyboardInterrupt:  # say what there is
            break
        tally.add(source, outcome)
        if outcome.failed:
            say(f"--- {outcome.kind}, seed {seed + k}\n{outcome.detail[:600]}\n{source.text()}")
        for path in folder.glob("fuzzed_*.py"):
            sys.modules.pop(path.stem, None)
            path.unlink()
    return tally


def report(tally: Tally) -> None:
    print(dict(tally.kinds), "points:", tally.points)
    print(dict(tally.features))
    for text, count in tally.refusals.most_common(20):
        print(count, text)


def main() -> int:
    return run(fuzz, report, __doc__, shrink=SHRINK)


if __name__ == "__main__":
    sys.exit(main())
