#!/usr/bin/env python3
"""Failures of real processes on `codeflare up`: each is explained in one line of its own, as docs/troubleshooting.md has it."""

import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True

import up_test  # noqa: E402
from pod_case import PodCase  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "troubles"
WRAPPERS = "/apis/workload.codeflare.dev/v1beta1/namespaces/default/appwrappers"
EVENTS = "/api/v1/namespaces/default/events"
# These go on trying.
RUNNING = {"account", "image", "key", "loop", "root", "secret", "volume"}


def documented():
    """The line of each file, as a regular expression for the names of pods."""
    rows = re.findall(r"^\| `(\w+)\.yaml` \| `(.+?)` \|", (ROOT / "docs" / "troubleshooting.md").read_text(), re.M)
    return {name: re.escape(line).replace("xxxxx", "[a-z0-9]{5}") for name, line in rows}


class Troubles(PodCase):
    def cli(self, *words, patience=60):
        environment = {**os.environ, "KUBECONFIG": self.cluster.kubeconfig}
        return subprocess.run([up_test.PROGRAM, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=patience, env=environment)

    def explained(self, name, pattern, patience=90):
        """The explanation as soon as it has the line."""
        until = time.monotonic() + patience
        while True:
            said = self.cli("explain", "appwrapper", name)
            if re.search(pattern, said.stdout):
                return said.stdout
            if time.monotonic() > until:
                raise AssertionError(f"{pattern} is not in {said.stdout}{said.stderr}")
            time.sleep(0.2)

    def wait_for_state(self, name, state):
        return self.cluster.wait_for(f"{WRAPPERS}/{name}", lambda found: found.get("status", {}).get("state") == state, 90)

    def test_each_failure_has_a_line_of_its_own(self):
        self.start()
        lines = documented()
        names = sorted(path.stem for path in EXAMPLES.glob("*.yaml"))
        self.assertEqual(sorted([*lines, "good"]), names)
        self.assertGreaterEqual(len(lines), 20)
        created = self.cli("create", *[word for name in names for word in ("-f", str(EXAMPLES / f"{name}.yaml"))])
        self.assertEqual(created.returncode, 0, created.stderr)
        found = {}
        for name, line in lines.items():
            state = "Running" if name in RUNNING else "Failed"
            text = self.explained(name, rf"(?s)\Aappwrapper default/{name} is {state}\b.*{line}")
            found[name] = re.search(line, text)[0]
        self.assertEqual(len(set(found.values())), len(lines), found)

        for name in lines.keys() - RUNNING:
            self.assertIn(f"jobs.batch default/{name} failed: {found[name]}", self.explained(name, "Failed"))
        self.check_other_views(found)
        self.check_completed()

    def check_other_views(self, found):
        self.assertIn(found["oom"], self.cli("status", "appwrapper", "oom").stdout)
        listed = self.cli("list", "appwrapper", "-o", "wide").stdout
        for name in ("oom", "import", "command", "image"):
            self.assertIn(found[name], listed)
        events = [event["message"] for event in self.cluster.get(EVENTS)["items"] if event["involvedObject"]["kind"] == "AppWrapper"]
        for name in ("oom", "segfault", "image"):
            self.assertTrue(any(found[name] in message for message in events), [name, events])
        followed = self.cli("logs", "appwrapper", "import", "-f")
        self.assertEqual(followed.returncode, 1)
        self.assertIn(found["import"], followed.stderr.splitlines()[-1])
        # Pods that cannot start are reported while logs waits for them.
        for name in ("image", "volume", "account"):
            self.assertIn(found[name], self.first_note(name))
        self.assertRegex(self.cli("explain", "appwrapper", "loop").stdout, r"stays until it is deleted: Pod loop has the restartPolicy Always")
        self.assertIn("Pods that are not ready:", self.cli("explain", "appwrapper", "image").stdout)

    def first_note(self, name):
        """The first line that `logs -f` writes to standard error."""
        environment = {**os.environ, "KUBECONFIG": self.cluster.kubeconfig}
        words = [up_test.PROGRAM, "logs", "appwrapper", name, "-f"]
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment) as waits:
            line = waits.stderr.readline()
            waits.terminate()
        return line

    def check_completed(self):
        self.wait_for_state("good", "Completed")
        said = self.cli("explain", "appwrapper", "good").stdout
        self.assertRegex(said, r"^appwrapper default/good is Completed\n  work: Job good: 1 pod succeeded\n  started \S+, ended \S+ \(\w+ ago\)\n"
                         r"  waited \w+, ran \w+ on codeflare-0 \(1 pod\)\n\nNext:\n  codeflare logs appwrapper good -n default\n$")

    def test_mistakes_are_found_at_create(self):
        self.start()
        path = self.scratch / "wrong.yaml"
        text = (EXAMPLES / "oom.yaml").read_text()
        path.write_text(text.replace("cpu: 100m", "cpus: 1").replace("restartPolicy: Never", "restartpolicy: Never"))
        rejected = self.cli("create", "-f", str(path))
        self.assertNotEqual(rejected.returncode, 0)
        self.assertIn("did you mean cpu?", rejected.stderr)
        self.assertIn("restartPolicy", rejected.stderr)
        path.write_text(text.replace("backoffLimit: 0", "backofflimit: 0"))
        warned = self.cli("create", "-f", str(path))
        self.assertEqual(warned.returncode, 0, warned.stderr)
        self.assertIn("did you mean backoffLimit?", warned.stderr)


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
