#!/usr/bin/env python3
"""Copies the definitions of crds/ into the charts that install them, by their group. With --check nothing is written; a copy that differs fails."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Groups of definitions that not every cluster wants; all others are of the chart core.
CHARTS = {"ray.io": "ray", "mcad.ibm.com": "mcad"}
# Groups that helm/lattice-operator needs by itself.
LATTICE = {"breezeml.ai", "quota.codeflare.dev", "usage.codeflare.dev", "workload.codeflare.dev"}


def wanted():
    for file in sorted((ROOT / "crds").glob("*.yaml")):
        text = file.read_text()
        # A chart's crds folder is for definitions; `codeflare crds apply` brings the rest.
        if "kind: CustomResourceDefinition" in text:
            group = file.name.partition("_")[0]
            yield ROOT / "platform/charts" / CHARTS.get(group, "core") / "crds" / file.name, text
            if group in LATTICE:
                yield ROOT / "helm/lattice-operator/crds" / file.name, text


def main():
    check = sys.argv[1:] == ["--check"]
    files = dict(wanted())
    here = set((ROOT / "platform/charts").glob("*/crds/*.yaml")) | set((ROOT / "helm/lattice-operator/crds").glob("*.yaml"))
    stale = [path for path, text in files.items() if path not in here or path.read_text() != text]
    for path in sorted(stale + list(here - set(files))):
        if check:
            print(f"{path.relative_to(ROOT)} is not as in crds/: run tools/chart_crds.py")
        elif path in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[path])
        else:
            path.unlink()
    sys.exit(1 if check and (stale or here - set(files)) else 0)


if __name__ == "__main__":
    main()
