"""Generated standalone modules."""

from __future__ import annotations

import enum
import math
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from symdiff import Array, symgrad
from symdiff.codegen.source.modules.kernels import Function, Kernel, Stage
from symdiff.codegen.source.modules.scalar import module_source
from symdiff.errors import SymdiffError, TargetError
from symdiff.ir import Expr, lt, var, where
from symdiff.ir import functions as fn
from symdiff.ir.program import Tree
from tests.law.made import loaded

x, y = var("x"), var("y")
VALUE = x * fn.SIN(y) + 2
SLOPES = [fn.SIN(y), x * fn.COS(y)]
KERNELS = [Kernel("", (Stage((VALUE,)), Stage(tuple(SLOPES))))]
FUNCTIONS = [
    Function("", 0, (0,), 0, "The value of energy."),
    Function("grad", 0, (1, 2), (0, 1), "The gradient of energy by x, y."),
    Function("value_and_grad", 0, (0, 1, 2), (0, (1, 2)), "(value, gradient by x, y) of energy."),
]


def source(
    functions: Sequence[Function] = FUNCTIONS,
    params: Sequence[str] = ("x", "y"),
    dtype: str = "float64",
    kernels: Sequence[Kernel] = KERNELS,
) -> str:
    return module_source(
        "energy",
        params,
        kernels,
        functions,
        facts={"Formula": ["energy = x*sin(y) + 2"], "Cancelled factors": []},
        version="1.2.3",
        dtype=dtype,
    )


def of_one(outputs: Sequence[Expr], tree: Tree, params: Sequence[str]) -> str:
    """A module of one function."""
    every = tuple(range(len(outputs)))
    function = Function("", 0, every, tree, "Several.")
    return source([function], params, kernels=[Kernel("", (Stage(tuple(outputs)),))])


def load(text: str, folder: Path, name: str = "energy_kernels") -> ModuleType:
    (folder / f"{name}.py").write_text(text)
    return loaded(folder / f"{name}.py")


