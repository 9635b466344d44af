#!/usr/bin/env python3
"""`./dev wheel`, then the wheel in a fresh environment: the import, the program inside, and a cluster by both."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
BYTES_MAX = 60_000_000  # installed

USE = """
import json, sys
import codeflare_sdk
from codeflare_sdk import Cluster, ClusterConfiguration, list_all_clusters

cluster = Cluster(ClusterConfiguration(name="wheel", namespace="default", head_cpu_limits=1, write_to_file=False))
cluster.up()
cluster.wait_ready(timeout=60)
found = [each.name for each in list_all_clusters("default", print_to_console=False)]
cluster.down()
print(json.dumps({"found": found, "file": codeflare_sdk.__file__, "version": codeflare_sdk.__version__}))
"""


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        run = subprocess.run([ROOT / "dev", "wheel"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if run.returncode != 0:
            raise AssertionError(run.stdout[-4000:])
        (cls.wheel,) = (ROOT / "build" / "dist").glob("*.whl")
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = pathlib.Path(scratch.name)
        cls.environment = {"PATH": f"{cls.scratch}/venv/bin:/usr/bin:/bin", "HOME": str(cls.scratch), "LANG": "C.UTF-8"}
        subprocess.run([os.environ.get("PYTHON", "python3"), "-m", "venv", cls.scratch / "venv"], check=True, stdin=subprocess.DEVNULL)
        cls.run_there("pip", "--disable-pip-version-check", "install", "--quiet", "--no-index", str(cls.wheel))

    @classmethod
    def run_there(cls, *words, **more):
        run = subprocess.run(words, env=cls.environment | more, cwd=cls.scratch, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        if run.returncode != 0:
            raise AssertionError(f"{words}: {run.stdout}{run.stderr}")
        return run.stdout

    def test_name_version_and_no_dependency(self):
        version = (ROOT / "VERSION").read_text().strip()
        self.assertTrue(self.wheel.name.startswith(f"codeflare_sdk-{version}-cp3"), self.wheel.name)
        self.assertIn("manylinux", self.wheel.name)
        with zipfile.ZipFile(self.wheel) as archive:
            metadata = archive.read(f"codeflare_sdk-{version}.dist-info/METADATA").decode()
        self.assertIn("\nName: codeflare-sdk\n", metadata)
        self.assertNotIn("Requires-Dist", metadata)
        self.assertIn(version, self.run_there("codeflare", "--version"))

    def test_size(self):
        (site,) = self.scratch.glob("venv/lib/python3*/site-packages")
        parts = [path for folder in site.glob("codeflare_sdk*") for path in folder.rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in [*parts, self.scratch / "venv" / "bin" / "codeflare"])
        print(f"installed {size / 1e6:.1f} MB, wheel {self.wheel.stat().st_size / 1e6:.1f} MB")
        self.assertLess(size, BYTES_MAX)

    def test_the_program_needs_no_library(self):
        header = (self.scratch / "venv" / "bin" / "codeflare").read_bytes()[:4]
        self.assertEqual(header, b"\x7fELF")
        listed = subprocess.run(["readelf", "-d", self.scratch / "venv" / "bin" / "codeflare"], capture_output=True, text=True).stdout
        self.assertNotIn("NEEDED", listed)

    def test_a_cluster_with_nothing_else(self):
        up = subprocess.Popen(["codeflare", "up", "--listen", "127.0.0.1:0", "--data-dir", str(self.scratch / "data"), "--no-kubeconfig", "--nodes", "0",
                               "--fake-nodes", "1", "--cpus", "4", "--memory", "32Gi"], env=self.environment, executable=self.scratch / "venv/bin/codeflare",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            lines = []
            for line in up.stdout:
                lines.append(line)
                if line.startswith("  codeflare queue "):
                    break
            self.assertGreater(len(lines), 1, lines)
            kubeconfig = lines[1].removeprefix("kubeconfig ").strip()
            answer = json.loads(self.run_there("python", "-c", USE, KUBECONFIG=kubeconfig).splitlines()[-1])
        finally:
            up.terminate()
            up.wait(60)
            up.stdout.close()
        self.assertEqual((answer["found"], answer["version"]), (["wheel"], (ROOT / "VERSION").read_text().strip()))
        self.assertTrue(answer["file"].startswith(str(self.scratch)), answer["file"])


if __name__ == "__main__":
    unittest.main()
