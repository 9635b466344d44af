"""Python imports this file at its start when its folder is on PYTHONPATH. LATTICE_AUTOPATCH=torch switches the addon on."""

import importlib.machinery
import importlib.util
import os
import sys

if os.environ.get("LATTICE_AUTOPATCH") == "torch":
    from codeflare_elastic import _autopatch

    _autopatch.install()

# The file of the same name that this one hides.
_own = os.path.dirname(os.path.abspath(__file__))
_hidden = importlib.machinery.PathFinder.find_spec("sitecustomize", [path for path in sys.path if os.path.abspath(path or ".") != _own])
if _hidden is not None and _hidden.loader is not None:
    _hidden.loader.exec_module(importlib.util.module_from_spec(_hidden))
