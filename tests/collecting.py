"""The garbage collector, from tests."""

import gc
import time


def collect() -> None:
    """All of what is unreachable is gone: also where another thread was collecting, when `gc.collect` does nothing."""
    for _ in range(3):
        gc.collect()
        time.sleep(0.005)
