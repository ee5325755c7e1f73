"""Random programs in plain Python and NumPy, called both ways: `symgrad(f)(*args)` is `f(*args)`.

    python -m tests.fuzz.law --programs 1000 --seed 0

Each line of a program is run when it is drawn, so that every name has a value of moderate size, of
a known shape. What is compared: how results nest, the type of containers, shapes, kinds of numbers,
values; and derivatives of the sum of all results, along a random direction, with differences of
the plain program in long doubles. A refusal is no fault, but it is counted.

Most of the time goes into LLVM's passes. `--light 10` has kernels compiled with few of them, but for
those of every tenth program.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import llvmlite.binding as llvm
import numpy as np

from symdiff import SymdiffError, symgrad
from symdiff.codegen.llvm import jit
from tests.fuzz.arrays import SlowError, limited, loaded
from tests.fuzz.command import run
from tests.fuzz.law_lines import (
    CONSTANTS,
    HELPERS,
    HELPERS_OF_TWO,
    KINDS,
    SHAPES,
    WEIGHTS,
    Pair,
    Point,
)

SECONDS = 60
"""For one program."""
LARGEST, ELEMENTS = 50.0, 60
STEPS = 1e-4, 5e-5
"""Of differences in long doubles."""
KINK = 0.02
"""Second differences, in steps, from which one-sided derivatives are taken to differ."""


CONVENTION = "a float for an integer"
"""The value is right; it is an integer only where a branch is taken or a loop runs no time."""


@dataclass
class Drawn:
    """A program that plain Python can run: its text, and arguments for it."""

    seed: int
    source: str
    args: list[Any]
    lines: list[str]

    def text(self) -> str:
        return self.source


# -------------------------------------------------------------------------- containers
def parts(v: Any) -> list[Any] | None:
    """What a container holds, in order; None of a number, an array, a text."""
    if isinstance(v, (list, tuple)):
        return list(v)
    if isinstance(v, dict):
        return list(v.values())
    if isinstance(v, Point):
        return [v.a, v.b]
    return None


def rebuilt(v: Any, inside: list[Any]) -> Any:
    """A container like this one with other things in it."""
    if isinstance(v, dict):
        return dict(zip(v, inside, strict=True))
    if isinstance(v, (Point, Pair)):
        return type(v)(*inside)
    return type(v)(inside)


def mapped(function: Callable[..., Any], v: Any, *others: Any) -> Any:
    """A function of the leaves of containers that nest alike."""
    inside = parts(v)
    if inside is None:
        return function(v, *others)
    beside = [parts(o) or [None] * len(inside) for o in others]
    return rebuilt(v, [mapped(function, *each) for each in zip(inside, *beside, strict=True)])


def leaves(v: Any) -> list[Any]:
    """The numbers and arrays of a result, in order."""
    inside = parts(v)
    return [v] if inside is None else [x for u in inside for x in leaves(u)]


def copied(v: Any) -> Any:
    """A copy that shares no memory; arrays keep their strides."""
    return mapped(_copied, v)


def _copied(v: Any) -> Any:
    if not isinstance(v, np.ndarray):
        return v
    if v.base is None or v.ndim != 1 or v.strides[0] == v.itemsize:
        return v.copy("K")
    memory = np.zeros((v.shape[0], 2), v.dtype)
    memory[:, 0] = v if v.strides[0] > 0 else v[::-1]
    return memory[:, 0] if v.strides[0] > 0 else memory[::-1, 0]


def usable(v: Any) -> bool:
    """Whether a value is small, finite, and not close to where it would jump."""
    found = [x for x in leaves(v) if not isinstance(x, (str, type(None)))]
    if sum(np.size(x) for x in found) > ELEMENTS:
        return False
    for x in found:
        a = np.asarray(x)
        if a.dtype.kind not in "bif" or not np.all(np.isfinite(a)):
            return False
        if a.size and np.max(np.abs(a.astype(float))) > LARGEST:
            return False
    return True


# --------------------------------------------------------------------------- drawing
class Generator:
    """Draws a program line by line, running all of them each time."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.seed = seed

    def program(self) -> Drawn:
        r = self.random
        rng = np.random.default_rng(self.seed)
        args = [self.argument(rng) for _ in range(r.randint(1, 3))]
        names = ["x", "y", "z"][: len(args)]
        head = ["import math", "import numpy as np", "from tests.fuzz.law_lines import Pair, Point",
                f"K = {r.choice(CONSTANTS[:4])}", f"N = {r.choice([2, 3])}", f"C = {r.choice(CONSTANTS)}"]  # fmt: skip
        helpers = [
            f"{'@symgrad' + chr(10) if r.random() < 0.4 else ''}def g{k}(u):\n    {r.choice(HELPERS)}"
            for k in range(2)
        ]
        mark = "@symgrad\n" if r.random() < 0.4 else ""
        helpers.append(f"{mark}def h(u, v, k=2):\n    {r.choice(HELPERS_OF_TWO)}")
        scope: dict[str, Any] = {"symgrad": lambda f: f}
        exec("\n".join([*head, *helpers]), scope)  # our own text
        lines: list[str] = []
        made: dict[str, Any] = {}
        for n, a in zip(names, args, strict=True):
            made |= _paths(n, a)
        own: set[str] = set()
        results: list[str] = []
        tries = 0
        most = r.randint(2, 7)
        while len(lines) < 12 and len(results) < most and tries < 60:
            tries += 1
            found = self.line(made, own, f"t{tries}")
            if found is None:
                continue
            name, text = found
            trial = {**scope, **dict(zip(names, map(copied, args), strict=True))}
            try:
                with warnings.catch_warnings(), np.errstate(all="raise"):
                    warnings.simplefilter("error")
                    exec("\n".join([*lines, *text]), trial)
                    now = {n: eval(n, trial) for n in made}
            except Exception:
                continue
            if name not in trial or not all(map(usable, (trial[name], *now.values()))):
                continue
            if not all(map(_same, (trial[n] for n in names), args)):
                continue  # arguments are not changed
            made = {**now, **_paths(name, trial[name])}
            lines += text
            results.append(name)
            if isinstance(trial[name], np.ndarray) and trial[name].dtype.kind == "f":
                own.add(name)
        results = results or names
        wanted = r.sample(results, min(len(results), r.choice([1, 1, 2, 3])))
        source = "\n".join([*head, "", *helpers, "", f"def f({', '.join(names)}):",
                            *(f"    {line}" for line in [*lines, f"return {self.returned(wanted)}"])])  # fmt: skip
        return Drawn(self.seed, source + "\n", args, lines)

    def returned(self, wanted: list[str]) -> str:
        """How a program returns some of its values."""
        r = self.random
        if r.random() < 0.1:
            return "{" + ", ".join(f"'{n}': {n}" for n in wanted) + "}"
        if len(wanted) == 2 and r.random() < 0.2:
            return f"{r.choice(['Point', 'Pair'])}({', '.join(wanted)})"
        many = ["({},)", "[{}]", "{}", "{}"]
        form = r.choice(many if len(wanted) > 1 else ["{}", "{}", "{}", "[{}]"])
        return form.format(", ".join(wanted))

    def argument(self, rng: Any) -> Any:
        """A number, an array or a container of both."""
        r = self.random
        if r.random() < 0.85:
            return self.leaf(rng)
        inside = [self.leaf(rng), self.leaf(rng)]
        kind = r.choice(["list", "tuple", "dict", "Point", "Pair"])
        if kind == "dict":
            return {"p": inside[0], "q": inside[1]}
        if kind in ("Point", "Pair"):
            return (Point if kind == "Point" else Pair)(*inside)
        return inside if kind == "list" else tuple(inside)

    def leaf(self, rng: Any) -> Any:
        r = self.random
        shape = r.choice(SHAPES)
        value = np.round(rng.uniform(-1.5, 1.5, shape), 4) + 0.000013  # no two alike
        if not shape and r.random() < 0.9:
            return float(value) if r.random() < 0.8 else r.randint(-2, 3)
        if r.random() < 0.12:
            return rng.integers(-3, 4, shape)
        if r.random() < 0.06:
            return np.asarray(value) > 0
        value = np.asarray(value)
        if r.random() < 0.15 and value.ndim == 1:
            memory = np.zeros((value.size, 2))
            memory[:, 0] = value
            return memory[:, 0] if r.random() < 0.5 else memory[::-1, 0]
        return np.asfortranarray(value) if r.random() < 0.1 else value

    def line(self, made: dict[str, Any], own: set[str], name: str) -> tuple[str, list[str]] | None:
        r = self.random
        numbers = [
            n for n, v in made.items() if isinstance(v, (np.ndarray, float, int, np.generic))
        ]
        arrays = [n for n in numbers if isinstance(made[n], np.ndarray)]
        if not numbers:
            return None
        by = {
            "a": numbers, "b": numbers, "s": [n for n in numbers if np.ndim(made[n]) == 0],
            "v": [n for n in numbers if np.ndim(made[n]) == 1], "m": [n for n in numbers if np.ndim(made[n]) == 2],
            "w": [n for n in arrays if n in own], "z": [n for n in arrays if made[n].dtype.kind in "bi"],
            "l": [n for n, v in made.items() if isinstance(v, (list, tuple))],
            "d": [n for n, v in made.items() if isinstance(v, dict) and "p" in v],
            "g": ["g0", "g1"], "c": ["C", "K"], "i": ["0", "1", "-1", "2"], "j": ["-2", "1", "3", "-3"],
        }  # fmt: skip
        kind = r.choices(KINDS, WEIGHTS)[0]
        chosen = r.choice(kind)
        lines = [f"{name} = {chosen}"] if isinstance(chosen, str) else list(chosen)
        filled = {}
        for key, names in by.items():
            if any(f"{{{key}}}" in text for text in lines):
                if not names:
                    if key != "s":
                        return None
                    names = ["0.4"]
                filled[key] = r.choice(names[-4:] if r.random() < 0.7 else names)
        return name, [text.format(n=name, **filled) for text in lines]


