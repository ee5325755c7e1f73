"""The version, for the package, its caches and the modules it writes."""

__version__ = "0.1.0"
