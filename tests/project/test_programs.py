"""The ten programs of the examples: values are those of NumPy, derivatives those of differences,
and of JAX where it is installed."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "examples"))
from programs import NAMES  # noqa: E402

SMALL = {"greeks": 50, "argon": 2, "kalman": 20, "logit": 60, "epidemic": 5, "network": 6,
         "gaussian_process": 9, "image_filter": 12}  # fmt: skip
"""Sizes for tests."""


@pytest.fixture(autouse=True)
def _paths(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    yield


def load(name: str) -> tuple[Any, list[Any]]:
    module = importlib.import_module(f"programs.{name}")
    rng = np.random.default_rng(3)
    args = module.data(rng, SMALL[name]) if name in SMALL else module.data(rng)
    return module, list(args)


def moved(value: Any, step: Any) -> Any:
    if isinstance(value, dict):
        return {k: v + step[k] for k, v in value.items()}
    return value + step


def drawn(value: Any, rng: Any) -> Any:
    """A direction."""
    if isinstance(value, dict):
        return {k: drawn(v, rng) for k, v in value.items()}
    return rng.normal(size=np.shape(value))


def scaled(value: Any, by: float) -> Any:
    return {k: by * v for k, v in value.items()} if isinstance(value, dict) else by * value


def dot(slopes: Any, step: Any, kind: str) -> Any:
    if isinstance(slopes, dict):
        return sum(dot(slopes[k], step[k], kind) for k in slopes)
    if kind == "elementwise":
        return slopes * step
    return np.tensordot(slopes, step, np.ndim(step))


def check(name: str, accuracy: str) -> None:
    module, args = load(name)
    f = symgrad(module.function, wrt=module.WRT, accuracy=accuracy)
    plain = module.function(*args)
    np.testing.assert_allclose(f(*args), plain, rtol=1e-11)
    slopes = getattr(f, module.DERIVATIVE)(*args)
    if module.DERIVATIVE == "value_and_grad":
        value, slopes = slopes
        np.testing.assert_allclose(value, plain, rtol=1e-11)
    slopes = slopes if len(module.WRT) > 1 else (slopes,)
    kind = "elementwise" if np.ndim(plain) and module.DERIVATIVE != "jacobian" else "whole"
    rng = np.random.default_rng(4)
    names = list(module.function.__code__.co_varnames)
    for which, found in zip(module.WRT, slopes, strict=True):
        k = names.index(which)
        step = drawn(args[k], rng)
        sides = []
        for h in (1e-6, -1e-6):
            there = [*args[:k], moved(args[k], scaled(step, h)), *args[k + 1 :]]
            sides.append(module.function(*there))
        by_hand = (sides[0] - sides[1]) / 2e-6
        np.testing.assert_allclose(dot(found, step, kind), by_hand, rtol=1e-5, atol=1e-7)


@pytest.mark.sampled
@pytest.mark.parametrize("name", NAMES)
def test_derivatives(name: str) -> None:
    check(name, "fast")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::symdiff.AccuracyWarning")
def test_derivatives_of_high_accuracy(name: str) -> None:
    check(name, "high")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_they_run(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    importlib.import_module(f"programs.{name}").main()
    assert "nan" not in capsys.readouterr().out


@pytest.mark.slow
def test_jax_agrees() -> None:
    pytest.importorskip("jax")
    from peers import Jax
    from programs_benchmark import apart, derivatives

    jax = Jax.start()
    assert jax is not None
    for name in NAMES:
        module = importlib.import_module(f"programs.{name}")
        ours = derivatives(module, "fast")(*module.data(np.random.default_rng(0)))
        assert apart(ours, jax.ask(do="program", name=name)) < 1e-11, name
    jax.stop()


@pytest.mark.slow
def test_removable_ends_of_a_rotation() -> None:
    """Between equal rotations there is nothing to go; JAX's derivatives are nan there."""
    module = importlib.import_module("programs.slerp")
    f = symgrad(module.function, wrt=module.WRT, verify=False)
    p = np.array([1.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(f(p, p, 0.25), p, atol=1e-15)
