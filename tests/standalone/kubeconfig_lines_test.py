#!/usr/bin/env python3
"""A controller process's errors about a wrong kubeconfig: one line each, with file and field, without secrets."""

import base64
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

GARBAGE = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nc0VjUmVU\n-----END CERTIFICATE-----\n").decode()

KUBECONFIG = """
clusters:
- name: c
  cluster: {{server: "https://127.0.0.1:1", certificate-authority-data: {garbage}, tls-sever-name: x}}
users:
- name: u
  user: {{token: sEcReT, tokn: sEcReT}}
contexts:
- name: x
  context: {{cluster: c, user: u}}
current-context: x
"""


class KubeconfigLines(unittest.TestCase):
    def test_each_fault_is_said_once(self):
        with tempfile.TemporaryDirectory() as scratch:
            file = pathlib.Path(scratch) / "config"
            file.write_text(KUBECONFIG.format(garbage=GARBAGE))
            run = subprocess.run(
                [PROGRAM], env={**os.environ, "KUBECONFIG": str(file)}, stdin=subprocess.DEVNULL,
                capture_output=True, text=True, timeout=100,
            )
        self.assertEqual(run.returncode, 1, run.stderr)
        lines = run.stderr.splitlines()
        self.assertEqual(len(lines), 3, run.stderr)
        for line, words in zip(lines, (
            ("warn", f"{file}: clusters[0].cluster.tls-sever-name: is not a field of a kubeconfig", "tls-server-name"),
            ("warn", f"{file}: users[0].user.tokn: is not a field of a kubeconfig", "token"),
            ("error", f'cluster \\"c\\" in {file}: expected a PEM certificate'),
        )):
            for word in words:
                self.assertIn(word.lower(), line.lower())
        self.assertNotIn("sEcReT", run.stderr)
        self.assertNotIn("c0VjUmVU", run.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