@pytest.fixture(scope="module")
def energy(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return load(source(), tmp_path_factory.mktemp("module"))


def test_golden(golden: Callable[[str, str], None]) -> None:
    golden("energy_float64.py", source())
    golden("energy_float32.py", source(dtype="float32"))


@pytest.mark.slow
def test_the_same_input_gives_the_same_bytes() -> None:
    script = "from tests.codegen.source.test_module import source; import sys; sys.stdout.write(source())"
    root = Path(__file__).parents[3]
    for seed in ("1", "2"):
        result = subprocess.run(
            [sys.executable, "-c", script],
            cwd=root, env={"PYTHONPATH": f"{root}", "PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert result.stdout == source()


@pytest.mark.slow
def test_imports_nothing_but_math_numpy_and_numba(tmp_path: Path) -> None:
    (tmp_path / "energy_kernels.py").write_text(source())
    script = (
        "import sys\n"
        "class Refuse:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name.split('.')[0] in ('symdiff', 'sympy', 'flint'): raise ImportError(name)\n"
        "sys.meta_path.insert(0, Refuse())\n"
        "from energy_kernels import energy, energy_grad, energy_value_and_grad\n"
        "print(energy_grad(2.0, 0.0))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert result.stdout == "(0.0, 2.0)\n"


def test_scalars(energy: ModuleType) -> None:
    value = energy.energy(2.0, 0.5)
    assert type(value) is float
    assert value == pytest.approx(2 * math.sin(0.5) + 2, rel=1e-15)
    assert energy.energy(2, 1) == energy.energy(2.0, 1.0)
    assert energy.energy(y=0.5, x=2.0) == value
    v, (dx, dy) = energy.energy_value_and_grad(2.0, 0.5)
    assert (v, dx, dy) == pytest.approx((value, math.sin(0.5), 2 * math.cos(0.5)), rel=1e-15)
    single = energy.energy(np.float32(2), np.float32(0.5))
    assert type(single) is np.float32
    assert type(energy.energy(np.float64(2), 0.5)) is np.float64
    assert energy.energy(np.array(2.0), 0.5) == value


@pytest.mark.slow
def test_arrays_broadcast_and_keep_their_dtype(energy: ModuleType) -> None:
    a, b = np.linspace(-1, 1, 5), np.linspace(0, 2, 3)[:, None]
    value, (dx, dy) = energy.energy_value_and_grad(a, b)
    np.testing.assert_allclose(value, a * np.sin(b) + 2, rtol=1e-15)
    np.testing.assert_allclose(dx, np.broadcast_to(np.sin(b), (3, 5)), rtol=1e-15)
    np.testing.assert_allclose(dy, a * np.cos(b), rtol=1e-15)
    assert energy.energy(a.astype(np.float32), 0.5).dtype == np.float32
    assert energy.energy(a.astype(np.float16), 0.5).dtype == np.float16
    assert energy.energy(np.arange(4), 0.5).dtype == np.float64
    assert energy.energy(a[::-2], 0.5).tolist() == energy.energy(a, 0.5)[::-2].tolist()
    assert energy.energy(np.empty((0, 3)), 0.5).shape == (0, 3)
    np.testing.assert_allclose(energy.energy(a.tolist(), 0.5), a * np.sin(0.5) + 2, rtol=1e-15)


@pytest.mark.slow
def test_large_arrays_use_all_cores(energy: ModuleType) -> None:
    a = np.linspace(-1, 1, 100_001)
    value = energy.energy(a, 0.5)
    np.testing.assert_array_equal(value, [energy.energy(v, 0.5) for v in a])


def test_bad_arguments(energy: ModuleType) -> None:
    with pytest.raises(TypeError, match="arguments must be real numbers, not complex128"):
        energy.energy(np.array([1j]), 2.0)
    with pytest.raises(ValueError, match="shape mismatch"):
        energy.energy(np.zeros(2), np.zeros(3))


def test_single_precision(tmp_path: Path) -> None:
    module = load(source(dtype="float32"), tmp_path)
    value = module.energy(np.linspace(0, 1, 4), 0.5)
    assert value.dtype == np.float32
    np.testing.assert_allclose(value, np.linspace(0, 1, 4) * np.sin(0.5) + 2, rtol=1e-6)
    assert type(module.energy(1.0, 0.5)) is float
    (made,) = module._energy_kernel.nopython_signatures
    assert str(made.return_type[0]) == "UniTuple(float32 x 1)"


@pytest.mark.slow
def test_results_nest_as_the_function_returns_them(tmp_path: Path) -> None:
    outputs = [x, x * 2, x * 3, x * 4]
    every = (0, 1, 2, 3)
    functions = [
        Function("listed", 0, every[:2], [1, {"a": 0, "b": (1,)}], "Nested."),
        Function("array", 0, every, np.arange(4).reshape(2, 2), "An array."),
        Function("pair", 0, every, (0, np.arange(1, 4)), "A pair."),
        Function("same", 0, every[:1], (0, 0), "Twice the same."),
    ]
    kernels = [Kernel("", (Stage(tuple(outputs)),))]
    module = load(source(functions, ["x"], kernels=kernels), tmp_path)
    assert module.energy_listed(1.0) == [2.0, {"a": 1.0, "b": (2.0,)}]
    np.testing.assert_array_equal(module.energy_array(1.0), [[1, 2], [3, 4]])
    grid = np.array([1.0, 10.0, 100.0])
    assert module.energy_array(grid).shape == (2, 2, 3)
    np.testing.assert_array_equal(module.energy_array(grid)[1, 0], 3 * grid)
    first, rest = module.energy_pair(grid)
    np.testing.assert_array_equal(first, grid)
    np.testing.assert_array_equal(rest, np.outer([2, 3, 4], grid))
    assert module.energy_same(2.0) == (2.0, 2.0)


def test_names_that_clash_with_the_module(tmp_path: Path) -> None:
    names = ["i", "np", "out0", "_evaluate", "r", "t0", "energy"]
    total: Expr = fn.SIN(var("i"))
    for n in names[1:]:
        total = total + fn.SIN(var(n)) * total
    module = load(of_one([total, total * 2], (0, 1), names), tmp_path)
    expected = math.sin(0.1)
    for _ in names[1:]:
        expected += math.sin(0.1) * expected
    values = [0.1] * len(names)
    assert module.energy(*values)[0] == pytest.approx(expected, rel=1e-14)
    assert module.energy(np.array([0.1]), *values[1:])[1] == pytest.approx(
        [2 * expected], rel=1e-14
    )


def test_no_parameters_and_constants(tmp_path: Path) -> None:
    module = load(of_one([fn.PI() + 0], 0, []), tmp_path)
    assert module.energy() == math.pi
    module = load(of_one([fn.PI() + 0, x], (0, 1), ["x"]), tmp_path)
    np.testing.assert_array_equal(module.energy(np.arange(2.0))[0], [math.pi, math.pi])


def test_branches_take_one_side(tmp_path: Path) -> None:
    module = load(of_one([where(lt(0, x), fn.LOG(x), -x)], 0, ["x"]), tmp_path)
    np.testing.assert_array_equal(module.energy(np.array([-2.0, 1.0, 0.0])), [2.0, 0.0, 0.0])


def test_refusals() -> None:
    def make(**changes: object) -> None:
        given = {
            "name": "f", "params": ["x"], "kernels": [Kernel("", (Stage((x,)),))],
            "functions": [Function("", 0, (0,), 0, "")],
        }  # fmt: skip
        module_source(**{**given, "facts": {}, "version": "1", **changes})  # type: ignore[arg-type]

    make()
    make(targets=["cpu", "cuda"])
    keys = (frozenset((1,)), Side.LEFT, (1, Side.LEFT), math.inf)
    for changes, error, text in (
        ({"targets": ["tpu"]}, TargetError, "unknown target 'tpu'"),
        ({"dtype": "float16"}, SymdiffError, "unknown dtype 'float16'\nhint: one of float64, float32"),
        *(({"name": n}, SymdiffError, "is not a name for a function of a module") for n in ("<lambda>", "math", "def")),
        *(({"functions": [Function("", 0, (0,), {key: 0}, "")]}, SymdiffError,
           r"a dict with the key .* cannot be written") for key in keys),
    ):  # fmt: skip
        with pytest.raises(error, match=text):
            make(**changes)


class Side(enum.IntEnum):
    LEFT = 1


@pytest.mark.slow
def test_keys_of_results(tmp_path: Path) -> None:
    """Whatever can be written as an expression, of functions of numbers and with loops alike."""
    tree = {"a": 0, (1, (None, True)): [0, (0,)], -2.5: 0}
    module = load(of_one([x], tree, ["x"]), tmp_path)
    assert module.energy(3.0) == {"a": 3.0, (1, (None, True)): [3.0, (3.0,)], -2.5: 3.0}

    def sums(v: Array[n]):  # noqa: F821
        total = np.sum(v * v)
        return {(1, 2): total, "mean": total / v.shape[0]}

    path = tmp_path / "sums_kernels.py"
    symgrad(sums).save(path, companion=None)
    assert loaded(path).sums(np.array([1.0, 3.0])) == {(1, 2): 10.0, "mean": 5.0}

    def keyed(v: Array[n]):  # noqa: F821
        return {Side.LEFT: np.sum(v * v)}

    with pytest.raises(SymdiffError, match="a dict with the key"):
        symgrad(keyed).save(tmp_path / "keyed.py")
