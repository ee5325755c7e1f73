"""Gradients of plain Python functions by extrapolated central differences, with their errors."""

from __future__ import annotations

import copy
import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.programs.case import Case

LEVELS, SHRINK = 10, 1.6


def leaves(tree: Any) -> list[float]:
    """The numbers of a tree, in the order of its containers."""
    if isinstance(tree, np.ndarray):
        return [float(v) for v in tree.ravel()]
    if isinstance(tree, dict):
        return [v for key in sorted(tree) for v in leaves(tree[key])]
    if dataclasses.is_dataclass(tree):
        return [v for f in dataclasses.fields(tree) for v in leaves(getattr(tree, f.name))]
    if isinstance(tree, (list, tuple)):
        return [v for part in tree for v in leaves(part)]
    return [float(tree)]


def rebuilt(tree: Any, values: list[float]) -> Any:
    """The tree with the numbers of `values`, which are taken from the front of that list."""
    if isinstance(tree, np.ndarray):
        return np.array([values.pop(0) for _ in range(tree.size)]).reshape(tree.shape)
    if isinstance(tree, dict):
        parts = {key: rebuilt(tree[key], values) for key in sorted(tree)}
        return {key: parts[key] for key in tree}
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        parts = {f.name: rebuilt(getattr(tree, f.name), values) for f in dataclasses.fields(tree)}
        return dataclasses.replace(tree, **parts)
    if isinstance(tree, (list, tuple)):
        return type(tree)([rebuilt(part, values) for part in tree])
    return values.pop(0)


def gradient(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The derivatives by all numbers of the case's parameters `wrt`, and estimates of their errors."""
    call = inspect.signature(case.fun).bind(*case.args)
    call.apply_defaults()
    names = case.wrt or tuple(call.arguments)
    chosen = [call.arguments[n] for n in names]
    start = leaves(chosen)

    def at(entry: int, step: float) -> float:
        numbers = list(start)
        numbers[entry] += step
        arguments = copy.deepcopy(dict(call.arguments))
        arguments.update(zip(names, rebuilt(chosen, numbers), strict=True))
        try:
            with np.errstate(all="ignore"):
                return float(case.fun(**arguments))
        except (ArithmeticError, ValueError):
            return np.nan

    found = []
    for k, value in enumerate(start):
        tries = [_derivative(lambda t, k=k: at(k, t), h) for h in {0.05 * abs(value) or 0.01, 0.01}]
        found.append(min(tries, key=lambda pair: pair[1]))
    return np.array([v for v, _ in found]), np.array([e for _, e in found])


def _derivative(fun: Callable[[float], float], step: float) -> tuple[float, float]:
    """Ridders' method: central differences of shrinking steps, extrapolated to the step 0, and the
    largest change of the last extrapolations, of which the smallest counts."""
    table: list[list[float]] = []
    best = (np.nan, np.inf)
    for level in range(LEVELS):
        h = step / SHRINK**level
        row = [(fun(h) - fun(-h)) / (2 * h)]
        for k in range(level):
            factor = SHRINK ** (2 * (k + 1))
            row.append((factor * row[k] - table[-1][k]) / (factor - 1))
            error = max(abs(row[k + 1] - row[k]), abs(row[k + 1] - table[-1][k]))
            if error < best[1]:
                best = row[k + 1], error
        table.append(row)
    return best
