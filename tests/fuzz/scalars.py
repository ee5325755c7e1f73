"""Differential fuzzing of programs of numbers.

    python -m tests.fuzz.scalars --programs 1000 --seed 0 [--classes roots,guards]

draws programs that hurt: roots of what vanishes to an even order, removable points, guards
around them, branches, powers, constants and values at the ends of the range, cancellations.
Each is compiled once, and its value and its first and second derivatives are compared with the
plain chain rule on the same source in arithmetic of hundreds of digits (`tests.fuzz.jets`), at
the points that were planted, beside them, and elsewhere. What fails is shrunk and printed.
"""

from __future__ import annotations

import importlib.util
import itertools
import math
import random
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
from mpmath import mp, mpf

from symdiff import SymdiffError, symgrad
from tests.fuzz.command import SHRINK, run
from tests.fuzz.jets import MATH, Truth, compiled, truths

ULPS = 4096.0
"""An error from which an answer is a failure; the target is 4."""
GARBAGE = 2.0**26

Tree = Any
"""A variable's name, a number, or (template, *trees)."""

UNARY = ("math.sin({0})", "math.exp({0})", "math.atan({0})", "math.cos({0})", "math.tanh({0})",
         "{0}**2", "({0} + 2.0)", "0.5*{0}", "(1.5 - {0})", "math.sinh({0})", "math.expm1({0})",
         "math.erf({0})", "{0}**3")  # fmt: skip
