"""Random programs with a special point: punctures, kinks, norms, unit vectors, clamps, guards, branches not taken.

Coordinates of the point are small binary fractions, so that what vanishes there vanishes exactly, in doubles too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, TypeVar

from mpmath import mp

from tests.validation.point_reference import Place
from tests.validation.point_spelling import spelled
from tests.validation.point_trees import (
    Node,
    band,
    both,
    call,
    chain,
    choose,
    compare,
    either,
    element,
    every_zero,
    let,
    negated,
    num,
    reduce,
    total,
    var,
    vec,
)  # fmt: skip

NICE = (0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 2.0, -1.0, 0.5, -2.0)
Params = dict[str, Any]
Picked = TypeVar("Picked")


@dataclass(frozen=True)
class Drawn:
    seed: int
    tree: Node
    params: Params
    other: Params
    """An ordinary point."""
    packing: str
    kind: str
    """Names of the ingredients."""

    @property
    def source(self) -> str:
        return spelled(self.tree, self.params, self.seed, self.packing)


class Generator:
    """The programs of one seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = Random(seed)
        self.names = 0
        self.params: Params = {}
        r = self.rng
        for name in "xyzw"[: r.choice([1, 2, 2, 3, 3, 4])]:
            self.params[name] = r.choice(NICE)
        self.array = r.random() < 0.5
        if self.array:
            n = r.choice([2, 3, 3, 4])
            v = r.choice(NICE)
            self.params["q"] = r.choice(
                [[0.0] * n, [v] * n, [r.choice(NICE) for _ in range(n)], [0.0, *([0.5, 0.25, 0.75][: n - 1])]]
            )  # fmt: skip

    def one(self, *options: Callable[[], Picked]) -> Picked:
        return self.rng.choice(options)()

    # ---------------------------------------------------------------- leaves
    def name(self, stem: str) -> str:
        self.names += 1
        return f"{stem}_{self.names}"

    def coordinates(self) -> list[tuple[Node, float]]:
        made = [(var(k), v) for k, v in self.params.items() if not isinstance(v, list)]
        if self.array:
            made += [(var("q", 1)[k], v) for k, v in enumerate(self.params["q"])]
        return made

    def vanishing(self) -> Node:
        """An expression that is exactly 0 at the point."""
        r = self.rng
        found = self.coordinates()
        a, v = r.choice(found)
        first = a - num(v) if v else a
        way = r.random()
        if way < 0.55:
            return first
        b, u = r.choice(found)
        if way < 0.7 and b is not a:
            return a - b if u == v else a + b - num(u + v)
        if way < 0.8:
            return r.choice([2.0, -1.0, 0.5, 3.0]) * first
        if way < 0.9:
            return a * a - num(v * v) if v else a * self.positive()
        return call(r.choice(["sin", "expm1", "tanh"]), first)

    def pair(self) -> tuple[Node, Node]:
        """Two that vanish, of different coordinates where there are several."""
        found = self.coordinates()
        picked = self.rng.sample(found, 2) if len(found) > 1 else [found[0], found[0]]
        u, v = (a - num(c) if c else a for a, c in picked)
        return u, v

    def regular(self) -> Node:
        """A smooth expression."""
        r = self.rng
        (a, _), (b, _) = r.choice(self.coordinates()), r.choice(self.coordinates())
        return self.one(
            lambda: a + num(r.choice([1.0, 2.0, 0.5, -3.0])), lambda: call("cos", a), lambda: call("exp", a),
            lambda: a + 2.0 * b, lambda: a * b + 1.0, lambda: num(r.choice([1.5, 2.0, -0.5])),
            lambda: call("sin", a + 1.0), lambda: 3.0 * a - b, lambda: a,
        )  # fmt: skip

    def positive(self) -> Node:
        a, _ = self.rng.choice(self.coordinates())
        return self.rng.choice([1.0 + a * a, call("exp", a), num(2.0), 2.0 + call("sin", a)])

    def at_point(self, n: Node) -> float:
        with mp.workdps(40):
            return float(Place(n, self.params).run({}, {}).env["value"])

    def constant(self, n: Node) -> Node:
        """The value of an expression at the point, as a number, a coordinate, or itself."""
        v = self.at_point(n)
        same = [a for a, c in self.coordinates() if c == v]
        if same and self.rng.random() < 0.4:
            return self.rng.choice(same)
        return num(v) if self.rng.random() < 0.7 else n

    def guard(self, u: Node, value: Any, beside: Node) -> Node:
        """`value` where u is 0, else `beside`."""
        r = self.rng
        pick = r.random()
        if pick < 0.4:
            return choose(compare(u, "==", 0.0), value, beside)
        if pick < 0.75:
            return choose(compare(u, "!=", 0.0), beside, value)
        if pick < 0.9:
            return choose(band(call("abs", u), r.choice([1e-8, 1e-10, 1e-12])), value, beside)
        return choose(compare(call("abs", u), ">", 0.0), beside, value)

    def together(self, u: Node, v: Node) -> Node:
        """A condition that holds where both vanish."""
        return self.one(
            lambda: both(compare(u, "==", 0.0), compare(v, "==", 0.0)),
            lambda: both(compare(u, "==", 0.0), compare(v, "==", 0.0)),
            lambda: negated(either(compare(u, "!=", 0.0), compare(v, "!=", 0.0))),
            lambda: compare(u * u + v * v, "==", 0.0),
            lambda: band(u * u + v * v, 1e-20),
            lambda: compare(call("abs", u) + call("abs", v), "==", 0.0),
            lambda: compare(call("hypot", u, v), "==", 0.0),
            lambda: every_zero(vec(u, v)),
        )  # fmt: skip

    # ----------------------------------------------------------- ingredients
    def quotient(self) -> Node:
        """A removable quotient with a guard, times what vanishes or not."""
        r = self.rng
        u, w = self.vanishing(), self.regular()
        beside, limit = self.one(
            lambda: (call("sin", w * u) / u, w), lambda: (call("expm1", w * u) / u, w),
            lambda: (call("log1p", w * u) / u, w), lambda: (call("tanh", u) / u, num(1.0)),
            lambda: ((1.0 - call("cos", u)) / (u * u), num(0.5)), lambda: (call("arctan", w * u) / u, w),
            lambda: ((u * u + w * u) / u, w), lambda: ((call("sqrt", 1.0 + u) - 1.0) / u, num(0.5)),
        )  # fmt: skip
        value = r.choice([limit, self.constant(limit), num(1.0)])
        k = self.guard(u, value, beside)
        return k * u if r.random() < 0.6 else k

    def shortcut(self) -> Node:
        """A value at a point where several numbers meet."""
        u, v = self.pair()
        r = self.rng
        beside = self.regular() + r.choice([u, u * v, 2.0 * v + u, u * u + u, call("sin", u) + v])
        value = self.constant(beside) if r.random() < 0.9 else num(self.at_point(beside) + 0.25)
        return choose(self.together(u, v), value, beside)

    def equal(self) -> Node:
        """A shortcut on a line."""
        found = self.coordinates()
        a, v = self.rng.choice(found)
        same = [b for b, c in found if c == v and b is not a]
        if not same:
            return self.shortcut()
        b, w = self.rng.choice(same), self.regular()
        return self.one(
            lambda: choose(compare(a, "==", b), a, a * (1.0 - w) + b * w),
            lambda: choose(compare(a, "==", b), a, (a + b) / 2.0),
            lambda: choose(compare(a, "!=", b), a - b, 0.0),
            lambda: choose(compare(a, "!=", b), (call("exp", a) - call("exp", b)) / (a - b), call("exp", a)),
            lambda: choose(compare(a, "==", b), 2.0 * a, (a * a - b * b) / (a - b)),
        )  # fmt: skip

    def cosines(self) -> Node:
        """Direction cosines with guards, times the radius."""
        u, v = self.pair()
        w, t = self.regular(), self.rng.choice(["ternary", "where", "if", "helper"])
        name = self.name("r")

        def body(rad: Node) -> Node:
            c = choose(compare(rad, ">", 0.0), u / rad, self.rng.choice([0.0, 1.0]), t)
            s = choose(compare(rad, ">", 0.0), v / rad, 0.0, t)
            return rad * c + w * rad * s

        return let(name, call("hypot", u, v), body)

    def unit(self) -> Node:
        """A unit vector without a guard, multiplied by what vanishes."""
        u, v = self.pair()
        scale: Callable[[Node], Node] = self.rng.choice(
            [lambda t: t * t, lambda t: 1.0 - call("cos", t), lambda t: call("sin", t), lambda t: t]
        )
        t = self.name("t")
        return let(
            t, call("hypot", u, v),
            lambda rad: scale(rad) * (u / rad) * (self.rng.choice([u, v]) / rad) + (scale(rad) * (v / rad)),
        )  # fmt: skip

    def kinks(self) -> Node:
        u, v = self.pair()
        w = self.regular()
        return self.one(
            lambda: call("abs", u) * w, lambda: call("maximum", u, v) + w, lambda: call("minimum", u, 0.0) * w,
            lambda: call("hypot", u, v) * w, lambda: call("abs", u) + call("abs", v) + w * u,
            lambda: call("clip", u, 0.0, 1.0) * w, lambda: call("maximum", call("abs", u), call("abs", v)),
            lambda: call("maximum", u, 0.0) ** 2 * w, lambda: call("abs", u) * u + w,
            lambda: call("sqrt", u * u + self.positive() * v * v), lambda: call("abs", u) / (1.0 + call("abs", v)),
            lambda: call("maximum", u, 0.0) + call("minimum", v, 0.0) * w, lambda: call("clip", u + 1.0, -1.0, 1.0),
            lambda: call("cos", call("hypot", u, v)) * w, lambda: call("maximum", call("maximum", u, v), 0.0),
        )  # fmt: skip

    def untaken(self) -> Node:
        """A branch that is not taken and divides by what vanishes."""
        u, v = self.pair()
        w = self.regular()
        a, c = self.rng.choice(self.coordinates())
        test = self.rng.choice(
            [compare(a, "<", c - 5.0), compare(call("abs", a), ">", abs(c) + 3.0)]
        )
        bad = self.one(
            lambda: w / u, lambda: u / call("hypot", u, v), lambda: call("log", u), lambda: call("sqrt", u),
            lambda: u / call("abs", u), lambda: (u + v) / call("hypot", u, v) * w, lambda: call("abs", u) ** 0.5,
        )  # fmt: skip
        return (
            choose(test, bad, self.regular() * (1.0 + u))
            if self.rng.random() < 0.5
            else choose(negated(test), u * w + v, bad)
        )

    def logs(self) -> Node:
        """Sums in log space with exact zeros."""
        u, w = self.vanishing(), self.positive()
        return self.one(
            lambda: call("logaddexp", call("log", u), call("log", w)),
            lambda: call("exp", call("logaddexp", call("log", u) + w, call("log", w))),
            lambda: reduce("logsumexp", call("log", vec(u, w, 0.5))),
            lambda: choose(compare(u, ">", 0.0), u * call("log", u), 0.0) + w,
            lambda: call("logaddexp", call("logaddexp", call("log", u), w), call("log", w)),
            lambda: call("logaddexp", call("log", call("abs", u)) * 2.0, call("log", w)),
        )  # fmt: skip

    def angles(self) -> Node:
        """Round trips through angles."""
        u, v = self.pair()
        w = self.rng.choice([num(1.0), num(2.0), *(a for a, c in self.coordinates() if c > 0)])
        guarded = self.rng.random() < 0.5
        phi = call("arctan2", v, u)
        if guarded:
            phi = choose(either(compare(u, "!=", 0.0), compare(v, "!=", 0.0)), phi, 0.0)
        rad, ph = self.name("rad"), self.name("ph")
        pick = self.rng.random()
        if pick < 0.3:
            return let(
                rad,
                call("hypot", u, v),
                lambda t: let(ph, phi, lambda p: t * call("cos", p) + w * t * call("sin", p)),
            )
        r3 = call("sqrt", u * u + v * v + w * w)
        fn = self.rng.choice(["cos", "sin"])
        if pick < 0.7:
            return let(
                rad,
                r3,
                lambda t: let(
                    ph, phi, lambda p: t * call("sin", call("arccos", w / t)) * call(fn, p)
                ),
            )
        return let(
            rad,
            r3,
            lambda t: (
                call("sin", call("arccos", w / t))
                * call("cos", call("arccos", w / t))
                * call(fn, phi)
            ),
        )

    def powers(self) -> Node:
        u, v = self.pair()
        e = self.rng.choice([0.5 + 1e-16, 0.501, 0.55, 0.6, 0.75, 1.5, 0.5])
        w = self.regular()
        return self.one(
            lambda: (u * u + v * v) ** e * w, lambda: call("abs", u) ** (2.0 * e), lambda: (u * u) ** e + w,
            lambda: call("maximum", u, 0.0) ** (2.0 * e), lambda: (u * u + self.positive() * v * v) ** e,
        )  # fmt: skip

    def steps(self) -> Node:
        u, w = self.vanishing(), self.regular()
        return self.one(
            lambda: call("sign", u) * u, lambda: call("floor", u) * w + u, lambda: call("sign", u) ** 2 * w,
            lambda: w + call("sign", u) * call("abs", u), lambda: call("floor", u + 0.5) * w + u * w,
            lambda: u - call("floor", u) + w, lambda: call("sign", u) * call("sqrt", call("abs", u)) * u,
        )  # fmt: skip

    def onesided(self) -> Node:
        """Branches of which one side shares the point."""
        u, w = self.vanishing(), self.regular()
        op = self.rng.choice([">", ">=", "<", "<="])
        a, b = self.rng.choice([
            (call("sqrt", u), num(0.0)), (u, num(0.0)), (u * w, -u), (call("sqrt", u) * u, u),
            (call("exp", -1.0 / u), num(0.0)), (call("log", u) * u, num(0.0)), (w * u, call("sin", u)),
        ])  # fmt: skip
        if op[0] == "<" and self.rng.random() < 0.7:
            a, b = b, a
        return choose(compare(u, op, 0.0), a, b) + self.regular()

    def chains(self) -> Node:
        u, w = self.vanishing(), self.regular()
        return self.one(
            lambda: chain(compare(u, ">", 0.0), u * w, compare(u, "<", 0.0), -u, num(0.0)),
            lambda: chain(compare(u, "==", 0.0), self.constant(w), compare(u, ">", 0.0), w + u, w - u),
            lambda: chain(compare(u, ">", 1.0), w, compare(u, ">=", 0.0), u * w, 2.0 * u),
            lambda: chain(compare(u, "==", 0.0), num(0.0), compare(call("abs", u), "<", 0.5), u * w, w),
        )  # fmt: skip

    # ---------------------------------------------------------------- arrays
    def elements(self) -> tuple[Node, list[float], Node]:
        """The array, its values, and the array minus them where they are equal."""
        q, v = var("q", 1), self.params["q"]
        return q, v, (q - num(v[0]) if v[0] else q)

    def array_norm(self) -> Node:
        q, v, d = self.elements()
        w, t = self.regular(), self.name("n")
        k = self.rng.randrange(len(v))
        return self.one(
            lambda: reduce("norm", d) * w,
            lambda: let(t, reduce("norm", d), lambda n: n * n * (d[k] / n) * (d[0] / n)),
            lambda: let(t, reduce("norm", d), lambda n: (1.0 - call("cos", n)) * reduce("sum", d / n)),
            lambda: let(t, reduce("norm", d), lambda n: choose(compare(n, ">", 0.0), call("sin", w * n) / n, w) * d[k]),
            lambda: let(t, reduce("norm", d), lambda n: choose(band(n, 1e-10), 1.0, call("sin", n) / n) * reduce("sum", d)),
            lambda: call("exp", -reduce("norm", d)) * (1.0 + reduce("norm", d)),
            lambda: let(t, reduce("norm", d), lambda n: reduce("dot", d / n, d) * w),
            lambda: reduce("dot", d, d) ** self.rng.choice([0.5, 0.501, 0.6, 0.75]),
            lambda: reduce("std", q) * w,
        )  # fmt: skip

    def array_shortcut(self) -> Node:
        q, v, d = self.elements()
        beside = self.one(
            lambda: d[0] + 2.0 * d[len(v) - 1], lambda: reduce("sum", d * d) + d[0], lambda: reduce("sum", call("sin", d)) * self.regular(),
            lambda: reduce("dot", d, d) / reduce("norm", d), lambda: self.regular() + reduce("sum", d),
        )  # fmt: skip
        value = num(0.0) if self.rng.random() < 0.8 else self.regular()
        return choose(every_zero(d), value, beside)

    def array_untaken(self) -> Node:
        q, v, d = self.elements()
        a, c = self.rng.choice(self.coordinates())
        bad = self.one(
            lambda: reduce("sum", d / reduce("norm", d)), lambda: reduce("max", (q - reduce("mean", q)) / reduce("std", q)),
            lambda: reduce("prod", 1.0 / d), lambda: reduce("sum", call("log", call("abs", d))), lambda: d[0] / reduce("norm", d) * reduce("sum", q),
        )  # fmt: skip
        good = self.rng.choice(
            [reduce("sum", q * q), reduce("sum", d) * self.regular(), self.regular()]
        )
        return choose(compare(a, "<", c - 4.0), bad, good)

    def array_mask(self) -> Node:
        q, v, d = self.elements()
        w = self.regular()
        return reduce("sum", self.one(
            lambda: choose(compare(q, ">", 0.0), q * call("log", q), 0.0),
            lambda: choose(compare(d, "==", 0.0), 1.0, call("sin", d) / d) * d,
            lambda: choose(compare(d, "!=", 0.0), call("sin", w * d) / d, 1.0) * d,
            lambda: choose(compare(d, "!=", 0.0), call("expm1", d) / d, 1.0),
            lambda: choose(compare(d, ">", 0.0), call("sqrt", d), 0.0),
            lambda: choose(compare(d, ">=", 0.0), d * w, d * d),
            lambda: choose(band(call("abs", d), 1e-9), 1.0, call("tanh", d) / d) * w,
            lambda: call("abs", d) * w, lambda: call("maximum", d, 0.0) * q, lambda: call("clip", q, v[0], v[0] + 1.0),
        ))  # fmt: skip

    def array_ties(self) -> Node:
        q, v, d = self.elements()
        w = self.regular()
        return self.one(
            lambda: reduce("max", q) * w, lambda: reduce("min", q) + w * q[0], lambda: reduce("max", call("abs", d)),
            lambda: reduce("max", q) - reduce("min", q), lambda: reduce("prod", call("abs", d) + 1.0),
            lambda: reduce("logsumexp", q) * w, lambda: reduce("max", q) ** 2,
        )  # fmt: skip

    def array_logs(self) -> Node:
        q, v, d = self.elements()
        if min(v) < 0:
            return self.array_mask()
        return self.one(
            lambda: reduce("logsumexp", call("log", q)), lambda: call("exp", reduce("logsumexp", call("log", q))),
            lambda: reduce("logsumexp", call("log", q) + self.regular()), lambda: reduce("logsumexp", vec(0.0, call("log", q[0]))),
        )  # fmt: skip

    def array_loop(self) -> Node:
        q, v, d = self.elements()
        w, n = self.regular(), len(v)
        i = var("i")
        e = element(d, i) if d is q else element(q, i) - num(v[0])
        step = element(q, i, 1) - element(q, i)
        return self.one(
            lambda: total("i", n, lambda i: choose(compare(e, "!=", 0.0), call("sin", w * e) / e, 1.0) * e),
            lambda: total("i", n, lambda i: choose(compare(e, ">", 0.0), e * w, 0.0)),
            lambda: total("i", n - 1, lambda i: call("abs", step) * w),
            lambda: total("i", n - 1, lambda i: choose(compare(step, "==", 0.0), element(q, i), (element(q, i, 1) ** 2 - element(q, i) ** 2) / (2.0 * step))),
            lambda: total("i", n, lambda i: e * e / call("hypot", e, 0.0) if self.rng.random() < 0.5 else call("maximum", e, 0.0) * w),
            lambda: total("i", n - 1, lambda i: choose(compare(call("abs", step), ">", 50.0), w / step, step * step + step)),
        )  # fmt: skip

    # -------------------------------------------------------------- programs
    def ingredient(self) -> tuple[str, Node]:
        plain = [
            self.quotient, self.shortcut, self.equal, self.cosines, self.unit, self.kinks, self.untaken,
            self.logs, self.angles, self.powers, self.steps, self.onesided, self.chains,
        ]  # fmt: skip
        arrays = [
            self.array_norm, self.array_shortcut, self.array_untaken, self.array_mask, self.array_ties,
            self.array_logs, self.array_loop,
        ]  # fmt: skip
        made: Callable[[], Node] = self.rng.choice(
            arrays if self.array and self.rng.random() < 0.65 else plain
        )
        return made.__name__, made()

    def program(self) -> Drawn:
        r = self.rng
        kind, tree = self.ingredient()
        if r.random() < 0.5:
            more, other = self.ingredient()
            kind = f"{kind}+{more}"
            tree = self.one(
                lambda: tree + other,
                lambda: tree * other,
                lambda: tree - 2.0 * other,
                lambda: self.regular() * tree + other,
            )
        elif r.random() < 0.5:
            tree = self.one(
                lambda: call("sin", tree), lambda: tree * self.vanishing(), lambda: self.regular() * tree,
                lambda: call("exp", tree), lambda: tree * tree, lambda: tree + self.regular(), lambda: call("arctan", tree),
            )  # fmt: skip
        packing = r.choice(
            ["plain", "plain", "plain", "tuple", "dataclass"] + ["array"] * (not self.array)
        )
        other_point = {
            k: [x + r.uniform(0.1, 0.4) for x in v]
            if isinstance(v, list)
            else v + r.uniform(0.1, 0.4)
            for k, v in self.params.items()
        }
        return Drawn(self.seed, tree, self.params, other_point, packing, kind)
