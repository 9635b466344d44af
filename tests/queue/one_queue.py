"""One queue per cluster: a quota of 16 CPUs, more work than fits, and controllers that may exceed it only if two of them lead."""

import collections
import os
import re
import subprocess

from api import Refused
from live_cluster import Failure, wait_for

QUOTA_CPUS = 16
WORK_CPUS = 2
FIT = QUOTA_CPUS // WORK_CPUS
LEASE = "/apis/coordination.k8s.io/v1/namespaces/codeflare-system/leases/codeflare-controller"
WRAPPERS = "/apis/workload.codeflare.dev/v1beta1/namespaces/default/appwrappers"
QUOTAS = "/apis/quota.codeflare.dev/v1alpha1/namespaces/default/quotasubtrees"
CONFIG_MAPS = "/api/v1/namespaces/codeflare-system/configmaps"
PODS = "/api/v1/namespaces/default/pods"
QUOTA = {
    "apiVersion": "quota.codeflare.dev/v1alpha1",
    "kind": "QuotaSubtree",
    "metadata": {"name": "q", "labels": {"tree": "team"}},
    "spec": {"children": [{"name": "default", "quotas": {"requests": {"cpu": QUOTA_CPUS}, "hardLimit": True}}]},
}


def work(number):
    """One pod that stays. Queues with and without --priority-slope take work in opposite orders."""
    name = f"w{number}"
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": str(WORK_CPUS)}}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": {"codeflare.dev/duration": "10h"}},
        "spec": {"containers": [container]},
    }
    return {
        "apiVersion": "workload.codeflare.dev/v1beta1",
        "kind": "AppWrapper",
        "metadata": {"name": name},
        "spec": {"priorityslope": 1.0 + number, "resources": {"GenericItems": [{"generictemplate": pod}]}},
    }


class Story:
    """Submits work and looks at what became of it, as administrator."""

    def __init__(self, api):
        self.api = api
        self.submitted = 0

    def set_quota(self):
        self.api.call("POST", QUOTAS, QUOTA)

    def submit(self, count):
        """All at once: whoever leads begins when the last one is there."""
        self.pause(True)
        self.api.create_all(WRAPPERS, map(work, range(self.submitted, self.submitted + count)))
        self.submitted += count
        self.pause(False)

    def pause(self, paused):
        body = {"metadata": {"name": "codeflare-queue"}, "data": {"paused": str(paused).lower()}}
        try:
            self.api.call("PUT", f"{CONFIG_MAPS}/codeflare-queue", body)
        except Refused as refused:
            if refused.status != 404:
                raise
            self.api.call("POST", CONFIG_MAPS, body)

    def holder(self):
        try:
            return self.api.call("GET", LEASE)["spec"].get("holderIdentity", "")
        except Failure:
            return None

    def check_quota(self):
        """The queue has looked at all work: what fits runs, the rest waits for quota, and no more is bound."""

        def judged():
            reasons = collections.Counter()
            for item in self.api.call("GET", WRAPPERS)["items"]:
                status = item.get("status", {})
                queued = [c.get("reason") for c in status.get("conditions", []) if c["type"] == "Queued"]
                reasons["Runs" if status.get("canrun") else (queued or [None])[0]] += 1
            bound = sum(1 for pod in self.api.call("GET", PODS)["items"] if pod["spec"].get("nodeName"))
            if bound > FIT:
                raise Failure(f"{bound * WORK_CPUS} CPUs are bound in a quota of {QUOTA_CPUS}: {reasons}")
            fit = min(FIT, self.submitted)
            wanted = collections.Counter({"Runs": fit, "InsufficientQuota": self.submitted - fit})
            return reasons == wanted and bound == fit, [reasons, bound]

        return wait_for("all work runs or waits for quota", judged)


class Controller:
    """`codeflare controller`, with its log."""

    def __init__(self, program, folder, name, kubeconfig, *flags):
        self.log = folder / f"{name}.log"
        words = [program, "controller", "--kubeconfig", kubeconfig, "--no-user-check", *flags]
        if "--health-address" not in flags:
            words += ["--health-address", ""]
        with open(self.log, "w") as log:
            self.process = subprocess.Popen([str(word) for word in words], env=os.environ, stdin=subprocess.DEVNULL, stderr=log)

    def said(self, pattern):
        return re.findall(pattern, self.log.read_text())

    def wait_said(self, pattern):
        def look():
            if self.said(pattern):
                return True, None
            if self.process.poll() is not None:
                raise Failure(f"{self.log.name} ended with {self.process.returncode}: {self.log.read_text()[-1500:]}")
            return False, self.log.read_text()[-1500:]

        wait_for(f"{self.log.name} says {pattern}", look)

    def leads(self):
        return bool(self.said("became leader")) and not self.said("no longer leader")

    def wait_end(self):
        return self.process.wait(60)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
