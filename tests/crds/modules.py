"""The modules of the batch world whose definitions and samples the tests use.

Pinned by version and by the hash that the module proxy's check sum database has for them; only they are downloaded, not what they need.
"""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile


@dataclasses.dataclass
class Module:
    path: str
    version: str
    definitions: str  # folder with definitions
    samples: list  # folders and files with samples
    pinned: str = None  # sum of its content, where the data base has no entry for it

    def download(self):
        """The folder of the module's content."""
        env = dict(os.environ, GOFLAGS="-mod=mod")
        if self.pinned:
            env["GONOSUMDB"] = self.path  # our own pin stands in
        with tempfile.TemporaryDirectory() as folder:
            command = ["go", "mod", "download", "-json", f"{self.path}@{self.version}"]
            done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True)
        answer = json.loads(done.stdout or "{}")
        if "Error" in answer or "Dir" not in answer:
            sys.exit(f"{self.path}@{self.version}: {answer.get('Error', done.stderr)}")
        if self.pinned and answer["Sum"] != self.pinned:
            sys.exit(f"{self.path}@{self.version}: content is {answer['Sum']}, expected {self.pinned}")
        return pathlib.Path(answer["Dir"])


KUEUE = Module("sigs.k8s.io/kueue", "v0.19.2", "config/components/crd/bases", ["test/performance/e2e/jobs/prerequisites", "cmd/kueueviz/examples"])
KUBERAY = Module("github.com/ray-project/kuberay/ray-operator", "v1.5.1", "config/crd/bases", ["config/samples"])
# Its own sample has an empty spec, which its definition rejects; those of AppWrapper wrap one.
JOBSET = Module("sigs.k8s.io/jobset", "v0.12.0", "config/components/crd/bases", [])
APPWRAPPER = Module(
    "github.com/project-codeflare/appwrapper", "v1.2.1", "config/crd/bases", ["samples"],
    pinned="h1:1MXtCMAbY73Ln6lIbZm7mGDWXLX7LqfxbNtdwWVmJ1M=",
)
MCAD = Module(
    "github.com/project-codeflare/multi-cluster-app-dispatcher", "v1.40.0", "config/crd/bases",
    ["test/yaml", "doc/usage", "test/perf-test", "test/e2e-kuttl/install-quota-subtree.yaml"],
)
# The versions that Kueue 0.19.2 and KubeRay 1.5.1 require.
AUTOSCALER = Module(
    "k8s.io/autoscaler/cluster-autoscaler/apis", "v0.0.0-20240830133931-adfbe7e45277",
    "config/crd/autoscaling.x-k8s.io_provisioningrequests.yaml", [],
)
OPENSHIFT = Module(
    "github.com/openshift/api", "v0.0.0-20250602203052-b29811a290c7", "machine/v1beta1/zz_generated.crd-manifests", [],
)


def yaml_files(root, places):
    """The files at the places, which are folders or files; a place that is not there is an error."""
    files = []
    for place in places:
        at = root / place
        found = [at] if at.is_file() else sorted(at.rglob("*.yaml"))
        if not found:
            sys.exit(f"{at}: no samples there")
        files += found
    return files
