#!/usr/bin/env python3
"""Makes the wheel of python/ for this Python: the extension with its libraries, and a program that needs none.

tools/wheel.py PROGRAM: the wheel is then alone in build/dist. Use it by `./dev wheel`.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
REQUIREMENTS = ROOT / "tools" / "wheel_requirements.txt"
SCRATCH = ROOT / "build" / "wheel"
DIST = ROOT / "build" / "dist"


def run(*command, **options):
    done = subprocess.run([*map(str, command)], stdin=subprocess.DEVNULL, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"wheel: {' '.join(map(str, command))}: exit code {done.returncode}\n{(done.stdout or '')[-4000:]}")
    return done


def environment():
    """The folder of programs of an environment with the tools, made anew when they or this Python change."""
    pins = hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()[:16]
    target = SCRATCH / f"tools-{pins}"
    if not (target / "complete").exists():
        shutil.rmtree(target, ignore_errors=True)
        run(sys.executable, "-m", "venv", target)
        run(target / "bin" / "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps", "-r", REQUIREMENTS)
        (target / "complete").touch()
    return target / "bin"


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    SCRATCH.mkdir(parents=True, exist_ok=True)
    tools = environment()
    path = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    plain, stripped = SCRATCH / "plain", SCRATCH / "codeflare"
    for folder in (plain, DIST):
        shutil.rmtree(folder, ignore_errors=True)
    run("llvm-strip-19", "-o", stripped, program)
    log = dict(env=path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    run(tools / "pip", "--disable-pip-version-check", "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", plain,
        "--config-settings", f"cmake.define.CODEFLARE_PROGRAM={stripped}", ROOT / "python", **log)
    (made,) = plain.glob("*.whl")
    run(tools / "auditwheel", "repair", "--wheel-dir", DIST, made, **log)
    (wheel,) = DIST.glob("*.whl")
    print(f"{wheel.relative_to(ROOT)} ({wheel.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
