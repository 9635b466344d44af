"""Helpers, under the path of 0.40."""

from ..._cluster import get_current_namespace
from . import generate_cert

__all__ = [
    "generate_cert",
    "get_current_namespace",
]
