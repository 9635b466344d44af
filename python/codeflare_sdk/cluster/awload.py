"""AppWrapper files, under the path of 0.12."""

from .._cluster import AWManager  # noqa: F401
