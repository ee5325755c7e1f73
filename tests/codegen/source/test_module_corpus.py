"""Modules of the corpus agree with the decorator.

Their texts run as plain Python (`export.measured.run`), so nothing is compiled by Numba.
"""

from __future__ import annotations

import math

import numpy as np

from symdiff import symgrad
from symdiff.export import measured
from symdiff.export.measured import flat, run
from symdiff.export.scalar import module_text
from symdiff.ir.program import Program
from tests.codegen.source.test_engine_numba import few
from tests.corpus import CASES

ULPS = 8
HARSH = (0.0, 1.0, -1.0, 1e-8, -3e-5, 1e-160, 1e160, 700.0)
BEYOND = {("array_where", (1e160,))}
"""Points at which 32 digits do not hold what a result is made of: the sine of 1e160 + 2."""
MET = {"extremes": lambda x, y: x == y, "comprehensions": lambda x: abs(x) == 1.0}
"""Cases of which several kinks meet, and where gradients of modules are nan for that, as their docstrings say."""


def apart(a: float, b: float) -> float:
    """How many units in the last place lie between two numbers; none at a pole, where a module may
    have nan and IEEE arithmetic an infinity."""
    if a == b or (math.isnan(a) and not math.isfinite(b)):
        return 0.0
    if not (math.isfinite(a) and math.isfinite(b)):
        return math.inf
    return abs(a - b) / math.ulp(b)


def points(case) -> list[tuple[float, ...]]:
    found = [tuple(map(float, s)) for s in case.samples]
    for k, x in enumerate(HARSH):
        at = [found[0][i] if (k + i) % 3 == 2 else x for i in range(len(found[0]))]
        found += [tuple(at), (x,) * len(found[0])]
    return list(dict.fromkeys(found))


@few(c for c in CASES if not c.static)
def test_modules_agree_with_the_decorator(case, monkeypatch):
    monkeypatch.setattr(measured, "measured", lambda *args: [])
    f = symgrad(case.fun, verify=False, check_domain=False)
    raw = f._source.raw(f._default_static())
    assert isinstance(raw, Program)
    scope = run(module_text(raw, raw.params, check_domain=False))
    functions = [(raw.name, f)]
    if isinstance(raw.tree, int):
        functions.append((f"{raw.name}_grad", f.grad))
    for at in points(case):
        for name, function in functions if (case.name, at) not in BEYOND else ():
            want = flat(function(*at))
            with np.errstate(all="ignore"):
                found = flat(scope[name](*map(np.float64, at)))
            if case.name in MET and MET[case.name](*at) and np.isnan(found).all():
                assert function is not f
                continue
            for a, b in zip(found, want, strict=True):
                assert apart(a, b) <= ULPS, (name, at, found, want)