BINARY = ("({0} + {1})", "({0} - {1})", "{0}*{1}", "{0}/(1.0 + {1}**2)", "{0}*math.exp({1})")
INNER: tuple[tuple[float, str], ...] = (
    (0.0, "{x}"), (0.0, "math.sin({x})"), (0.0, "{x}*math.exp({x})"), (0.0, "math.tanh({x})"),
    (0.0, "{x} + math.sin({x})"), (0.0, "{x}*math.cos({x})"), (0.0, "{x}**3 + {x}"),
    (0.0, "math.expm1({x})"), (1.0, "{x} - 1.0"), (3.0, "math.sin({x} - 3.0)"),
    (3.0, "math.log({x}/3.0)"), (3.0, "({x} - 3.0)*math.exp({x})"), (1.0, "math.atan({x} - 1.0)"),
    (1.0, "math.sinh({x} - 1.0)"), (2.0, "{x}**2 - 4.0"), (-1.0, "{x}**3 - {x}"),
    (1.0, "1.0 - 1.0/{x}"), (4.0, "math.sqrt({x}) - 2.0"), (1.0, "{x}*math.log({x})"),
    (-2.0, "math.exp({x} + 2.0) - 1.0"), (0.5, "2.0*{x} - 1.0"),
)  # fmt: skip
"""A place, and what vanishes there."""
QUOTIENTS = (
    ("math.expm1(u)/u", "1.0"), ("math.sin(u)/u", "1.0"), ("math.log1p(u)/u", "1.0"),
    ("(1.0 - math.cos(u))/u**2", "0.5"), ("(2.0**u - 1.0)/u", "math.log(2.0)"),
    ("u/math.tanh(u)", "1.0"), ("(math.exp(u) - 1.0 - u)/u**2", "0.5"), ("math.atan(u)/u", "1.0"),
    ("(math.sinh(u) - u)/u**3", "1.0/6.0"), ("u/math.log1p(u)", "1.0"), ("math.tan(u)/u", "1.0"),
    ("(math.cos(u) - math.cosh(u))/u**2", "-1.0"), ("(math.sqrt(1.0 + u) - 1.0)/u", "0.5"),
    ("u/math.sin(u) + u", "1.0"), ("math.asin(u)/u", "1.0"), ("(u - math.sin(u))/u**2", "0.0"),
)  # fmt: skip
"""Formulas that are 0/0 where u vanishes, with their limits."""
ROOTS = (
    "math.sqrt(u*u)", "math.sqrt(3.0*u*u)", "(2.0*u*u)**1.5", "math.sqrt(u**2 + u**4)",
    "math.acos(1.0 - u*u)", "math.sqrt(1.0 - math.cos(u))", "(u**2 + u**4)**0.5/u",
    "math.sqrt(math.cosh(u) - 1.0)", "math.sqrt(3.0*u*u)*u", "(u**4 + u**6)**0.25",
    "math.sqrt(math.expm1(u)**2)", "math.sqrt(math.sin(u)**2 + u**4)", "(u**2)**0.5*u",
    "math.sqrt(math.exp(u) + math.exp(-u) - 2.0)", "math.sqrt(u**4 - 2.0*u**5)",
    "u*math.sqrt(1.0 + (2.0/u)**2)", "u**2/math.sqrt(u**2 + u**4)", "math.sqrt(u**6)/u**2",
    "(math.sqrt(1.0 + math.sqrt(u**4)) - 1.0)/u**2", "math.sqrt(u*u*math.exp(u))",
    "math.acos(math.cos(u))", "math.sqrt(1.0 - math.exp(-u*u))", "math.sqrt(u**2 + u**3)",
)  # fmt: skip
DEEP = (
    "(1.0 - math.cos(w))/(w*w)", "math.expm1(w)/w", "math.log1p(w)/w", "math.sin(w)/w",
    "(math.exp(w) - 1.0 - w)/(w*w)", "w/(1.0 + w)", "math.sqrt(1.0 + w*w) - 1.0", "w*w*math.log(w)",
    "math.tanh(1.0/w)", "1.0/(w + 1.0/w)",
)  # fmt: skip
SMALL = ("math.exp(-u*u)", "math.exp(-abs(u))", "1.0/math.cosh(u)", "1.0/(1.0 + u**40)")
SCALED = (
    "(1e200*u)**2", "(1e-200*u)**2", "u**2/1e-300", "0.5*1e308*8.0*u", "(u*1e200)**3/1e300/1e200",
    "math.sqrt((u*1e200)**2 + 1e200**2)", "1e-300*1e-200*u*1e290", "u*1e160*1e160/1e300",
    "math.exp(1e-320*u) - 1.0", "(u/1e-170)**2*1e-300", "(3.0*u)**200/1e90",
    "(1e170*u + 1e180)*(1e170*u - 1e180)/1e300",
)  # fmt: skip
LOSING = (
    "math.sqrt(u + 1.0) - math.sqrt(u)", "math.log(1.0 + math.exp(u))", "math.exp(u)/(1.0 + math.exp(u))",
    "1.0/u - 1.0/math.sin(u)", "(1.0 - math.cos(u))/math.sin(u)", "math.log(u + 1.0) - math.log(u)",
    "math.tan(u + 1.0) - math.tan(u)", "1.0/(u + 1.0) - 2.0/u + 1.0/(u - 1.0)",
    "(u + 1.0)**0.25 - u**0.25", "math.exp(u) - 2.0 + math.exp(-u)", "math.atan(u + 1.0) - math.atan(u)",
    "math.sin(u + 0.25) - math.sin(u)", "u*u - (u - 1.0)*(u + 1.0) + u", "1.0 - math.tanh(u)",
)  # fmt: skip
POWERS = ("u**2.5", "(u*u)**0.3", "u**7/(1.0 + u**6)", "(1.0 + u*u)**u", "2.0**u", "(u**4)**0.25*u",
          "1.0/u**3", "(abs(u) + 1.0)**1.5", "(u**2 + 1.0)**-0.5")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Program:
    """`u = inner; v = core`, or a guard around it, and `return wrap`.

    Attributes
    ----------
    about : what a condition compares, and with what: (quantity, style, limit).
    place : where u vanishes.
    """

    family: str
    params: tuple[str, ...]
    inner: Tree
    core: str
    wrap: Tree
    place: float
    about: tuple[str, str, str] | None = None
    small: str = ""

    def source(self, guarded: bool = True) -> str:
        """The text; without its guard, what it means."""
        lines = [f"def f({', '.join(self.params)}):", f"    u = {render(self.inner)}"]
        if self.small:
            lines.append(f"    w = {self.small}")
        if self.about is None or not guarded:
            lines.append(f"    v = {self.core}")
        else:
            lines += _guard(*self.about, self.core)
        return "\n".join((*lines, f"    return {render(self.wrap)}")) + "\n"


