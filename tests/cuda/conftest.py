"""Fixtures of the tests of CUDA kernels."""

from __future__ import annotations

from tests.cuda.host import fake_device, host_folder

__all__ = ["fake_device", "host_folder"]
