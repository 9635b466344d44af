"""AppWrapper files, under the path of 0.12."""

from .._cluster import AWManager

__all__ = [
    "AWManager",
]
