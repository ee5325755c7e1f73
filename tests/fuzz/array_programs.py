"""Random plain NumPy programs with arrays and loops, as source.

A program is a tree of lines, so that it can be shrunk line by line. Every name has one shape,
written as the sizes of its axes in terms of `n = len(x)` and `m = A.shape[1]`; values stay of
moderate size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random

PARAMETERS = {"x": "n", "y": "n", "z": "m", "A": "n m", "c": "", "k": "i"}
"""Shapes of the parameters; `k` is an array of integers from 0 to n - 1."""


@dataclass(frozen=True)
class Line:
    """A statement, and those inside of it."""

    text: str
    body: tuple[Line, ...] = ()


@dataclass(frozen=True)
class Source:
    """A program.

    Attributes
    ----------
    helpers : functions before it.
    parameters : names of its parameters.
    lines : its statements.
    """

    seed: int
    helpers: tuple[Line, ...]
    parameters: tuple[str, ...]
    lines: tuple[Line, ...]
    features: frozenset[str] = field(default_factory=frozenset, compare=False)

    def text(self) -> str:
        head = Line(f"def f({', '.join(self.parameters)}):", self.lines)
        blocks = ["\n".join(_written(line, 0)) for line in (*self.helpers, head)]
        return "\n\n\n".join(["import numpy as np", *blocks]) + "\n"


def _written(line: Line, depth: int) -> Iterator[str]:
    yield "    " * depth + line.text
    for inner in line.body:
        yield from _written(inner, depth + 1)
    if not line.body and line.text.endswith(":"):
        yield "    " * (depth + 1) + "pass"


def smaller(source: Source) -> Iterator[Source]:
    """The same with less: without a statement, with what is in a block in its place, without a
    helper or a parameter."""
    for lines in _fewer(source.lines):
        yield replace(source, lines=lines)
    for k in range(len(source.helpers)):
        yield replace(source, helpers=source.helpers[:k] + source.helpers[k + 1 :])
    for k, name in enumerate(source.parameters):
        if name not in "xA":
            yield replace(source, parameters=source.parameters[:k] + source.parameters[k + 1 :])


def _fewer(lines: tuple[Line, ...]) -> Iterator[tuple[Line, ...]]:
    for k in reversed(range(len(lines))):
        line, rest = lines[k], lines[k + 1 :]
        yield lines[:k] + rest
        if line.body:
            for body in _fewer(line.body):
                if body:
                    yield (*lines[:k], replace(line, body=body), *rest)


@dataclass
class Scope:
    """What a place of a program may use: names by their shapes; integers with what they are
    below, and whether they may be 0 only."""

    arrays: dict[str, list[str]]
    numbers: list[str]
    indices: list[tuple[str, str]]
    depth: int = 0

    def inner(self) -> Scope:
        return Scope(
            {s: list(v) for s, v in self.arrays.items()}, list(self.numbers), list(self.indices),
            self.depth + 1,
        )  # fmt: skip


class Generator:
    """Draws programs."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.seed = seed
        self.count = 0
        self.features: set[str] = set()
        self.helpers: list[Line] = []
        self.known: dict[str, int] = {}

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def note(self, feature: str) -> None:
        self.features.add(feature)

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def program(self) -> Source:
        r = self.random
        names = ["x"]
        names += [n for n, p in (("y", 0.6), ("A", 0.4), ("c", 0.4), ("k", 0.25)) if self.chance(p)]
        if "A" in names and self.chance(0.6):
            names.append("z")
        for _ in range(r.choice([0, 0, 1, 1, 2])):
            self.helper()
        arrays: dict[str, list[str]] = {}
        for n in names:
            if PARAMETERS[n] and n != "k":
                arrays.setdefault(PARAMETERS[n], []).append(n)
        scope = Scope(arrays, ["c"] if "c" in names else [], [])
        lines = [Line("n = len(x)")]
        if "A" in names:
            lines.append(Line("m = A.shape[1]"))
        self.has_k = "k" in names
        self.scalar_result = self.chance(0.75)
        for _ in range(r.randint(2, 6)):
            lines += self.statement(scope)
        lines.append(Line(f"return {self.result(scope)}"))
        return Source(
            self.seed, tuple(self.helpers), tuple(names), tuple(lines), frozenset(self.features)
        )

    def result(self, scope: Scope) -> str:
        if self.scalar_result:
            arrays = [a for s, v in scope.arrays.items() for a in v[-2:]]
            sums = [
                f"np.sum({self.wrapped(a)})"
                for a in self.random.sample(arrays, min(2, len(arrays)))
            ]
            last = scope.numbers[-2:]
            return " + ".join([*sums, *last]) if sums or last else "np.sum(x)"
        shape = self.random.choice(list(scope.arrays))
        self.note("array result")
        return self.elements(scope, shape, 2)

    def wrapped(self, a: str) -> str:
        return self.random.choice([f"{a} * {a}", f"np.sin({a})", a, f"np.tanh({a}) * 0.5"])

    # ------------------------------------------------------------------ helpers
    def helper(self) -> None:
        name = self.fresh("g")
        kind = self.random.choice(["of one", "of one", "of elements", "loop", "nested"])
        self.note(f"helper {kind}")
        head = f"def {name}(u, v):"
        if self.chance(0.4):
            head = f"@symgrad\n{head}"
            self.note("decorated helper")
        if kind == "of one":
            body = [Line(f"return {self.number_of(['u', 'v'], 2)}")]
        elif kind == "of elements":
            body = [Line(f"w = {self.number_of(['u', 'v'], 1)}"), Line("return w * u + np.sin(v)")]
        elif kind == "loop":
            body = [
                Line("s = u * 0.5"),
                Line(f"for j in range({self.random.randint(1, 4)}):",
                     (Line(f"s = {self.number_of(['s', 'v'], 1)}"),)),
                Line("return s"),
            ]  # fmt: skip
        else:
            body = [
                Line("def h(t):", (Line(f"return {self.number_of(['t', 'u'], 1)}"),)),
                Line("return h(v) - h(u) * 0.5"),
            ]
        self.helpers.append(Line(head, tuple(body)))
        self.known[name] = 2

    # -------------------------------------------------------------- expressions
    def number_of(self, leaves: Sequence[str], depth: int) -> str:
        """A number from others, of moderate size."""
        r = self.random
        if depth <= 0 or self.chance(0.15):
            return r.choice(leaves)
        a, b = self.number_of(leaves, depth - 1), self.number_of(leaves, depth - 1)
        return r.choice([
            f"np.sin({a})", f"np.cos({a} + {b})", f"np.tanh({a} - {b})", f"({a} + {b}) * 0.5",
            f"{a} * {b} / (2 + {b} * {b})", f"({a}) / (1.5 + ({b}) ** 2)", f"np.exp(-({a}) ** 2)",
            f"np.sqrt(1 + ({a}) ** 2) - 1", f"({a} - 2 * {b}) / 3", f"np.tanh({a}) ** 3",
            f"np.log(2 + np.sin({a}))",
        ])  # fmt: skip

    def elements(self, scope: Scope, shape: str, depth: int) -> str:
        """An array of a shape."""
        r = self.random
        own = scope.arrays.get(shape, [])
        if depth <= 0 or self.chance(0.1):
            return self.array_leaf(scope, shape) if own or shape != "" else "x"
        a = self.elements(scope, shape, depth - 1)
        kind = r.random()
        if kind < 0.3:
            return r.choice([
                f"np.sin({a})", f"np.tanh({a})", f"np.exp(-({a}) ** 2)", f"-{a}", f"0.5 * ({a})",
                f"np.sqrt(1 + ({a}) ** 2)", f"({a}) ** 2 * 0.25", f"np.cos({a}) ** 2",
            ])  # fmt: skip
        if kind < 0.4 and self.known:
            self.note("helper on arrays")
            g = r.choice(list(self.known))
            return f"{g}({a}, {self.elements(scope, shape, depth - 1)})"
        if kind < 0.5:
            self.note("where")
            b = self.elements(scope, shape, depth - 1)
            return r.choice([
                f"np.where({a} > {b}, {a}, np.sin({b}))", f"np.maximum({a}, 0.1)", f"np.abs({a})",
                f"np.where({a} > 0.2, {b}, 0.0)", f"np.minimum({a}, {b})", f"np.clip({a}, -0.5, 0.7)",
            ])  # fmt: skip
        if kind < 0.6 and (scope.numbers or scope.indices):
            return f"({a}) * {self.number(scope, 1)}"
        if shape == "n m" and kind < 0.75:
            self.note("broadcasting")
            choices = ["x[:, None]", "np.sum(A, axis=0)"]
            choices += [*scope.arrays.get("m", []), f"np.outer(x, {self.elements(scope, 'm', 1)})"]
            return f"({a}) * np.tanh({r.choice(choices)})"
        b = self.elements(scope, shape, depth - 1)
        return r.choice([
            f"{a} * {b}", f"{a} + {b}", f"{a} - {b}", f"({a}) / (2 + ({b}) ** 2)",
            f"({a} + {b}) * 0.5",
        ])  # fmt: skip

    def array_leaf(self, scope: Scope, shape: str) -> str:
        r = self.random
        own = scope.arrays.get(shape, [])
        kind = r.random()
        if shape == "n" and kind < 0.5:
            a = r.choice(own)
            self.note("gather" if kind < 0.42 else "array made")
            choices = [
                f"{a}[::-1]", f"np.roll({a}, {r.randint(-2, 3)})", f"{a}[np.arange(n)]",
                f"{a}[(3 * np.arange(n) + 1) % max(n, 1)]", f"np.cumsum({a}) * 0.3",
                f"np.array([{a}[i] * i for i in range(n)]) * 0.2",
                f"np.array([np.sum({a}[:i]) for i in range(n)])",
                f"np.array([np.sum({a}[i:]) * 0.3 for i in range(n)])",
                f"np.concatenate([{a}[1:], {a}[:1]])",
                f"np.concatenate([{a}[n // 2:], {a}[:n // 2]])",
                f"(np.arange(n) % 3 - 1) * {a}", f"{a} * np.arange(n) / (n + 1)",
                f"np.sort({a})",
            ]  # fmt: skip
            if self.has_k:
                choices += [f"{a}[k]", f"{a}[k][::-1]"]
            if "n m" in scope.arrays:
                M = r.choice(scope.arrays["n m"])
                choices += [f"np.sum({M}, axis=1)", f"{M} @ np.cos(np.arange(m) * 1.0)"]
                choices += [f"{M} @ {z}" for z in scope.arrays.get("m", [])]
            return r.choice(choices)
        if shape == "m" and (kind < 0.4 or not own):
            M = r.choice(scope.arrays.get("n m", ["A"]))
            self.note("reduction along an axis")
            return r.choice([
                f"np.sum({M}, axis=0)", f"x @ {M}", f"{M}.T @ x", f"np.sum({M} * x[:, None], axis=0)",
                "np.arange(m) * 0.5",
            ])  # fmt: skip
        if shape == "n m" and kind < 0.3:
            M = r.choice(own)
            return r.choice([
                f"{M}[::-1]", f"{M}[:, ::-1]", f"np.cumsum({M}, axis=0) * 0.2", f"{M}.T.T",
                f"np.cumsum({M}, axis=1) * 0.2", f"np.roll({M}, 1, axis=0)",
            ])  # fmt: skip
        if shape == "max(n - 1, 0)" and (kind < 0.7 or not own):
            a = r.choice(scope.arrays["n"])
            return r.choice([f"{a}[1:]", f"{a}[:-1]", f"np.diff({a})", f"{a}[:-1][::-1]"])
        if not own:
            return f"np.arange({shape}) * 0.5" if " m" not in shape else "A"
        return r.choice(own)

    def number(self, scope: Scope, depth: int) -> str:
        """A number at a place in a program."""
        leaves = [*scope.numbers, *scope.numbers, "0.3"]
        for i, size in scope.indices:
            leaves += [f"{a}[{i}]" for a in scope.arrays.get(size, [])[-3:]]
            leaves += [self.integer(i)]
            if size == "n":
                self.note("loads")
                leaves += [f"{a}[n - 1 - {i}]" for a in scope.arrays["n"][-1:]]
                leaves += [f"{a}[(2 * {i} + 1) % n]" for a in scope.arrays["n"][-1:]]
                leaves += [f"{a}[{i} // 2]" for a in scope.arrays["n"][-1:]]
                if self.has_k:
                    leaves += [f"{a}[k[{i}]]" for a in scope.arrays["n"][-1:]]
                for j, other in scope.indices:
                    if other == "m":
                        leaves += [f"{M}[{i}, {j}]" for M in scope.arrays.get("n m", [])]
        if scope.numbers and self.known and self.chance(0.3):
            g = self.random.choice(list(self.known))
            return f"{g}({self.number_of(leaves, depth - 1)}, {self.number_of(leaves, 0)})"
        return self.number_of(leaves, depth)

    def integer(self, i: str) -> str:
        """A number made from an index with whole numbers."""
        self.note("integers")
        return self.random.choice([
            f"({i} % 3)", f"({i} // 2 * 0.5)", f"(({i} * 7 + 3) % 5 * 0.2)", f"(-{i} // 3 * 0.1)",
            f"(min({i}, 3) * 0.25)", f"(({i} * {i}) % 7 / 7)", f"({i} / (n + 1))",
        ])  # fmt: skip

    def condition(self, scope: Scope) -> str:
        r = self.random
        if scope.indices and self.chance(0.5):
            i, _ = r.choice(scope.indices)
            return r.choice([f"{i} % 2 == 0", f"{i} > 1", f"{i} < n // 2", f"{i} * 2 != 4"])
        if not scope.numbers and not scope.indices:
            return "n > 2"
        return f"{self.number(scope, 1)} > {r.choice(['0.1', '-0.2', '0.35'])}"

    # --------------------------------------------------------------- statements
    def statement(self, scope: Scope) -> list[Line]:
        r = self.random
        kinds = ["elementwise", "elementwise", "overwrite", "reduce", "loop", "loop", "alias"]
        if scope.depth == 0:
            kinds += ["fill", "fill", "triangle", "triangle", "while", "matrix", "branch", "masked"]
            kinds += ["steps", "steps", "listed", "swap", "grid", "solve", "early"]
        else:
            kinds = ["number", "number", "if", "inner"] if scope.indices else kinds
        return getattr(self, "_" + r.choice(kinds))(scope)

    def shape(self, scope: Scope) -> str:
        shapes = [s for s in scope.arrays if scope.arrays[s]]
        return self.random.choice([*shapes, "n", "n"])

    def _elementwise(self, scope: Scope) -> list[Line]:
        shape = self.shape(scope)
        if shape == "n" and self.chance(0.15):
            shape = "max(n - 1, 0)"
        name, value = self.fresh("t"), self.elements(scope, shape, 2)
        scope.arrays.setdefault(shape, []).append(name)
        return [Line(f"{name} = {value}")]

    def _overwrite(self, scope: Scope) -> list[Line]:
        self.note("overwrite")
        r = self.random
        shape = "n m" if scope.arrays.get("n m") and self.chance(0.3) else "n"
        name = self.fresh("t")
        lines = [Line(f"{name} = {r.choice(scope.arrays[shape])}.copy()")]
        e = self.elements(scope, shape, 1)
        s = self.number(scope, 1)
        if shape == "n":
            a = r.choice(scope.arrays["n"])
            choices = [
                f"{name} += {e}", f"{name} *= {s}", f"{name}[:] = {e}", f"{name}[1:] = {a}[:-1]",
                f"{name}[:-1] += {name}[1:]", f"{name}[::2] *= {s}", f"{name}[1:] -= 0.5 * {a}[1:]",
                f"{name}[{name} > 0.1] = {s}", f"{name}[{name} < 0] *= 0.5", f"{name}[:2] = {s}",
                f"{name}[n // 2:] = {a}[n // 2:] * {a}[n // 2:]", f"{name}[::-1] += {a}",
                f"{name}[-1:] += {a}[:1]", f"{name}[:3] = {name}[-1:]", f"{name} /= 2 + {a} ** 2",
                f"np.add.at({name}, np.arange(n) // 2, {a})", f"{name}[1:][::2] = {s}",
            ]  # fmt: skip
            if self.has_k:
                choices += [f"np.add.at({name}, k, {a})", f"{name}[k] = {s}"]
        else:
            M = r.choice(scope.arrays["n m"])
            choices = [
                f"{name} += {e}", f"{name}[:, 0] = x", f"{name}[0] *= {s}", f"{name}[1:] = {M}[:-1]",
                f"{name}[:, ::2] *= {s}", f"{name}[{name} > 0.3] = {s}", f"{name}[:, -1] += {name}[:, 0]",
            ]  # fmt: skip
        lines += [Line(r.choice(choices)) for _ in range(r.choice([1, 1, 2]))]
        scope.arrays[shape].append(name)
        return lines

    def _alias(self, scope: Scope) -> list[Line]:
        self.note("alias")
        r = self.random
        name, a = self.fresh("v"), r.choice(scope.arrays["n"])
        view = r.choice([a, f"{a}[::-1]", f"{a}[:]", f"{a}.reshape(-1)"])
        change = r.choice(
            [f"{name} *= 0.5", f"{name} += 0.25", f"{name}[1:] *= 2", f"{name}[:1] = 0.4"]
        )
        scope.arrays["n"].append(name)
        return [Line(f"{name} = {view}"), Line(change)]

    def _masked(self, scope: Scope) -> list[Line]:
        self.note("mask")
        r = self.random
        a, b = r.choice(scope.arrays["n"]), r.choice(scope.arrays["n"])
        name = self.fresh("s")
        scope.numbers.append(name)
        return [Line(f"{name} = " + r.choice([
            f"np.sum({a}[{a} > 0.1]) * 0.5", f"np.sum({a}[{b} < 0.3] * {b}[{b} < 0.3])",
            f"np.sum(np.tanh({a}[{a} > {b}])) + len({a}[{b} > 0]) * 0.1",
            f"np.sum({a} * ({b} > 0.2))", f"np.sum(np.nonzero({a} > 0.1)[0]) * 0.1 * {self.number(scope, 0)}",
        ]))]  # fmt: skip

    def _reduce(self, scope: Scope) -> list[Line]:
        r = self.random
        name, shape = self.fresh("s"), self.shape(scope)
        e = self.elements(scope, shape, 1)
        text = r.choice([
            f"np.sum({e}) * 0.5", f"np.tanh(np.sum({e}))", f"np.sum({e}) / (n + 1)",
            f"np.prod(1 + 0.1 * np.sin({e}))", f"np.tanh(np.sum(({e}) * ({e})))",
            f"np.sum(np.sum({e}, axis=0)) * 0.3" if " " in shape and shape == "n m" else f"np.sum({e})",
            f"({e}).max() if n > 0 and ({e}).size > 0 else 0.5", f"np.sum({e}, axis=0).sum() * 0.5"
            if shape == "n m" else f"np.dot({e}, {e}) / (1 + n)",
        ])  # fmt: skip
        scope.numbers.append(name)
        self.note("reduction")
        return [Line(f"{name} = {text}")]

    def _matrix(self, scope: Scope) -> list[Line]:
        self.note("matrix")
        name = self.fresh("M")
        text = self.random.choice([
            "np.outer(x, np.cos(x)) @ x", "np.outer(x, x)[:, 0] if n > 0 else x",
            "np.outer(np.sin(x), x).sum(axis=1) / (n + 1)", "(x[:, None] - x[None, :]).sum(axis=0) * 0.2",
            "np.tril(np.outer(x, x)).sum(axis=1)", "np.diag(np.outer(x, np.sin(x)))",
            "np.outer(x, x).T @ np.tanh(x)", "np.exp(-(x[:, None] - x) ** 2) @ x",
        ])  # fmt: skip
        scope.arrays["n"].append(name)
        return [Line(f"{name} = {text}")]

    # -------------------------------------------------------------------- loops
    def _loop(self, scope: Scope) -> list[Line]:
        """Numbers that a loop carries."""
        r = self.random
        i, s = self.fresh("i"), self.fresh("s")
        inner = scope.inner()
        inner.numbers.append(s)
        kind = r.random()
        if kind < 0.2:
            v = self.fresh("v")
            a = r.choice(scope.arrays["n"])
            inner.numbers.append(v)
            head = r.choice([f"for {v} in {a}:", f"for {v} in {a}[1:]:", f"for {v} in {a}[::-1]:"])
        elif kind < 0.35:
            v = self.fresh("v")
            inner.numbers.append(v)
            inner.indices.append((i, "n"))
            head = f"for {i}, {v} in enumerate({r.choice(scope.arrays['n'])}):"
        elif kind < 0.45:
            v, w = self.fresh("v"), self.fresh("v")
            inner.numbers += [v, w]
            a, b = (r.choice(scope.arrays["n"]) for _ in "ab")
            head = f"for {v}, {w} in zip({a}, {b}):"
        else:
            count = r.choice(["n", "n", "n - 1", "1, n", "0, n, 2", "n - 1, -1, -1", "n // 2"])
            inner.indices.append((i, "n"))
            head = f"for {i} in range({count}):"
        body: list[Line] = []
        if self.chance(0.25):
            self.note("break or continue")
            body.append(
                Line(f"if {self.condition(inner)}:", (Line(r.choice(["break", "continue"])),))
            )
        if self.chance(0.4):
            body += self.statement(inner)
        update = r.choice([
            f"{s} += {self.number(inner, 2)}", f"{s} = {self.number(inner, 2)}",
            f"{s} = 0.5 * {s} + {self.number(inner, 2)}", f"{s} -= {self.number(inner, 1)} * 0.5",
        ])  # fmt: skip
        body.append(Line(update))
        scope.numbers.append(s)
        self.note("loop")
        return [Line(f"{s} = {r.choice(['0.0', '0.1', '1.0'])}"), Line(head, tuple(body))]

    def _number(self, scope: Scope) -> list[Line]:
        name = self.fresh("s")
        value = self.number(scope, 2)
        scope.numbers.append(name)
        return [Line(f"{name} = {value}")]

    def _if(self, scope: Scope) -> list[Line]:
        self.note("branch")
        name = self.fresh("s")
        lines = [
            Line(f"if {self.condition(scope)}:", (Line(f"{name} = {self.number(scope, 2)}"),)),
            Line("else:", (Line(f"{name} = {self.number(scope, 1)}"),)),
        ]
        scope.numbers.append(name)
        return lines

    def _inner(self, scope: Scope) -> list[Line]:
        """A sum over a range that may depend on the indices outside."""
        r = self.random
        j, s = self.fresh("j"), self.fresh("s")
        i, size = r.choice(scope.indices)
        counts = ["n"]
        if size == "n":
            counts += [f"{i}", f"{i} + 1", f"{i}, n", f"{i} + 1, n", f"n - {i}", f"min({i}, 3)"]
            self.note("triangle")
        inner = scope.inner()
        inner.numbers.append(s)
        inner.indices.append((j, "n"))
        body = [Line(f"{s} += {self.number(inner, 2)} * 0.5")]
        scope.numbers.append(s)
        return [Line(f"{s} = 0.0"), Line(f"for {j} in range({r.choice(counts)}):", tuple(body))]

    def _branch(self, scope: Scope) -> list[Line]:
        if not scope.numbers:
            return self._reduce(scope)
        self.note("branch")
        name = self.fresh("t")
        a, b = self.elements(scope, "n", 1), self.elements(scope, "n", 2)
        scope.arrays["n"].append(name)
        s = self.random.choice(scope.numbers)
        return [
            Line(
                f"if {s} > {self.random.choice(['0.1', '0.4', '-0.3'])}:", (Line(f"{name} = {a}"),)
            ),
            Line("else:", (Line(f"{name} = {b}"),)),
        ]

    def _while(self, scope: Scope) -> list[Line]:
        self.note("while")
        r = self.random
        i, s = self.fresh("i"), self.fresh("s")
        inner = scope.inner()
        inner.indices.append((i, "n"))
        inner.numbers.append(s)
        value = self.number(inner, 2)
        scope.numbers.append(s)
        if r.random() < 0.3:
            return [
                Line(f"{s} = 2.0 + np.tanh(np.sum({self.elements(scope, 'n', 1)}))"),
                Line(f"while {s} > 0.5:", (Line(f"{s} = {s} * 0.6"),)),
            ]
        return [
            Line(f"{s} = 0.2"), Line(f"{i} = 0"),
            Line(f"while {i} < n and {s} < {r.choice(['1.5', '0.9'])}:",
                 (Line(f"{s} += {value}"), Line(f"{i} += {r.choice('112')}"))),
        ]  # fmt: skip

    def _fill(self, scope: Scope) -> list[Line]:
        """An array that a loop fills."""
        r = self.random
        name, i = self.fresh("t"), self.fresh("i")
        inner = scope.inner()
        inner.indices.append((i, "n"))
        start = r.choice(["np.zeros(n, x.dtype)", "x.copy()", "np.zeros_like(x)", "0.5 * x"])
        body: list[Line] = []
        if self.chance(0.4):
            body += self.statement(inner)
        e = self.number(inner, 2)
        count, changes = r.choice([
            ("n", [f"{name}[{i}] = {e}", f"{name}[{i}] += {e}", f"{name}[n - 1 - {i}] = {e}"]),
            ("1, n", [f"{name}[{i}] = 0.5 * {name}[{i} - 1] + {e}", f"{name}[{i}] += {name}[{i} - 1] * 0.3"]),
            ("n - 1", [f"{name}[{i} + 1] = np.sin({name}[{i}]) + {e}", f"{name}[{i}] = {e}",
                       f"{name}[{i}] -= 0.5 * {name}[{i} + 1]"]),
            ("n", [f"{name}[{i} // 2] += {e}", f"{name}[{i} % 3 if n > 2 else 0] += {e}",
                   f"{name}[(2 * {i} + 1) % n] = {e}", f"{name}[(3 * {i}) % n] += {e}"]),
            ("n - 2, -1, -1", [f"{name}[{i}] += 0.4 * {name}[{i} + 1]", f"{name}[{i}] = {e}"]),
            ("0, n, 2", [f"{name}[{i}] = {e}", f"{name}[{i}] *= {e}"]),
        ])  # fmt: skip
        change = Line(r.choice(changes))
        if self.chance(0.2):
            change = Line(f"if {self.condition(inner)}:", (change,))
        body.append(change)
        scope.arrays["n"].append(name)
        self.note("filled by a loop")
        return [Line(f"{name} = {start}"), Line(f"for {i} in range({count}):", tuple(body))]

    def _triangle(self, scope: Scope) -> list[Line]:
        """Two loops, the inner one of which may depend on the outer one."""
        self.note("triangle")
        r = self.random
        i, j, name, s = self.fresh("i"), self.fresh("j"), self.fresh("t"), self.fresh("s")
        outer = scope.inner()
        outer.indices.append((i, "n"))
        inner = outer.inner()
        counts = ["n", f"{i}", f"{i} + 1", f"{i}, n", f"{i} + 1, n", f"n - {i}", f"0, {i}, 2", f"{i}, -1, -1",
                  f"min({i}, 3)", f"max(0, {i} - 2), {i} + 1", f"max(0, {i} - 1), min(n, {i} + 2)"]  # fmt: skip
        matrix = "n m" in scope.arrays and self.chance(0.3)
        inner.indices.append((j, "m" if matrix else "n"))
        count = "m" if matrix else r.choice(counts)
        kind = r.random()
        e = self.number(inner, 2)
        if kind < 0.4:
            inner.numbers.append(s)
            body = [Line(f"{s} = 0.0"), Line(f"for {j} in range({count}):", (Line(f"{s} += {e}"),)),
                    Line(f"{name}[{i}] = {s}")]  # fmt: skip
        elif kind < 0.8:
            inner_lines: tuple[Line, ...] = (Line(f"{name}[{i}] += {e}"),)
            if self.chance(0.2):
                inner_lines = (Line(f"if {self.condition(inner)}:", inner_lines),)
            body = [Line(f"for {j} in range({count}):", inner_lines)]
        else:
            target = j if not matrix else i
            body = [Line(f"for {j} in range({count}):", (Line(f"{name}[{target}] += 0.5 * {e}"),))]
        scope.arrays["n"].append(name)
        start = r.choice(["np.zeros(n, x.dtype)", "x * 0.5"])
        return [Line(f"{name} = {start}"), Line(f"for {i} in range(n):", tuple(body))]

    def _steps(self, scope: Scope) -> list[Line]:
        """Arrays that a loop carries."""
        self.note("arrays carried")
        r = self.random
        u, w, k = self.fresh("u"), self.fresh("w"), self.fresh("k")
        a = r.choice(scope.arrays["n"])
        own = scope.inner()
        own.arrays["n"] += [u, w]
        own.indices = []
        e = self.elements(own, "n", 1)
        changes = [
            f"{u}[1:-1] = {u}[1:-1] + 0.1 * ({u}[:-2] - 2 * {u}[1:-1] + {u}[2:])",
            f"{u} = {u} + 0.1 * ({e})", f"{u} = np.tanh(np.roll({u}, 1) + {w})",
            f"{u}[1:] -= 0.3 * {u}[:-1]", f"{u}[::2] += 0.2 * {w}[::2]", f"{u} *= 0.5 + 0.1 * {k}",
            f"{w} = 0.5 * {u} - {w}", f"{u}, {w} = {w}, {u} * 0.5", f"{w}[:] = np.sin({u})",
            f"{u}[{k} % max(n, 1):] *= 0.9", f"{u}[:{k}] = {w}[:{k}]", f"{w}[-1 - {k}:] += 0.25",
            f"{u} = np.where({u} > {w}, {w}, {u})", f"{w} = {u}[::-1] * 0.7",
        ]  # fmt: skip
        body = tuple(Line(t) for t in r.sample(changes, r.randint(1, 3)))
        count = r.choice(["3", "n", "n // 2", "4", "min(n, 3)"])
        scope.arrays["n"] += [u, w]
        return [
            Line(f"{u} = {a}.copy()"), Line(f"{w} = {r.choice(['np.cos(x)', '0.5 * ' + a, 'np.ones_like(x)'])}"),
            Line(f"for {k} in range({count}):", body),
        ]  # fmt: skip

    def _listed(self, scope: Scope) -> list[Line]:
        """A list that grows."""
        self.note("list")
        r = self.random
        name, i, t = self.fresh("l"), self.fresh("i"), self.fresh("t")
        inner = scope.inner()
        inner.indices.append((i, "n"))
        lines = [
            Line(f"{name} = []"),
            Line(f"for {i} in range(n):", (Line(f"{name}.append({self.number(inner, 2)})"),)),
            Line(f"{t} = np.array({name}) * {r.choice(scope.arrays['n'])}"),
        ]
        scope.arrays["n"].append(t)
        return lines

    def _swap(self, scope: Scope) -> list[Line]:
        """Numbers that go round in a loop."""
        self.note("swap")
        r = self.random
        a, b, i = self.fresh("s"), self.fresh("s"), self.fresh("i")
        inner = scope.inner()
        inner.numbers += [a, b]
        inner.indices.append((i, "n"))
        change = r.choice([
            f"{a}, {b} = {b}, 0.5 * {a} + {self.number(inner, 1)}",
            f"{a}, {b} = {self.number(inner, 1)}, {a}", f"{a}, {b} = {b} * 0.7, {a}",
        ])  # fmt: skip
        scope.numbers += [a, b]
        return [Line(f"{a}, {b} = 0.3, {r.choice(['1.0', '-0.4'])}"),
                Line(f"for {i} in range({r.choice(['n', '1, n', 'n - 1, -1, -1'])}):", (Line(change),))]  # fmt: skip

    def _grid(self, scope: Scope) -> list[Line]:
        """A matrix that loops fill; its rows and columns may be used while they are."""
        self.note("matrix filled by loops")
        r = self.random
        M, i, j, t = self.fresh("M"), self.fresh("i"), self.fresh("j"), self.fresh("t")
        inner = scope.inner()
        inner.indices += [(i, "n"), (j, "n")]
        e = self.number(inner, 2)
        head_i, head_j, change = r.choice([
            ("n", "n", f"{M}[{i}, {j}] = {e}"), ("n", f"{i}", f"{M}[{i}, {j}] = {e}"),
            ("n", f"{i}, n", f"{M}[{j}, {i}] += {e}"), ("n", f"{i} + 1", f"{M}[{i}, {j}] -= {e} * 0.5"),
            ("1, n", "1, n", f"{M}[{i}, {j}] = 0.4 * {M}[{i} - 1, {j}] + 0.3 * {M}[{i}, {j} - 1] + {e}"),
            ("1, n", "n", f"{M}[{i}, {j}] = 0.5 * {M}[{i} - 1, {j}] + {e}"),
            ("n", "1, n", f"{M}[{i}, {j}] = 0.5 * {M}[{i}, {j} - 1] + {e}"),
            ("n", "n", f"{M}[{i}, ({i} + {j}) % n] += {e}"), ("n", "n - 1", f"{M}[{j} + 1, {i}] = {e}"),
        ])  # fmt: skip
        use = r.choice([
            f"np.sum({M}, axis=0)", f"np.sum({M}, axis=1) * 0.5", f"{M} @ x", f"{M}.T @ np.sin(x)",
            f"np.diag({M})", f"{M}[:, 0] if n > 0 else x", f"np.max({M}, axis=1) if n > 0 else x",
        ])  # fmt: skip
        scope.arrays["n"].append(t)
        start = r.choice(["np.zeros((n, n), x.dtype)", "np.outer(x, x) * 0.5"])
        return [
            Line(f"{M} = {start}"),
            Line(f"for {i} in range({head_i}):", (Line(f"for {j} in range({head_j}):", (Line(change),)),)),
            Line(f"{t} = {use}"),
        ]  # fmt: skip

    def _solve(self, scope: Scope) -> list[Line]:
        """Substitution in a triangle, forwards or backwards."""
        self.note("substitution")
        r = self.random
        b, i, j = self.fresh("b"), self.fresh("i"), self.fresh("j")
        forwards = self.chance(0.5)
        outer = "n" if forwards else "n - 1, -1, -1"
        inside = f"{i}" if forwards else f"{i} + 1, n"
        weight = r.choice(
            ["0.2 * np.sin(x[i] * x[j])", "0.3 / (1 + (i - j) ** 2)", "x[i - j] * 0.1"]
        )
        weight = (
            weight.replace("[i", f"[{i}").replace("j]", f"{j}]").replace("(i - j)", f"({i} - {j})")
        )
        source = r.choice(scope.arrays["n"])
        if self.chance(0.5):
            body = (
                Line(f"for {j} in range({inside}):", (Line(f"{b}[{i}] -= {weight} * {b}[{j}]"),)),
            )
        else:
            s = self.fresh("s")
            body = (
                Line(f"{s} = {b}[{i}]"),
                Line(f"for {j} in range({inside}):", (Line(f"{s} -= {weight} * {b}[{j}]"),)),
                Line(f"{b}[{i}] = {s} / 1.5"),
            )  # type: ignore[assignment]
        scope.arrays["n"].append(b)
        return [Line(f"{b} = {source}.copy()"), Line(f"for {i} in range({outer}):", body)]

    def _early(self, scope: Scope) -> list[Line]:
        """A result before the end, for some arguments."""
        self.note("early result")
        e = f"np.sum({self.elements(scope, 'n', 1)})"
        if not scope.numbers or not self.scalar_result:
            return self._reduce(scope)
        condition = (
            f"{self.random.choice(scope.numbers)} > {self.random.choice(['0.6', '1.5', '-0.5'])}"
        )
        return [Line(f"if {condition}:", (Line(f"return {e}"),))]
