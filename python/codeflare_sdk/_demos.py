"""Example notebooks."""

from __future__ import annotations

import pathlib
import shutil

from .errors import AlreadyExistsError


def copy_demo_nbs(dir: str = "./demo-notebooks", overwrite: bool = False) -> None:
    """Copies the example notebooks of this package to a directory."""
    target = pathlib.Path(dir)
    if target.exists() and not overwrite:
        raise AlreadyExistsError(f"directory {dir} already exists", "already_exists", object=dir, hint="give another one or overwrite=True")
    shutil.copytree(pathlib.Path(__file__).parent / "demo_notebooks", target, dirs_exist_ok=True)
    print(f"Example notebooks copied to {target}")