def _paths(name: str, value: Any) -> dict[str, Any]:
    """A value and what it holds, by the expressions that give them."""
    found = {name: value}
    if isinstance(value, Point):
        found |= {**_paths(f"{name}.a", value.a), **_paths(f"{name}.b", value.b)}
    elif isinstance(value, Pair):
        found |= {**_paths(f"{name}.u", value.u), **_paths(f"{name}[1]", value.v)}
    elif isinstance(value, dict):
        for k, v in value.items():
            found |= _paths(f"{name}[{k!r}]", v)
    elif isinstance(value, (list, tuple)):
        for k, v in enumerate(value[:2]):
            found |= _paths(f"{name}[{k}]", v)
    return found


def _same(a: Any, b: Any) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(leaves(a), leaves(b), strict=True))


# --------------------------------------------------------------------------- comparing
@dataclass(frozen=True)
class Outcome:
    """What became of a program: `kind` is "fine", "refused", or how it failed."""

    kind: str
    detail: str = ""
    slope: bool = False
    """Whether a derivative was compared."""

    @property
    def failed(self) -> bool:
        return self.kind not in ("fine", "refused", "derivative refused", "slow", CONVENTION)


def difference(got: Any, want: Any) -> str:
    """How two results differ; "" if they do not."""
    inside = parts(want)
    if inside is not None:
        found = parts(got) if type(got) is type(want) else None
        if found is None or len(found) != len(inside):
            return f"{type(got).__name__} for {type(want).__name__}: {got!r} for {want!r}"
        if isinstance(want, dict) and list(got) != list(want):
            return f"keys {list(got)} for {list(want)}"
        return next((d for g, w in zip(found, inside, strict=True) if (d := difference(g, w))), "")
    if want is None or isinstance(want, str):
        return "" if type(got) is type(want) and got == want else f"{got!r} for {want!r}"
    if np.shape(got) != np.shape(want):
        return f"shape {np.shape(got)} for {np.shape(want)}"
    if isinstance(got, np.ndarray) is not isinstance(want, np.ndarray):
        if np.ndim(want):
            return f"{type(got).__name__} for {type(want).__name__}"
    g, w = np.asarray(got), np.asarray(want)
    if (g.dtype.kind, w.dtype.kind) == ("f", "i") and np.array_equal(g, w):
        return f"{CONVENTION}: {got!r} for {want!r}"
    if g.dtype.kind != w.dtype.kind:
        return f"kind {g.dtype.kind} for {w.dtype.kind}: {got!r} for {want!r}"
    if not np.allclose(g.astype(float), w.astype(float), rtol=1e-11, atol=1e-12, equal_nan=True):
        return f"{got!r} for {want!r}"
    return ""


