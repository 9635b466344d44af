"""AppWrappers of one Job with one pod each, and what is seen of them on the server while they wait, run and complete."""

import collections
import threading
import time

from api import Watch
from live_cluster import Failure, wait_for

FITTING_CPU = "100m"


def jobs_path(namespace):
    return f"/apis/batch/v1/namespaces/{namespace}/jobs"


def wrappers_path(namespace):
    return f"/apis/workload.codeflare.dev/v1beta1/namespaces/{namespace}/appwrappers"


def job(name, cpu=FITTING_CPU):
    container = {"name": "main", "image": "example/train:1", "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}}
    # MCAD finds pods by this label and puts it only where labels are.
    template = {
        "metadata": {"labels": {"appwrapper.mcad.ibm.com": name}},
        "spec": {"restartPolicy": "Never", "containers": [container]},
    }
    spec = {"parallelism": 1, "completions": 1, "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": spec}


def wrapped_job(name, cpu=FITTING_CPU):
    item = {
        "replicas": 1,
        "completionstatus": "Complete",
        "custompodresources": [{"replicas": 1, "requests": {"cpu": cpu, "memory": "64Mi"}}],
        "generictemplate": job(name, cpu),
    }
    return {
        "apiVersion": "workload.codeflare.dev/v1beta1",
        "kind": "AppWrapper",
        "metadata": {"name": name},
        "spec": {"resources": {"GenericItems": [item]}},
    }


def add_namespace(api, name):
    api.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    accounts = f"/api/v1/namespaces/{name}/serviceaccounts"

    def look():
        names = [account["metadata"]["name"] for account in api.call("GET", accounts)["items"]]
        return "default" in names, names

    # Pods need it.
    wait_for(f"the service account of {name}", look)


def has_condition(status, kind):
    return any(c["type"] == kind and c["status"] == "True" for c in status.get("conditions", []))


class Ledger:
    """Follows the AppWrappers and Jobs of one namespace from its first moment: when each was first seen in each stage.

    Times are this process's own monotonic clock. `ended()` when nobody looks any more.
    """

    STAGES = ("Backoff", "Dispatched", "Completed", "Job", "Complete")

    def __init__(self, api, namespace, wrappers=True):
        self.changed = threading.Condition()
        self.first = {stage: {} for stage in self.STAGES}  # name: when
        self.failed = {}  # name: status
        self.jobs = collections.defaultdict(list)  # name: UIDs, one after the other
        self.deleted_jobs = set()
        self.watches = [self._watch(api, jobs_path(namespace), self._job)]
        if wrappers:
            self.watches.append(self._watch(api, wrappers_path(namespace), self._wrapper))

    @staticmethod
    def _watch(api, path, seen):
        answer = api.call("GET", path)
        if answer["items"]:
            raise Failure(f"{path} is not empty")
        watch = Watch(api, path, answer["metadata"]["resourceVersion"], seen)
        watch.start()
        return watch

    def _see(self, name, stages):
        now = time.monotonic()
        for stage in stages:
            self.first[stage].setdefault(name, now)
        self.changed.notify_all()

    def _wrapper(self, kind, wrapper):
        name, status = wrapper["metadata"]["name"], wrapper.get("status", {})
        if kind == "DELETED":
            return
        with self.changed:
            stages = [stage for stage in ("Backoff", "Dispatched") if has_condition(status, stage)]
            if status.get("state") == "Failed":
                self.failed[name] = status
            self._see(name, stages + ["Completed"] * (status.get("state") == "Completed"))

    def _job(self, kind, job):
        name, uid = job["metadata"]["name"], job["metadata"]["uid"]
        with self.changed:
            if kind == "DELETED":
                self.deleted_jobs.add(name)
                return
            if uid not in self.jobs[name]:
                self.jobs[name].append(uid)
            self._see(name, ["Job"] + ["Complete"] * has_condition(job.get("status", {}), "Complete"))

    def count(self, stage):
        with self.changed:
            return len(self.first[stage])

    def last(self, stage):
        with self.changed:
            return max(self.first[stage].values())

    def reaches(self, stage, count, patience, alive=lambda: True):
        """Whether so many get there in time; a Failure as soon as they cannot."""
        end = time.monotonic() + patience
        with self.changed:
            while len(self.first[stage]) < count:
                self._check(alive)
                left = end - time.monotonic()
                if left <= 0:
                    return False
                self.changed.wait(min(left, 1.0))
        return True

    def await_stage(self, stage, count, patience, alive=lambda: True):
        """Patience is for each further one: a busy machine is slow, but something must happen."""
        while (seen := self.count(stage)) < count:
            if not self.reaches(stage, seen + 1, patience, alive):
                counts = {stage: len(names) for stage, names in self.first.items()}
                raise Failure(f"not {count} {stage}, and none more for {patience} s: seen {counts}")

    def _check(self, alive):
        for watch in self.watches:
            if watch.problem:
                raise Failure(watch.problem)
        for name, status in self.failed.items():
            raise Failure(f"appwrapper {name} failed: {status.get('conditions')}")
        if not alive():
            raise Failure("the controller ended by itself")

    def ended(self):
        for watch in self.watches:
            watch.end()
