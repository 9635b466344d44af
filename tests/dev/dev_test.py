#!/usr/bin/env python3
"""./dev before anything is built: what it installs and what it rejects, with stand-ins for apt-get, dpkg-query and go."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


class DevTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        (self.root / "tools").mkdir()
        (self.root / "bin").mkdir()
        shutil.copy(REPOSITORY / "dev", self.root)
        (self.root / "tools" / "packages.txt").write_text("# comment\nalpha\nbeta-1\ngamma\n")
        self.called = self.root / "called"
        # The stand-in for sudo makes the test independent of who runs it.
        self.stand_in("sudo", 'exec "$@"')
        self.stand_in("apt-get", f'echo "$@" >>{self.called}')
        self.installed("alpha", "beta-1", "gamma")

    def stand_in(self, name, script):
        file = self.root / "bin" / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    def installed(self, *packages):
        known = "".join(f"echo 'installed {package}'\n" for package in packages)
        # Like the real one: a removed package is known but not installed, an unknown one is an error.
        self.stand_in("dpkg-query", f"{known}echo 'config-files gamma'\nexit 1")

    def dev(self, *arguments):
        path = f"{self.root / 'bin'}:{os.environ['PATH']}"
        run = subprocess.run(
            ["bash", self.root / "dev", *arguments], env={**os.environ, "PATH": path}, cwd="/",
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
        )
        return run.returncode, run.stdout, run.stderr

    def apt_calls(self):
        return self.called.read_text().splitlines() if self.called.exists() else []

    def test_setup_says_that_nothing_is_missing(self):
        self.assertEqual(self.dev("setup"), (0, "==> setup: nothing missing\n", ""))
        self.assertEqual(self.apt_calls(), [])

    def test_setup_installs_exactly_what_is_missing_and_says_so(self):
        self.installed("beta-1")
        code, output, _ = self.dev("setup")
        self.assertEqual(code, 0)
        self.assertEqual(output, "==> setup: installing with apt-get: alpha gamma\n")
        update, install = self.apt_calls()
        self.assertTrue(update.endswith(" update"), update)
        self.assertTrue(install.endswith(" install -y --no-install-recommends alpha gamma"), install)

    def test_setup_shows_why_apt_failed(self):
        self.installed("alpha")
        self.stand_in("apt-get", "echo 'E: no such package' >&2; exit 100")
        code, _, errors = self.dev("setup")
        self.assertEqual(code, 2)
        self.assertIn("E: no such package\n", errors)
        self.assertIn("build/setup.log", errors)

    def test_all_installs_what_only_it_needs(self):
        (self.root / "tools" / "packages_all.txt").write_text("# comment\ndelta\n")
        self.stand_in("go", "echo go1.25.0")
        self.assertEqual(self.dev("setup")[0], 0)
        self.assertEqual(self.apt_calls(), [])
        code, output, errors = self.dev("test", "--all")
        # There is nothing to build in this folder.
        self.assertEqual(code, 2, errors)
        self.assertIn("==> setup: installing with apt-get: delta\n", output)
        self.assertTrue(self.apt_calls()[-1].endswith(" install -y --no-install-recommends delta"), self.apt_calls())

    def ahead(self, script):
        """The beginning of --all, in a folder where every build fails."""
        (self.root / "tools" / "packages_all.txt").write_text("")
        (self.root / "CMakePresets.json").write_text('{"name": "dev"} {"name": "release"} {"name": "tsan"}')
        (self.root / "tests").mkdir()
        file = self.root / "tests" / "ahead"
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        self.stand_in("go", "echo go1.25.0")
        self.stand_in("cmake", "exit 1")

    def test_all_waits_for_what_runs_behind_its_steps(self):
        self.ahead("nice >nice; exit 1")
        code, output, errors = self.dev("test", "--all")
        self.assertEqual(code, 1, errors)
        # Its failure is nobody's; the failed builds are reported.
        self.assertTrue(output.endswith("\n0 passed, 4 failed\n"), output)
        self.assertEqual((self.root / "nice").read_text(), "19\n")

    def test_what_runs_behind_ends_with_it(self):
        pipe = self.root / "pipe"
        os.mkfifo(pipe)
        self.ahead(f"exec 3>{pipe}; echo started >&3; sleep 3600; echo gone on >&3")
        path = f"{self.root / 'bin'}:{os.environ['PATH']}"
        with subprocess.Popen(["bash", self.root / "dev", "test", "--all"], env={**os.environ, "PATH": path}, cwd="/",
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            with open(pipe) as words:
                self.assertEqual(words.readline(), "started\n")
                run.terminate()
                # Until nobody has it open any more.
                self.assertEqual(words.read(), "")

    def test_all_refuses_an_old_go(self):
        self.stand_in("go", "echo go1.19.8")
        code, _, errors = self.dev("test", "--all")
        self.assertEqual(code, 2)
        self.assertRegex(errors, r"needs Go 1\.25 or newer .* this is 1\.19\.8")

    def test_all_refuses_no_go(self):
        self.stand_in("go", "exit 127")
        code, _, errors = self.dev("test", "--all")
        self.assertEqual(code, 2)
        self.assertRegex(errors, r"needs Go 1\.25 or newer .* there is none")

    def test_unknown_words_are_refused(self):
        for words, complaint in (
            (["frobnicate"], "unknown verb 'frobnicate'"),
            (["test", "--most"], "unknown option '--most'"),
            (["fuzz", "long"], "seconds must be a number"),
            (["sim", "many"], "seeds must be a number"),
            (["sim", "5", "6"], "unknown argument '6' for sim"),
            (["fuzz", "5", "name", "more"], "unknown argument 'more' for fuzz"),
            (["fuzz", "--fast"], "unknown option '--fast' for fuzz"),
            (["setup", "extra"], "unknown argument 'extra' for setup"),
            (["setup", "--extra"], "unknown argument '--extra' for setup"),
            (["lint", "src"], "unknown argument 'src' for lint"),
            (["lint", "--prose", "src"], "unknown argument 'src' for lint"),
            (["fmt", "src"], "unknown argument 'src' for fmt"),
            (["build", "--fast"], "unknown option '--fast' for build"),
            (["test", "one", "two"], "unknown argument 'two' for test"),
            (["demo", "fast"], "unknown argument 'fast' for demo"),
        ):
            with self.subTest(words=words):
                code, _, errors = self.dev(*words)
                self.assertEqual(code, 2)
                self.assertIn(complaint, errors)

    def test_every_verb_explains_itself_and_does_nothing_else(self):
        _, usage, _ = self.dev("help")
        for verb in ("demo", "setup", "build", "test", "lint", "fmt", "bench", "sim", "fuzz", "help"):
            for option in ("--help", "-h"):
                with self.subTest(verb=verb, option=option):
                    self.assertEqual(self.dev(verb, option), (0, usage, ""))

    def test_every_benchmark_explains_itself_and_does_nothing_else(self):
        scripts = [file for file in (REPOSITORY / "bench").iterdir() if file.is_file() and os.access(file, os.X_OK)]
        self.assertGreater(len(scripts), 3)
        for script in scripts:
            with self.subTest(script=script.name):
                run = subprocess.run([script, "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
                self.assertEqual((run.returncode, run.stderr), (0, ""))
                self.assertTrue(run.stdout.startswith(f"usage: ./dev bench {script.name} "), run.stdout)

    def test_bench_builds_nothing_for_help(self):
        (self.root / "bench").mkdir()
        script = self.root / "bench" / "slow"
        script.write_text('#!/bin/sh\necho "$@"\n')
        script.chmod(0o755)
        self.assertEqual(self.dev("bench", "slow", "--help"), (0, "--help\n", ""))
        # There is nothing to build in this folder.
        self.assertNotEqual(self.dev("bench", "slow", "--fast")[0], 0)

    def test_help_names_the_verbs_of_kubernetes(self):
        _, usage, _ = self.dev("help")
        program = (REPOSITORY / "tests" / "kubernetes" / "kubernetes").read_text()
        for verb in ("build", "up", "down", "restart", "env", "run", "compact"):
            self.assertIn(f'"{verb}"', program)
            self.assertRegex(usage, rf"kubernetes <verb>.*\b{verb}\b")

    def test_up_passes_its_options_on_to_the_program(self):
        self.stand_in("codeflare", 'echo "$@"')
        os.environ["CODEFLARE"] = str(self.root / "bin" / "codeflare")
        self.addCleanup(os.environ.pop, "CODEFLARE")
        code, output, _ = self.dev("up", "--nodes", "3", "--help")
        self.assertEqual(code, 0)
        self.assertTrue(output.endswith("\nup --nodes 3 --help\n"), output)

    def test_help_names_every_verb(self):
        code, output, _ = self.dev()
        self.assertEqual(code, 0)
        for verb in ("demo", "up", "setup", "build", "test", "lint", "fmt", "docs", "bench", "sim", "fuzz", "kubernetes", "help"):
            self.assertIn(f"\n  {verb} ", output)


if __name__ == "__main__":
    unittest.main()
