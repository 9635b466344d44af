#!/usr/bin/env python3
"""release.py FOLDER: adds charts (.tgz), notes from CHANGELOG.md and SHA256SUMS of everything to a folder with wheel and image archives. The same tree gives the same bytes."""

import gzip
import hashlib
import io
import re
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHARTS = ("platform", "watsonx_ai", "helm/lattice-operator")


def chart_name(chart):
    text = (chart / "Chart.yaml").read_text()
    return tuple(re.search(rf"^{field}: (\S+)$", text, re.M)[1] for field in ("name", "version"))


def write_chart(chart, folder):
    """The output of `helm package`: the chart below a folder of its name."""
    name, version = chart_name(chart)
    body = io.BytesIO()
    with tarfile.open(fileobj=body, mode="w", format=tarfile.GNU_FORMAT) as archive:
        # Helm reads the first Chart.yaml that it meets: that of the chart itself.
        files = [file for file in sorted(chart.rglob("*")) if file.is_file() and not any(part.startswith(".") for part in file.relative_to(chart).parts)]
        for file in sorted(files, key=lambda file: (file != chart / "Chart.yaml", file)):
            entry = tarfile.TarInfo(f"{name}/{file.relative_to(chart)}")
            entry.size, entry.mode = file.stat().st_size, 0o644
            with file.open("rb") as content:
                archive.addfile(entry, content)
    target = folder / f"{name}-{version}.tgz"
    target.write_bytes(gzip.compress(body.getvalue(), mtime=0))
    return target, version


def notes(version):
    """The part of the changelog about this version."""
    parts = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)
    found = [part for part in parts if part.split()[0] == version]
    if not found:
        sys.exit(f"CHANGELOG.md has no part '## {version}'")
    return "## " + found[0].rstrip() + "\n"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    version = (ROOT / "VERSION").read_text().strip()
    for chart in CHARTS:
        target, of_chart = write_chart(ROOT / chart, folder)
        if of_chart != version:
            sys.exit(f"{chart}/Chart.yaml has version {of_chart}, the file VERSION has {version}")
        print(target)
    (folder / "NOTES.md").write_text(notes(version))
    sums = folder / "SHA256SUMS"
    files = sorted(file for file in folder.iterdir() if file.is_file() and file != sums)
    sums.write_text("".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files))
    print(sums)


if __name__ == "__main__":
    main()
