#!/usr/bin/env python3
"""tools/release.py: charts, notes and checksums of one version; the same bytes each time."""

import pathlib
import subprocess
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = (ROOT / "VERSION").read_text().strip()


class Release(unittest.TestCase):
    def release(self, folder):
        (folder / "other").write_text("an image")
        subprocess.run([ROOT / "tools/release.py", folder], check=True, stdout=subprocess.DEVNULL)
        return {file.name: file.read_bytes() for file in folder.iterdir()}

    def test_a_release_is_whole_and_reproducible(self):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            files = self.release(pathlib.Path(one))
            self.assertEqual(files, self.release(pathlib.Path(two)))
            charts = [f"{name}-{VERSION}.tgz" for name in ("codeflare-platform", "codeflare-watsonx-ai", "lattice-operator")]
            self.assertEqual(set(files), {*charts, "NOTES.md", "SHA256SUMS", "other"})
            self.assertTrue(files["NOTES.md"].decode().startswith(f"## {VERSION}"))
            subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=one, check=True)
            with tarfile.open(pathlib.Path(one, charts[0])) as archive:
                names = archive.getnames()
            self.assertEqual(names[0], "codeflare-platform/Chart.yaml")
            self.assertIn("codeflare-platform/charts/core/crds/codeflare.dev_runs.yaml", names)


if __name__ == "__main__":
    unittest.main()
