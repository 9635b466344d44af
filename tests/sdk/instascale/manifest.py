"""Writes the manifest that codeflare-sdk 0.12.1 makes with instascale=True to the home directory, and prints it as JSON. Runs where the SDK is installed."""

import dataclasses
import json
import pathlib

import yaml
from codeflare_sdk.cluster.config import ClusterConfiguration
from codeflare_sdk.utils.generate_yaml import generate_appwrapper

MACHINES = ["m5.xlarge", "g4dn.xlarge"]


def main():
    wanted = ClusterConfiguration(
        name="insta", namespace="default", machine_types=MACHINES, instascale=True, num_workers=2,
        min_cpus=2, max_cpus=2, min_memory=4, max_memory=4, num_gpus=1, image="ray:any", ingress_domain="example.test",
    )
    given = dataclasses.asdict(wanted)
    # As Cluster.create_app_wrapper() calls it, which itself needs OpenShift's client and Ray.
    renamed = {
        "min_cpu": "min_cpus", "max_cpu": "max_cpus", "gpu": "num_gpus", "workers": "num_workers", "instance_types": "machine_types", "env": "envs",
    }
    names = generate_appwrapper.__code__.co_varnames[:generate_appwrapper.__code__.co_argcount]
    words = {name: given[renamed.get(name, name)] for name in names if renamed.get(name, name) in given}
    written = generate_appwrapper(**words, priority_val=None)
    print(json.dumps(yaml.safe_load(pathlib.Path(written).read_text())))


if __name__ == "__main__":
    main()
