"""The examples run, and what they print is true."""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = (
    "black_scholes", "double_pendulum", "hodgkin_huxley", "inside_cuda", "inside_numba", "lennard_jones", "logistic",
    "optimiser", "rotation",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _examples_path(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.setenv("MPLBACKEND", "Agg")
    yield


def load(name: str) -> Any:
    return importlib.import_module(name)


def test_every_example_is_known() -> None:
    here = {p.stem for p in EXAMPLES.glob("*.py")}
    assert here == {*SCRIPTS, "paper_cases", "paper_figures"}


@pytest.mark.slow
def test_a_program_that_imports_a_checked_in_module(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES / "checked_in"))
    load("implied_volatility").main()
    error = float(capsys.readouterr().out.rpartition(" ")[2])
    assert error < 1e-14


@pytest.mark.sampled
@pytest.mark.parametrize("name", SCRIPTS)
def test_it_runs(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [name])
    if name == "inside_cuda":
        pytest.importorskip("numba.cuda.extending", reason="numba-cuda is not there")
        pytest.importorskip("cuda.bindings", reason="NVRTC is not there")
    load(name).main()
    printed = capsys.readouterr().out
    assert printed and (name == "optimiser" or "nan" not in printed)


# ------------------------------------------------------------------ SymPy and Numba
@pytest.mark.slow
def test_the_pendulum_keeps_its_energy() -> None:
    pendulum = load("double_pendulum")
    start = (1.2, -0.4, 0.0, 0.3)
    end = pendulum.advance(*start, 1e-3, 2000)
    assert abs(pendulum.energy(*end) - pendulum.energy(*start)) < 1e-8
    rates, forces = pendulum.flow.jacobian(*start), pendulum.flow(*start)
    h = 1e-6
    for k in range(4):
        moved = [v + h * (i == k) for i, v in enumerate(start)]
        for i, f in enumerate(pendulum.flow(*moved)):
            assert (f - forces[i]) / h == pytest.approx(rates[i][k], abs=1e-3)


@pytest.mark.slow
def test_gradients_inside_of_numba() -> None:
    inside = load("inside_numba")
    np.testing.assert_allclose(inside.minima(np.linspace(0.9, 1.3, 5)), 1.1, rtol=1e-15)
    r, velocity = inside.oscillate(1.4, 0.0, 1e-3, 2000)
    assert abs(inside.well(r) + velocity**2 / 2 - inside.well(1.4)) < 1e-6  # of order step**2
    value, delta = inside.price(100.0, 50_000, 7)
    assert value == pytest.approx(8.916, abs=0.3)
    assert delta == pytest.approx(0.5793, abs=0.02)


# ------------------------------------------------------------------------ the paper
def test_the_quotients_are_right_to_one_ulp_everywhere() -> None:
    figures, cases = load("paper_figures"), load("paper_cases")
    gamma = figures.gammas(20)
    for case in cases.QUOTIENTS:
        found = figures.measure(case, gamma)
        for what in ("symdiff f", "symdiff f'"):
            worst, lost = found[what]
            assert worst <= 1 and lost == 0, (case.name, what)
        assert found["naive f"][1] > 100
        assert found["naive f'"][0] > 1e15


def test_scalar_calls_are_right_to_one_ulp_too() -> None:
    figures, cases = load("paper_figures"), load("paper_cases")
    for case in cases.QUOTIENTS:
        ours = figures.symgrad(case.fun)
        for c in figures.gammas(4):
            x = 2.0 + float(c)
            truth = case.exact(Fraction(x))
            assert figures.ulps(ours(x), truth[0]) <= 1
            assert figures.ulps(ours.grad(x), truth[1]) <= 1


@pytest.mark.slow
def test_higher_powers_and_wider_denominators() -> None:
    figures, cases = load("paper_figures"), load("paper_cases")
    gamma = figures.gammas(2)
    assert [c.name for c in cases.REMARK][18] == "(x^20-2^20)/(x-2)"
    for case in cases.REMARK:
        found = figures.measure(case, gamma)
        for what in ("symdiff f", "symdiff f'"):
            worst, lost = found[what]
            assert worst <= 8 and lost == 0, (case.name, what)  # the bound on arrays


@pytest.mark.slow
def test_a_true_pole_stays_one() -> None:
    figures, cases = load("paper_figures"), load("paper_cases")
    poles = [c for c in cases.REMARK if c.exact(Fraction(2)) is None]
    assert len(poles) == 4
    for case in poles:
        ours = figures.symgrad(case.fun)
        assert not math.isfinite(ours(2.0)) and not math.isfinite(ours.grad(2.0))


@pytest.mark.slow
def test_guarded_variants_keep_the_meaning_they_were_written_with() -> None:
    figures, cases = load("paper_figures"), load("paper_cases")
    for case, eps in zip(cases.GUARDED, (cases.EPS1, *[cases.EPS2] * 3), strict=True):
        ours = figures.symgrad(case.fun)
        assert ours(2.0) == 0.0
        assert ours.grad(2.0) == pytest.approx(4 / eps, rel=1e-15)
        assert ours.grad(2.0 - 1e-12) == pytest.approx(-4 / eps, rel=1e-3)
        gamma = np.array([1e-12, 1e-9, -1e-9, 3e-7, -3e-5, 1e-3, 0.5])
        found = figures.measure(case, gamma)
        for what in ("symdiff f", "symdiff f'"):
            worst, lost = found[what]
            assert worst <= found[what.replace("symdiff", "naive")][0] + 0.5 and lost == 0


@pytest.mark.slow
def test_the_report_warns_that_a_guard_is_not_the_limit() -> None:
    figures, cases = load("paper_figures"), load("paper_cases")
    for case in cases.GUARDED:
        assert figures.warnings_of(case), case.name


def test_the_naive_rule_is_that_of_the_paper() -> None:
    case = load("paper_cases").QUOTIENTS[0]
    value, slope = case.naive(np.array([2.0, 2.0 + 1e-9, 3.0]))
    assert np.isnan(value[0]) and np.isnan(slope[0])
    assert (value[1], slope[1]) == (4.0, 2.0)
    assert (value[2], slope[2]) == (5.0, 1.0)


def test_the_colours_are_those_of_the_paper() -> None:
    regions = load("paper_figures").regions
    assert list(regions(np.array([0.0, 1e-17, 1e-10, -1e-10, 1e-3]))) == [
        "green", "red", "yellow", "yellow", "green",
    ]  # fmt: skip


@pytest.mark.slow
def test_paper_figures_run(capsys: pytest.CaptureFixture[str]) -> None:
    load("paper_figures").main(["--quick"])
    lines = capsys.readouterr().out.splitlines()
    row = next(line for line in lines if line.startswith("(x^2-4)/(x-2) "))
    assert row.split()[-4:] == ["0.5", "(0)", "0", "(0)"]


@pytest.mark.slow
def test_the_figures_are_drawn_and_reproducible(tmp_path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    figures = load("paper_figures")
    gamma = figures.gammas(1)
    drawn = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        drawn.append([p.read_bytes() for p in figures.figures(gamma, folder)])
    assert len(drawn[0]) == 9 and drawn[0] == drawn[1]


# ------------------------------------------------------------------------ optimiser
@pytest.mark.slow
def test_only_symdiff_reaches_the_minimum(tmp_path: Path) -> None:
    optimiser = load("optimiser")
    paths = optimiser.runs()
    last = {key: optimiser.distances(path)[-1] for key, path in paths.items()}
    largest = {key: np.nanmax(optimiser.distances(path)) for key, path in paths.items()}
    assert last["gradient descent", "symdiff"] < 1e-12
    assert last["Newton", "symdiff"] == 0.0
    assert last["gradient descent", "naive"] > 1e-9
    assert largest["gradient descent", "naive, guarded"] > 100
    assert math.isnan(last["Newton", "naive"])
    assert last["Newton", "naive, guarded"] > 1e-12
    assert optimiser.draw(paths, tmp_path / "o.png").stat().st_size > 1000


def test_the_direction_of_the_gradient() -> None:
    optimiser = load("optimiser")
    angle = {n: optimiser.gradient_angle(d, 2 + 1e-9, 1.1) for n, d in optimiser.METHODS.items()}
    assert angle["symdiff"] < 1e-5
    assert angle["naive"] > 10
    assert angle["naive, guarded"] > 90


# --------------------------------------------------------------------------- models
@pytest.mark.slow
def test_the_greeks_are_those_of_the_textbook() -> None:
    s, k, t, r, v = 100.0, 105.0, 0.5, 0.02, 0.2
    a = (math.log(s / k) + (r + v * v / 2) * t) / (v * math.sqrt(t))
    b = a - v * math.sqrt(t)
    density = math.exp(-a * a / 2) / math.sqrt(2 * math.pi)

    def normal(z: float) -> float:
        return math.erfc(-z / math.sqrt(2)) / 2

    discounted = k * math.exp(-r * t) * normal(b)
    expected = {
        "delta": normal(a),
        "theta": -s * density * v / (2 * math.sqrt(t)) - r * discounted,
        "rho": t * discounted,
        "vega": s * density * math.sqrt(t),
        "gamma": density / (s * v * math.sqrt(t)),
        "vanna": -density * b / v,
    }
    assert load("black_scholes").greeks(s, k, t, r, v) == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
def test_the_forces_of_lennard_jones() -> None:
    lj = load("lennard_jones")
    at = np.array([0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 1.0, 5.0, 2.0])
    atoms = at.reshape(3, 3)
    expected = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            if i != j:
                d = atoms[i] - atoms[j]
                r2 = d @ d
                s6 = (lj.SIGMA**2 / r2) ** 3
                expected[i] += 24 * lj.EPSILON * (s6 - 2 * s6 * s6) / r2 * d
    assert np.array(lj.energy.grad(*at)) == pytest.approx(expected.ravel(), rel=1e-11, abs=1e-17)
    hessian = np.array(lj.energy.hessian(*at))
    assert np.array_equal(hessian, hessian.T)


@pytest.mark.slow
def test_a_rotation_turns() -> None:
    rotation = load("rotation")
    turned = np.array(rotation.rotate(0.0, 0.0, math.pi / 2, 1.0, 0.0, 0.0))
    assert turned == pytest.approx([0, 1, 0], abs=1e-15)
    slopes = np.array(rotation.rotate.jacobian(0.0, 0.0, 0.0, 1.0, 2.0, 3.0))
    assert np.array_equal(slopes, [[0, 3, -2], [-3, 0, 1], [2, -1, 0]])  # -[v]x


def test_the_logistic_loss_has_no_overflow() -> None:
    logistic = load("logistic")
    slope = logistic.loss.grad
    assert slope(-2000.0, 0.0, 1.0, 1.0)[0] == -1.0
    assert slope(0.0, 0.0, 1.0, 1.0) == (-0.5, -0.5)
    assert logistic.fit(*logistic.data()) == pytest.approx([2, -1], abs=0.15)


@pytest.mark.slow
def test_the_gate_of_hodgkin_and_huxley() -> None:
    neuron = load("hodgkin_huxley")
    assert neuron.alpha_n(0.0) == pytest.approx(0.1 / math.expm1(1), rel=1e-15)
    assert neuron.alpha_n(10.0) == 0.1
    assert neuron.alpha_n.grad(10.0) == pytest.approx(0.005, rel=1e-15)
    assert neuron.steady(0.0) == pytest.approx(0.3177, abs=1e-4)
    decay, _ = neuron.linearised(20.0)
    assert -decay == pytest.approx(neuron.alpha_n(20.0) + neuron.beta_n(20.0), rel=1e-15)
