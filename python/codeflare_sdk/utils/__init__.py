"""Helpers, under the path of 0.12."""

from . import generate_cert

__all__ = [
    "generate_cert",
]