def _guard(quantity: str, style: str, limit: str, core: str) -> list[str]:
    if style == "nonzero":
        return [
            f"    if {quantity} != 0.0:",
            f"        v = {core}",
            "    else:",
            f"        v = {limit}",
        ]
    test = {"equal": f"{quantity} == 0.0", "narrow": f"abs({quantity}) < 1e-15",
            "band": f"abs({quantity}) < 1e-12", "square": f"{quantity}**2 < 1e-30",
            "branch": f"{quantity} > 0.25"}[style]  # fmt: skip
    return [f"    v = {limit} if {test} else {core}"]


def render(tree: Tree) -> str:
    if isinstance(tree, str):
        return tree
    if isinstance(tree, float):
        return repr(tree)
    return str(tree[0]).format(*map(render, tree[1:]))


# --------------------------------------------------------------------- generation
FAMILIES = ("roots", "removable", "guards", "branches", "powers", "cancel", "deep", "scaled")


class Generator:
    """Programs by a seed."""

    def __init__(self, seed: int, families: Sequence[str] = FAMILIES) -> None:
        self.random, self.families = random.Random(seed), families

    def program(self) -> Program:
        r = self.random
        family = r.choice(list(self.families))
        params = ("x",) if r.random() < 0.7 else ("x", "y")
        place, text = r.choice(INNER)
        inner: Tree = (text.replace("{x}", "{0}"), "x")
        if r.random() < 0.15 and "y" in params:
            inner = "({0})*({1})", inner, "math.exp(y)"
        if r.random() < 0.15:
            inner = (f"{r.choice((2.0, -0.5, 3.0))!r}*({{0}})", inner)
        core, about, small = "u", None, ""
        if family in ("removable", "guards"):
            core, limit = r.choice(QUOTIENTS)
            if family == "guards":
                style = r.choice(("equal", "nonzero", "narrow", "band", "square"))
                about = "u", style, limit
        elif family == "branches":
            core, _ = r.choice(QUOTIENTS)
            about = "u", "branch", r.choice(("u*u", "math.exp(u)", "math.log(u)", "math.sqrt(u)"))
        elif family == "deep":
            core, small = r.choice(DEEP), r.choice(SMALL)
        else:
            table = {"roots": ROOTS, "powers": POWERS, "cancel": LOSING, "scaled": SCALED}
            core = r.choice(table[family])
        return Program(family, params, inner, core, self._wrap(params), place, about, small)

    def _wrap(self, params: tuple[str, ...]) -> Tree:
        r = self.random
        if r.random() < 0.4:
            tree: Tree = "v"
        else:
            other = r.choice([*params, "v", "u"])
            tree = (r.choice(BINARY), *r.sample(["v", other], 2))
            if r.random() < 0.4:
                tree = (r.choice(UNARY), tree)
        if "y" in params and "y" not in render(tree):
            tree = (r.choice(("{0}*(1.0 + {1}**2)", "{0} + {1}", "{0}*{1}")), tree, "y")
        return tree


