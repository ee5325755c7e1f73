"""Random programs with arrays and loops, and their derivatives."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from symdiff import ir
from symdiff.ir import Expr, const, var
from symdiff.ir import loop_program as lp
from symdiff.ir.functions import COS, EXP, SIN, TANH
from symdiff.ir.loop_program import Build, Carried, Loop, Type, Update, array, index, load
from symdiff.ir.names import Names
from symdiff.ir.verify.loops import faults
from symdiff.pipeline import loops as loop_pipeline
from tests.loops.programs import (
    MATRIX,
    REAL,
    VECTOR,
    M,
    N,
    along,
    check_blocks,
    close,
    function,
    outputs,
)

PARAMETERS = {"x": VECTOR, "y": VECTOR, "z": MATRIX, "a": REAL}


class Generator:
    """Draws programs; every index is inside of its array, and values stay small."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.names = Names((*PARAMETERS, "n", "m"))

    def program(self) -> lp.LoopProgram:
        scope = Scope({"x": VECTOR, "y": VECTOR, "z": MATRIX}, [var("a")], [])
        block = self.block(scope, depth=2, size=self.random.randint(1, 3))
        name = self.names.fresh("total")
        total = self.sum_of(scope, name)
        return function(PARAMETERS, (*block, total), self.mixed(scope, var(f"{name}_end")))

    def mixed(self, scope: Scope, e: Expr) -> Expr:
        return e + SIN(self.random.choice(scope.scalars))

    def sum_of(self, scope: Scope, name: str) -> Loop:
        """The sum of some array."""
        i = self.names.fresh("i")
        vectors = [a for a, t in scope.arrays.items() if t == VECTOR]
        value = load(array(vectors[-1]), index(i)) * load(array(self.random.choice(vectors)), 0 * N)
        c = Carried(name, REAL, ir.ZERO, var(name) + value, f"{name}_end")
        return Loop(i, N, (c,), (), self.names.fresh("trips"))

    # ------------------------------------------------------------- statements
    def block(self, scope: Scope, depth: int, size: int) -> list:
        """Statements; the scope gets what they define."""
        result: list = []
        for _ in range(size):
            kind = self.random.choice(["build", "update", "update", "loop", "loop"])
            if kind == "build":
                result.append(self.build(scope, depth))
            elif kind == "update":
                result.append(self.update(scope))
            elif depth > 0:
                result.append(self.loop(scope, depth))
        return result

    def build(self, scope: Scope, depth: int) -> Build:
        t = self.random.choice([VECTOR, VECTOR, MATRIX])
        indices = tuple(self.names.fresh("k") for _ in t.shape)
        own = scope.copy()
        own.indices += list(zip(indices, t.shape, strict=True))
        body = self.block(own, depth - 1, 1) if depth > 0 and self.random.random() < 0.4 else []
        name = self.names.fresh("b")
        s = Build(name, t, indices, self.value(own), tuple(body))
        scope.arrays[name] = t
        return s

    def update(self, scope: Scope) -> Update:
        source, t = self.random.choice(list(scope.arrays.items()))
        name = self.names.fresh("u")
        place = tuple(self.place(scope, n) for n in t.shape)
        guard = self.condition(scope) if self.random.random() < 0.3 else ir.TRUE
        value, add = self.value(scope), self.random.random() < 0.4
        scope.arrays[name] = t
        return Update(name, source, t, place, value, guard, add)

    def loop(self, scope: Scope, depth: int) -> Loop:
        i = self.names.fresh("i")
        counts = [(N, N), (M, M), (N - 1, N), (const(2), N)]
        counts += [(index(j) + 1, n) for j, n in scope.indices]
        count, bound = self.random.choice(counts)
        own = scope.copy()
        own.indices.append((i, bound))
        carried: list[tuple[str, Type, Expr]] = []
        for _ in range(self.random.randint(1, 2)):
            s = self.names.fresh("s")
            carried.append((s, REAL, self.random.choice(scope.scalars)))
            own.scalars.append(var(s))
        if self.random.random() < 0.7:
            source, t = self.random.choice(list(scope.arrays.items()))
            v = self.names.fresh("v")
            carried.append((v, t, array(source)))
            own.arrays[v] = t
        body = self.block(own, depth - 1, self.random.randint(0, 3))
        condition = ir.TRUE
        if self.random.random() < 0.2:
            condition = ir.lt(var(carried[0][0]), const(Fraction(17, 10)))
        parts = []
        for name, t, init in carried:
            if t.shape:
                like = [n for n, u in own.arrays.items() if u == t]
                following = array(self.random.choice([like[-1], self.random.choice(like)]))
                scope.arrays[f"{name}_end"] = t
            else:
                following = self.value(own)
                scope.scalars.append(var(f"{name}_end"))
            parts.append(Carried(name, t, init, following, f"{name}_end"))
        backwards = condition is ir.TRUE and self.random.random() < 0.3
        trips = self.names.fresh("trips")
        return Loop(i, count, tuple(parts), tuple(body), trips, condition, backwards)

    # ------------------------------------------------------------ expressions
    def value(self, scope: Scope, depth: int = 3) -> Expr:
        """A number of moderate size."""
        if depth == 0 or self.random.random() < 0.2:
            return self.leaf(scope)
        a, b = self.value(scope, depth - 1), self.value(scope, depth - 1)
        return self.random.choice(
            [
                lambda: SIN(a + b),
                lambda: TANH(a) * COS(b),
                lambda: (a + b) / 2,
                lambda: TANH(a * b),
                lambda: EXP(-(a * a)) - b / 2,
                lambda: a / (2 + b * b),
                lambda: ir.where(self.condition(scope), a, b),
                lambda: ir.sqrt(1 + a * a) / 2 - 1,
            ]
        )()

    def leaf(self, scope: Scope) -> Expr:
        kind = self.random.random()
        if kind < 0.5:
            name, t = self.random.choice(list(scope.arrays.items()))
            return load(array(name), *(self.place(scope, n) for n in t.shape))
        if kind < 0.9:
            return self.random.choice(scope.scalars)
        return const(Fraction(self.random.randint(-4, 4), 4))

    def place(self, scope: Scope, size: Expr) -> Expr:
        """An index of an axis."""
        fitting = [index(i) for i, n in scope.indices if n is size]
        others = [index(i) for i, _ in scope.indices]
        options = [const(0), size - 1]
        options += fitting * 4
        options += [size - 1 - i for i in fitting]
        options += [ir.apply(lp.MOD, 2 * i + 1, size) for i in others]
        return self.random.choice(options)

    def condition(self, scope: Scope) -> Expr:
        indices = [index(i) for i, _ in scope.indices]
        if indices and self.random.random() < 0.5:
            return ir.lt(self.random.choice(indices), const(self.random.randint(1, 2)))
        return ir.lt(self.leaf(scope), const(Fraction(self.random.randint(-3, 3), 7)))


