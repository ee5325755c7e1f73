"""Pictures of a report, as SVG in the colours of the page: errors of the plain chain rule and of
symdiff near a point, and the graph of what a kernel computes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from symdiff.codegen.sympy.text import short_text
from symdiff.ir import CONST, VAR, Expr, topological

WIDTH, HEIGHT = 640, 260
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 14, 38
FLOOR, HALF, TOPMOST = 0.1, 2.0**26, 1e18
"""Errors in ulps: below and above which they are drawn alike, and half of a double's digits."""
MOST_NODES = 60
"""Operations up to which a graph can be read."""


@dataclass(frozen=True, slots=True)
class Series:
    """Errors in ulps at offsets from a point; infinite where the answer is not finite, nan where
    there is no true value."""

    name: str
    style: str
    offsets: Sequence[float]
    errors: Sequence[float]


def errors(series: Sequence[Series], variable: str, smallest: float, largest: float) -> str:
    """A scatter plot over offsets on both sides of a point."""
    decades = math.log10(largest / smallest)
    middle = (LEFT + WIDTH - RIGHT) / 2
    half = (WIDTH - RIGHT - LEFT) / 2

    def across(offset: float) -> float:
        if offset == 0:
            return middle
        share = 0.06 + 0.94 * max(0.0, math.log10(abs(offset) / smallest)) / decades
        return middle + math.copysign(half * share, offset)

    def up(ulps: float) -> float:
        share = math.log10(min(max(ulps, FLOOR), TOPMOST) / FLOOR) / math.log10(TOPMOST / FLOOR)
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)

    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" class="plot">',
        f"<title>Errors near {escape(variable)}</title>",
    ]
    for value, label in (
        (1.0, "1"),
        (1e4, "10⁴"),
        (HALF, "half"),
        (1e12, "10¹²"),
        (TOPMOST, "inf"),
    ):
        y = up(value)
        style = "half" if value == HALF else "grid"
        parts.append(
            f'<line class="{style}" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
        parts.append(
            f'<text class="tick" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'
        )
    bottom = HEIGHT - BOTTOM
    for exponent in range(math.ceil(math.log10(smallest)) + 4, round(math.log10(largest)) + 1, 4):
        for sign in (-1, 1):
            x = across(sign * 10.0**exponent)
            text = f"{'−' if sign < 0 else ''}1e{exponent}"
            parts.append(
                f'<text class="tick" x="{x:.1f}" y="{bottom + 15}" text-anchor="middle">{text}</text>'
            )
    parts.append(f'<text class="tick" x="{middle}" y="{bottom + 15}" text-anchor="middle">0</text>')
    parts.append(
        f'<text class="tick" x="{middle}" y="{bottom + 32}" text-anchor="middle">{escape(variable)}</text>'
    )
    for s in series:
        for offset, error in zip(s.offsets, s.errors, strict=True):
            if math.isnan(error):
                continue
            place = f'cx="{across(offset):.1f}" cy="{up(error):.1f}"'
            parts.append(f'<circle class="{s.style}" {place} r="2.6"/>')
    return "".join([*parts, "</svg>"])


def graph(outputs: Sequence[Expr], labels: Sequence[str]) -> str | None:
    """The operations from parameters, above, to results, below; None if there are too many."""
    nodes = [e for e in topological(outputs) if e.op is not CONST]
    if not nodes or len(nodes) > MOST_NODES:
        return None
    level: dict[Expr, int] = {}
    for e in nodes:
        above = [level[a] for a in e.args if a in level]
        level[e] = 1 + max(above, default=-1)
    rows: dict[int, list[Expr]] = {}
    for e in nodes:
        rows.setdefault(level[e], []).append(e)
    place = _places(rows)
    width = 130 * max(map(len, rows.values())) + 20
    parts: list[str] = []
    for e in nodes:
        x, y = place[e]
        for a in e.args:
            if a in place:
                u, v = place[a]
                parts.append(
                    f'<path class="edge" d="M{u:.0f} {v + 13} C{u:.0f} {v + 38} {x:.0f} {y - 38} {x:.0f} {y - 13}"/>'
                )
    named: Mapping[Expr, str] = dict(zip(outputs, labels, strict=True))
    for e in nodes:
        x, y = place[e]
        kind = "result" if e in named else "given" if e.op is VAR else "node"
        text = _label(e)
        parts.append(
            f'<rect class="{kind}" x="{x - 58:.0f}" y="{y - 13}" width="116" height="26" rx="6"/>'
        )
        parts.append(
            f'<text class="name" x="{x:.0f}" y="{y + 4}" text-anchor="middle">{escape(text)}</text>'
        )
        if e in named:
            parts.append(
                f'<text class="tick" x="{x:.0f}" y="{y + 27}" text-anchor="middle">{escape(named[e])}</text>'
            )
    height = 70 * len(rows) + 20
    head = f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" class="graph"><title>Operations</title>'
    return "".join([head, *parts, "</svg>"])


def _places(rows: Mapping[int, list[Expr]]) -> dict[Expr, tuple[float, int]]:
    """Centres: in each row nodes stand in the order of the means of what they are computed of."""
    widest = max(map(len, rows.values()))
    place: dict[Expr, tuple[float, int]] = {}
    for k, row in sorted(rows.items()):

        def mean(e: Expr) -> float:
            above = [place[a][0] for a in e.args if a in place]
            return sum(above) / len(above) if above else 0.0

        ordered = sorted(row, key=mean)
        first = 10 + 65 + 130 * (widest - len(row)) / 2
        for j, e in enumerate(ordered):
            place[e] = first + 130 * j, 35 + 70 * k
    return place


def _label(e: Expr) -> str:
    """An operation, with constants among its arguments."""
    if e.op is VAR:
        return short_text(e)
    constants = [short_text(a) for a in e.args if a.op is CONST]
    signs = {"add": "+", "mul": "×", "sub": "−", "div": "÷", "neg": "−", "pow": "^"}
    text = " ".join([signs.get(e.op.name, e.op.name), *constants])
    return text if len(text) <= 16 else text[:15] + "…"


__all__ = ["FLOOR", "HALF", "Series", "errors", "graph"]
