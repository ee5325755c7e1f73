"""Products with signs: `x*sign(x)` is `abs(x)`, `abs(x)*sign(x)` is `x`, at 0 as well;
`max(x, 0)*sign(x)` is `max(x, 0)`, and `x*sign(x)` next to it is `2*max(x, 0) - x`; those of
`min(x, 0)` are the negatives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from symdiff.ir import ABS, SIGN, ZERO
from symdiff.ir.functions import EXTREMES, MAXIMA
from symdiff.passes.cancel.rational import Factored
from symdiff.passes.simplify.frame import Frame
from symdiff.passes.simplify.pieces import by_powers

Rules = tuple[tuple[Any, Any], ...]
"""Symbols, and their products with the sign."""


def forms(frame: Frame, value: Factored) -> Iterator[Factored]:
    """The value with products of that kind replaced, if it has any."""
    for e, sign in frame.plain.items():
        for rules, alone in _rules(frame, value, e) if e.op is SIGN else ():
            result = frame.ring.const(value.unit)
            for base, n in value.factors.values():
                made = frame.ring.of(_replaced(frame, base, sign, rules, alone))
                if made.unit == 0 and n < 0:
                    break
                result = frame.ring.mul(result, frame.ring.pow(made, n))
            else:
                yield result


def _rules(frame: Frame, value: Factored, e: Any) -> Iterator[tuple[Rules, int | None]]:
    """The products of other symbols with a sign; of one symbol, given what is 0 where it differs."""
    u, found = e.args[0], frame.plain
    x, size = found.get(u), found.get(ABS(u))
    if x is not None and size is not None:
        yield ((x, size), (size, x)), None
    for part, symbol in found.items():
        if part.op in EXTREMES and set(part.args) == {u, ZERO}:
            turn = 1 if part.op in MAXIMA else -1
            more: Rules = () if x is None else ((x, turn * (2 * symbol - x)),)
            whole = value.factors.get(str(symbol), (symbol, 0))[1] > 0
            yield ((symbol, turn * symbol), *more), turn if whole else None


def _replaced(frame: Frame, base: Any, sign: Any, rules: Rules, alone: int | None) -> Any:
    columns = [frame.index[str(symbol)] for symbol in (sign, *(x for x, _ in rules))]
    total = frame.ring.context.constant(0)
    for (signs, *powers), part in by_powers(base, columns).items():
        if alone is not None:
            part, signs = part * alone**signs, 0
        for (symbol, product), n in zip(rules, powers, strict=True):
            k = min(signs, n)
            part, signs = part * product**k * symbol ** (n - k), signs - k
        total = total + part * sign**signs
    return total
