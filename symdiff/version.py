"""The version, for the package, its caches and the modules it writes."""

import time

__version__ = "0.1.0"

STARTED = time.time_ns()
"""When this process began to import the package."""