def total(v: Any) -> Any:
    """The sum of all real numbers of a result."""
    found = [np.sum(np.asarray(x)) for x in leaves(v) if np.asarray(x).dtype.kind == "f"]
    return sum(found) if found else None


def slope_of(plain: Callable[..., Any], args: list[Any], directions: list[Any]) -> float | None:
    """The derivative along a direction by differences; None if it cannot be had."""

    def moved(a: Any, d: Any, h: float) -> Any:
        if d is None:
            return a
        there = np.asarray(a).astype(np.longdouble) + np.longdouble(h) * d
        return there if np.ndim(there) else np.longdouble(there)

    def at(h: float) -> Any:
        pairs = zip(args, directions, strict=True)
        return total(plain(*(mapped(lambda a, d: moved(a, d, h), *p) for p in pairs)))

    try:
        found = []
        middle = at(0.0)
        for h in STEPS:
            up, down = at(h), at(-h)
            if up is None or down is None or abs(up - 2 * middle + down) > KINK * h * (1 + abs(up)):
                return None
            found.append((up - down) / (2 * np.longdouble(h)))
        better = (4 * found[1] - found[0]) / 3
        return float(better) if abs(found[0] - found[1]) < 1e-6 * (1 + abs(better)) else None
    except Exception:
        return None


