#!/usr/bin/env python3
"""scripts_test.py CODEFLARE: hack/up.sh and hack/down.sh on `codeflare up`, and with stand-ins for docker and kind that record their calls."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

import charts  # noqa: E402
from charts import ROOT, VERSION  # noqa: E402

STAND_IN = """#!/bin/sh
echo "$(basename "$0") $*" >> "$CALLS"
"""


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = charts.fresh_folder()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        self.bin = self.at / "bin"
        self.bin.mkdir()
        self.calls = self.at / "calls"
        self.calls.touch()
        tools = charts.tools("helm", "kubectl")
        self.environment = {**os.environ, "PATH": f"{self.bin}:{tools}:{os.environ['PATH']}", "CALLS": str(self.calls), "HOME": str(self.at),
                            "UP_DIR": str(self.at / "up"), "CODEFLARE": str(charts.static_program()),
                            "RAY_VENV": "none"}
        for name in ("KUBECONFIG", "KIND_EXPERIMENTAL_PROVIDER"):
            self.environment.pop(name, None)

    def script(self, name, *words, code=0):
        run = subprocess.run([ROOT / "hack" / name, *words], env=self.environment, capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run.stdout + run.stderr

    def stand_in(self, name, text=STAND_IN):
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def test_up_and_down_without_containers_and_twice(self):
        first = self.script("up.sh", "-t", "--local")
        self.assertIn("codeflare up --detach", first)
        self.assertIn("1/1", first)
        self.assertRegex(first, r"Phase: +Succeeded")
        again = self.script("up.sh", "--local")
        self.assertNotIn("codeflare up --detach", again)
        self.script("down.sh", "--local")
        self.assertFalse((self.at / "up").exists())
        left = subprocess.run(["pgrep", "-f", str(self.at / "up")], capture_output=True, text=True).stdout
        self.assertEqual(left, "", "no process is left")
        self.assertNotIn(str(self.at / "up"), pathlib.Path("/proc/mounts").read_text(), "no mount is left")
        self.assertFalse((self.at / ".kube/config").exists(), "no context is left")
        self.script("down.sh", "--local")  # nothing to do

    def test_kind_by_docker_or_podman(self):
        for name in ("docker", "podman", "kind", "helm", "kubectl"):
            self.stand_in(name)
        self.script("up.sh")
        calls = self.calls.read_text()
        self.assertIn("kind create cluster --name codeflare-platform --kubeconfig", calls)
        self.assertIn(f"codeflare-{VERSION}.tar --name codeflare-platform", calls)
        self.assertIn("helm upgrade --install codeflare-platform", calls)
        self.assertIn(f"helm upgrade --install codeflare-watsonx-ai {ROOT}/watsonx_ai", calls)
        self.assertLess(calls.index("kind load image-archive"), calls.index("helm upgrade"))
        self.script("down.sh")
        self.assertIn("kind delete cluster --name codeflare-platform", self.calls.read_text())
        # A client whose daemon does not answer is none.
        self.stand_in("docker", "#!/bin/sh\nexit 1\n")
        self.stand_in("kind", '#!/bin/sh\necho "kind $* by $KIND_EXPERIMENTAL_PROVIDER" >> "$CALLS"\n')
        self.script("up.sh")
        self.assertRegex(self.calls.read_text(), r"kind create cluster .* by podman")

    def test_missing_programs_and_files_are_named(self):
        self.environment["PATH"] = f"{self.bin}:/usr/bin:/bin"
        if not any((pathlib.Path(place) / "helm").exists() for place in ("/usr/bin", "/bin")):
            self.assertIn("helm is missing: https://helm.sh", self.script("up.sh", "--local", code=1))
        self.assertIn("no such kubeconfig", self.script("up.sh", "-k", "/nowhere", code=1))
        self.assertIn("unknown option --lcoal", self.script("up.sh", "--lcoal", code=1))


if __name__ == "__main__":
    sys.argv.pop(1)
    unittest.main()
