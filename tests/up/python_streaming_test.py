#!/usr/bin/env python3
"""python_streaming_test.py CODEFLARE: exec and port-forward of the Kubernetes project's Python client into pods of `codeflare up`."""

import pathlib
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "apiserver" / "clients"))

import environment  # noqa: E402

environment.enter(HERE / "python_streaming.py", sys.argv[1:])
