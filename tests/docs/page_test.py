#!/usr/bin/env python3
"""Types the commands of a page, in order, and looks for what the page says they print.

page_test.py [--twice] CODEFLARE PAGE [SECTION]: PAGE is a path below docs/. The lines of blocks "```sh" are commands; with SECTION, those
of that section and its indented lines. --twice types the page a second time in the same home, as what it makes it also cleans up. "# => TEXT" ends a command whose output must hold TEXT. Blocks "```sh norun" are left out; a block
"```TYPE FILE" is written to FILE first. RAY_VENV, if set, is a virtual environment with Ray: `image add ... --pip` then uses it.
"""

import os
import pathlib
import random
import re
import socket
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 600


class Page:
    def __init__(self, text, indented):
        self.commands = []  # (command, what its output must hold), or a file to write
        self.fence, self.block = None, []
        for line in text.split("\n"):
            if line.startswith("```"):
                self._fence(line[3:].split())
            elif self.fence is not None:
                self.block.append(line)
            elif indented and line.startswith("    "):
                self._command(line)

    def _fence(self, words):
        if self.fence is None:
            self.fence, self.block = words, []
            return
        if self.fence == ["sh"]:
            for line in re.sub(r"\\\n\s*", "", "\n".join(self.block)).split("\n"):
                self._command(line)
        elif len(self.fence) == 2 and self.fence[1] != "norun":
            self.commands.append((pathlib.Path(self.fence[1]), "\n".join(self.block) + "\n"))
        self.fence = None

    def _command(self, line):
        command, _, expected = line.strip().partition("# => ")
        if command.strip() and not command.startswith("#"):
            self.commands.append((command.strip(), expected.strip()))


def section_of(text, title):
    begin = text.find(f"\n## {title}\n")
    if begin < 0:
        sys.exit(f"no section '{title}'")
    return text[begin + 4 + len(title):].partition("\n## ")[0]


class Ports(dict):
    """A free port for each port of the page. The ports that the system gives to connections are left out: a cluster may come back on its own."""

    def __missing__(self, key):
        while True:
            self[key] = str(random.randrange(20000, 30000))
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", int(self[key]))) != 0:
                    return self[key]


def as_typed(command, ports):
    """The command with free ports, and with the Ray that is here already, if any."""
    if "--listen " not in command:
        command = command.replace("codeflare up ", "codeflare up --listen 127.0.0.1:0 ")
    command = re.sub(r"(--listen 127\.0\.0\.1:)([1-9]\d*)", lambda found: found[1] + ports[found[2]], command)
    if venv := os.environ.get("RAY_VENV"):
        command = re.sub(r"(codeflare image add \S+) --pip \S+", rf"\1 --python-venv {venv}", command)
    return command


def main():
    times = 2 if "--twice" in sys.argv else 1
    words = [word for word in sys.argv[1:] if word != "--twice"]
    program, name = pathlib.Path(words[0]).resolve(), words[1]
    text = (ROOT / "docs" / name).read_text()
    # Elsewhere than in a named section an indented line may belong to a list.
    page = Page(section_of(text, words[2]), indented=True) if len(words) > 2 else Page(text, indented=False)
    ran = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        (home / "bin").mkdir()
        (home / "bin" / "codeflare").symlink_to(program)
        (home / "examples").symlink_to(ROOT / "examples")
        left_out = ("KUBECONFIG", "XDG_STATE_HOME", "XDG_CACHE_HOME", "KUBERNETES_SERVICE_HOST", "CODEFLARE_IMAGE")
        environment = {key: value for key, value in os.environ.items() if key not in left_out}
        environment |= {"HOME": folder, "PATH": f"{home / 'bin'}:{os.environ['PATH']}"}

        ports = Ports()

        def typed(command):
            return subprocess.run(["bash", "-c", as_typed(command, ports)], cwd=home, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=PATIENCE_SECONDS)

        try:
            for command, expected in page.commands * times:
                if isinstance(command, pathlib.Path):
                    (home / command).parent.mkdir(parents=True, exist_ok=True)
                    (home / command).write_text(expected)
                    continue
                run = typed(command)
                ran += 1
                if run.returncode != 0 or expected not in run.stdout:
                    failed += 1
                    print(f"$ {command}\nexit {run.returncode}, expected {expected!r}\n{run.stdout}{run.stderr}", flush=True)
        finally:
            typed("codeflare down")
            for directory in sorted(set(re.findall(r"codeflare up .*--data-dir (\S+)", text))):
                typed(f"codeflare down --data-dir {directory}")
    print(f"docs/{name}: {ran} commands, {failed} failed")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
