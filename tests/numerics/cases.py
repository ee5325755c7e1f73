"""What programs of the corpus are called with, and where they are collected."""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

Function = Callable[..., Any]


@dataclasses.dataclass(frozen=True, eq=False)
class Program:
    """A plain function, and arguments of two sizes."""

    f: Function
    small: tuple[Any, ...]
    large: tuple[Any, ...]


class Programs(list[Program]):
    """Collects the functions of a file; the call is a decorator, `@programs(small, large)`."""

    def __call__(
        self, small: tuple[Any, ...], large: tuple[Any, ...]
    ) -> Callable[[Function], Function]:
        def add(f: Function) -> Function:
            self.append(Program(f, small, large))
            return f

        return add


def vec(n: int, low: float = 0.1, high: float = 2.0, seed: int = 0) -> np.ndarray:
    """n numbers between low and high."""
    return np.random.default_rng([n, seed]).uniform(low, high, n)


def mat(n: int, m: int, low: float = 0.1, high: float = 2.0, seed: int = 0) -> np.ndarray:
    """n rows of m numbers."""
    return np.random.default_rng([n, m, seed]).uniform(low, high, (n, m))


def dominant(n: int, seed: int = 0) -> np.ndarray:
    """A matrix whose diagonal outweighs the rest, so that iterations converge."""
    return mat(n, n, -0.5, 0.5, seed) + n * np.eye(n)


# ---------------------------------------------------------------------- plain Python's truth
STEP = 2.0**-12
"""Of differences, relative to the number that is moved; no program has a kink so near to its arguments."""


def copied(x: Any) -> Any:
    """Arguments of a call, which programs may change."""
    return copy.deepcopy(x)


def floats(x: Any) -> list[Any]:
    """The paths to all floats of arguments: keys, indices and names of fields, one after the other."""
    if isinstance(x, float):
        return [()]
    if isinstance(x, np.ndarray):
        return list(np.ndindex(x.shape)) if x.dtype.kind == "f" else []
    if dataclasses.is_dataclass(x):
        x = vars(x)
    if isinstance(x, dict):
        return [(k, *p) for k, v in x.items() for p in floats(v)]
    if isinstance(x, (list, tuple)):
        return [(k, *p) for k, v in enumerate(x) for p in floats(v)]
    return []


def at(x: Any, path: tuple[Any, ...]) -> Any:
    """The part of arguments, or of their gradient, at a path."""
    for k in path:
        x = getattr(x, k) if dataclasses.is_dataclass(x) else x[k]
    return x


def moved(args: tuple[Any, ...], path: tuple[Any, ...], by: float) -> tuple[Any, ...]:
    """Arguments with one float moved."""
    new = list(copied(args))
    if len(path) == 1:
        new[path[0]] += by
        return tuple(new)
    holder = at(new, path[:-1])
    if dataclasses.is_dataclass(holder):
        setattr(holder, path[-1], at(holder, path[-1:]) + by)
    else:
        holder[path[-1]] += by
    return tuple(new)


def slope(f: Function, args: tuple[Any, ...], path: tuple[Any, ...]) -> np.ndarray:
    """The derivative of the result by one float: central differences, extrapolated (Richardson)."""
    h = STEP * max(2.0**-6, abs(float(at(args, path))))

    def quotient(step: float) -> np.ndarray:
        up, down = (np.asarray(f(*moved(args, path, s)), float) for s in (step, -step))
        return (up - down) / (2 * step)

    wide, narrow = quotient(h), quotient(h / 2)
    scale = 1.0 + np.max(np.abs(narrow), initial=0.0)
    assert np.max(np.abs(wide - narrow), initial=0.0) < 1e-3 * scale, "a kink: choose other data"
    return (4 * narrow - wide) / 3


@functools.cache
def truth(program: Program, large: bool) -> tuple[Any, dict[Any, np.ndarray]]:
    """The result of the plain function, and the slopes by all floats of the arguments, by path."""
    args = program.large if large else program.small
    wanted = program.f(*copied(args))
    return wanted, {p: slope(program.f, args, p) for p in map(tuple, _paths(args))}


def _paths(args: tuple[Any, ...]) -> list[Any]:
    return [(k, *p) for k, a in enumerate(args) for p in floats(a)]
