"""The rules of tools/lint.py, one module per family."""
