"""Example notebooks, under the path of 0.40."""

from ..._demos import copy_demo_nbs

__all__ = [
    "copy_demo_nbs",
]
