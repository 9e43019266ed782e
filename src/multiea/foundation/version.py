"""The version of multiea."""

__version__ = "0.1.0"
