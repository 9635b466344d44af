#!/usr/bin/env python3
"""shell_test.py: the scripts of hack/ and tests/kind alone, with a stand-in for kubectl: no Helm, no cluster."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = sorted([*(ROOT / "hack").glob("*.sh"), *(ROOT / "tests/kind").glob("*.sh")])
# Records its arguments and its standard input; there is no object store.
KUBECTL = """#!/bin/sh
echo "$*" >> "$CALLS"
case "$*" in *'-f -'*) cat >> "$INPUT"; echo '---' >> "$INPUT" ;; *codeflare-s3*) exit 1 ;; esac
"""
# Records its name, its arguments and its cluster.
HELM = """#!/bin/sh
echo "$(basename "$0") $* KUBECONFIG=$KUBECONFIG" >> "$CALLS"
echo 'Phase: Succeeded'
"""
# Syntax that the bash of macOS, 3.2, lacks or reads otherwise.
NEWER = {
    r"\[-[0-9]+\]": "an index from the end",
    r"\b(mapfile|readarray|coproc)\b": "a builtin",
    r"\b(declare|local|typeset) -[a-zA-Z]*[An]\b": "a map or a reference",
    r"\$\{\w+(\^|,)+\}": "a change of case",
    r"\$\{\w+@\w\}": "a transformation",
    r"\|&|&>>": "a redirection",
}


class Shell(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        (self.at / "bin").mkdir()
        (self.at / "bin/kubectl").write_text(KUBECTL)
        (self.at / "bin/kubectl").chmod(0o755)
        self.calls, self.input = self.at / "calls", self.at / "input"
        self.environment = {"PATH": f"{self.at}/bin:{os.environ['PATH']}", "HOME": str(self.at), "CALLS": str(self.calls), "INPUT": str(self.input)}

    def copied(self, *parts):
        """Scripts beside files of one's own."""
        for part in ("VERSION", *parts):
            source, copy = ROOT / part, self.at / "tree" / part
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(source, copy) if source.is_dir() else shutil.copy(source, copy)
        return self.at / "tree"

    def run_script(self, *words):
        done = subprocess.run(list(map(str, words)), env=self.environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_credentials_may_have_any_character_and_are_in_no_argument(self):
        tree = self.copied("hack")
        user, token, repo = "o'neil", "a\"b\\c'd $HOME `id` {x}: #&", "git.example/org's"
        (tree / "hack/my.secrets.sh").write_text("\n".join(
            name + "='" + text.replace("'", "'\\''") + "'" for name, text in (("REPO_USER", user), ("REPO_TOKEN", token), ("REPO", repo))))
        self.run_script(tree / "hack/secrets.sh")
        self.assertNotIn("a\"b", self.calls.read_text())
        # One line each, in single quotes of YAML: everything stands for itself, and two of them for one.
        read = {name: text.replace("''", "'") for name, text in re.findall(r"(user|pat|repo): '((?:[^'\n]|'')*)'[,}]", self.input.read_text())}
        self.assertEqual(read, {"user": user, "pat": token, "repo": repo})

    def test_runs_of_an_object_store_are_skipped_where_there_is_none(self):
        tree = self.copied("hack", "tests/kind", "tests/runs", "tests/templates")
        (self.at / "kubeconfig").touch()
        told = self.run_script(tree / "tests/kind/deploy-tests.sh", "-k", self.at / "kubeconfig")
        self.assertIn("SKIP test1, test2", told)
        applied = next(line for line in self.calls.read_text().splitlines() if line.startswith("apply -f") and "/tests/runs/" in line)
        files = {str(file) for file in (tree / "tests/runs").rglob("*.yaml") if file.name not in ("test1.yaml", "test2.yaml")}
        self.assertEqual(sorted(applied.split()[1:]), sorted(["-f"] * len(files) + list(files)))

    def test_up_and_down_in_a_given_cluster_touch_no_other(self):
        tree = self.copied("hack")
        given = self.at / "kubeconfig"
        given.touch()
        program, archive = self.at / "codeflare", tree / f"build/image/codeflare-{(ROOT / 'VERSION').read_text().strip()}.tar"
        archive.parent.mkdir(parents=True)
        for name in ("helm", "kind", "docker", "podman"):
            (self.at / "bin" / name).write_text(HELM)
            (self.at / "bin" / name).chmod(0o755)
        program.write_text(HELM)
        program.chmod(0o755)
        archive.touch()
        self.environment |= {"CODEFLARE": str(program), "KUBECONFIG": "/another"}
        self.run_script(tree / "hack/up.sh", "-t", "-k", given)
        self.run_script(tree / "hack/down.sh", "-k", given)
        calls = [line for line in self.calls.read_text().splitlines() if "KUBECONFIG=" in line]
        for words in ("helm upgrade --install codeflare-platform", f"helm upgrade --install codeflare-watsonx-ai {tree}/watsonx_ai", "helm test codeflare-platform",
                      "helm uninstall codeflare-watsonx-ai", "helm uninstall codeflare-platform"):
            self.assertTrue(any(line.startswith(words + " ") for line in calls), f"{words}: {calls}")
        for line in calls:
            self.assertTrue(line.startswith("helm ") and line.endswith(f" KUBECONFIG={given}"), line)

    def test_no_script_needs_a_newer_bash_than_that_of_macos(self):
        self.assertGreater(len(SCRIPTS), 6)
        for script in SCRIPTS:
            text = script.read_text()
            for pattern, what in NEWER.items():
                self.assertIsNone(re.search(pattern, text), f"{script.name}: {what}")
            # `set -u` of 3.2 takes an empty array for one that is not set.
            for name in re.findall(r"^ *(\w+)=\(\)$", text, re.M):
                if not re.search(rf"^ *{name}\+=", text, re.M):
                    self.assertNotRegex(text.replace('${' + name + '[@]+"${' + name + '[@]}"}', ""), rf'"\$\{{{name}\[@\]\}}"', script.name)


if __name__ == "__main__":
    unittest.main()
