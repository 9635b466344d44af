#!/usr/bin/env python3
"""python_streaming_test.py CODEFLARE: what the Kubernetes project's Python client does with pods of `codeflare up`: making, watching and deleting them, logs, exec
and port-forward."""

import pathlib
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "apiserver" / "clients"))

import environment  # noqa: E402

environment.enter(HERE / "python_streaming.py", sys.argv[1:])