def points(p: Program, r: random.Random) -> Iterator[tuple[float, ...]]:
    """Where a program is looked at: at the place, beside it, and elsewhere."""
    c = p.place
    near = [
        c,
        math.nextafter(c, math.inf) if c else 1e-30,
        math.nextafter(c, -math.inf) if c else -1e-30,
    ]
    near += [c + s * d for d in (1e-9, 3e-5, 1e-3) for s in (1, -1)]
    ordinary = [r.uniform(-4, 4), r.uniform(-1, 1), -r.uniform(0.1, 3), r.uniform(0.1, 6)]
    far = [30.0, -45.0, 150.0, 1e5] if p.family == "deep" else [1e8, -1e8]
    if p.family == "deep":
        far += [r.choice((1e10, 1e30, 1e50, -1e20))]
    if p.family == "scaled":
        far += [1e-150, -1e-160, 1e150, 1e-300, 3e-8]
    for x in (*near, *ordinary, *far):
        yield (x,) if len(p.params) == 1 else (x, r.choice((0.7, -1.25, 2.0, 1e-3)))


# --------------------------------------------------------------------- comparison
@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong: "garbage", "inaccurate", "nonfinite", "invented", "crash"."""

    kind: str
    what: str
    point: tuple[float, ...] = ()
    got: float = math.nan
    truth: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.what} at {self.point}: {self.got!r}, truth {self.truth}"


@dataclass(slots=True)
class Tally:
    """What came of many programs."""

    programs: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    faults: Counter[tuple[str, str]] = field(default_factory=Counter)
    numbers: int = 0
    warned: int = 0
    worst: float = 0.0
    failures: list[tuple[Program, Fault]] = field(default_factory=list)


def load(text: str, folder: Path) -> FunctionType:
    """A source as a function of a module, so that it has a file."""
    path = folder / f"fuzzed_{next(_NUMBERS)}.py"
    path.write_text(f"import math\n\n\n{text}", encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: FunctionType = module.f
    return found


_NUMBERS = itertools.count()


def faults(p: Program, folder: Path, seed: int, tally: Tally | None = None) -> Iterator[Fault]:
    """The wrong answers of one program."""
    r = random.Random(seed)
    tally = tally if tally is not None else Tally()
    meant = compiled(p.source(guarded=p.about is None or p.about[1] == "branch"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            f = symgrad(load(p.source(), folder))
            slopes = [f.diff(v) for v in p.params]
            bends = [s.diff(v) for s, v in zip(slopes, p.params, strict=True)]
            where = list(points(p, r))
            seconds = set(r.sample(range(len(where)), 6)) | {0}
            for k, point in enumerate(where):
                for i, v in enumerate(p.params):
                    true = truths(meant, point, i)
                    answers: list[tuple[str, Callable[..., Any], Truth]] = [
                        (f"df/d{v}", slopes[i], true[1])
                    ]
                    if i == 0:
                        answers.insert(0, ("f", f, true[0]))
                    if k in seconds and r.random() < 0.5:
                        answers.append((f"d2f/d{v}2", bends[i], true[2]))
                    for name, function, t in answers:
                        if t.kind == "open":
                            continue
                        got = float(function(*point))
                        tally.numbers += 1
                        fault = _compared(got, t, tally)
                        if fault == "invented" and name == "f" and got == _in_numpy(p, point):
                            continue  # arithmetic with infinities
                        if fault is not None and not (name == "f" and _in_band(p, point)):
                            yield Fault(fault, name, point, got, _text(t))
        except SymdiffError as refusal:
            tally.refused[str(refusal).splitlines()[0][:80]] += 1
        except Exception as error:
            yield Fault("crash", f"{type(error).__name__}: {error}"[:200])


def _in_numpy(p: Program, point: tuple[float, ...]) -> float:
    """The plain function in NumPy's arithmetic, which knows infinities."""
    renamed = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
    names = {n for n in vars(MATH) if n != "erf"}
    functions = SimpleNamespace(**{n: getattr(np, renamed.get(n, n)) for n in names})
    space: dict[str, Any] = {"math": functions, "abs": abs}
    exec(p.source(), space)
    try:
        with np.errstate(all="ignore"):
            return float(space["f"](*map(np.float64, point)))
    except (ArithmeticError, AttributeError):
        return math.nan


def _in_band(p: Program, point: tuple[float, ...]) -> bool:
    """Whether a band around the place is felt: its value there is the user's."""
    return (
        p.about is not None
        and p.about[1] in ("band", "narrow", "square")
        and abs(point[0] - p.place) < 1e-6
    )