def examined(source: Any, folder: Path, accuracy: str = "fast") -> Outcome:
    plain = loaded(source, folder, lambda f: f)
    compiled = symgrad(loaded(source, folder, symgrad), accuracy=accuracy)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        before = list(map(copied, source.args))
        want = plain(*map(copied, source.args))
        try:
            for _ in range(2):
                got = compiled(*source.args)
                if d := difference(got, want):
                    return Outcome(CONVENTION if d.startswith(CONVENTION) else "value", d)
            if not all(map(_same, source.args, before)):
                return Outcome("arguments changed")
        except SlowError:
            raise
        except SymdiffError as e:
            text = str(e)
            if "fault of symdiff" in text:
                return Outcome("mismatch", text)
            return Outcome("refused", text)
        except Exception as e:
            return Outcome("crash", f"{type(e).__name__}: {e}")
        return _derivative(source, plain, compiled, want)


def _derivative(source: Any, plain: Any, compiled: Any, want: Any) -> Outcome:
    rng = np.random.default_rng(source.seed)

    def direction(a: Any) -> Any:
        return (
            None if np.asarray(a).dtype.kind != "f" else rng.choice([-1.0, 0.5, 1.0], np.shape(a))
        )

    directions: list[Any] = [
        mapped(direction, a)
        if all(np.asarray(x).dtype.kind == "f" for x in leaves(a))
        else mapped(lambda _: None, a)
        for a in source.args
    ]
    moved = [all(d is not None for d in leaves(d)) for d in directions]
    texts = any(isinstance(x, (str, type(None))) for x in leaves(want))
    if not any(moved) or texts or {np.asarray(x).dtype.kind for x in leaves(want)} != {"f"}:
        return Outcome("fine")
    slope = slope_of(plain, source.args, directions)
    if slope is None:
        return Outcome("fine")
    names = [n for n, m in zip("xyz", moved, strict=False) if m]
    chosen = [mapped(lambda d: d if np.ndim(d) else float(d), d)
              for d, m in zip(directions, moved, strict=True) if m]  # fmt: skip
    given = tuple(map(copied, source.args))
    try:
        by = symgrad(compiled, wrt=names)
        if source.seed % 2:
            _, got = by.jvp(given, tuple(chosen))
            found = float(total(got) or 0.0)
        else:
            ones = mapped(lambda w: np.ones(np.shape(w)) if np.ndim(w) else 1.0, want)
            _, got = by.vjp(given, ones)
            found = 0.0
            for g, d in zip(got if len(names) > 1 else [got], chosen, strict=True):
                if d_ := difference(mapped(np.shape, g), mapped(np.shape, d)):
                    return Outcome("derivative", f"nested otherwise: {d_}")
                found += sum(
                    float(np.sum(p * q)) for p, q in zip(leaves(g), leaves(d), strict=True)
                )
    except SlowError:
        raise
    except SymdiffError as e:
        return Outcome("mismatch" if "fault of symdiff" in str(e) else "derivative refused", str(e))
    except Exception as e:
        return Outcome("derivative crash", f"{type(e).__name__}: {e}")
    if not abs(found - slope) <= 1e-6 * (1 + abs(slope)):
        return Outcome("derivative", f"{found} for {slope}")
    return Outcome("fine", slope=True)


