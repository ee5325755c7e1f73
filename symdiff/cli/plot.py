"""`symdiff plot`: value, derivative and their errors near the bad points of a function.

One row of panels for each bad point that `check` finds, along one variable and over a
log-symmetric axis of offsets: the plain chain rule as dots, symdiff as a line, and the
errors of both in ulps. Without a bad point the row spans the ordinary numbers. The
same function gives the same file.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from symdiff.api.function import SymbolicFunction
from symdiff.cli.check.command import SECONDS, check
from symdiff.cli.check.examine import Examiner
from symdiff.cli.check.findings import Finding, number
from symdiff.diagnostics.certify import defaults_of
from symdiff.errors import SymdiffError, optional
from symdiff.export.files import write
from symdiff.interpret import ulp_error
from symdiff.ir.loop_program import LoopProgram
from symdiff.pipeline.samples import Array, Point, bases

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".png", ".svg")
MAX_ROWS = 3
DECADES = 17
PER_DECADE = 6
SPAN = 10.0
"""Without a bad point the variable runs over [-SPAN, SPAN]."""
POINTS = 401
FAR = 1e6
"""Bad points beyond this are drawn if there are no others."""
FLOOR, CEILING, NONFINITE = 0.06, 4e16, 2e18
"""Where errors below and above, and answers that are not finite, are drawn."""
NAIVE, OURS, TRUE = "#d1495b", "#1d6996", "#b8b8b8"


@dataclass(frozen=True, slots=True)
class Row:
    """A line through a point, parallel to an axis.

    Attributes
    ----------
    point : the bad point.
    axis : the parameter that varies.
    offsets : how far from the point.
    symmetric : whether the offsets are drawn on a log-symmetric axis.
    """

    point: Point
    axis: int
    offsets: Array
    symmetric: bool


def plot(
    function: SymbolicFunction,
    output: str | os.PathLike[str],
    wrt: Sequence[str] | None = None,
    *,
    at: str | None = None,
    seconds: float = SECONDS,
) -> str:
    """Draw a function near its bad points into a file.

    Parameters
    ----------
    function : whose value and derivative are drawn.
    output : a `.png` or `.svg` file.
    wrt : the variables to differentiate by; None: as the function has it.
    at : "x=1,y=2": the point to look at instead, along the variable named first.
    seconds : when to stop searching for bad points.

    Returns
    -------
    One line that describes the picture.

    Raises
    ------
    SymdiffError : for another kind of file, or a point that makes no sense.
    MissingExtraError : without matplotlib.
    """
    path = Path(output)
    if path.suffix.lower() not in SUFFIXES:
        raise SymdiffError(
            f"{path}: the file is written as PNG or SVG", hint="name it *.png or *.svg"
        )
    if isinstance(function._source.program(function._default_static()), LoopProgram):
        raise SymdiffError(
            f"{function.__name__} has arrays or loops, of which there is no picture",
            hint="'symdiff check' says where its formulas are bad",
        )
    optional("matplotlib", "plots need matplotlib", "plot")
    examiner = Examiner(function, wrt, False)
    if at is not None:
        rows = [_near(*_given(examiner, at))]
    else:
        found = check(function, wrt, seconds=seconds).findings
        rows = _rows(examiner, found) or [_ordinary(examiner)]
    _draw(examiner, rows, path)
    places = [_place(examiner, row) for row in rows]
    if not rows[0].symmetric:
        return f"{path}: {function.__name__} has no bad points; drawn for {places[0]}"
    return f"{path}: {function.__name__} near {' and near '.join(places)}"


# ------------------------------------------------------------------------- where
def _rows(examiner: Examiner, findings: Sequence[Finding]) -> list[Row]:
    """A row for each bad place, those with most findings first."""
    votes: dict[tuple[Point, int], int] = {}
    for f in findings:
        center, axis = _center(f), examiner.params.index(f.variable)
        point = tuple(center if p == f.variable else f.at.get(p, 1.0) for p in examiner.params)
        for known, known_axis in votes:
            if axis == known_axis and _close(known, point):
                votes[known, axis] += 1
                break
        else:
            votes[point, axis] = 1
    close = {p for p in votes if abs(p[0][p[1]]) <= FAR}
    order = sorted(close or votes, key=lambda p: (-votes[p], abs(p[0][p[1]]), p[0][p[1]]))
    return [_near(point, axis) for point, axis in order[:MAX_ROWS]]


def _center(f: Finding) -> float:
    """The point that a range is about: its middle, or where a long one begins."""
    if f.low <= 0 <= f.high:
        return 0.0
    x = f.at[f.variable]
    if f.high - f.low > 0.01 * abs(x):
        return float(f"{min(f.low, f.high, key=abs):.3g}")
    middle = float(f"{f.low + (f.high - f.low) / 2:.3g}")
    return middle if f.low <= middle <= f.high else x


def _close(a: Point, b: Point) -> bool:
    return all(abs(x - y) <= 1e-3 * max(abs(x), abs(y), 1e-3) for x, y in zip(a, b, strict=True))


def _near(point: Point, axis: int) -> Row:
    """Offsets of all sizes up to that of the coordinate, or to 1."""
    scale = 10.0 ** math.floor(math.log10(max(abs(point[axis]), 1.0)))
    exponents = np.linspace(-DECADES, 0, DECADES * PER_DECADE + 1)
    right = scale * 10.0**exponents
    return Row(point, axis, np.concatenate((-right[::-1], [0.0], right)), True)


def _ordinary(examiner: Examiner) -> Row:
    base = bases(examiner.params, examiner.inside, defaults_of(examiner.function))[0]
    point = (0.0, *base[1:])
    return Row(point, 0, np.linspace(-SPAN, SPAN, POINTS), False)


def _given(examiner: Examiner, text: str) -> tuple[Point, int]:
    """The point that `--at` names, and the variable it names first."""
    values: dict[str, float] = {}
    for part in text.split(","):
        name, equals, value = (s.strip() for s in part.partition("="))
        if not equals or name not in examiner.params:
            raise SymdiffError(
                f"--at: '{part.strip()}' does not give a parameter its value",
                hint=f"write {examiner.params[0]}=0; the parameters are {', '.join(examiner.params)}",
            )
        try:
            values[name] = float(value)
        except ValueError:
            values[name] = math.nan
        if not math.isfinite(values[name]):
            raise SymdiffError(f"--at: '{value}' is not a finite number")
    base = bases(examiner.params, examiner.inside, defaults_of(examiner.function))[0]
    point = tuple(values.get(p, b) for p, b in zip(examiner.params, base, strict=True))
    return point, examiner.params.index(next(iter(values)))


def _place(examiner: Examiner, row: Row) -> str:
    names = list(zip(examiner.params, row.point, strict=True))
    name, x = names.pop(row.axis)
    others = [f"{n} = {number(v)}" for n, v in names]
    here = f"{name} = {number(x)}" if row.symmetric else f"{name} in [{-SPAN:g}, {SPAN:g}]"
    return ", ".join([here, *others])


# -------------------------------------------------------------------- evaluation
@dataclass(frozen=True, slots=True)
class Curve:
    """One output along a row; nan in `truth` where there is none."""

    truth: Array
    naive: Array
    ours: Array
    naive_ulps: Array
    our_ulps: Array


def _curves(examiner: Examiner, row: Row) -> tuple[Curve, Curve | None]:
    """The value, and the derivative by the row's variable if there is one."""
    count = len(examiner.program.outputs)
    chosen = [0]
    name = examiner.params[row.axis]
    if name in examiner.wrt:
        chosen.append(count + examiner.wrt.index(name))
    table = np.array([_at(examiner, row, float(h), chosen) for h in row.offsets])
    curves = [Curve(*table[:, 5 * k : 5 * k + 5].T) for k in range(len(chosen))]
    return curves[0], curves[1] if len(curves) > 1 else None


