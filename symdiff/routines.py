"""Routines of libraries that programs call, one table entry each."""

from __future__ import annotations

from typing import Any

ROUTINES: dict[str, Any] = {}
