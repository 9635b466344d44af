#!/usr/bin/env python3
"""kuttl_test.py CODEFLARE SUITE: a suite of MCAD's own kuttl tests, from its published Go module, passes on `codeflare up` with pods as processes.

Nothing of it is changed but what installs and looks at MCAD's Deployment, which is not there: lines that call helm, and the description of that Deployment.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent / folder) for folder in ("apiserver/kubectl", "queue")]

import programs  # noqa: E402
import up_test  # noqa: E402
from live_cluster import MCAD, module_folder  # noqa: E402
from pod_case import PodCase  # noqa: E402

PATIENCE_SECONDS = 1500
HELM = re.compile(r"^ *- script: helm .*\n", re.MULTILINE)
# Its configuration, the case in it, and how often it has what is MCAD's: lines in all files, descriptions of the Deployment.
SUITES = {
    "quota-forest": ("kuttl-test.yaml", "quota-forest", 1, 0),
    "deployment-01": ("kuttl-test-deployment-01.yaml", "steps", 3, 1),
}


def without_mcad(text):
    """The text, how many lines and how many descriptions of objects are gone."""
    text, lines = HELM.subn("", text)
    parts = re.split(r"^---\n", text, flags=re.MULTILINE)
    kept = [part for part in parts if not ("kind: Deployment\n" in part and "name: mcad-controller\n" in part)]
    return "---\n".join(kept), lines, len(parts) - len(kept)


class Kuttl(PodCase):
    def prepare(self, source, configuration, folders):
        """A copy in the scratch folder, which is where the suite takes its root to be."""
        shutil.copytree(source / "test", self.scratch / "test", copy_function=shutil.copyfile)
        gone = [0, 0]
        for path in [self.scratch / "test" / configuration, *(file for folder in folders for file in (self.scratch / folder).rglob("*.yaml"))]:
            text, *counts = without_mcad(path.read_text())
            gone = [a + b for a, b in zip(gone, counts)]
            if any(counts):
                path.write_text(text)
        return tuple(gone)

    def test_passes(self):
        configuration, case, lines, descriptions = SUITES[SUITE]
        source = module_folder(*MCAD)
        folders = re.findall(r"^  - (test/\S+?)/?$", (source / "test" / configuration).read_text(), re.MULTILINE)
        self.assertEqual(len(folders), 1)
        self.assertEqual(self.prepare(source, configuration, [f"{folders[0]}/{case}"]), (lines, descriptions))
        self.start("--preemption", "--cpus", "8", "--memory", "16Gi")
        (self.scratch / "echo").mkdir()
        server = shutil.copy(HERE / "echo_server.py", self.scratch / "echo")
        self.add_image("kicbase/echo-server:*", "--directory", str(self.scratch / "echo"), "--entrypoint", f"python3 -I -S {server}")
        environment = {**os.environ, "KUBECONFIG": self.cluster.kubeconfig, "ROOT_DIR": str(self.scratch), "HOME": str(self.scratch),
                       "PATH": f"{KUTTL.parent}:{os.environ['PATH']}"}
        run = subprocess.run([KUTTL, "test", "--config", f"test/{configuration}", "--test", case], cwd=self.scratch, env=environment,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE_SECONDS)
        self.assertEqual(run.returncode, 0, run.stdout)
        # That something ran at all.
        self.assertRegex(run.stdout, rf"--- PASS: kuttl/harness/{case} ")


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    SUITE = sys.argv.pop(1)
    programs.run(programs.KUBERNETES, "build", "kubectl", "kuttl")
    KUTTL = pathlib.Path(programs.run(programs.KUBERNETES, "env")) / "kuttl"
    unittest.main()