def _at(examiner: Examiner, row: Row, offset: float, chosen: Sequence[int]) -> list[float]:
    x = list(row.point)
    x[row.axis] += offset
    numbers: list[float] = []
    naive, ours = examiner.naive.at(x), examiner.symdiff(x)
    for i, a in zip(chosen, (examiner.truth(x)[i] for i in chosen), strict=True):
        proven = a.status in ("exact", "limit") and math.isfinite(a.value)
        truth = a.value if proven else math.nan
        errors = [ulp_error(v[i], a.ball) if proven else math.nan for v in (naive, ours)]
        numbers += [truth, naive[i], ours[i], *errors]
    return numbers


# ----------------------------------------------------------------------- drawing
STYLE: dict[str, Any] = {
    "svg.hashsalt": "symdiff",
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10.0,
    "axes.grid": True,
    "grid.color": "#ececec",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.fontsize": 8.0,
}


def _draw(examiner: Examiner, rows: Sequence[Row], path: Path) -> None:
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(12.5, 3.3 * len(rows) + 0.7), layout="constrained")
        FigureCanvasAgg(figure)
        panels = figure.subplots(len(rows), 3, squeeze=False)
        name = examiner.labels[0]
        for row, axes in zip(rows, panels, strict=True):
            value, slope = _curves(examiner, row)
            variable = examiner.params[row.axis]
            place = _place(examiner, row)
            _values(axes[0], row, value, f"{name} near {place}" if row.symmetric else name)
            if slope is None:
                axes[1].set_axis_off()
            else:
                _values(axes[1], row, slope, f"d{name}/d{variable}")
            _errors(axes[2], row, value, slope)
            for ax in axes:
                _offset_axis(ax, examiner, row)
        handles, labels = panels[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=4)
        figure.legend(*panels[0][2].get_legend_handles_labels(), loc="outside upper right", ncols=4)
        kind = path.suffix.lower()[1:]
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        drawn = io.BytesIO()
        figure.savefig(drawn, format=kind, dpi=130, metadata=metadata)
        write(path, drawn.getvalue())


