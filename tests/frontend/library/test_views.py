"""Functions that make views of arrays of symbolic size: elements, shapes and memory are NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import SymdiffError, symgrad

VIEWS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "expand_dims 0": (lambda x: np.expand_dims(x, 0), "vector matrix"),
    "expand_dims 1": (lambda x: np.expand_dims(x, 1), "vector matrix"),
    "expand_dims -1": (lambda x: np.expand_dims(x, axis=-1), "vector matrix"),
    "expand_dims 0 2": (lambda x: np.expand_dims(x, (0, 2)), "vector matrix"),
    "expand_dims -1 1": (lambda x: np.expand_dims(x, (-1, 1)), "vector"),
    "squeeze expanded": (lambda x: np.squeeze(np.expand_dims(x, 1), 1), "vector matrix"),
    "expanded twice": (lambda x: np.expand_dims(np.expand_dims(x, 1), 0), "vector matrix"),
    "swapped expanded": (lambda x: np.swapaxes(np.expand_dims(x, 1), 0, 1), "vector matrix"),
    "flipped expanded": (lambda x: np.flip(np.expand_dims(x, 1)), "vector matrix"),
    "transpose": (np.transpose, "vector matrix block"),
    "transpose 1 0 2": (lambda x: np.transpose(x, (1, 0, 2)), "block"),
    "transpose -1 0 1": (lambda x: np.transpose(x, axes=(-1, 0, 1)), "block"),
    "permute_dims": (lambda x: np.permute_dims(x, (2, 0, 1)), "block"),
    "matrix_transpose": (np.matrix_transpose, "matrix block"),
    "swapaxes": (lambda x: np.swapaxes(x, 0, -1), "matrix block"),
    "moveaxis": (lambda x: np.moveaxis(x, 0, -1), "matrix block"),
    "moveaxis two": (lambda x: np.moveaxis(x, (0, 1), (-1, 0)), "block"),
    "rollaxis": (lambda x: np.rollaxis(x, 2), "block"),
    "flip": (np.flip, "vector matrix block"),
    "flip 1": (lambda x: np.flip(x, 1), "matrix block"),
    "flip both": (lambda x: np.flip(x, (0, -1)), "matrix block"),
    "flipud": (np.flipud, "vector matrix block"),
    "fliplr": (np.fliplr, "matrix block"),
    "rot90": (lambda x: np.rot90(x), "matrix block"),
    "rot90 2": (lambda x: np.rot90(x, 2), "matrix"),
    "rot90 3 axes": (lambda x: np.rot90(x, 3, (1, 2)), "block"),
    "rot90 4": (lambda x: np.rot90(x, 4), "matrix"),
    "atleast_1d": (lambda x: np.atleast_1d(x), "vector matrix"),
    "atleast_2d": (lambda x: np.atleast_2d(x), "vector matrix"),
    "atleast_3d": (lambda x: np.atleast_3d(x), "vector matrix block"),
    "flipped transpose": (lambda x: np.flip(x.T, 0), "matrix block"),
}
ARRAYS = {
    "vector": np.array([1.0, 20.0, 300.0]),
    "matrix": np.array([[1.0, 20.0, 300.0], [4e3, 5e4, 6e5]]),
    "block": 2.0 ** np.arange(24).reshape(2, 3, 4),
}
OF_SIZE_ONE = [
    (name, shape)
    for name, (_, kinds) in VIEWS.items()
    for kind, shapes in (("vector", [(1,)]), ("matrix", [(1, 3), (3, 1), (1, 1)]))
    for shape in (shapes if kind in kinds else [])
]
CASES = [(name, kind) for name, (_, kinds) in VIEWS.items() for kind in kinds.split()]


@pytest.mark.sampled(55)
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_elements_and_memory(name: str, kind: str) -> None:
    view, x = VIEWS[name][0], ARRAYS[kind]

    def changed(x: Any) -> Any:
        base = x.copy()
        view(base)[..., 0] += 7.0
        return base

    f = symgrad(view)
    np.testing.assert_array_equal(f(x), view(x))
    np.testing.assert_array_equal(symgrad(changed)(x), changed(x))
    slopes = np.eye(x.size).reshape(*x.shape, *x.shape)
    want = np.stack([view(one) for one in slopes.reshape(-1, *x.shape)], -1)
    np.testing.assert_array_equal(f.jacobian(x), want.reshape(*view(x).shape, *x.shape))


@pytest.mark.sampled(16)
@pytest.mark.parametrize(("name", "shape"), OF_SIZE_ONE)
def test_sizes_of_one(name: str, shape: tuple[int, ...]) -> None:
    view, x = VIEWS[name][0], np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
    np.testing.assert_array_equal(symgrad(view)(x), view(x))


@pytest.mark.parametrize(
    "view",
    [
        lambda x: np.transpose(x, (0,)),
        lambda x: np.transpose(x, (0, 0)),
        lambda x: np.swapaxes(x, 0, 2),
        lambda x: np.expand_dims(x, (0, 0)),
        lambda x: np.flip(x, 2),
        lambda x: np.moveaxis(x, 0, 5),
        lambda x: np.rot90(x, 1, (0, 0)),
    ],
)
def test_axes_that_are_not_there(view: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError):
        view(ARRAYS["matrix"])
    with pytest.raises((SymdiffError, ValueError)):
        symgrad(view)(ARRAYS["matrix"])
