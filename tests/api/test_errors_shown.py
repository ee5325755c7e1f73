"""What a user sees of an error: the line that was called and what the text says, not our frames."""

import traceback

import numpy as np
import pytest

from symdiff import SymdiffError, lambdify, simplify, symgrad


@symgrad
def untraced(x):
    return np.linalg.eig(x)[0]


@symgrad
def root(x):
    assert x > 0
    return np.sqrt(x)


CALLS = {
    "a call": lambda: untraced(np.eye(2)),
    "a Jacobian": lambda: untraced.jacobian(np.eye(2)),
    "a product": lambda: untraced.jvp(1.0, 2.0),
    "the expression": lambda: untraced.expr,
    "the report": lambda: untraced.report(),
    "map": lambda: untraced.map(np.eye(2)),
    "the domain": lambda: root(-1.0),
    "the signature": lambda: root(1.0, 2.0),
    "a parameter": lambda: root.diff("z"),
    "the decorator": lambda: symgrad(2),
    "simplify": lambda: simplify("x +"),
    "lambdify": lambda: lambdify("x", "y z"),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_internal_frames_are_hidden(call, monkeypatch):
    monkeypatch.delenv("SYMDIFF_TRACEBACK", raising=False)
    with pytest.raises(SymdiffError) as caught:
        call()
    shown = "".join(traceback.format_exception(caught.value))
    assert shown.count('  File "') == shown.count(f'  File "{__file__}') == 2, shown
    assert "symdiff/api" not in shown


def test_they_can_be_shown(monkeypatch):
    monkeypatch.setenv("SYMDIFF_TRACEBACK", "full")
    fresh = symgrad(lambda x: np.linalg.eig(x)[0])  # refusals that are kept hold no frames
    with pytest.raises(SymdiffError) as caught:
        fresh(np.eye(2))
    frames = [f.filename for f in traceback.extract_tb(caught.value.__traceback__)]
    assert sum("symdiff/frontend" in f for f in frames) > 1
