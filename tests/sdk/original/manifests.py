"""The manifests that codeflare-sdk 0.12.1 makes of configurations: standard input has their arguments as a JSON list, standard output the
objects of each. Writes below the home directory. Runs where the SDK is installed."""

import dataclasses
import json
import pathlib
import sys

import yaml
from codeflare_sdk.cluster.config import ClusterConfiguration
from codeflare_sdk.utils.generate_yaml import generate_appwrapper

RENAMED = {"min_cpu": "min_cpus", "max_cpu": "max_cpus", "gpu": "num_gpus", "workers": "num_workers", "instance_types": "machine_types", "env": "envs"}


def objects_of(arguments):
    """As Cluster.create_app_wrapper() makes them, which itself needs OpenShift's client and Ray. It looks up the value of the PriorityClass."""
    priority = arguments.pop("priority_val", None)
    given = dataclasses.asdict(ClusterConfiguration(ingress_domain="example.test", **arguments))
    names = generate_appwrapper.__code__.co_varnames[:generate_appwrapper.__code__.co_argcount]
    words = {name: given[RENAMED.get(name, name)] for name in names if RENAMED.get(name, name) in given}
    written = generate_appwrapper(**words, priority_val=priority)
    return list(yaml.safe_load_all(pathlib.Path(written).read_text()))


if __name__ == "__main__":
    print(json.dumps([objects_of(arguments) for arguments in json.load(sys.stdin)]))