@contextlib.contextmanager
def lightly_compiled(folder: Path) -> Iterator[None]:
    """While kernels are compiled with few of LLVM's passes, and kept in a folder of their own."""
    machine = jit._machine

    def few(module: Any, made: Any) -> None:
        passes = llvm.create_new_module_pass_manager()
        passes.add_sroa_pass()
        passes.add_simplify_cfg_pass()
        passes.run(module, llvm.create_pass_builder(made, llvm.create_pipeline_tuning_options()))

    kept = {"SYMDIFF_CACHE_DIR": str(folder / "light")}
    with (
        patch.dict(os.environ, kept),
        patch.object(jit, "_tidy", few),
        patch.object(jit, "_machine", lambda opt: machine(0)),
    ):
        yield


@dataclass
class Tally:
    kinds: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[Any, Outcome]] = field(default_factory=list)
    slopes: int = 0
    """Programs of which a derivative was compared."""


def fuzz(programs: int, seed: int, folder: Path, say: Callable[[str], None] = lambda _: None,
         accuracy: str = "fast", refused: bool = False, light: int = 1) -> Tally:  # fmt: skip
    """`light`: of so many programs, one is compiled with all of LLVM's passes."""
    tally = Tally()
    for k in range(programs):
        source = Generator(seed + k).program()
        compiled = lightly_compiled(folder) if k % light else contextlib.nullcontext()
        try:
            with compiled, limited(SECONDS):
                outcome = examined(source, folder, accuracy)
        except SlowError:
            outcome = Outcome("slow")
        tally.kinds[outcome.kind] += 1
        tally.slopes += outcome.slope
        if k % 500 == 499:
            say(f"{k + 1} programs, {tally.slopes} with a derivative: {dict(tally.kinds)}")
        if "refused" in outcome.kind:
            tally.refusals[outcome.detail.splitlines()[0].split(": ", 1)[-1]] += 1
        if refused and "refused" in outcome.kind:
            say(f"--- {outcome.kind}, seed {seed + k}\n{outcome.detail}\n{source.text()}")
        if outcome.failed or outcome.kind == "slow":
            tally.failures.append((source, outcome))
            say(
                f"--- {outcome.kind}, seed {seed + k}\n{outcome.detail[:500]}\n{source.text()}\n{source.args}"
            )
        for path in folder.glob("fuzzed_*.py"):
            sys.modules.pop(path.stem, None)
            path.unlink()
    return tally


def report(tally: Tally) -> None:
    print(dict(tally.kinds), f"derivatives compared: {tally.slopes}")
    for text, count in tally.refusals.most_common(40):
        print(count, text)


def main() -> int:
    return run(
        fuzz,
        report,
        __doc__,
        accuracy=("--accuracy", {"default": "fast"}),
        refused=("--refused", {"action": "store_true", "help": "print what is refused, too"}),
        light=(
            "--light",
            {"type": int, "default": 1, "help": "all of LLVM's passes for one of so many"},
        ),
    )


if __name__ == "__main__":
    sys.exit(main())
