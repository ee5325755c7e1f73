"""Calling kernels of programs with arrays and loops: dtypes, strides, sizes, errors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from symdiff.errors import Location
from symdiff.ir import ONE, ZERO, and_, gt, le, lt, sqrt, sub, var, where
from symdiff.ir.loop_program import Check, Type, array, index, load
from symdiff.runtime import threads
from symdiff.runtime.loops.kernel import LoopKernel
from symdiff.runtime.scalar.elementwise import ArgumentError, ShapeError
from tests.loops.programs import INTEGER, MATRIX, REAL, VECTOR, N, at, build, function, loop, update

i, j, which = index("i"), index("j"), index("k")


def scaled(**params):
    """c*x + y of vectors."""
    value = var("c") * at("x", i) + at("y", i)
    return function({"x": VECTOR, "y": VECTOR, "c": REAL}, [build("z", "i", value)], array("z"))


def total():
    return function({"x": VECTOR}, [loop("i", N, {"s": (0, var("s") + at("x", i))})], var("s_end"))


@pytest.mark.sampled
@pytest.mark.parametrize("n", [0, 1, 3, 4, 15, 16, 17, 1000])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sizes_and_dtypes(n: int, dtype: str) -> None:
    x, y = np.arange(n, dtype=dtype), np.linspace(0, 1, n).astype(dtype)
    (z,) = LoopKernel(scaled())([x, y, 0.5])
    assert z.dtype == dtype
    np.testing.assert_allclose(z, np.asarray(0.5, dtype) * x + y, rtol=1e-6)
    (s,) = LoopKernel(total())([x])
    assert s == x.sum()


def test_strides() -> None:
    kernel = LoopKernel(scaled())
    base = np.random.default_rng(0).normal(size=(40, 5))
    cases = [
        (base[:, 0], base[::-1, 1]),
        (base[::4, 2], np.broadcast_to(2.5, 10)),
        (base[::-4, 2], base.T[4, :10]),
        (np.arange(10), np.arange(10) % 2 == 0),
        (np.frombuffer(b"\0" * 81, "u1")[1:].view("f8"), np.ones(10)),  # not aligned
        (np.arange(10.0).astype(">f8"), [1.0] * 10),
    ]
    for x, y in cases:
        (z,) = kernel([x, y, 2])
        np.testing.assert_allclose(z, 2 * np.asarray(x, float) + np.asarray(y, float))
    matrix = function({"a": MATRIX}, [build("b", "ij", 2 * at("a", i, j), MATRIX)], array("b"))
    for a in (base, base.T, base[::2, ::-1], np.asfortranarray(base), base[:, :0]):
        np.testing.assert_array_equal(LoopKernel(matrix)([a])[0], 2 * a)


def test_one_wide_and_one_narrow_array() -> None:
    for forced, x, y, dtype in ((None, "f4", "f8", "f8"), ("float32", "f8", "f8", "f4"), (None, "f2", "f2", "f2")):  # fmt: skip
        (z,) = LoopKernel(scaled(), dtype=forced)([np.ones(3, x), np.ones(3, y), 1.0])
        assert z.dtype == dtype


def test_out() -> None:
    kernel = LoopKernel(scaled())
    x, y = np.arange(6.0), np.ones(6)
    out = np.empty(6)
    assert kernel([x, y, 2.0], [out])[0] is out
    np.testing.assert_array_equal(out, 2 * x + 1)
    kernel([x, y, 2.0], [x[::-1]])  # over an argument, backwards
    np.testing.assert_array_equal(x[::-1], 2 * np.arange(6.0) + 1)
    with pytest.raises(ShapeError, match=r"out has shape \(5,\), the result has shape \(6,\)"):
        kernel([x, y, 2.0], [np.empty(5)])
    with pytest.raises(ArgumentError, match="out has 2 entries for 1 outputs"):
        kernel([x, y, 2.0], [out, out])


def test_errors_name_the_parameter() -> None:
    kernel = LoopKernel(scaled())
    x = np.ones(3)
    for args, error, text in (
        ([x, np.ones(4), 1.0], ShapeError, "axis 0 of y has the size 4, axis 0 of x has the size 3"),
        ([x, x[None], 1.0], ShapeError, r"argument y has the shape \(1, 3\); it must have 1 axis"),
        ([x, x, x], ShapeError, r"argument c has the shape \(3,\); it must be a number"),
        ([x + 1j, x, 1.0], ArgumentError, "argument x is of dtype complex128"),
        ([x, x], ArgumentError, "f takes 3 arguments, 2 were given"),
    ):  # fmt: skip
        with pytest.raises(error, match=text):
            kernel(args)


def test_integer_parameters() -> None:
    picked = function(
        {"x": VECTOR, "k": Type((index("m"),), "i"), "n0": INTEGER},
        [build("y", "i", at("x", load(array("k", "i"), i)) + index("n0"), Type((index("m"),)))],
        array("y"),
    )
    kernel = LoopKernel(picked)
    x, k = np.arange(5.0), np.array([3, 0, 4], np.int32)
    np.testing.assert_array_equal(kernel([x, k, 7])[0], x[k] + 7)
    with pytest.raises(ArgumentError, match="argument k is of dtype float64, not of integers"):
        kernel([x, k.astype(float), 7])
    with pytest.raises(ArgumentError, match=r"argument n0 is not an integer: 7\.5"):
        kernel([x, k, 7.5])


def test_checks_raise_and_free() -> None:
    place = Location("model.py", 3, 5, "y = x[k]")
    checked = function(
        {"x": VECTOR, "k": INTEGER},
        [
            build("y", "i", sqrt(at("x", i))),
            Check(and_(le(ZERO, which), lt(which, N)), "index", "index out of range", place),
            loop("i", N, {"s": (0, var("s") + at("y", i))}, [
                Check(le(ZERO, at("x", i)), "value", "negative"),
            ]),
        ],
        at("y", which) + var("s_end"),
    )  # fmt: skip
    kernel = LoopKernel(checked)
    assert kernel([np.array([4.0, 9.0]), 1]) == [8.0]
    with pytest.raises(IndexError, match=r"model.py:3:5: index out of range"):
        kernel([np.ones(2), 2])
    with pytest.raises(ValueError, match="negative"):
        kernel([np.array([1.0, 1, 1, 1, 1, 1, 1, -1]), 0])
    for _ in range(200):  # a gigabyte, if it were not freed
        with pytest.raises(ValueError):
            kernel([np.full(600_000, -1.0), 0])


def test_no_memory() -> None:
    huge = function(
        {"n": INTEGER},
        [build("y", "ij", ONE, Type((N * 2**20, N * 2**20)))],
        at("y", 0, 0),
    )
    with pytest.raises(MemoryError):
        LoopKernel(huge)([10**6])


def test_a_shape_known_when_computed() -> None:
    counting = loop(
        "i", N, {"c": (0, index("c") + where(gt(at("x", i), ZERO), ONE, ZERO), INTEGER)}
    )
    count = index("c_end")
    ones = build("y", "j", var("z") + j, Type((count,)))
    kernel = LoopKernel(function({"x": VECTOR, "z": REAL}, [counting, ones], array("y"), count))
    y, c = kernel([np.array([1.0, -1.0, 2.0]), 5.0])
    np.testing.assert_array_equal(y, [5.0, 6.0])
    assert c == 2
    assert y.flags.owndata


def test_outputs_that_are_parameters_or_each_other() -> None:
    both = function({"x": VECTOR}, [build("y", "i", -at("x", i))],
                    array("y"), array("x"), array("y"))  # fmt: skip
    x = np.arange(3.0)
    a, b, c = LoopKernel(both)([x])
    np.testing.assert_array_equal([a, b, c], [-x, x, -x])
    assert not any(np.may_share_memory(p, q) for p, q in ((a, c), (b, x), (a, x)))


def test_pickled_and_kept_on_disk(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SYMDIFF_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("symdiff.runtime.scalar.compiled._linked", {})
    kernel = pickle.loads(pickle.dumps(LoopKernel(scaled())))
    kernel([np.ones(3), np.ones(3), 1.0])
    assert len(list(tmp_path.glob("*.kernel"))) == 1
    monkeypatch.setattr("symdiff.runtime.scalar.compiled._linked", {})
    monkeypatch.setattr("symdiff.codegen.llvm.jit.compile_object", None)
    np.testing.assert_array_equal(LoopKernel(scaled())([np.ones(3), np.ones(3), 1.0])[0], [2.0] * 3)


def test_arguments_are_never_written() -> None:
    changed = function({"x": VECTOR}, [update("y", "x", 0, sub(at("x", 0), ONE))], array("y"))
    x = np.arange(3.0)
    np.testing.assert_array_equal(LoopKernel(changed)([x])[0], [-1, 1, 2])
    np.testing.assert_array_equal(x, [0, 1, 2])


def test_threads_share_large_builds(monkeypatch) -> None:
    """Each element is what one thread makes of it, whatever the parts; small work is not
    divided."""
    shares = []
    run = threads.run

    def noted(task, elements, number):
        shares.append(number)
        run(task, elements, number)

    monkeypatch.setattr(threads, "run", noted)
    monkeypatch.setattr(threads, "processors", lambda: 3)
    value = where(and_(le(ONE, i), lt(at("x", i), ONE)), sqrt(at("x", i - 1)) / (i + 1), ZERO)
    program = function({"x": VECTOR}, [build("y", "i", value)], array("y"))
    x = np.linspace(0, 2, 2_000_003)
    alone = LoopKernel(program, parallel=False)([x])[0]
    assert not shares
    np.testing.assert_array_equal(LoopKernel(program)([x])[0], alone)
    assert shares == [3]
    body = [loop("j", index("m"), {"s": (var("c"), var("s") + at("a", i, j) * at("a", i, j))})]
    rows = function(
        {"a": MATRIX, "c": REAL}, [build("y", "i", var("s_end"), VECTOR, body)], array("y")
    )
    a = np.ones((5, 1_000_000))
    np.testing.assert_array_equal(LoopKernel(rows)([a, 0.5])[0], [1_000_000.5] * 5)
    assert shares == [3, 3]
    LoopKernel(rows)([a[:, :10], 0.5])
    assert shares == [3, 3]
