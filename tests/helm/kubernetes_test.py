#!/usr/bin/env python3
"""The life of a release of codeflare-platform on real Kubernetes, by Helm (CODEFLARE_HELM): two replicas in a namespace that
enforces Pod Security "restricted". Pods run on `codeflare node --join`; kube-apiserver calls the webhook through `codeflare proxy`."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import yaml

sys.dont_write_bytecode = True

import charts  # noqa: E402
from charts import ROOT, VERSION, Commands  # noqa: E402
from harness import processes  # noqa: E402
from mission_test import TRAINING  # noqa: E402
from release_case import DEFINITION, FIELD, FIELD_PATH, HELM, NAMESPACE, RELEASE, ReleaseCase, wrapper  # noqa: E402

NODE = "worker-1"
LATER = {"nodeSelector": {"later": "yes"}}


def started(words, until):
    """A process whose first line says that it is ready."""
    process = subprocess.Popen([*map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    assert until in line, (words, line)
    return process


def stop(process):
    process.terminate()
    process.wait(60)
    process.stdout.close()


def forbidden(log, account):
    """Lines about rights that the chart does not give. Users too may lack rights, in dry runs in their name."""
    return re.findall(rf'.*User \\?"system:serviceaccount:{account}\\?" cannot .*', log)


def chart_without_field(folder):
    """platform/ of an earlier version, whose definition of AppWrappers lacks a field."""
    chart = folder / "earlier"
    shutil.copytree(ROOT / "platform", chart)
    file = chart / "charts/core/crds/workload.codeflare.dev_appwrappers.yaml"
    definition = at = yaml.safe_load(file.read_text())
    for step in FIELD_PATH:
        at = at[step]
    del at[FIELD]
    file.write_text(yaml.safe_dump(definition))
    return chart


class OnKubernetes(ReleaseCase):
    # Images other than our own are files of this machine there.
    values = ("--set", "core.replicas=2", "--set", "core.testImage=any")

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(charts.fresh_folder()))
        program, cluster = pathlib.Path(os.environ["CODEFLARE"]), pathlib.Path(os.environ["CODEFLARE_KUBERNETES_DIR"])
        archive = charts.image_archive(program, cls.folder)
        data = cls.folder / "node"
        subprocess.run([program, "image", "load", archive, "--data-dir", data], check=True, stdout=subprocess.DEVNULL)
        node = started([program, "node", "--join", "--name", NODE, "--data-dir", data, "--no-taint", "--kubelet-address", "127.0.0.1:0",
                        "--kubelet-client-ca", cluster / "pki/ca.crt"], f"as node {NODE}")
        cls.addClassCleanup(stop, node)
        cls.addClassCleanup(stop, started([program, "proxy", "--data-dir", data, "--listen", os.environ["PROXY_LISTEN"]], "reaches pods and services"))
        cls.commands = Commands(os.environ["KUBECONFIG"], charts.tools(HELM, "kubectl"), program, cls.folder)

    def test_a_release_from_install_to_uninstall_and_a_second_one(self):
        run = self.commands
        self.say_version()
        restricted = {"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/enforce-version": "latest"}
        run.kubectl("create", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": restricted}}))
        began = time.monotonic()
        self.install(chart_without_field(self.folder), "--set", "core.hooks.crds=false")
        print(f"install --wait took {time.monotonic() - began:.1f} s", file=sys.stderr)
        self.check_replicas()
        self.check_field_is_stored(False)
        self.check_webhook()
        self.check_test()
        self.helm("upgrade", RELEASE, ROOT / "platform", "--wait", *self.values)
        self.assertTrue(self.definition_has_field(), "the hook has changed it")
        self.check_field_is_stored(True)
        self.check_authority()
        self.helm("rollback", RELEASE, "1", "--wait")
        self.check_replicas()
        self.assertTrue(self.definition_has_field(), "a rollback takes nothing away")

        run.kubectl("create", "-f", "-", "--as", "alice", stdin=wrapper("waits", "true", spec=LATER))
        self.check_uninstall_waits_for_work()
        self.check_rights()
        self.uninstall()
        # Nothing records who submits this one.
        run.kubectl("create", "-f", "-", "--as", "alice", stdin=wrapper("unrecorded", "true", spec=LATER))
        self.install()
        run.kubectl("label", "node", NODE, "later=yes")
        run.wait_for("work that waited through both", lambda: self.state("waits") == "Completed")
        run.wait_for("a reason", lambda: "UserUnknown" in run.kubectl("get", "appwrapper", "unrecorded", "-n", "default", "-o", "json"))
        self.assertNotIn("pod/unrecorded", run.names("pods", "-n", "default"))
        run.kubectl("delete", "appwrappers", "--all", "-n", "default", "--timeout=60s")
        self.uninstall()

    def test_the_operator_of_training_jobs_runs_one_with_agents(self):
        run = self.commands
        try:
            run.run(HELM, "install", "operator", ROOT / "helm/lattice-operator", "-n", "lattice", "--create-namespace", "--wait", "--timeout", "120s",
                    "--set", "checkpoint.storage.size=", "--set", "jfrog.username=me", "--set", "jfrog.password=s3cret")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{run.kubectl('describe', 'pods,jobs', '-n', 'lattice')}") from error
        self.assertRegex(run.kubectl("get", "deployment", "lattice-operator", "--namespace", "lattice"), r"lattice-operator +1/1")
        run.kubectl("apply", "-f", "-", stdin=TRAINING)
        job = run.wait_for("a finished TrainingJob", self.finished_training)
        self.assertEqual(job["status"]["reason"], "Succeeded", job["status"])
        # The login of the registry is a pull secret of the job, and nowhere in the pods or the log.
        secrets = run.get("secrets", "-n", "default")["items"]
        self.assertEqual([one["type"] for one in secrets if one["metadata"]["name"].startswith("short-pull-")], ["kubernetes.io/dockerconfigjson"])
        log = run.kubectl("logs", "-n", "lattice", "deployment/lattice-operator")
        self.assertEqual(forbidden(log, "lattice:lattice-operator"), [])
        self.assertNotIn("s3cret", log + run.kubectl("get", "pods,trainingjobs,events", "-A", "-o", "yaml"))
        run.kubectl("delete", "trainingjob", "short", "-n", "default", "--timeout=60s")
        run.run(HELM, "uninstall", "operator", "-n", "lattice", "--wait", "--timeout", "120s")

    def finished_training(self):
        job = self.commands.get("trainingjob", "short", "-n", "default")
        return job if job.get("status", {}).get("stage") == "Completed" else None

    def state(self, name):
        return self.commands.get("appwrapper", name, "-n", "default").get("status", {}).get("state")

    def check_replicas(self):
        run = self.commands
        self.assertEqual(run.get("deployment", RELEASE, "-n", NAMESPACE)["status"].get("readyReplicas"), 2)
        self.assertEqual({one["spec"]["containers"][0]["image"] for one in self.controllers()}, {f"codeflare:{VERSION}"})
        run.wait_for("a leader among them", self.leader)
        # The namespace really enforces it.
        plain = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "plain"}, "spec": {"containers": [{"name": "c", "image": "any"}]}}
        self.assertIn("violates PodSecurity", run.kubectl("create", "-n", NAMESPACE, "-f", "-", stdin=json.dumps(plain), fails=True))

    def check_rights(self):
        """No controller was denied anything until now."""
        for pod in self.controllers():
            log = self.commands.kubectl("logs", "-n", NAMESPACE, pod["metadata"]["name"])
            self.assertEqual(forbidden(log, f"{NAMESPACE}:{pod['spec']['serviceAccountName']}"), [])

    def controllers(self):
        pods = self.commands.get("pods", "-n", NAMESPACE, "-l", "app.kubernetes.io/component=controller")["items"]
        return [one for one in pods if "deletionTimestamp" not in one["metadata"]]

    def leader(self):
        holder = self.commands.get("lease", "codeflare-controller", "-n", NAMESPACE)["spec"].get("holderIdentity", "")
        return any(holder.startswith(one["metadata"]["name"]) for one in self.controllers())

    def check_webhook(self):
        """The API server calls it: it records who submits an AppWrapper and checks that they may create what is in it."""
        run = self.commands
        rules = {"alice": ("appwrappers.workload.codeflare.dev", "pods"), "mallory": ("appwrappers.workload.codeflare.dev",)}
        for user, resources in rules.items():
            run.kubectl("create", "role", user, "-n", "default", "--verb=create,get,list,delete", *[f"--resource={one}" for one in resources])
            run.kubectl("create", "rolebinding", user, "-n", "default", f"--role={user}", f"--user={user}")
        told = run.kubectl("create", "-f", "-", "--as", "mallory", stdin=wrapper("forbidden", "true"), fails=True)
        self.assertIn("mallory", told)
        self.assertIn("rights.appwrapper.codeflare.dev", told)
        run.kubectl("create", "-f", "-", "--as", "alice", stdin=wrapper("allowed", "true"))
        made = run.get("appwrapper", "allowed", "-n", "default")
        self.assertIn("workload.codeflare.dev/submitted-by-seal", made["metadata"]["annotations"])
        run.wait_for("its end", lambda: self.state("allowed") == "Completed")
        run.kubectl("delete", "appwrapper", "allowed", "-n", "default", "--timeout=60s")


def main():
    if "INSIDE_OF_CLUSTER" in os.environ:
        unittest.main(argv=sys.argv[:1])
    # The proxy starts after the API server that calls it.
    listen = f"127.0.0.1:{processes.free_port()}"
    charts.tools(HELM)
    with tempfile.TemporaryDirectory(prefix="helm-") as parent:
        pki = pathlib.Path(parent, "cluster/pki")
        arguments = [f"--kubelet-client-certificate={pki / 'admin.crt'}", f"--kubelet-client-key={pki / 'admin.key'}", "--kubelet-preferred-address-types=InternalIP",
                     f"--requestheader-client-ca-file={pki / 'ca.crt'}", "--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
                     f"--proxy-client-cert-file={pki / 'admin.crt'}", f"--proxy-client-key-file={pki / 'admin.key'}"]
        words = [ROOT / "tests/kubernetes/kubernetes", "run", "--dir", pki.parent, "--apiserver-env", f"HTTPS_PROXY=http://{listen}",
                 *[f"--apiserver-arg={word}" for word in arguments], "--", sys.executable, __file__]
        environment = {**os.environ, "CODEFLARE": str(charts.static_program()), "PROXY_LISTEN": listen, "INSIDE_OF_CLUSTER": "1"}
        return subprocess.run([*map(str, words)], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
