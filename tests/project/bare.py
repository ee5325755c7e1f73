"""What works with the core dependencies alone: run by `.ci/run` with the Python of an environment
that has nothing else, so without pytest.

Imports all modules, runs the README, every command and every method, and asks what needs an extra
to name it.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT))  # for tests.pages; symdiff is the installed one

import symdiff  # noqa: E402
from symdiff import symgrad  # noqa: E402
from symdiff.cli.commands import main as command_line  # noqa: E402
from tests import pages  # noqa: E402

LIMIT = 60
"""Seconds for a command."""

MODEL = """
import math
import numpy as np


def energy(r, a=1.5):
    return (1 - math.exp(-a * (r - 1))) ** 2


def rows(d):
    e = np.zeros(d.shape[0])
    for i in range(d.shape[0]):
        for j in range(d.shape[1]):
            e[i] = 0.5 * d[i, j] + 0.5 * e[i]
    return np.sum(e)
"""
TARGETS = "sin(x)/x", "model.py:energy", "model.py:rows"
COMMANDS: dict[str, list[list[str]]] = {
    "diff": [["diff", t] for t in (*TARGETS, "erf(x)*jv(1, x)")],
    "simplify": [["simplify", t] for t in TARGETS],
    "compile": [["compile", t, "-o", f"kernels_{k}.py"] for k, t in enumerate(TARGETS)],
    "show": [["show", t] for t in TARGETS],
    "check": [["check", t, "--fail-on", "never"] for t in TARGETS],
    "report": [["report", t] for t in TARGETS[1:]],
    "completion": [["completion", "bash"]],
    "cache": [["cache", "info"], ["cache", "clear"]],
}
REFUSED: dict[str, list[tuple[str, list[str]]]] = {
    "plot": [("plot", ["plot", "sin(x)/x", "-o", "a.png"])],
    "report": [("report", ["report", "sin(x)/x", "-o", "a.html"])],
}
"""Commands that need the extra named first."""


def elementwise(x, y):
    return np.sin(x) / x + np.abs(y) * x


def decomposed(a, b):
    m = a @ a.T + np.eye(a.shape[0])
    q, r = np.linalg.qr(a)
    w, v = np.linalg.eigh(m)
    s = np.linalg.svd(a)[1]
    factors = np.sum(np.linalg.cholesky(m)) + np.sum(q * r) + np.sum(v**2 * w) + np.sum(s)
    return factors + b @ np.linalg.solve(m, b) + np.linalg.det(a) + np.linalg.slogdet(m)[1]


def loops(x):
    total, step = 0.0, 1.0
    for i in range(1, x.size):
        total += step * np.exp(-((x[i] - x[i - 1]) ** 2))
        if total > 2:
            step *= 0.5
    while total > 0.1:
        total *= 0.5
    return total


A, B = np.array([[2.0, 1.0], [0.5, 3.0]]), np.array([1.0, -2.0])
PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (elementwise, (0.7, 1.3)),
    (decomposed, (A, B)),
    (loops, (np.linspace(0.1, 2.0, 7),)),
    (lambda z: np.sum(np.fft.fft(z).real * np.interp(z, [0.0, 4.0], [1.0, 3.0])), (B + 3,)),
]


def extras() -> dict[str, list[str]]:
    """The packages of each extra that users install."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {
        extra: [re.split(r"[\[<>=]", r)[0].replace("-", "_") for r in requirements]
        for extra, requirements in project["optional-dependencies"].items()
        if extra not in ("test", "docs", "dev")
    }


def refused(what: str, extra: str, action: Callable[[], Any]) -> None:
    """Check that an action raises an error that names the extra."""
    try:
        action()
    except symdiff.SymdiffError as error:
        assert f'pip install "symdiff[{extra}]"' in str(error), f"{what}: {error}"
    else:
        raise AssertionError(f"{what} needs no extra")


def imports() -> int:
    """Import all modules; the doors to optional packages name their extras."""
    names = [m.name for m in pkgutil.walk_packages(symdiff.__path__, "symdiff.")]
    for name in names:
        if name.startswith("symdiff.interop.") and (extra := name.rpartition(".")[2]) in extras():
            if extra != "scipy":  # its functions import SciPy
                refused(name, extra, lambda name=name: importlib.import_module(name))
                continue
        if not name.endswith("__main__"):
            importlib.import_module(name)
    for name in symdiff.__all__:
        getattr(symdiff, name)
    return len(names)


