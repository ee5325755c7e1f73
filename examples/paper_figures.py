"""The eight figures of "Software-based Automatic Differentiation is Flawed", naive
against symdiff, and a table of errors against exact rational truth.

    python examples/paper_figures.py [--quick] [--out docs/images]

Along x = 2 + gamma, |gamma| from 1e-20 to 1, both signs, and gamma = 0. Colours are
the paper's: red where 2 + gamma rounds to 2, yellow where gamma**2 is lost in x**2,
green where it is not, black where a guarded function is left as it was.
"""

from __future__ import annotations

import argparse
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
from paper_cases import DELTA1, EPS2, GUARDED, QUOTIENTS, REMARK, Case

from symdiff import symgrad

COLOURS = {"green": "#2e9e4f", "yellow": "#e3b505", "red": "#d1495b", "black": "#222222"}
OURS = "#1f5fbf"


def gammas(per_decade: int) -> np.ndarray:
    """Both signs of |gamma| from 1e-20 to 1, and 0, in increasing order."""
    size = 10.0 ** np.linspace(-20, 0, 20 * per_decade + 1)
    return np.concatenate([-size[::-1], [0.0], size])


def regions(gamma: np.ndarray) -> np.ndarray:
    """The colour of each point, by what underflows when x = 2 + gamma is squared."""
    names = []
    for c in gamma:
        x = 2.0 + float(c)
        g = Fraction(x) - 2
        if g == 0:
            names.append("green" if c == 0 else "red")
        else:
            names.append("yellow" if Fraction(x * x) == 4 + 4 * g else "green")
    return np.array(names)


# --------------------------------------------------------------------------- the table
def ulps(computed: float, exact: Fraction) -> float:
    """The error of a finite result in units in the last place of the truth."""
    return float(abs(Fraction(computed) - exact) / Fraction(math.ulp(float(exact))))


def errors(computed: np.ndarray, truth: list[Fraction | None]) -> tuple[float, int]:
    """The worst error in ulp of the finite results, and how many are not finite."""
    scored = [(float(c), t) for c, t in zip(computed, truth, strict=True) if t is not None]
    worst = max((ulps(c, t) for c, t in scored if math.isfinite(c)), default=0.0)
    return worst, sum(not math.isfinite(c) for c, _ in scored)


def measure(case: Case, gamma: np.ndarray) -> dict[str, tuple[float, int]]:
    """Worst ulp and count of non-finite results, of value and slope, naive and ours."""
    x = 2.0 + gamma
    truth = [case.exact(Fraction(float(v))) for v in x]
    ours = symgrad(case.fun)
    results = {"naive": case.naive(x), "symdiff": (ours(x), ours.grad(x))}
    return {
        f"{tool} {what}": errors(pair[i], [None if t is None else t[i] for t in truth])
        for tool, pair in results.items()
        for i, what in enumerate(("f", "f'"))
    }


def table(cases: tuple[Case, ...], gamma: np.ndarray) -> list[str]:
    """One line per case: worst ulp (and how many results are nan or inf)."""
    columns = ("naive f", "naive f'", "symdiff f", "symdiff f'")
    lines = [f"{'worst ulp (non-finite)':26}" + "".join(f"{c:>18}" for c in columns)]
    for case in cases:
        found = measure(case, gamma)
        cells = [f"{found[c][0]:.3g} ({found[c][1]})" for c in columns]
        lines.append(f"{case.name:26}" + "".join(f"{c:>18}" for c in cells))
    return lines


