"""The square of a number."""

from __future__ import annotations

from benchmarks.gradbench.evals import Eval, Functions, listed
from symdiff import symgrad


def square(x):
    return x * x


def functions(accuracy: str) -> Functions:
    f = symgrad(square, accuracy=accuracy)
    return {"square": f, "double": f.grad}


EVAL = Eval(
    prepare=lambda x: (float(x),),
    functions=functions,
    output=listed,
    example=lambda rng: rng.normal(),
    derivative="double",
    sizes=lambda: {"x=1": 1.0},
)
