"""Helpers, under the path of 0.12."""
