#!/usr/bin/env python3
"""Makes the image of codeflare from its static program.

image.py PROGRAM [--archive FILE [--format docker|oci]]: with docker, podman or buildah (the first that works), or as an archive
that `codeflare image load`, `docker load` and `kind load image-archive` read. An archive is written here, without any of them, from the same Dockerfile
and the same files; the same input gives the same bytes.
"""

import argparse
import gzip
import hashlib
import io
import json
import shlex
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("lattice-operator-internal", "codeflare")
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
USER = 65532
ENGINES = {
    "docker": (["docker", "info"], ["docker", "build"]),
    "podman": (["podman", "info"], ["podman", "build"]),
    "buildah": (["buildah", "info"], ["buildah", "bud"]),
}


def version():
    return (ROOT / "VERSION").read_text().strip()


def make_context(program, context):
    """The root file system of the image, which is the context of the Dockerfile too."""
    if not CERTIFICATES.is_file():
        sys.exit(f"image: {CERTIFICATES} is missing: install ca-certificates")
    shutil.rmtree(context, ignore_errors=True)
    for path, source in (("usr/bin/codeflare", program), (str(CERTIFICATES)[1:], CERTIFICATES)):
        target = context / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    (context / "usr/bin/codeflare").chmod(0o755)
    (context / "etc/passwd").write_text(f"root:x:0:0:root:/:/none\nnonroot:x:{USER}:{USER}:nonroot:/tmp:/none\n")
    (context / "etc/group").write_text(f"root:x:0:\nnonroot:x:{USER}:\n")
    (context / "tmp").mkdir()
    (context / "tmp").chmod(0o1777)


def settings_of(dockerfile):
    """The image's configuration by the lines of our own Dockerfile."""
    config = {}
    for line in dockerfile.read_text().splitlines():
        word, _, rest = line.partition(" ")
        if word in ("", "#") or (word, rest) in (("FROM", "scratch"), ("COPY", ". /")):
            continue
        if word == "ENV":
            config["Env"] = shlex.split(rest)
        elif word == "USER":
            config["User"] = rest
        elif word == "WORKDIR":
            config["WorkingDir"] = rest
        elif word == "ENTRYPOINT":
            config["Entrypoint"] = json.loads(rest)
        else:
            sys.exit(f"image: {dockerfile.name}: '{line}' is unknown here: add it to {Path(__file__).name}")
    return config


def add_bytes(tar, name, data):
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(data), 0o644
    tar.addfile(info, io.BytesIO(data))


def layer_of(context):
    """Everything below the folder as a tar file: sorted, of root, without times."""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(context.rglob("*")):
            info = tar.gettarinfo(path, str(path.relative_to(context)))
            info.uid = info.gid = info.mtime = 0
            info.uname = info.gname = ""
            info.mode = 0o1777 if info.name == "tmp" else 0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644
            with open(path, "rb") if path.is_file() else io.BytesIO() as content:
                tar.addfile(info, content if path.is_file() else None)
    return layer.getvalue()


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def config_of(layer):
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(subprocess.check_output(["uname", "-m"], text=True).strip(), "amd64")
    return json.dumps(
        {
            "architecture": machine,
            "os": "linux",
            "created": "1970-01-01T00:00:00Z",
            "config": settings_of(ROOT / "Dockerfile"),
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{sha256(layer)}"]},
            "history": [{"created": "1970-01-01T00:00:00Z", "created_by": "tools/image.py"}],
        },
        separators=(",", ":"),
    ).encode()


def write_docker(tar, layer, config, tags):
    add_bytes(tar, f"{sha256(config)}.json", config)
    add_bytes(tar, f"{sha256(layer)}.tar", layer)
    manifest = [{"Config": f"{sha256(config)}.json", "RepoTags": tags, "Layers": [f"{sha256(layer)}.tar"]}]
    add_bytes(tar, "manifest.json", json.dumps(manifest).encode())


def write_oci(tar, layer, config, tags):
    packed = gzip.compress(layer, mtime=0)
    add_bytes(tar, "oci-layout", b'{"imageLayoutVersion":"1.0.0"}')

    def blob(data, media):
        add_bytes(tar, f"blobs/sha256/{sha256(data)}", data)
        return {"mediaType": f"application/vnd.oci.image.{media}", "digest": f"sha256:{sha256(data)}", "size": len(data)}

    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": blob(config, "config.v1+json"),
        "layers": [blob(packed, "layer.v1.tar+gzip")],
    }
    entry = blob(json.dumps(manifest).encode(), "manifest.v1+json")
    manifests = [{**entry, "annotations": {"org.opencontainers.image.ref.name": tag}} for tag in tags]
    add_bytes(tar, "index.json", json.dumps({"schemaVersion": 2, "manifests": manifests}).encode())


def write_archive(context, file, form):
    layer = layer_of(context)
    tags = [f"{name}:{version()}" for name in NAMES]
    file.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(file, "w", format=tarfile.USTAR_FORMAT) as tar:
        (write_docker if form == "docker" else write_oci)(tar, layer, config_of(layer), tags)
    print(f"image: {' and '.join(tags)} in {file} ({file.stat().st_size / 1e6:.1f} MB)")
    print(f"image: codeflare image load {file}")


def working_engine():
    """The first that answers: a docker client without its daemon does not."""
    for name, (probe, _) in ENGINES.items():
        if shutil.which(name) and subprocess.run(probe, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            return name
    return None


def build_by(engine, context):
    tags = [word for name in NAMES for word in ("-t", f"{name}:{version()}")]
    subprocess.run([*ENGINES[engine][1], "-f", str(ROOT / "Dockerfile"), *tags, str(context)], check=True)
    print(f"image: {' and '.join(tags[1::2])} by {engine}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="the static program")
    parser.add_argument("--archive", type=Path, metavar="FILE", help="write this archive, whatever engines there are")
    parser.add_argument("--format", choices=("docker", "oci"), default="docker", help="of the archive (default docker)")
    parser.add_argument("--context", type=Path, default=ROOT / "build/image/context", metavar="DIR")
    options = parser.parse_args()
    make_context(options.program, options.context)
    engine = None if options.archive else working_engine()
    if engine:
        build_by(engine, options.context)
        return
    if not options.archive:
        print(f"image: none of {', '.join(ENGINES)} works on this machine: writing an archive instead")
    archive = options.archive or ROOT / f"build/image/codeflare-{version()}.tar"
    write_archive(options.context, archive, options.format)


if __name__ == "__main__":
    main()
