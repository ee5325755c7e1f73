"""From Python source to a `Program`: reading, tracing, refusing."""

from symdiff.frontend.calls import Inlined
from symdiff.frontend.capture import capture
from symdiff.frontend.signature import Array, Parameters

__all__ = ["Array", "Inlined", "Parameters", "capture"]