class Scope:
    """What statements see: arrays, numbers, indices with their bounds."""

    def __init__(self, arrays: dict, scalars: list, indices: list) -> None:
        self.arrays, self.scalars, self.indices = dict(arrays), list(scalars), list(indices)

    def copy(self) -> Scope:
        return Scope(self.arrays, self.scalars, self.indices)


ARGUMENTS = [
    [0.3, -0.7, 1.1],
    [0.9, 0.2, -0.4],
    [[0.1, 0.6], [-0.3, 0.8], [0.5, -0.2]],
    0.45,
]
"""Of `PARAMETERS`."""

NAMES = list(PARAMETERS)
FEW = settings(max_examples=25, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
@FEW
@given(st.integers(0, 10**6))
def test_reverse_mode(seed: int) -> None:
    program = Generator(Random(seed)).program()
    assert faults(program) == []
    slopes = loop_pipeline.gradient(program, NAMES)
    assert faults(slopes) == []
    assert close(
        outputs(loop_pipeline.value(program), ARGUMENTS)[0], outputs(program, ARGUMENTS)[0]
    )
    check_blocks(outputs(slopes, ARGUMENTS), program, ARGUMENTS, range(len(NAMES)))


@pytest.mark.slow
@FEW
@given(st.integers(0, 10**6))
def test_forward_and_second_derivatives(seed: int) -> None:
    program = Generator(Random(seed)).program()
    rng = np.random.default_rng(seed)
    v = [rng.uniform(-1, 1, np.shape(a)) for a in ARGUMENTS]
    slopes = loop_pipeline.gradient(program, NAMES)
    direction = dict(enumerate(v))
    tangent = outputs(loop_pipeline.jvp(program, NAMES), [*ARGUMENTS, *v])[1]
    assert close(tangent, along(program, ARGUMENTS, direction)[0])
    truth = along(slopes, ARGUMENTS, direction)
    assert all(map(close, outputs(loop_pipeline.hvp(program, NAMES), [*ARGUMENTS, *v]), truth))
    again = loop_pipeline.vjp(slopes, NAMES)
    assert faults(again) == []
    assert all(map(close, outputs(again, [*ARGUMENTS, *v])[len(NAMES) :], truth))
