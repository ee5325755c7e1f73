"""Random programs in plain Python and NumPy, called both ways: `symgrad(f)(*args)` is `f(*args)`.

    python -m tests.fuzz.law --programs 1000 --seed 0

Each line of a program is run when it is drawn, so that every name has a value of moderate size, of
a known shape. What is compared: how results nest, the type of containers, shapes, kinds of numbers,
values; and derivatives of the sum of all results, along a random direction, with differences of
the plain program in long doubles. A refusal is no fault, but it is counted.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from symdiff import SymdiffError, symgrad
from tests.fuzz.arrays import SlowError, limited, loaded

SECONDS = 60
"""For one program."""
LARGEST, ELEMENTS = 50.0, 60
SHAPES = ((), (3,), (4,), (2, 3), (3, 3), (1,), (1, 3), (2, 1), (2, 2, 3), (0,), (1, 1))
STEPS = 1e-4, 5e-5
"""Of differences in long doubles."""

# Lines by what they take: `a`, `b` are names of arrays or numbers, `v` a vector, `m` a matrix, `s` a
# number, `i`, `j` small integers, `g` a helper, `c` a constant, `l` a list, `d` a dict.
MAPS = (
    "np.sin({a})", "np.cos({a})", "np.tanh({a})", "np.exp(-{a}*{a})", "-{a}", "abs({a})",
    "{a}**2", "np.sqrt(1 + {a}**2)", "{a}*0.5", "2 - {a}", "np.log(2 + np.sin({a}))", "np.sign({a})",
    "np.floor({a})", "np.arctan({a})", "np.square({a})", "{a}*2", "1/(2 + {a}**2)", "{a} % 1.5",
    "{a}//1", "np.negative({a})", "np.minimum({a}, 0.3)", "np.maximum({a}, 0)", "np.clip({a}, -1, 1)",
    "np.round({a})", "np.zeros_like({a})", "np.ones_like({a})*{s}", "np.full_like({a}, 0.5)",
    "+{a}", "np.isfinite({a})", "{a} > 0.2", "np.abs({a})**1.5", "np.expm1({a}/4)", "np.copysign({a}, -0.5)",
    "np.nan_to_num({a})", "np.asarray({a})", "np.array({a})", "np.positive({a})", "np.float64(2)*{a}",
    "np.where({a} > 0, {a}, 0.1*{a})", "np.heaviside({a}, 0.5)", "np.hypot({a}, 1)", "np.cbrt({a})",
)  # fmt: skip
PAIRS = (
    "{a} + {b}", "{a} - {b}", "{a}*{b}", "{a}/(1.5 + {b}**2)", "np.maximum({a}, {b})",
    "np.minimum({a}, {b})", "np.where({a} > {b}, {a}, {b})", "np.where({a} > 0, {b}, 0)",
    "np.arctan2({a}, {b}**2 + 1)", "np.hypot({a}, {b} + 2)", "{a} < {b}", "np.add({a}, {b})",
    "np.multiply({a}, {b})", "({a} > 0) & ({b} > 0)", "({a} > 0)*{b}", "{a} == {b}", "np.logaddexp({a}, {b})",
    "np.subtract({a}, {b})", "np.outer({a}, {b})", "np.broadcast_to({a}, np.shape({b}))",
    "np.stack([{a}, {b}])", "np.power(np.abs({a}) + 1, {b})", "np.fmax({a}, {b})", "np.true_divide({a}, 2 + {b}**2)",
)  # fmt: skip
REDUCTIONS = (
    "np.sum({a})", "np.mean({a})", "np.max({a})", "np.min({a})", "np.prod({a}*0.5)", "np.sum({a}, axis={i})",
    "np.sum({a}, axis={i}, keepdims=True)", "np.mean({a}, axis={i})", "np.max({a}, axis={i}, keepdims=True)",
    "np.min({a}, axis={i})", "np.std({a})", "np.var({a}, axis={i})", "{a}.sum()", "{a}.mean(axis={i})",
    "{a}.max()", "np.any({a} > 0)", "np.all({a} > 0, axis={i})", "np.count_nonzero({a} > 0)",
    "np.argmax({a})", "np.argmin({a}, axis={i})", "np.cumsum({a})", "np.cumsum({a}, axis={i})",
    "np.cumprod({a}*0.7)", "np.linalg.norm({a})", "np.linalg.norm({a}, axis={i})", "np.median({a})",
    "np.ptp({a})", "np.average({a})", "np.sum({a}**2, keepdims=True)", "np.diff({a})", "np.diff({a}, axis={i})",
    "np.size({a})", "{a}.size", "{a}.ndim", "len({a})", "np.sum({a} > 0)", "np.mean({a} > 0)", "np.trapezoid({a})",
    "{a}.std()", "{a}.prod()", "np.sum({a}, axis=(0, 1))", "np.sum({a}, axis=(0, -1), keepdims=True)",
)  # fmt: skip
SHAPING = (
    "{a}.T", "np.transpose({a})", "{a}.ravel()", "{a}.flatten()", "{a}.reshape(-1)", "{a}.reshape({i}, -1)",
    "np.reshape({a}, ({i}, -1))", "{a}[None]", "{a}[..., None]", "{a}[::-1]", "{a}[1:]", "{a}[:-1]", "{a}[::2]",
    "{a}[0]", "{a}[-1]", "{a}[{i}]", "{a}[:, {i}]", "{a}[..., {i}]", "{a}[:, ::-1]", "{a}[:, None]",
    "np.squeeze({a})", "np.expand_dims({a}, {i})", "np.swapaxes({a}, 0, {i})", "np.moveaxis({a}, 0, -1)",
    "np.flip({a})", "np.flip({a}, {i})", "np.roll({a}, {i})", "np.roll({a}, 1, axis={i})", "np.tile({a}, {i})",
    "np.repeat({a}, 2)", "np.repeat({a}, 2, axis={i})", "np.concatenate([{a}, {a}])", "np.stack([{a}, -{a}], axis={i})",
    "np.vstack([{a}, {a}])", "np.hstack([{a}, {a}])", "np.atleast_1d({a})", "np.atleast_2d({a})", "np.pad({a}, 1)",
    "np.array([{a}, {a}*2])", "np.concatenate(({a}, {b}))", "np.hstack(({a}, {b}))", "np.vstack(({a}, {b}))",
    "np.diag({a})", "np.triu({a})", "np.tril({a})", "np.trace({a})", "np.sort({a})", "np.sort({a}, axis={i})",
    "{a}[{a} > 0]", "{a}[np.array([0, 1, 0])]", "{a}[[1, 0]]", "{a}[np.argsort({a})]", "np.take({a}, [0, 1])",
    "np.take({a}, [0], axis={i})", "np.split({a}, 2)[0]", "np.meshgrid({a}, {a})[1]", "np.column_stack([{a}, {a}])",
    "np.append({a}, {s})", "np.insert({a}, 1, {s})", "np.delete({a}, 0)", "np.ravel({a})", "np.rot90({a})",
    "{a}.swapaxes(0, -1)", "{a}.transpose()", "{a}.copy()", "{a}.astype(float)", "{a}.item(0)", "{a}.tolist()",
    "np.nonzero({a} > 0)[0]", "np.searchsorted(np.array([-0.5, 0.0, 0.5]), {a})", "np.linspace({s}, 1, 4)",
    "np.arange(3)*{s}", "np.eye(2)*{s}", "np.zeros((2, {i}))", "np.full(3, {s})", "np.where({a} > 0)[0]",
)  # fmt: skip
PRODUCTS = (
    "{a} @ {b}", "np.dot({a}, {b})", "np.inner({a}, {b})", "np.matmul({a}, {b}.T)", "np.tensordot({a}, {b}, axes=1)",
    "np.einsum('i,i->', {v}, {v})", "np.einsum('ij,j->i', {m}, {v})", "np.einsum('ij->ji', {m})", "np.kron({a}, {b})",
    "np.vdot({a}, {b})", "np.linalg.det({m} @ {m}.T + np.eye({m}.shape[0]))", "np.convolve({v}, {v})",
    "np.linalg.solve({m} @ {m}.T + np.eye({m}.shape[0]), np.ones({m}.shape[0]))", "np.interp({a}, [-1, 0, 1], [0.5, 0, 2])",
    "np.linalg.inv({m} @ {m}.T + np.eye({m}.shape[0]))", "{m} @ {v}", "{v} @ {v}", "np.trace({m} @ {m}.T)",
    "np.einsum('ij,ij->j', {m}, {m})", "np.cross({v}, np.array([1.0, 2.0, 3.0]))", "np.polyval([1, 0.5], {a})",
)  # fmt: skip
PYTHON = (
    "float({s})", "max({s}, 0.1)", "min({s}, {s})", "sum({v})", "len({a})", "[u*2 for u in {v}]", "tuple({v})",
    "sum(u*u for u in {v})", "({a}, {b})", "[{a}, {b}]", "{{'p': {a}, 'q': {b}}}", "{l}[0]", "{l}[-1]", "{l}[::-1]",
    "{l} + [{s}]", "np.array({l})", "np.sum({l})", "{d}['p']", "{a} if {s} > 0 else {b}", "{g}({a})", "{g}({s})",
    "{g}({a}) + {g}({b})", "[{g}(u) for u in {v}]", "np.array([{g}(u) for u in {v}])", "sorted([{s}, 0.2])",
    "{c}*{a}", "{c} + {a}", "{c} @ {a}", "{a} @ {c}", "{c}[{i}]*{a}", "np.maximum({c}, {a})", "np.where({c} > 0, {a}, {s})",
    "{a}*np.arange(3)", "{a} + K", "N*{a}", "{a}/N", "{a}**N", "list(map({g}, {v}))", "list(zip({v}, {v}))",
    "dict(p={a}, q={s})", "[list(r) for r in {m}]", "abs({s})", "round({s}, 2)", "int({s})", "bool({s} > 0)",
    "{s}**2 + 1", "{s}*N", "{i}*{s}", "{i}/3", "({s}, {i}, {s} > 0)", "[[{s}, 1], [2, {s}]]",
    "(lambda t: t*{s})({a})", "{a}.shape[0]*{s}", "{{k: {s}*k for k in range(3)}}", "None", "'text'", "True",
)  # fmt: skip
BLOCKS = (
    ("{n} = np.zeros(3)", "for q in range(3):", "    {n}[q] = {s}*q"),
    ("{n} = np.zeros_like({a})", "{n}[...] = {a}*2"),
    ("{n} = {a}.copy()", "{n}[0] = 0.5", "{n} *= 2"),
    ("{n} = {a}*1", "{n}[1:] += {s}"),
    ("{n} = {a}*1.0", "{n}[{n} > 0] = 0"),
    ("{n} = 0.0", "for u in {v}:", "    {n} += u*u"),
    ("{n} = 0", "for q in range(N):", "    {n} += q*{s}"),
    ("{n} = 1", "for q in range(1, 5):", "    {n} *= q"),
    ("{n} = []", "for u in {v}:", "    {n}.append(u*{s})"),
    ("{n} = {a}", "for q in range(3):", "    {n} = np.sin({n}) + {b}*0.1"),
    ("{n} = {s}", "while {n} < 2:", "    {n} = {n} + 0.7"),
    ("if {s} > 0:", "    {n} = {a}", "else:", "    {n} = {a}*2"),
    ("{n} = {s}", "for q, u in enumerate({v}):", "    if u > 0:", "        {n} = {n} + q*u"),
    ("{n} = np.zeros((2, 3))", "for p in range(2):", "    for q in range(3):", "        {n}[p, q] = p + q*{s}"),
    ("{n} = np.empty(len({v}))", "for q in range(len({v})):", "    {n}[q] = {v}[q]*{v}[-1 - q]"),
    ("{n}, *_ = {v}",),
    ("{n} = {{}}", "for q in range(2):", "    {n}[str(q)] = {a}*q"),
    ("{n} = {a}*1.0", "{n} += {b}"),
    ("{n} = {a}*1.0", "{n}[..., -1] = {s}"),
    ("{n} = np.zeros({a}.shape)", "{n}[::2] = {a}[::2]"),
)  # fmt: skip
HELPERS = (
    "return u*2 + 1", "return np.sin(u)", "return np.sum(u)", "return np.sum(u)*u", "return np.where(u > 0, u, 0.0)",
    "return u/(1 + np.abs(u))", "return np.array([u, u])", "return K*u", "w = u*u\n    return w - w.mean()",
    "return u if np.sum(u) > 0 else -u", "return np.max(u) - np.min(u)", "return u.T if np.ndim(u) else u",
)  # fmt: skip
CONSTANTS = (
    "np.array([0.5, -1.0, 2.0])", "np.array([[1.0, 2.0, 3.0], [0.0, -1.0, 0.5]])", "np.arange(3)", "0.7", "2",
    "np.array([True, False, True])", "np.eye(3)", "np.array(1.5)", "np.float64(0.3)", "[1.0, 2.0, 0.5]",
)  # fmt: skip


@dataclass
class Drawn:
    """A program that plain Python can run: its text, and arguments for it."""

    seed: int
    source: str
    args: list[Any]
    lines: list[str]

    def text(self) -> str:
        return self.source


def _size(v: Any) -> int:
    if isinstance(v, (list, tuple)):
        return sum(map(_size, v))
    if isinstance(v, dict):
        return sum(map(_size, v.values()))
    return int(np.size(v))


def leaves(v: Any) -> list[Any]:
    """The numbers and arrays of a result, in order."""
    if isinstance(v, (list, tuple)):
        return [x for u in v for x in leaves(u)]
    if isinstance(v, dict):
        return [x for u in v.values() for x in leaves(u)]
    return [v]


def usable(v: Any) -> bool:
    """Whether a value is small, finite, and not close to where it would jump."""
    if v is None or isinstance(v, str):
        return True
    if _size(v) > ELEMENTS:
        return False
    for x in leaves(v):
        if isinstance(x, (str, type(None))):
            continue
        a = np.asarray(x)
        if a.dtype.kind not in "bif" or not np.all(np.isfinite(a)):
            return False
        if a.size and np.max(np.abs(a.astype(float))) > LARGEST:
            return False
    return True


class Generator:
    """Draws a program line by line, running each."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.seed = seed

    def program(self) -> Drawn:
        r = self.random
        rng = np.random.default_rng(self.seed)
        args = [self.argument(rng) for _ in range(r.randint(1, 3))]
        names = ["x", "y", "z"][: len(args)]
        head = ["import numpy as np", f"K = {r.choice(CONSTANTS[:4])}", f"N = {r.choice([2, 3])}",
                f"C = {r.choice(CONSTANTS)}"]  # fmt: skip
        helpers = []
        for k in range(2):
            mark = "@symgrad\n" if r.random() < 0.4 else ""
            helpers.append(f"{mark}def g{k}(u):\n    {r.choice(HELPERS)}")
        scope: dict[str, Any] = {"symgrad": lambda f: f}
        exec("\n".join([*head, *helpers]), scope)  # our own text
        local = {
            n: np.array(a) if isinstance(a, np.ndarray) else a
            for n, a in zip(names, args, strict=True)
        }
        lines: list[str] = []
        made: list[str] = list(names)
        tries = 0
        while len(lines) < 8 and len(made) - len(names) < r.randint(2, 6) and tries < 60:
            tries += 1
            found = self.line(made, local)
            if found is None:
                continue
            name, text = found
            trial = {**scope, **{k: _copied(v) for k, v in local.items()}}
            try:
                with warnings.catch_warnings(), np.errstate(all="raise"):
                    warnings.simplefilter("error")
                    exec("\n".join(text), trial)
            except Exception:
                continue
            if name not in trial or not usable(trial[name]):
                continue
            local[name] = trial[name]
            lines += text
            made.append(name)
        results = made[len(names) :] or names
        wanted = r.sample(results, min(len(results), r.choice([1, 1, 2, 3])))
        form = (
            r.choice(["({},)", "[{}]", "{}", "{}"])
            if len(wanted) > 1
            else r.choice(["{}", "{}", "{}", "[{}]"])
        )
        returned = form.format(", ".join(wanted))
        if r.random() < 0.1:
            returned = "{" + ", ".join(f"'{n}': {n}" for n in wanted) + "}"
        body = [f"    {line}" for line in [*lines, f"return {returned}"]]
        source = "\n".join([*head, "", *helpers, "", f"def f({', '.join(names)}):", *body]) + "\n"
        return Drawn(self.seed, source, args, lines)

    def argument(self, rng: Any) -> Any:
        r = self.random
        shape = r.choice(SHAPES)
        value = np.round(rng.uniform(-1.5, 1.5, shape), 2) + 0.013
        if not shape and r.random() < 0.9:
            return float(value) if r.random() < 0.8 else r.randint(-2, 3)
        if r.random() < 0.1:
            return rng.integers(-3, 4, shape)
        return np.asarray(value)

    def line(self, made: list[str], local: dict[str, Any]) -> tuple[str, list[str]] | None:
        r = self.random
        numbers = [n for n in made if isinstance(local[n], (np.ndarray, float, int, np.generic))]
        if not numbers:
            return None
        by = {
            "a": numbers, "b": numbers, "s": [n for n in numbers if np.ndim(local[n]) == 0],
            "v": [n for n in numbers if np.ndim(local[n]) == 1], "m": [n for n in numbers if np.ndim(local[n]) == 2],
            "l": [n for n in made if isinstance(local[n], list)],
            "d": [n for n in made if isinstance(local[n], dict) and "p" in local[n]],
            "g": ["g0", "g1"], "c": ["C", "K"], "i": ["0", "1", "-1", "2"],
        }  # fmt: skip
        name = f"t{len(made)}"
        kind = r.choices(
            [MAPS, PAIRS, REDUCTIONS, SHAPING, PRODUCTS, PYTHON, BLOCKS], [3, 4, 4, 5, 2, 4, 3]
        )[0]
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


