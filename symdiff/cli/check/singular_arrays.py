"""Ordinary arrays at which a function has no value: a sum, a norm or a difference vanishes there.

Before:  v / np.linalg.norm(v)
After:   nan at v = [0, 0, 0], where it has no limit

Arrays of zeros, equal elements, a single one, and equal arrays are tried. Where one element by
itself makes the value infinite, as in `np.log(v)`, nothing is found, as for functions of numbers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from symdiff import ir
from symdiff.cli.check.examine import Examiner
from symdiff.cli.check.findings import UNDEFINED, Finding
from symdiff.cli.check.formulas import Formula
from symdiff.ir import Expr, format_expr
from symdiff.passes.analysis.roots import loci
from symdiff.pipeline.samples import Point


def undefined(examiner: Examiner, formula: Formula) -> Iterator[Finding]:
    """The values that are not finite at such an array, each once."""
    seen: set[Expr] = set()
    count = len(examiner.program.outputs)
    arrays = {n: text.partition("[")[0] for n, text in formula.names.items() if "[" in text}
    for variable, point in _points(examiner, formula.bases[0], arrays):
        got = examiner.naive.at(point)[:count]
        if np.isfinite(got).all():
            continue
        for i, right in enumerate(examiner.truth(point)[:count]):
            if math.isfinite(got[i]) or right.status not in ("pole", "domain"):
                continue
            node, place = examiner.naive.blame(i, point)
            if node in seen or not _joins(node, arrays):
                continue
            seen.add(node)
            yield Finding(
                examiner.function.__name__, examiner.labels[i], UNDEFINED, variable,
                point[examiner.params.index(variable)], point[examiner.params.index(variable)],
                dict(zip(examiner.params, point, strict=True)), got[i], right.value, right.value,
                math.inf, place, format_expr(node, 120),
            )  # fmt: skip


def _points(
    examiner: Examiner, base: Point, arrays: Mapping[str, str]
) -> Iterator[tuple[str, Point]]:
    """The points, those in the domain, each with a parameter that is meant."""
    params = examiner.params
    for array in dict.fromkeys(arrays.values()):
        elements = [n for n in params if arrays.get(n) == array]
        if len(elements) < 2:
            continue
        first = elements[0]
        plain: list[dict[str, float]] = [
            dict.fromkeys(elements, 0.0),
            dict.fromkeys(elements, 1.0),
            {**dict.fromkeys(elements, 0.0), first: 1.0},
            _ranks(params, arrays),
        ]
        for given in plain:
            point = tuple(given.get(n, x) for n, x in zip(params, base, strict=True))
            if examiner.inside(np.array([point]))[0]:
                yield first, point


def _ranks(params: Sequence[str], arrays: Mapping[str, str]) -> dict[str, float]:
    """Of each array the elements 1, 2, 3 and so on, so that all arrays are equal."""
    met: Counter[str] = Counter()
    found: dict[str, float] = {}
    for n in (n for n in params if n in arrays):
        met[arrays[n]] += 1
        found[n] = float(met[arrays[n]])
    return found


def _joins(node: Expr, arrays: Mapping[str, str]) -> bool:
    """Whether an operation becomes infinite by several elements of one array."""
    counts = (Counter(arrays.get(str(v.value), "") for v in ir.variables((e,))) for e in loci(node))
    return any(n > 1 for c in counts for array, n in c.items() if array)