def _values(ax: Axes, row: Row, curve: Curve, title: str) -> None:
    h = row.offsets
    ax.plot(h, curve.truth, color=TRUE, linewidth=5, solid_capstyle="round", label="true value")
    low, high = _window(curve.truth)
    margin = 0.015 * (high - low)
    lost = ~np.isfinite(curve.naive) & np.isfinite(curve.truth)
    seen = np.where(lost, math.nan, np.clip(curve.naive, low + margin, high - margin))
    ax.plot(h, seen, ".", color=NAIVE, markersize=3.5, label="plain chain rule")
    ax.plot(h, curve.ours, color=OURS, linewidth=1.3, label="symdiff")
    ax.set_ylim(low, high)
    label = "plain chain rule: inf or nan"
    edge = np.full(int(lost.sum()), low + 4 * margin)
    ax.plot(h[lost], edge, "x", color=NAIVE, markersize=5, label=label)
    ax.set_title(title, loc="left")


def _window(truth: Array) -> tuple[float, float]:
    """Limits that show the true values, and a margin for wrong ones."""
    finite = truth[np.isfinite(truth)]
    if not len(finite):
        return -1.0, 1.0
    low, high = np.quantile(finite, [0.02, 0.98])
    margin = 0.6 * max(high - low, 0.25 * max(abs(low), abs(high)), 1e-300)
    return float(low - margin), float(high + margin)


def _errors(ax: Axes, row: Row, value: Curve, slope: Curve | None) -> None:
    h = row.offsets
    for curve, marker, what in ((value, ".", "value"), (slope, "^", "derivative")):
        if curve is None:
            continue
        for ulps, color, who in (
            (curve.naive_ulps, NAIVE, "plain"),
            (curve.our_ulps, OURS, "symdiff"),
        ):
            known = ~np.isnan(ulps)
            shown = np.where(np.isinf(ulps), NONFINITE, np.clip(ulps, FLOOR, CEILING))
            ax.plot(
                h[known], shown[known], marker, color=color, markersize=3.2,
                alpha=0.75, linestyle="none", label=f"{who}: {what}",
            )  # fmt: skip
    ax.set_yscale("log")
    ax.set_ylim(FLOOR / 1.6, NONFINITE * 3)
    ax.set_yticks(
        [FLOOR, 1, 1e4, 1e8, 1e12, 1e16, NONFINITE],
        ["0", "1", "$10^4$", "$10^8$", "$10^{12}$", "$10^{16}$", "inf, nan"],
        minor=False,
    )
    ax.minorticks_off()
    ax.axhline(2.0**26, color="#777777", linewidth=0.8, linestyle=":")
    ax.annotate(
        "half the digits", (1, 2.0**26), xycoords=("axes fraction", "data"), xytext=(0, 2),
        textcoords="offset points", ha="right", va="bottom", color="#777777", fontsize=7.5,
    )  # fmt: skip
    ax.set_title("error in ulps", loc="left")


def _offset_axis(ax: Axes, examiner: Examiner, row: Row) -> None:
    from matplotlib.ticker import NullLocator

    name, x = examiner.params[row.axis], row.point[row.axis]
    if not row.symmetric:
        ax.set_xlabel(name)
        return
    smallest, largest = float(np.min(row.offsets[row.offsets > 0])), float(row.offsets[-1])
    ax.set_xscale("symlog", linthresh=smallest * 10, linscale=0.6)
    ax.set_xlim(-1.6 * largest, 1.6 * largest)
    decades = [largest * 10.0**-k for k in (0, 4, 8, 12)]
    ax.set_xticks([*(-d for d in decades), 0.0, *reversed(decades)])
    ax.xaxis.set_major_formatter(_power)
    ax.xaxis.set_minor_locator(NullLocator())
    shift = "" if x == 0 else f" {'-' if x > 0 else '+'} {number(abs(x))}"
    ax.set_xlabel(f"{name}{shift}")


def _power(x: float, _: Any = None) -> str:
    """A signed power of ten."""
    if x == 0:
        return "0"
    sign = "-" if x < 0 else ""
    return f"${sign}10^{{{round(math.log10(abs(x)))}}}$"