def _copied(v: Any) -> Any:
    if isinstance(v, np.ndarray):
        return v.copy()
    if isinstance(v, list):
        return [_copied(u) for u in v]
    return v


# --------------------------------------------------------------------------- comparing
@dataclass(frozen=True)
class Outcome:
    """What became of a program: `kind` is "fine", "refused", or how it failed."""

    kind: str
    detail: str = ""

    @property
    def failed(self) -> bool:
        return self.kind not in ("fine", "refused", "derivative refused", "slow")


def difference(got: Any, want: Any) -> str:
    """How two results differ; "" if they do not."""
    if isinstance(want, (tuple, list, dict)):
        if type(got) is not type(want) or len(got) != len(want):
            return f"{type(got).__name__} for {type(want).__name__}: {got!r} for {want!r}"
        if isinstance(want, dict):
            if list(got) != list(want):
                return f"keys {list(got)} for {list(want)}"
            got, want = list(got.values()), list(want.values())
        return next((d for g, w in zip(got, want, strict=True) if (d := difference(g, w))), "")
    if want is None or isinstance(want, str):
        return "" if type(got) is type(want) and got == want else f"{got!r} for {want!r}"
    if np.shape(got) != np.shape(want):
        return f"shape {np.shape(got)} for {np.shape(want)}"
    if isinstance(got, np.ndarray) is not isinstance(want, np.ndarray):
        if np.ndim(want):
            return f"{type(got).__name__} for {type(want).__name__}"
    g, w = np.asarray(got), np.asarray(want)
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

    def at(h: float) -> Any:
        moved = [
            np.asarray(a).astype(np.longdouble) + np.longdouble(h) * d if d is not None else a
            for a, d in zip(args, directions, strict=True)
        ]  # fmt: skip
        moved = [
            m if np.ndim(m) else np.longdouble(m) if d is not None else m
            for m, d in zip(moved, directions, strict=True)
        ]
        return total(plain(*moved))

    try:
        found = []
        for h in STEPS:
            up, down = at(h), at(-h)
            if up is None or down is None:
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
        before = [_copied(a) for a in source.args]
        want = plain(*map(_copied, source.args))
        try:
            for _ in range(2):
                got = compiled(*source.args)
                if d := difference(got, want):
                    return Outcome("value", d)
            if any(not np.array_equal(a, b) for a, b in zip(source.args, before, strict=True)):
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
    directions: list[Any] = [
        None if np.asarray(a).dtype.kind != "f" else rng.choice([-1.0, 0.5, 1.0], np.shape(a))
        for a in source.args
    ]
    kinds = {np.asarray(x).dtype.kind for x in leaves(want) if not isinstance(x, (str, type(None)))}
    if (
        all(d is None for d in directions)
        or kinds != {"f"}
        or any(isinstance(x, (str, type(None))) for x in leaves(want))
    ):
        return Outcome("fine")
    slope = slope_of(plain, source.args, directions)
    if slope is None:
        return Outcome("fine")
    names = [n for n, d in zip("xyz", directions, strict=False) if d is not None]
    try:
        tangents = [d if np.ndim(d) else float(d) for d in directions if d is not None]
        _, got = symgrad(compiled, wrt=names).jvp(tuple(map(_copied, source.args)), tuple(tangents))
    except SlowError:
        raise
    except SymdiffError as e:
        return Outcome("mismatch" if "fault of symdiff" in str(e) else "derivative refused", str(e))
    except Exception as e:
        return Outcome("derivative crash", f"{type(e).__name__}: {e}")
    found = float(total(got) or 0.0)
    if not abs(found - slope) <= 1e-6 * (1 + abs(slope)):
        return Outcome("derivative", f"{found} for {slope}")
    return Outcome("fine")


@dataclass
class Tally:
    kinds: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[Any, Outcome]] = field(default_factory=list)


def fuzz(programs: int, seed: int, folder: Path, say: Callable[[str], None] = lambda _: None,
         accuracy: str = "fast", refused: bool = False) -> Tally:  # fmt: skip
    tally = Tally()
    for k in range(programs):
        source = Generator(seed + k).program()
        try:
            with limited(SECONDS):
                outcome = examined(source, folder, accuracy)
        except SlowError:
            outcome = Outcome("slow")
        tally.kinds[outcome.kind] += 1
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--accuracy", default="fast")
    parser.add_argument("--refused", action="store_true", help="print what is refused, too")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tally = fuzz(
            given.programs,
            given.seed,
            Path(folder),
            lambda s: print(s, flush=True),
            given.accuracy,
            given.refused,
        )
    print(dict(tally.kinds))
    for text, count in tally.refusals.most_common(40):
        print(count, text)
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
