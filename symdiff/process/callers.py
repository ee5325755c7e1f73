"""Where the user's code called us, for warnings."""

from __future__ import annotations

import os
import sys
from types import FrameType

_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep


def outside() -> int:
    """The `stacklevel` of the nearest line outside of the package, for a warning that the caller
    of this function gives; of the outermost line if there is none."""
    frame: FrameType | None = sys._getframe(1)
    level = 1
    while frame is not None and frame.f_back is not None:
        if not frame.f_code.co_filename.startswith(_PACKAGE):
            break
        frame = frame.f_back
        level += 1
    return level


__all__ = ["outside"]
