#!/usr/bin/env python3
"""image_test.py CODEFLARE: archives of the image, in both forms, from tools/image.py to `codeflare image load`."""

import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = (ROOT / "VERSION").read_text().strip()
CODEFLARE = None


class Images(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        # Any file will do: nothing runs here.
        self.program = self.at / "program"
        self.program.write_bytes(b"#!/none\n" * 1000)

    def archive(self, form, name="image.tar"):
        file = self.at / name
        subprocess.run([ROOT / "tools/image.py", self.program, "--archive", file, "--format", form, "--context", self.at / "context"],
                       check=True, stdout=subprocess.DEVNULL)
        return file

    def codeflare(self, *words, code=0):
        run = subprocess.run([CODEFLARE, "image", *map(str, words), "--data-dir", self.at / "data"], capture_output=True, text=True)
        self.assertEqual(run.returncode, code, run.stderr)
        return run.stdout + run.stderr

    def test_the_same_program_gives_the_same_bytes(self):
        for form in ("docker", "oci"):
            self.assertEqual(self.archive(form, "a").read_bytes(), self.archive(form, "b").read_bytes(), form)

    def test_both_forms_are_loaded_with_both_names(self):
        for form in ("docker", "oci"):
            out = self.codeflare("load", self.archive(form))
            for name in ("codeflare", "lattice-operator-internal"):
                self.assertIn(f"image {name}:{VERSION} loaded", out.replace("was loaded before", "loaded"))
            entry = next(one for one in json.loads(self.codeflare("list", "-o", "json"))["images"] if one["image"] == f"codeflare:{VERSION}")
            self.assertEqual(entry["entrypoint"], ["/usr/bin/codeflare"])
            self.assertEqual((entry["user"], entry["group"], entry["workdir"]), (65532, 65532, "/tmp"))
            self.assertEqual(entry["env"]["SSL_CERT_FILE"], "/etc/ssl/certs/ca-certificates.crt")
            root = pathlib.Path(entry["root"])
            self.assertEqual((root / "usr/bin/codeflare").read_bytes(), self.program.read_bytes())
            self.assertEqual((root / "usr/bin/codeflare").stat().st_mode & 0o777, 0o755)
            self.assertTrue((root / "etc/ssl/certs/ca-certificates.crt").is_file())
            self.codeflare("remove", f"codeflare:{VERSION}", f"lattice-operator-internal:{VERSION}")

    def test_mistakes_are_named(self):
        self.assertIn("missing.tar", self.codeflare("load", self.at / "missing.tar", code=2))
        bad = self.at / "bad.tar"
        with tarfile.open(bad, "w") as tar:
            tar.add(self.program, "program")
        self.assertIn("neither manifest.json", self.codeflare("load", bad, code=2))
        self.assertEqual(list((self.at / "data").rglob("unpacked/*")), [])


if __name__ == "__main__":
    CODEFLARE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