def _text(t: Truth) -> str:
    with mp.workdps(20):
        values = [mp.nstr(x, 18) for x in (t.value, t.other) if x is not None]
    return f"{t.kind} {' '.join(values)}"


def _compared(got: float, t: Truth, tally: Tally) -> str | None:
    """How an answer is wrong; None if it is right."""
    if t.kind in ("none", "outside"):
        return "invented" if math.isfinite(got) and t.kind == "none" else None
    with mp.workdps(60):
        low = mpf(t.value)
        if t.kind == "between":
            high = mpf(t.other)
            slack = mpf(2) ** -20 * max(abs(low), abs(high))
            inside = not math.isfinite(got) or low - slack <= mpf(got) <= high + slack
            return None if inside else "garbage"
        if abs(low) > mpf(sys.float_info.max):
            return None if math.isinf(got) or abs(mpf(got)) > mpf(1e308) else "garbage"
        if not math.isfinite(got):
            return "nonfinite"
        unit = mpf(math.ulp(float(low))) if low else mpf(math.ulp(0.0))
        if t.kind == "limit" and low == 0:
            unit = mpf(10) ** -25
        error = float(abs(mpf(got) - low) / unit)
    tally.worst = max(tally.worst, error)
    return "garbage" if error > GARBAGE else "inaccurate" if error > ULPS else None


# ---------------------------------------------------------------------- shrinking
def smaller(p: Program) -> Iterator[Program]:
    """Programs with something left out."""
    for wrap in _parts(p.wrap):
        if "v" in render(wrap):
            yield replace(p, wrap=wrap)
    for inner in _parts(p.inner):
        if "x" in render(inner):
            yield replace(p, inner=inner)
    if p.about is not None:
        yield replace(p, about=None)
    if "y" in p.params and "y" not in render(p.wrap) + render(p.inner) + p.core:
        yield replace(p, params=("x",))


def _parts(tree: Tree) -> Iterator[Tree]:
    if isinstance(tree, tuple):
        yield from tree[1:]
        for i, part in enumerate(tree[1:], 1):
            for other in _parts(part):
                yield (*tree[:i], other, *tree[i + 1 :])


def shrunk(p: Program, fault: Fault, folder: Path, seed: int) -> tuple[Program, Fault]:
    """The smallest program found that fails in the same way."""
    for q in smaller(p):
        found = next((x for x in faults(q, folder, seed) if x.kind == fault.kind), None)
        if found is not None:
            return shrunk(q, found, folder, seed)
    return p, fault


def fuzz(
    count: int,
    seed: int,
    folder: Path,
    show: Callable[[str], None] = lambda _: None,
    families: Sequence[str] = FAMILIES,
    shrink: bool = True,
) -> Tally:
    """Draw programs and compare them with the truth."""
    generator, tally = Generator(seed, families), Tally()
    for number in range(count):
        p = generator.program()
        tally.programs[p.family] += 1
        fault = next(faults(p, folder, seed + number, tally), None)
        if fault is None:
            continue
        tally.faults[p.family, fault.kind] += 1
        if shrink:
            p, fault = shrunk(p, fault, folder, seed + number)
        tally.failures.append((p, fault))
        show(f"[{number}] {p.family}: {fault}\n{p.source()}")
    return tally


def report(tally: Tally) -> None:
    print("programs:", dict(tally.programs), "numbers:", tally.numbers)
    print("refused:", dict(tally.refused))
    print("failures:", {f"{a}/{b}": n for (a, b), n in tally.faults.items()})
    print(f"worst error: {tally.worst:.3g} ulp")


def main() -> int:
    classes = {"type": lambda text: text.split(","), "default": FAMILIES}
    return run(fuzz, report, __doc__, families=("--classes", classes), shrink=SHRINK)


if __name__ == "__main__":
    sys.exit(main())
