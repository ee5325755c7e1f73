"""Random programs at special points: gradients against the definition of the derivative, in many digits.

    python -m tests.validation.points --count 300 --seed 0 [--second] [--no-shrink]

The truth is `point_reference`, which never runs the package. Each program is called at a special point and at
an ordinary one; what is silently wrong is printed with its source, made smaller.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import signal
import sys
import tempfile
import traceback
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from symdiff import SymdiffError, symgrad
from tests.validation.point_programs import Drawn, Generator, Params
from tests.validation.point_reference import Slope, UnclearError, second, truth
from tests.validation.point_trees import Node, free_names, num

NEAR = 1e-9
SECONDS = 90
"""That one program may take."""
ORDER = ("silently wrong", "crash", "slow", "nan", "warned, another", "value", "refused", "right")
"""Classes, the worst first."""


class SlowError(Exception):
    pass


def _late(*_: Any) -> None:
    raise SlowError


# --------------------------------------------------------------------- programs
def loaded(source: str, name: str, folder: Path) -> Any:
    path = folder / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def packed(
    module: Any, params: Params, packing: str, number: Callable[[float], Any] = float
) -> tuple[Any, ...]:
    """The arguments of a call."""
    values = [np.array(v) if isinstance(v, list) else number(v) for v in params.values()]
    match packing:
        case "tuple":
            return (tuple(values),)
        case "array":
            return (np.array(values),)
        case "dataclass":
            return (module.State(*values),)
    return tuple(values)


def parts(tree: Any) -> list[Any]:
    """What a gradient by several parameters has for each."""
    if hasattr(tree, "__dataclass_fields__"):
        return [getattr(tree, k) for k in tree.__dataclass_fields__]
    return list(tree) if isinstance(tree, (tuple, list)) else [tree]


def flat(tree: Any) -> list[float]:
    """The numbers of a gradient, in order."""
    if isinstance(tree, (tuple, list)):
        return [x for t in tree for x in flat(t)]
    if hasattr(tree, "__dataclass_fields__"):
        return [x for k in tree.__dataclass_fields__ for x in flat(getattr(tree, k))]
    return [float(x) for x in np.ravel(tree)]


def plain(module: Any, drawn: Drawn, params: Params) -> float:
    """The value that plain Python computes; functions of `math` give nan where they raise."""
    own = {"atan": "arctan", "atan2": "arctan2"}
    names = (*own, "sin", "cos", "exp", "expm1", "tanh", "hypot")
    kept = module.math
    module.math = types.SimpleNamespace(**{k: getattr(np, own.get(k, k)) for k in names})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(module.f(*packed(module, params, drawn.packing, np.float64)))
    finally:
        module.math = kept


# -------------------------------------------------------------------- comparing
def is_close(got: float, want: float, scale: float) -> bool:
    return abs(got - want) <= NEAR * max(scale, abs(want), 1e-3)


@dataclass(frozen=True)
class Seen:
    """A class, and what was got for what."""

    kind: str
    text: str = ""
    unwarned: bool = False
    """Right at a jump, but without a warning."""


def compared(got: list[float], want: list[float], warned: bool, kinks: list[bool]) -> Seen:
    """The class of numbers; where `kinks` says so, nan is right as well."""
    text = f"got {short(got)} expected {short(want)}"
    if len(got) != len(want):
        return Seen("crash", "another number of results: " + text)
    scale = max([abs(w) for w in want if math.isfinite(w)], default=0.0)
    worst = "right"
    for g, w, kink in zip(got, want, kinks, strict=True):
        undefined = not math.isfinite(g) and (kink or not math.isfinite(w))
        if undefined or is_close(g, w, scale):
            continue
        kind = "nan" if not math.isfinite(g) else "warned, another" if warned else "silently wrong"
        worst = min(worst, kind, key=ORDER.index)
    return Seen(worst, text)


def short(v: list[float]) -> str:
    return "[" + ", ".join(f"{x:.10g}" for x in v) + "]"


def outcome(drawn: Drawn, params: Params, folder: Path, name: str, order: int = 1) -> Seen:
    """What the package makes of a program at a point.

    "unclear" where the definition does not say, "generator" where plain Python and the reference differ.
    """
    try:
        found = truth(drawn.tree, params)
    except UnclearError as e:
        return Seen("unclear", str(e))
    module = loaded(drawn.source, name, folder)
    value, real = plain(module, drawn, params), float(found.value)
    if not (math.isnan(value) or is_close(value, real, abs(real))):
        return Seen("generator", f"plain Python gives {value}, the reference {real}")
    want, kinks = [float(s.slope) for s in found.slopes], [False] * len(found.slopes)
    if order == 2:
        try:
            rows = _smooth_second(drawn, params, found.slopes)
        except UnclearError as e:
            return Seen("unclear", str(e))
        entries = [x for row in rows for x in row]
        want, kinks = [float(x.slope) for x in entries], [x.kink for x in entries]
    signal.signal(signal.SIGALRM, _late)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            f = symgrad(module.f)
            args = packed(module, params, drawn.packing)
            got = _grad(f, args) if order == 1 else _hessian(f, args)
            given = float(f(*args)) if order == 1 else real
    except SymdiffError as e:
        return Seen("refused", f"{type(e).__name__}: {str(e)[:200]}")
    except SlowError:
        return Seen("slow", f"more than {SECONDS} s")
    except Exception as e:  # whatever is no refusal is a finding
        place = traceback.format_exc(limit=-1)[:300]
        return Seen("crash", f"{type(e).__name__}: {str(e)[:200]} {place}")
    finally:
        signal.alarm(0)
    warned = any("symdiff" in type(w.message).__module__ for w in caught)
    seen = compared(got, want, warned, kinks)
    if seen.kind == "right" and not is_close(given, real, abs(real)):
        return Seen("value", f"got {given!r} expected {real!r}")
    jumps = any(s.warned for s in found.slopes)
    return replace(seen, unwarned=jumps and not warned and seen.kind == "right")


def _smooth_second(drawn: Drawn, params: Params, slopes: list[Slope]) -> list[list[Slope]]:
    if any(s.jump or s.kink or not math.isfinite(float(s.slope)) for s in slopes):
        raise UnclearError("not smooth")
    return second(drawn.tree, params)


def _grad(f: Any, args: tuple[Any, ...]) -> list[float]:
    return flat(f.grad(*args))


def _hessian(f: Any, args: tuple[Any, ...]) -> list[float]:
    """The matrix of a Hessian with nested parts, row by row."""
    table = [[np.asarray(p, float) for p in parts(row)] for row in parts(f.hessian(*args))]
    made: list[list[float]] = []
    for k, row in enumerate(table):
        size = row[k].shape[-1] if row[k].ndim else 1
        made += np.concatenate([p.reshape(size, -1) for p in row], axis=1).tolist()
    return [x for row in made for x in row]


# -------------------------------------------------------------------- shrinking
CONDITIONS = ("compare", "and", "or", "not", "band", "every zero")


def smaller(n: Node) -> Iterator[Node]:
    """Trees with one part replaced by a number, or by one of its own parts."""
    if n.rank == 0 and n.op not in ("num", "var", *CONDITIONS):
        yield from (a for a in n.args if a.rank == 0 and a.op not in CONDITIONS)
        yield num(1.0)
    for k, a in enumerate(n.args):
        for b in smaller(a):
            yield Node(n.op, (*n.args[:k], b, *n.args[k + 1 :]), n.data, n.rank)


def shrunk(
    drawn: Drawn, params: Params, kind: str, folder: Path, order: int, tries: int = 40
) -> tuple[Drawn, Seen]:
    """A smaller program of the same class."""
    best, seen = replace(drawn, packing="plain"), Seen(kind)
    first = outcome(best, params, folder, f"small_{drawn.seed}_0", order)
    if first.kind == kind:
        seen = first
    else:
        best, seen = drawn, outcome(drawn, params, folder, f"small_{drawn.seed}_1", order)
    done, again = 1, True
    while again and done < tries:
        again = False
        for tree in smaller(best.tree):
            if done >= tries or not free_names(tree) <= set(params):
                continue
            candidate = replace(best, tree=tree)
            done += 1
            try:
                got = outcome(candidate, params, folder, f"small_{drawn.seed}_{done}", order)
            except Exception:  # a tree that means nothing
                continue
            if got.kind == kind:
                best, seen, again = candidate, got, True
                break
    return best, seen


# --------------------------------------------------------------------- fuzzing
@dataclass
class Tally:
    kinds: Counter[str] = field(default_factory=Counter)
    ordinary: Counter[str] = field(default_factory=Counter)
    by_ingredient: dict[str, Counter[str]] = field(default_factory=dict)
    unwarned: int = 0
    failures: list[tuple[Drawn, Seen]] = field(default_factory=list)


def fuzz(
    count: int, seed: int, folder: Path, say: Callable[[str], None] = lambda s: None,
    order: int = 1, shrink: bool = True,
) -> Tally:  # fmt: skip
    """Programs, their classes, and what is silently wrong of them."""
    tally = Tally()
    for k in range(seed, seed + count):
        drawn = Generator(k).program()
        for where, params in (("special", drawn.params), ("ordinary", drawn.other)):
            seen = outcome(drawn, params, folder, f"points_{k}_{where}", order)
            counter = tally.kinds if where == "special" else tally.ordinary
            counter[seen.kind] += 1
            tally.unwarned += seen.unwarned
            if where == "special":
                for part in drawn.kind.split("+"):
                    tally.by_ingredient.setdefault(part, Counter())[seen.kind] += 1
            if seen.kind in ("right", "unclear"):
                if seen.unwarned:
                    what = f"a jump without a warning ({drawn.kind})"
                    say(f"--- seed {k}: {what}\n{drawn.source}at {params}: {seen.text}")
                continue
            small = drawn
            if shrink and seen.kind in ("silently wrong", "nan"):
                small, seen = shrunk(drawn, params, seen.kind, folder, order)
            if seen.kind == "silently wrong":
                tally.failures.append((small, seen))
            what = f"{where} [{drawn.kind}] {seen.kind.upper()}"
            say(f"--- seed {k} {what}\n{small.source}at {params}: {seen.text}")
    return tally


def report(tally: Tally) -> None:
    for title, counter in (("special points", tally.kinds), ("ordinary points", tally.ordinary)):
        print(title)
        for kind, n in counter.most_common():
            print(f"{n:6} {kind}")
    print(f"{tally.unwarned:6} jumps without a warning")
    for part, counter in sorted(tally.by_ingredient.items()):
        print(f"{part:16}", ", ".join(f"{n} {kind}" for kind, n in counter.most_common()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    smooth = "second derivatives of what is smooth"
    parser.add_argument("--second", action="store_true", help=smooth)
    parser.add_argument("--no-shrink", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tally = fuzz(
            given.count, given.seed, Path(folder), lambda s: print(s, flush=True),
            2 if given.second else 1, not given.no_shrink,
        )  # fmt: skip
    report(tally)
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
