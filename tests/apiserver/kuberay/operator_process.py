"""The KubeRay operator, unmodified: installed with its own definitions and roles, run under its own service account."""

import os
import signal
import subprocess
from pathlib import Path

import yaml
from kubernetes import client, dynamic

from harness import build

MODULE = "github.com/ray-project/kuberay/ray-operator"
NAMESPACE = "ray-system"
ACCOUNT = "kuberay-operator"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the definitions are large


def module():
    """The content of the operator's Go module: definitions, roles and samples lie beside the code."""
    command = ["go", "list", "-m", "-f", "{{.Dir}}", MODULE]
    folder = build.set_folder("kuberay")
    return Path(subprocess.run(command, cwd=folder, env=build.go_environment(), check=True, capture_output=True, text=True).stdout.strip())


def documents(path):
    return [document for document in yaml.load_all(path.read_text(), Loader=LOADER) if document]


def apply(api, cache, items, namespace, force=False):
    """Server-side apply of any objects of kinds that are served by now; with `force` over those of others."""
    found = dynamic.DynamicClient(api, cache_file=str(cache))
    for body in items:
        resource = found.resources.get(api_version=body["apiVersion"], kind=body["kind"])
        resource.server_side_apply(body=body, namespace=namespace if resource.namespaced else None, field_manager="test", force_conflicts=force)


def install(api, cache, force=False):
    root = module() / "config"
    client.CoreV1Api(api).create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=NAMESPACE)))
    names = ("service_account", "role", "role_binding", "leader_election_role", "leader_election_role_binding")
    files = sorted((root / "crd" / "bases").glob("*.yaml")) + [root / "rbac" / f"{name}.yaml" for name in names]
    items = [item for path in files for item in documents(path)]
    for item in items:
        for subject in item.get("subjects", []):
            subject["namespace"] = NAMESPACE  # what upstream's kustomization does
    apply(api, cache, items, NAMESPACE, force)


def write_kubeconfig(admin_kubeconfig, api, path):
    request = client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[]))
    token = client.CoreV1Api(api).create_namespaced_service_account_token(ACCOUNT, NAMESPACE, request).status.token
    content = yaml.safe_load(Path(admin_kubeconfig).read_text())
    content["users"] = [{"name": content["users"][0]["name"], "user": {"token": token}}]
    with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        yaml.safe_dump(content, file)


class Operator:
    def __init__(self, program, kubeconfig, log):
        self.log = log
        flags = ["--metrics-addr=127.0.0.1:0", "--health-probe-bind-address=127.0.0.1:0"]
        flags += ["--enable-leader-election=true", f"--leader-election-namespace={NAMESPACE}"]
        with open(log, "w") as output:
            self.process = subprocess.Popen([program, *flags], env={**os.environ, "KUBECONFIG": str(kubeconfig)}, stdout=output, stderr=output)

    def text(self):
        return Path(self.log).read_text()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)
