#!/usr/bin/env python3
"""Types the commands of a page of docs, section "Quick start", and looks for what the page says they print.

ray_page_test CODEFLARE [PAGE]: ray.md unless another one is named.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = sys.argv[2] if len(sys.argv) > 2 else "ray.md"


def commands():
    """(command, what its output must hold)"""
    section = (ROOT / "docs" / PAGE).read_text().partition("\n## Quick start\n")[2].partition("\n## ")[0]
    for line in section.split("\n"):
        if line.startswith("    "):
            command, _, expected = line.strip().partition("# => ")
            # Whatever else runs here has its ports.
            yield command.strip().replace("codeflare up ", "codeflare up --listen 127.0.0.1:0 "), expected


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    ran = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        (home / "bin").mkdir()
        (home / "bin" / "codeflare").symlink_to(program)
        (home / "examples").symlink_to(ROOT / "examples")
        left_out = ("KUBECONFIG", "XDG_STATE_HOME", "KUBERNETES_SERVICE_HOST")
        environment = {key: value for key, value in os.environ.items() if key not in left_out}
        environment |= {"HOME": folder, "PATH": f"{home / 'bin'}:{os.environ['PATH']}"}

        def typed(command):
            return subprocess.run(["bash", "-c", command], cwd=home, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=120)

        try:
            for command, expected in commands():
                run = typed(command)
                ran += 1
                if run.returncode != 0 or expected not in run.stdout:
                    failed += 1
                    print(f"$ {command}\nexit {run.returncode}, expected {expected!r}\n{run.stdout}{run.stderr}")
        finally:
            typed("codeflare down")
    print(f"docs/{PAGE}: {ran} commands, {failed} failed")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
