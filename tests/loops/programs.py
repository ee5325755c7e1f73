"""Programs with arrays and loops for tests, written by hand; and their true derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from symdiff import ir
from symdiff.interpret.loops import Precise, run
from symdiff.ir import loop_program as lp
from symdiff.ir.loop_program import Loop, LoopProgram, Parameter, Type, Update, array, index, load

N, M = index("n"), index("m")
VECTOR, MATRIX = Type((N,)), Type((N, M))
REAL, INTEGER = Type(), Type((), "i")
BITS = 400


def at(name: str, *indices: ir.Expr | int):
    """An element of an array."""
    return load(array(name), *map(ir.as_expr, indices))


def loop(
    i: str,
    count: ir.Expr | int | None,
    carried: dict[str, tuple],
    body: Sequence = (),
    condition: ir.Expr = ir.TRUE,
    reverse: bool = False,
):
    """A loop; `carried` is name -> (init, next) or (init, next, type); the result of `s`
    is `s_end`."""
    return Loop(
        i,
        None if count is None else ir.as_expr(count),
        tuple(
            lp.Carried(c, v[2] if len(v) > 2 else REAL, ir.as_expr(v[0]), v[1], f"{c}_end")
            for c, v in carried.items()
        ),
        tuple(body),
        f"{i}_trips",
        condition,
        reverse,
    )


def function(params: dict[str, Type], block: Sequence, *outputs: ir.Expr, tree=None) -> LoopProgram:
    tree = tree if tree is not None else 0 if len(outputs) == 1 else tuple(range(len(outputs)))
    return LoopProgram(
        "f", tuple(Parameter(n, t) for n, t in params.items()), tuple(block), outputs, tree
    )


def build(name: str, indices: str, value: ir.Expr, shape: Type = VECTOR, body: Sequence = ()):
    return lp.Build(name, shape, tuple(indices), value, tuple(body))


def update(name: str, source: str, place, value, shape: Type = VECTOR, **options):
    place = place if isinstance(place, tuple) else (place,)
    return Update(name, source, shape, tuple(map(ir.as_expr, place)), ir.as_expr(value), **options)


# ----------------------------------------------------------------------- the truth
def exact(value):
    """Doubles as exact numbers."""
    a = np.asarray(value)
    if a.dtype.kind in "iu":
        return a
    result = np.empty(a.shape, object)
    for place in np.ndindex(*a.shape):
        result[place] = Fraction(float(a[place]))
    return result


def along(program: LoopProgram, args: list, direction: dict[int, np.ndarray]) -> list[np.ndarray]:
    """The derivative of each output along a direction of the parameters: central
    differences in 400 bits."""
    step = Fraction(1, 2**90)

    def shifted(sign: int):
        moved = list(map(exact, args))
        for k, v in direction.items():
            moved[k] = moved[k] + sign * step * exact(v)
        return [np.asarray(o) for o in run(program, moved, Precise(BITS))]

    up, down = shifted(1), shifted(-1)
    return [as_floats((a - b) * float(2**89)) for a, b in zip(up, down, strict=True)]


def as_floats(a) -> np.ndarray:
    a = np.asarray(a)
    return np.array([float(x) for x in a.ravel()]).reshape(a.shape)


def basis(a) -> list[np.ndarray]:
    a = np.asarray(a, float)
    units = []
    for k in range(a.size):
        e = np.zeros(a.size)
        e[k] = 1.0
        units.append(e.reshape(a.shape))
    return units


def true_jacobian(program: LoopProgram, args: list, k: int) -> list[np.ndarray]:
    """The derivatives of every output by a parameter, whose axes come last."""
    entries = [along(program, args, {k: e}) for e in basis(args[k])]
    return [
        np.moveaxis(np.array(column), 0, -1).reshape((*column[0].shape, *np.shape(args[k])))
        for column in zip(*entries, strict=True)
    ]


def check_blocks(found: Sequence, program: LoopProgram, args: list, wrt: Sequence[int]) -> None:
    """The blocks of a Jacobian: those of each output by all parameters in turn."""
    for j, k in enumerate(wrt):
        for i, truth in enumerate(true_jacobian(program, args, k)):
            assert close(found[i * len(wrt) + j], truth)


def outputs(program: LoopProgram, args: list) -> list[np.ndarray]:
    """What a program computes, in high precision, rounded."""
    return [as_floats(o) for o in run(program, args, Precise(BITS))]


def close(found, expected, tolerance: float = 1e-12) -> bool:
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    return bool(np.all(np.abs(found - expected) <= tolerance * (1e-3 + np.abs(expected))))