# -------------------------------------------------------------------------- the figures
def figures(gamma: np.ndarray, folder: Path) -> list[Path]:
    """Draw Figures 1-8, and the picture of the README."""
    quotient, h1, h2 = QUOTIENTS[0], GUARDED[0], GUARDED[2]
    plain = regions(gamma)
    inside1 = np.abs(gamma) < DELTA1
    inside2 = np.abs(gamma) < EPS2
    colour1 = np.where(inside1, plain, "black")
    colour2 = np.where(inside2, plain, "black")
    x = 2.0 + gamma
    plots = [
        ("figure1", "h(2+γ)", quotient, 0, plain, 0.0, None),
        ("figure2", "h(2+γ) − 4", quotient, 0, plain, 4.0, 1e-20),
        ("figure3", "h₁(2+γ), ε=1e-8, δ=1e-4", h1, 0, colour1, 0.0, None),
        ("figure4", "h₁(2+γ) − 4", h1, 0, colour1, 4.0, 1e-20),
        ("figure5", "h₂(2+γ), ε=1e-4", h2, 0, colour2, 0.0, None),
        ("figure6", "h′(2+γ)", quotient, 1, plain, 0.0, None),
        ("figure7", "h₁′(2+γ), ε=1e-8, δ=1e-4", h1, 1, colour1, 0.0, 1.0),
        ("figure8", "h₂′(2+γ), ε=1e-4", h2, 1, colour2, 0.0, 1.0),
    ]
    paths = []
    for name, title, case, order, colour, shift, linear in plots:
        ours = symgrad(case.fun)
        line = (ours if order == 0 else ours.grad)(x) - shift
        points = case.naive(x)[order] - shift
        meant = None if case is quotient else (x + 2 if order == 0 else np.ones_like(x)) - shift
        paths.append(
            draw(
                folder / f"{name}.png", title, gamma,
                naive=points, ours=line, colour=colour, linear=linear, meant=meant,
            )
        )  # fmt: skip
    slope = quotient.naive(x)[1]
    ours = symgrad(quotient.fun).grad(x)
    title = "the derivative of (x² − 4)/(x − 2) at x = 2 + γ"
    paths.append(draw(folder / "near_two.png", title, gamma, naive=slope, ours=ours, colour=plain))
    return paths


def draw(
    path: Path,
    title: str,
    gamma: np.ndarray,
    *,
    naive: np.ndarray,
    ours: np.ndarray,
    colour: np.ndarray,
    linear: float | None = None,
    meant: np.ndarray | None = None,
) -> Path:
    """One figure: naive points coloured by region, symdiff as a line, and dashed the
    function without its guard. A vertical scale that is linear below `linear` only."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
    for name, shade in COLOURS.items():
        here = (colour == name) & np.isfinite(naive)
        lost = np.count_nonzero((colour == name) & ~np.isfinite(naive))
        if here.any() or lost:
            label = f"naive, {name}" + (f" ({lost} nan)" if lost else "")
            axes.plot(gamma[here], naive[here], ".", ms=3.5, color=shade, label=label)
    axes.plot(gamma, ours, "-", lw=1, color=OURS, label="symdiff")
    if meant is not None:
        axes.plot(gamma, meant, "--", lw=0.8, color="#999999", label="without the guard")
    axes.set_xscale("symlog", linthresh=1e-20, linscale=0.3)
    axes.set_xticks([-1, -1e-8, -1e-16, 0, 1e-16, 1e-8, 1])
    if linear is not None:
        axes.set_yscale("symlog", linthresh=linear, linscale=0.3)
        top = max(np.max(np.abs(naive[np.isfinite(naive)])), linear * 10)
        low, high = math.log10(linear), math.log10(top)
        step = math.ceil((high - low) / 4)
        marks = 10.0 ** np.arange(low + step, high + step / 2, step)
        axes.set_yticks([*-marks[::-1], 0, *marks])
        axes.set_ylim(-10 * top, 10 * top)
    axes.set_xlabel("γ")
    axes.set_title(title, fontsize=10)
    axes.legend(fontsize=7, loc="best")
    figure.savefig(path, dpi=100, metadata={"Software": None})
    plt.close(figure)
    return path


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few points, no figures")
    parser.add_argument(
        "--out", type=Path, default=Path("docs/images"), help="folder of the figures"
    )
    options = parser.parse_args(arguments)
    gamma = gammas(2 if options.quick else 20)
    print(f"{len(gamma)} points x = 2 + gamma\n")
    remark = REMARK[::6] if options.quick else REMARK
    for heading, cases in (("Quotients", QUOTIENTS), ("Guarded", GUARDED), ("Remark 2.1", remark)):
        print(heading, *table(cases, gamma), sep="\n", end="\n\n")
    for case in GUARDED:
        print(f"{case.name}: {'; '.join(warnings_of(case))}")
    if not options.quick:
        import matplotlib

        matplotlib.use("Agg")
        options.out.mkdir(parents=True, exist_ok=True)
        for path in figures(gamma, options.out):
            print(path)


def warnings_of(case: Case) -> list[str]:
    """What the report says about the guard."""
    text = str(symgrad(case.fun).report())
    return [line.strip() for line in text.splitlines() if "not the limit" in line]


if __name__ == "__main__":
    main()