def methods() -> int:
    """All that a decorated function has."""
    count = 0
    for fun, args in PROGRAMS:
        f = symgrad(fun)
        ones = tuple(np.ones_like(a) if np.ndim(a) else 1.0 for a in args)
        assert np.allclose(f(*args), fun(*args), rtol=1e-12)
        slope = sum(
            np.sum(np.asarray(g) * t) for g, t in zip(_tuple(f.grad(*args)), ones, strict=True)
        )
        assert np.isclose(f.jvp(args, ones)[1] if len(args) > 1 else f.jvp(*args, *ones)[1], slope)
        for name in ("value_and_grad", "jacobian", "hessian"):
            getattr(f, name)(*args)
        numba = symgrad(fun, engine="numba")
        if fun is decomposed:  # Numba calls SciPy's LAPACK
            refused("linear algebra", "scipy", lambda numba=numba, args=args: numba(*args))
        else:
            assert np.allclose(numba(*args), fun(*args), rtol=1e-12)
        assert f.grad.source() and str(f.report()) and repr(f)
        count += 8
    return count


def _tuple(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


def needs() -> int:
    """What needs SciPy says so, at the user's line in a traced function."""
    import sympy

    from symdiff.interop import scipy

    x = sympy.Symbol("x")
    rooted = symgrad(lambda a: symdiff.root(lambda x: x * x - a, 1.0))
    actions: list[Callable[[], Any]] = [
        lambda: symdiff.root(lambda x: x * x - 2, 1.0),
        lambda: symdiff.argmin(lambda x: x * x, 1.0),
        lambda: symdiff.integral(lambda x: x * x, 0.0, 1.0),
        lambda: symdiff.ode(lambda t, y: [-y[0]], (0, 1), [1.0]),
        lambda: rooted.grad(4.0),
        lambda: scipy.minimize(lambda x: np.sum(x**2), np.zeros(2)),
        lambda: symdiff.lambdify(x, sympy.besselj(1, x))(2.0),
        lambda: symgrad(lambda x: x**2).jacobian(np.ones(3), sparse=True),
    ]
    for k, action in enumerate(actions):
        refused(f"action {k}", "scipy", action)
    return len(actions)


def commands(folder: Path) -> int:
    """Run every command; there is none that is not tried here."""
    known = set(command_line.commands)
    assert known == {*COMMANDS, *REFUSED}, known ^ {*COMMANDS, *REFUSED}
    assert isinstance(command_line, click.Group)
    (folder / "model.py").write_text(MODEL, encoding="utf-8")
    program = str(Path(sys.executable).parent / "symdiff")

    def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program, *arguments], cwd=folder, capture_output=True, text=True, timeout=LIMIT, check=False
        )  # fmt: skip

    for arguments in (a for group in COMMANDS.values() for a in group):
        done = run(arguments)
        assert done.returncode == 0, f"{arguments}: {done.stderr}"
        assert "Traceback" not in done.stderr, f"{arguments}: {done.stderr}"
    for extra, arguments in (r for group in REFUSED.values() for r in group):
        done = run(arguments)
        assert done.returncode == 2, f"{arguments}: {done.stderr}"
        assert f'pip install "symdiff[{extra}]"' in done.stderr, f"{arguments}: {done.stderr}"
    return sum(map(len, (*COMMANDS.values(), *REFUSED.values())))


def main() -> None:
    optional = {name for names in extras().values() for name in names}
    found = sorted(name for name in optional if find_spec(name) is not None)
    assert not found, f"there is more here than the core dependencies: {found}"
    with tempfile.TemporaryDirectory() as folder:
        print(f"imports: {imports()}")
        print(f"README: {pages.run(ROOT / 'README.md', Path(folder), without=optional)}")
        print(f"methods: {methods()}")
        print(f"needs: {needs()}")
        print(f"commands: {commands(Path(folder))}")


if __name__ == "__main__":
    main()
