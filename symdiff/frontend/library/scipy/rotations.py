"""Rotations of `scipy.spatial.transform` that a traced function makes: a class that is traced like
a user's, in place of SciPy's. An object is one rotation, or several along the first axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

ArrayLike = Any


def _length(v: ArrayLike) -> Any:
    return np.sqrt(np.sum(v * v, axis=-1, keepdims=True))


def _of_size(a: ArrayLike, size: int) -> Any:
    """An array whose last axis has this size."""
    a = np.asarray(a) * 1.0
    return np.reshape(a, (*np.shape(a)[:-1], size))


def _product(p: ArrayLike, q: ArrayLike) -> Any:
    """The product of quaternions, with the real part last."""
    u, v, s, t = p[..., :3], q[..., :3], p[..., 3:], q[..., 3:]
    real = s * t - np.sum(u * v, axis=-1, keepdims=True)
    return np.concatenate([s * v + t * u + np.cross(u, v), real], axis=-1)


def _canonical(q: ArrayLike) -> Any:
    """The quaternion of a rotation whose real part is positive; the other one is its negative."""
    return np.where(q[..., 3:] < 0, -q, q)


class Rotation:
    """Rotations as unit quaternions with the real part last."""

    def __init__(self, quat: ArrayLike) -> None:
        self._quaternion = quat

    @classmethod
    def identity(cls, num: Any = None) -> Any:
        one = np.array([0.0, 0.0, 0.0, 1.0])
        return cls(one if num is None else np.ones((num, 1)) * one)

    @classmethod
    def from_quat(cls, quat: ArrayLike, *, scalar_first: bool = False) -> Any:
        q = _of_size(quat, 4)
        q = np.roll(q, -1, axis=-1) if scalar_first else q
        return cls(q / _length(q))

    @classmethod
    def from_rotvec(cls, rotvec: ArrayLike, degrees: bool = False) -> Any:
        r = _of_size(rotvec, 3) * (math.pi / 180 if degrees else 1.0)
        angle = _length(r)
        parts = r * (np.sinc(angle / (2 * math.pi)) / 2), np.cos(angle / 2)
        return cls(np.concatenate(parts, axis=-1))

    @classmethod
    def from_euler(cls, seq: str, angles: Any, degrees: bool = False) -> Any:
        a = np.asarray(angles) * (math.pi / 180 if degrees else 1.0)
        a = np.reshape(a, (1,)) if np.ndim(a) == 0 else a
        found = None
        for k in range(len(seq)):
            half = a[..., k : k + 1] / 2
            axis = np.eye(3)["xyz".find(seq[k].lower())]
            part = np.concatenate([np.sin(half) * axis, np.cos(half)], axis=-1)
            if found is None:
                found = part
            else:
                found = _product(found, part) if seq == seq.upper() else _product(part, found)
        return cls(found)

    def as_quat(self, canonical: bool = False, *, scalar_first: bool = False) -> Any:
        q = _canonical(self._quaternion) if canonical else self._quaternion
        return np.roll(q, 1, axis=-1) if scalar_first else q

    def as_matrix(self) -> Any:
        x, y, z, w = [self._quaternion[..., k : k + 1] for k in range(4)]
        elements = [
            x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w),
            2 * (x * y + z * w), -x * x + y * y - z * z + w * w, 2 * (y * z - x * w),
            2 * (x * z - y * w), 2 * (y * z + x * w), -x * x - y * y + z * z + w * w,
        ]  # fmt: skip
        return np.reshape(np.concatenate(elements, axis=-1), (*np.shape(x)[:-1], 3, 3))

    def as_rotvec(self, degrees: bool = False) -> Any:
        q = _canonical(self._quaternion)
        half = np.arctan2(_length(q[..., :3]), q[..., 3:])
        found = q[..., :3] * (2 / np.sinc(half / math.pi))
        return found * (180 / math.pi) if degrees else found

    def magnitude(self) -> Any:
        q = self._quaternion
        return 2 * np.arctan2(_length(q[..., :3]), np.abs(q[..., 3:]))[..., 0]

    def apply(self, vectors: ArrayLike, inverse: bool = False) -> Any:
        matrix = self.as_matrix()
        if inverse:
            matrix = np.swapaxes(matrix, -1, -2)
        return np.sum(matrix * np.asarray(vectors)[..., None, :], axis=-1)

    def inv(self) -> Any:
        return Rotation(self._quaternion * np.array([-1.0, -1.0, -1.0, 1.0]))

    def __mul__(self, other: Any) -> Any:
        return Rotation(_product(self._quaternion, other._quaternion))


CLASSES: dict[str, type] = {"scipy.spatial.transform.Rotation": Rotation}
"""By the dotted name of the class that each replaces."""
