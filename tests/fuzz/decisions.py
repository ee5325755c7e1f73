"""Random programs that count, round and compare: the decisions of values, gradients, modules are Python's.

    python -m tests.fuzz.decisions --programs 1000 --seed 0
    python -m tests.fuzz.decisions --programs 2000 --seed 0 --rounded

With `--rounded`, programs have loops that end when a sum no longer changes, and checks that hold by a rounding only.
Arguments and constants are decimals such as 0.1 and 5.0, so that quotients and sums of them miss integers
and each other by the rounding of doubles. Every decision changes the result visibly. The truth is the same
source run with `Deciding` numbers: doubles with a derivative along one direction, which decide by their doubles.
"""

from __future__ import annotations

import importlib.util
import math
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np

from symdiff import symgrad
from symdiff.errors import UnsupportedError
from tests.fuzz.command import run

NEAR = 1e-9
"""Relative errors that are no fault: far more than rounding, far less than a decision changes."""
LONGEST = 60
"""Seconds after which a program is taken not to end: first calls take one at most on a free machine."""


# ------------------------------------------------------------------- the truth
class Deciding:
    """A double and its derivative; every decision is that of the double."""

    __slots__ = ("slope", "value")

    def __init__(self, value: float, slope: float = 0.0) -> None:
        self.value, self.slope = float(value), float(slope)

    def __add__(self, other: Any) -> Deciding:
        o = deciding(other)
        return Deciding(self.value + o.value, self.slope + o.slope)

    def __radd__(self, other: Any) -> Deciding:
        return deciding(other) + self

    def __sub__(self, other: Any) -> Deciding:
        o = deciding(other)
        return Deciding(self.value - o.value, self.slope - o.slope)

    def __rsub__(self, other: Any) -> Deciding:
        return deciding(other) - self

    def __mul__(self, other: Any) -> Deciding:
        o = deciding(other)
        return Deciding(self.value * o.value, self.slope * o.value + self.value * o.slope)

    def __rmul__(self, other: Any) -> Deciding:
        return deciding(other) * self

    def __truediv__(self, other: Any) -> Deciding:
        o = deciding(other)
        q = self.value / o.value
        return Deciding(q, (self.slope - q * o.slope) / o.value)

    def __rtruediv__(self, other: Any) -> Deciding:
        return deciding(other) / self

    def __pow__(self, power: int) -> Deciding:
        return Deciding(self.value**power, power * self.value ** (power - 1) * self.slope)

    def __neg__(self) -> Deciding:
        return Deciding(-self.value, -self.slope)

    def __abs__(self) -> Deciding:
        return -self if self.value < 0 else self

    def __floordiv__(self, other: Any) -> Deciding:
        return Deciding(self.value // deciding(other).value)

    def __rfloordiv__(self, other: Any) -> Deciding:
        return deciding(other) // self

    def __mod__(self, other: Any) -> Deciding:
        o = deciding(other)
        times = self.value // o.value
        return Deciding(self.value % o.value, self.slope - times * o.slope)

    def __rmod__(self, other: Any) -> Deciding:
        return deciding(other) % self

    def __divmod__(self, other: Any) -> tuple[Deciding, Deciding]:
        return self // other, self % other

    def __lt__(self, other: Any) -> bool:
        return self.value < deciding(other).value

    def __le__(self, other: Any) -> bool:
        return self.value <= deciding(other).value

    def __gt__(self, other: Any) -> bool:
        return self.value > deciding(other).value

    def __ge__(self, other: Any) -> bool:
        return self.value >= deciding(other).value

    def __eq__(self, other: object) -> bool:
        return self.value == deciding(other).value

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = object.__hash__

    def __int__(self) -> int:
        return int(self.value)

    def __floor__(self) -> int:
        return math.floor(self.value)

    def __ceil__(self) -> int:
        return math.ceil(self.value)

    def __round__(self) -> int:
        return round(self.value)

    def __bool__(self) -> bool:
        return self.value != 0


def deciding(x: Any) -> Deciding:
    """A number as one with derivative 0."""
    return x if isinstance(x, Deciding) else Deciding(float(x))


def _of(f: Callable[[float], float], slope: Callable[[float], float]) -> Callable[[Any], Any]:
    def one(x: Any) -> Deciding:
        d = deciding(x)
        return Deciding(f(d.value), slope(d.value) * d.slope)

    return lambda x: np.frompyfunc(one, 1, 1)(x) if isinstance(x, np.ndarray) else one(x)


def _where(c: Any, a: Any, b: Any) -> Any:
    return np.frompyfunc(lambda p, x, y: x if p else y, 3, 1)(c, a, b)


TRUTH = SimpleNamespace(
    sin=_of(math.sin, math.cos),
    exp=_of(math.exp, math.exp),
    sqrt=_of(math.sqrt, lambda v: 0.5 / math.sqrt(v)),
    floor=_of(math.floor, lambda v: 0.0),
    ceil=_of(math.ceil, lambda v: 0.0),
    trunc=_of(math.trunc, lambda v: 0.0),
    rint=_of(lambda v: float(np.rint(v)), lambda v: 0.0),
    where=_where,
    sum=lambda x: sum(x, Deciding(0.0)),
    arange=lambda n: np.arange(n).astype(object),
    zeros=lambda n: np.array([0.0] * n, object),
    searchsorted=lambda a, v, side="left": np.searchsorted(
        np.array([deciding(x).value for x in a]), deciding(v).value, side
    ),
    array=lambda v: np.array(v, object),
)
"""What programs call of NumPy, for such numbers."""


# --------------------------------------------------------------------- programs
STEPS = (0.1, 0.2, 0.01, 0.05, 0.3, 0.7, 0.25, 0.15, 0.6)
LARGE = (1.0, 2.0, 5.0, 3.0, 0.9, 1.2, 4.5, 0.6, 2.1)
WEIGHTS = ("0.1", "0.3", "3", "10", "0.7", "1/3", "0.2", "5", "1.1", "100")


@dataclass
class Drawn:
    """A program: its text, and arguments for it."""

    seed: int
    source: str
    args: list[Any]

    def text(self) -> str:
        return self.source


class Generator:
    """Draws one program; `rounded`: of loops and checks that rounding decides."""

    def __init__(self, seed: int, rounded: bool = False) -> None:
        self.seed, self.rng, self.rounded = seed, Random(seed), rounded
        self.real = ["x", "a", "b"]
        self.lines: list[str] = []
        self.made = 0

    def fresh(self) -> str:
        self.made += 1
        return f"v{self.made}"

    def number(self) -> str:
        """An expression of numbers so far, whose rounding may decide."""
        r = self.rng
        u, v, w = (r.choice(self.real) for _ in range(3))
        c, d = r.choice(WEIGHTS), r.choice(WEIGHTS)
        forms = (
            f"{u}*{c}", f"{u}/{v}", f"{u} + {v}", f"{u} - {v}", f"{u}*{v}", f"{u}*{c} - {v}*{d}",
            f"({u} + {v}) - {w}", f"{u}/{c}/{d}", f"{c}*{d}*{u}", f"{u} + {c} - {d}",
            f"{u}*{v}/{v}", f"({u} + {c})*({u} - {c})", f"np.sqrt({u}*{u})", f"{u}/({c} + {d})",
            f"{u} % {c}", f"{u} % {v}", f"({u} + {v})/{c} % 1.0",
        )  # fmt: skip
        return r.choice(forms)

    def integer(self) -> str:
        r = self.rng
        e = self.number()
        whole = ("int({})", "math.floor({})", "math.ceil({})", "np.floor({})", "np.ceil({})",
                 "np.rint({})", "round({})", "np.trunc({})")  # fmt: skip
        if r.random() < 0.3:
            return f"({e}) // {r.choice([*STEPS[:4], *self.real])}"
        return r.choice(whole).format(e)

    def condition(self) -> str:
        r = self.rng
        op = r.choice(("<", "<=", ">", ">=", "==", "!="))
        one, other = (
            self.number(),
            r.choice((self.number(), r.choice(WEIGHTS), r.choice(self.real))),
        )
        found = f"{one} {op} {other}"
        if r.random() < 0.25:
            found = f"({found}) {r.choice(('and', 'or'))} ({self.number()} > {r.choice(WEIGHTS)})"
        return found

    def term(self) -> str:
        r = self.rng
        v = r.choice(self.real)
        return r.choice((f"{v}", f"{v}*{v}", f"np.sin({v})", f"0.5*{v} + 1", f"x*{v}"))

    def line(self) -> None:
        kinds = ("count", "count", "branch", "branch", "choice", "clock", "steps", "masked", "table",
                 "bins", "held")  # fmt: skip
        rounded = ("series", "series", "halved", "newton", "checked", "checked", "shared")
        getattr(self, self.rng.choice(rounded if self.rounded else kinds))()

    def say(self, *lines: str) -> None:
        self.lines += lines

    def add(self, value: str) -> None:
        n = self.fresh()
        self.say(f"{n} = {value}")
        self.real.append(n)

    def count(self) -> None:
        n = self.fresh()
        self.say(f"{n} = {self.integer()}")
        self.add(f"{self.term()}*(1 + 0.1*({n} % 7))")

    def branch(self) -> None:
        n = self.fresh()
        self.say(
            f"if {self.condition()}:", f"    {n} = {self.term()}", "else:", f"    {n} = 2 + 3*x"
        )
        self.real.append(n)

    def choice(self) -> None:
        self.add(f"{self.term()} if {self.condition()} else 1.5 - x*a")

    def clock(self) -> None:
        """A loop that adds up what decides."""
        t, s, step = self.fresh(), self.fresh(), self.rng.choice(STEPS)
        by = self.rng.choice((f"{step}", "a", f"a*{step}"))
        self.say(
            f"{t} = 0.0", f"{s} = 0.0", f"while {t} < {self.rng.choice(('b', '1.0', '0.6', 'b*0.5'))}:",
            f"    {s} = {s} + x*(1 + {t})", f"    {t} += {by}",
        )  # fmt: skip
        self.real += [s]

    def held(self) -> None:
        """A state with a threshold and a reset."""
        v, s, k = self.fresh(), self.fresh(), self.fresh()
        c = self.rng.choice(("0.3", "0.1", "0.5", "a"))
        self.say(
            f"{v}, {s} = 0.0, 0.0", f"for {k} in range({self.rng.randint(3, 9)}):",
            f"    {v} = {v} + {c}*{self.rng.choice(('1', 'x', 'a', '0.1'))}",
            f"    if {v} >= {self.rng.choice(('0.3', '0.6', '0.9', 'a*3', '0.1*3'))}:",
            f"        {v} = 0.0", f"        {s} = {s} + 1 + x",
        )  # fmt: skip
        self.add(f"{s} + {v}")

    def steps(self) -> None:
        """Euler's method."""
        y, k = self.fresh(), self.fresh()
        self.say(
            f"{y} = x", f"for {k} in range(int({self.rng.choice(('b/a', 'b/0.1', '3*b/a', 'b*0.3/0.1'))})):",
            f"    {y} = {y} - 0.1*{y}*a",
        )  # fmt: skip
        self.real.append(y)

    def masked(self) -> None:
        g, n = self.fresh(), self.rng.randint(4, 12)
        c = self.rng.choice((*map(str, STEPS), "a"))
        op = self.rng.choice(("<", "<=", ">", "=="))
        self.say(f"{g} = np.arange({n})*{c}")
        self.add(
            f"np.sum(np.where({g} {op} {self.rng.choice(('b', '0.3', '0.6', 'a*3'))}, x*{g}, 1.0))"
        )

    def table(self) -> None:
        """The interval of a table, and the line in it."""
        k, n = self.fresh(), self.rng.randint(5, 8)
        step = self.rng.choice(("0.1", "0.3", "a", "0.7"))
        self.say(f"{k} = min(int(b/{step}), {n})")
        self.add(f"({k} + 1)*x + (b - {k}*{step})*{k}")

    def bins(self) -> None:
        e = self.fresh()
        self.say(f"{e} = np.array([0.0, 0.1, 0.2, 0.1*3, 0.6, 0.1*7, 0.9])")
        side = self.rng.choice(("left", "right"))
        at = self.rng.choice(("a*3", "0.1*3", "a + 0.2", "b*0.1", "a*7", "0.3*x"))
        self.add(f"x*(1 + np.searchsorted({e}, {at}, side='{side}'))")

    def series(self) -> None:
        """A sum of terms until it no longer changes."""
        s, t, k, c = self.fresh(), self.fresh(), self.fresh(), self.rng.choice(WEIGHTS[:2])
        by = self.rng.choice(
            (f"a/{k}", f"-a*a/({k}*{k} + {k})", f"{c}*a", f"a*{k}/({k} + 1)", f"-{c}/{k}")
        )
        ends = self.rng.choice((
            (f"while {s} + {t} != {s}:", None), ("while True:", f"if {s} + {t} == {s}:"),
            (f"while not {s} == {s} + {t}:", None), (f"while abs({t}) > abs({s} + {t} - {s})*1e-3 or {s} != {s} + {t}:", None),
            ("while True:", f"if {s} == {s} + {t} or {t} == 0.0:"), (f"while {s} < {s} + abs({t}):", None),
        ))  # fmt: skip
        start = self.rng.choice(("x", "1.0", "b"))
        self.say(f"{s}, {t}, {k} = {start}, {start}, 1", ends[0])
        if ends[1]:
            self.say(f"    {ends[1]}", "        break")
        self.say(f"    {s} = {s} + {t}", f"    {t} = {t}*{by}", f"    {k} = {k} + 1")
        self.checks(s, k)
        self.real.append(s)

    def halved(self) -> None:
        """Steps that become too small to matter."""
        h, n = self.fresh(), self.fresh()
        one = self.rng.choice(("1.0", "b", "x"))
        ends = self.rng.choice(
            (f"{one} + {h} > {one}", f"{one} + {h} != {one}", f"{h} + {one} - {one} > 0")
        )
        self.say(f"{h}, {n} = a, 0", f"while {ends}:", f"    {h} = {h}*0.5", f"    {n} = {n} + 1")
        self.checks(h, n)
        self.add(f"x*{n} + {h}")

    def newton(self) -> None:
        """A root until an iteration changes nothing, or little."""
        y, z, n = self.fresh(), self.fresh(), self.fresh()
        ends = self.rng.choice(
            (f"{z} == {y}", f"abs({z} - {y}) <= 1e-16*{y}", f"{z}*{z} == {z}*{y}")
        )
        self.say(
            f"{y}, {n} = b, 0", "while True:", f"    {z} = 0.5*({y} + x/{y})", f"    {n} = {n} + 1",
            f"    if {ends} or {n} == 40:", "        break", f"    {y} = {z}",
        )  # fmt: skip
        self.checks(y, n)
        self.real.append(y)

    def checked(self) -> None:
        v = self.fresh()
        self.say(f"{v} = {self.number()}")
        self.checks(v)
        self.real.append(v)

    def shared(self) -> None:
        """Shares of a whole, that add up to about 1."""
        p, n = self.fresh(), self.rng.randint(2, 6)
        self.say(f"{p} = np.array([x, a, b, 0.1, 0.7, x*a][:{n}])", f"{p} = {p}/np.sum({p})")
        total = self.fresh()
        self.say(
            f"{total} = 0.0",
            f"for {total}i in range({n}):",
            f"    {total} = {total} + {p}[{total}i]",
        )
        self.checks(total)
        self.add(f"np.sum({p}*{p})")

    def checks(self, *names: str) -> None:
        """Errors that plain Python does not raise, by a rounding."""
        values = self.plain(names)
        for name, value in zip(names, values, strict=True):
            if self.rng.random() < 0.6 and math.isfinite(value):
                self.say(*self.rng.choice((
                    (f"assert {name} == {value!r}",), (f"assert {name} <= {value!r}",),
                    (f"if {name} > {value!r}:", "    raise ValueError('too large')"),
                    (f"if {name} < {value!r}:", "    raise RuntimeError('too small')"),
                    (f"if not ({name} - {value!r} == 0):", "    raise ArithmeticError('not that')"),
                )))  # fmt: skip

    def plain(self, names: tuple[str, ...]) -> list[Any]:
        """What names are in plain Python, where the program is now."""
        scope: dict[str, Any] = {}
        exec(compile(self.source(f"({', '.join(names)},)"), "<plain>", "exec"), scope)
        return [v.item() if isinstance(v, np.generic) else v for v in scope["f"](*self.args)]

    def source(self, result: str) -> str:
        body = "\n".join("    " + line for line in self.lines)
        return (
            "import math\n\nimport numpy as np\n\n\ndef f(x: float, a: float, b: float):\n"
            f"{body}\n    return {result}\n"
        )

    def program(self) -> Drawn:
        r = self.rng
        self.args = [r.choice((*LARGE, 1.0)), r.choice(STEPS), r.choice(LARGE)]
        for _ in range(self.rng.randint(1, 3)):
            self.line()
        made = [v for v in self.real if v not in ("x", "a", "b")]
        return Drawn(self.seed, self.source(f"{' + '.join(made)} + x*x"), self.args)


# -------------------------------------------------------------------- comparing
def truth(source: str, args: list[float]) -> tuple[float, list[float]]:
    """Value and gradient of a program as plain Python decides."""
    value, slopes = math.nan, []
    for k in range(len(args)):
        scope: dict[str, Any] = {}
        exec(compile(source, "<truth>", "exec"), scope)
        scope["np"] = TRUTH
        found = deciding(scope["f"](*(Deciding(v, i == k) for i, v in enumerate(args))))
        value, slopes = found.value, [*slopes, found.slope]
    return value, slopes


def loaded(source: str, name: str, folder: Path) -> Any:
    path = folder / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def is_close(got: Any, want: Any) -> bool:
    g, w = np.ravel(np.asarray(got, float)), np.ravel(np.asarray(want, float))
    scale = 1 + np.abs(w).max(initial=0)
    return g.shape == w.shape and bool(np.all((np.abs(g - w) <= NEAR * scale) | (np.isnan(w))))


class Unending(BaseException):
    """A call does not end."""


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Break off what takes longer, by an alarm as a user would set it."""

    def ring(*_: Any) -> None:
        raise Unending

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def outcome(drawn: Drawn, folder: Path, ways: tuple[str, ...]) -> list[str]:
    """What differs; "refused: ..." where a program is."""
    name = f"decided_{drawn.seed}"
    plain = loaded(drawn.source, name, folder).f
    value = plain(*drawn.args)
    _, slopes = truth(drawn.source, drawn.args)
    found = []
    for way in ways:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with within(LONGEST):
                    got = _WAYS[way](plain, drawn.args, folder, name)
        except UnsupportedError as e:
            found.append(f"{way} refused: {type(e).__name__} {str(e)[:160]}")
            continue
        except Unending:
            found.append(f"{way} does not end")
            continue
        except Exception as e:
            found.append(f"{way} raises {type(e).__name__} {str(e)[:160]}")
            continue
        if not is_close(got[0], value):
            found.append(f"{way} value {got[0]} for {value}")
        if not is_close(got[1], slopes):
            found.append(f"{way} gradient {got[1]} for {slopes}")
    return found


def _called(plain: Any, args: list[float], *_: Any, **options: Any) -> tuple[Any, Any]:
    f = symgrad(plain, **options)
    return f(*args), f.grad(*args)


def _saved(plain: Any, args: list[float], folder: Path, name: str) -> tuple[Any, Any]:
    f = symgrad(plain)
    f(*args)
    f.save(folder / f"{name}_kernels.py", companion=None)
    made = loaded(
        (folder / f"{name}_kernels.py").read_text(encoding="utf-8"), f"{name}_kernels", folder
    )
    return made.f(*args), made.f_grad(*args)


_WAYS: dict[str, Callable[..., tuple[Any, Any]]] = {
    "high": _called,
    "fast": lambda *a: _called(*a, accuracy="fast"),
    "strict": lambda *a: _called(*a, accuracy="strict"),
    "numba": lambda *a: _called(*a, engine="numba"),
    "module": _saved,
}


@dataclass
class Tally:
    kinds: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[Drawn, list[str]]] = field(default_factory=list)


def fuzz(
    count: int, seed: int, folder: Path, say: Callable[[str], None] = lambda s: None,
    ways: tuple[str, ...] = ("high", "fast"), rounded: bool = False,
) -> Tally:  # fmt: skip
    """Programs, and what differs of them."""
    tally = Tally()
    for k in range(seed, seed + count):
        try:
            drawn = Generator(k, rounded).program()
            truth(drawn.source, drawn.args)
        except (ArithmeticError, ValueError, TypeError, AssertionError, RuntimeError):
            tally.kinds["raises in Python"] += 1
            continue
        found = outcome(drawn, folder, ways)
        wrong = [f for f in found if " refused: " not in f]
        tally.kinds["wrong" if wrong else "refused" if found else "right"] += 1
        if wrong:
            tally.failures.append((drawn, wrong))
            say(f"--- seed {k}\n{drawn.source}args {drawn.args}\n" + "\n".join(wrong))
        elif found:
            say(f"--- seed {k}: {found[0]}")
    return tally


def report(tally: Tally) -> None:
    for kind, n in tally.kinds.most_common():
        print(f"{n:6} {kind}")


if __name__ == "__main__":
    sys.exit(
        run(
            fuzz,
            report,
            __doc__,
            ways=("--ways", {"nargs": "*", "default": ["high", "fast"]}),
            rounded=("--rounded", {"action": "store_true"}),
        )
    )
