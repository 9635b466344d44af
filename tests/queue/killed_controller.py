"""The controller is killed again and again while AppWrappers wait, start and complete: all complete, and none runs twice."""

import collections
import concurrent.futures
import signal
import time

from api import Refused
from live_cluster import Failure, wait_for
from one_queue import LEASE
from wrapped_jobs import Ledger, add_namespace, jobs_path, wrapped_job, wrappers_path

PATIENCE_SECONDS = 300
# A kill comes with the news of a Job, of a dispatch or of a completion, or while the controller starts.
MOMENTS = ("Job", "Dispatched", "Completed", "start")


class KilledController:
    """One story: `kills` kills during `wrappers` AppWrappers, a share of which is submitted in each life of the controller."""

    def __init__(self, cluster, api, folder, program, chance):
        self.cluster, self.api, self.chance = cluster, api, chance
        self.log = folder / "killed_controller.log"
        self.command = [program, "controller", "--install-crds", "--no-leader-election", "--no-user-check", "--health-address", ""]
        self.kills = collections.Counter()

    def run(self, namespace, wrappers, kills):
        add_namespace(self.api, namespace)
        self.start()
        self.await_definition(namespace)
        self.ledger = Ledger(self.api, namespace)
        began = time.monotonic()
        names = [f"wrapped-{number}" for number in range(wrappers)]
        shares = [names[i * wrappers // (kills + 1) : (i + 1) * wrappers // (kills + 1)] for i in range(kills + 1)]
        try:
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                for share in shares[:-1]:
                    submitted = pool.submit(self.submit, namespace, share)
                    self.kill_in_the_midst(len(share))
                    submitted.result()
                self.submit(namespace, shares[-1])
            self.ledger.await_stage("Completed", wrappers, PATIENCE_SECONDS, self.alive)
            seconds = self.ledger.last("Completed") - began
            self.check(namespace, names)
        finally:
            self.ledger.ended()
        if (code := self.cluster.end(self.process)) != 0:
            raise Failure(f"the last controller ended with {code}")
        return seconds

    def start(self):
        self.said = self.log.stat().st_size if self.log.exists() else 0
        self.process = self.cluster.start(self.log, self.command)

    def alive(self):
        return self.process.poll() is None

    def await_definition(self, namespace):
        def look():
            try:
                return True, self.api.call("GET", wrappers_path(namespace))
            except Failure as failure:
                return False, str(failure)

        wait_for("the definition of AppWrappers", look)

    def submit(self, namespace, names):
        self.api.create_all(wrappers_path(namespace), map(wrapped_job, names))

    def kill_in_the_midst(self, share):
        moment = self.chance.choice(MOMENTS)
        if moment == "start":
            wait_for("a word of the controller", lambda: (self.log.stat().st_size > self.said or not self.alive(), None))
        else:
            # Of this life: that many more than there were. Half of what is submitted comes in any case.
            more = self.chance.randint(1, max(1, share // 2))
            self.ledger.await_stage(moment, self.ledger.count(moment) + more, PATIENCE_SECONDS, self.alive)
        if self.cluster.end(self.process, signal.SIGKILL) != -signal.SIGKILL:
            raise Failure("the controller ended by itself before it was killed")
        self.forget_lease()
        self.kills[moment] += 1
        self.start()

    def forget_lease(self):
        """Its holder is gone for certain: the next one need not wait until the Lease expires."""
        try:
            self.api.call("DELETE", LEASE)
        except Refused as refused:
            if refused.status != 404:
                raise

    def check(self, namespace, names):
        """The server's state at the end, and the events of the watches on the way."""
        wrappers = {w["metadata"]["name"]: w for w in self.api.call("GET", wrappers_path(namespace))["items"]}
        jobs = {j["metadata"]["name"]: j["metadata"]["uid"] for j in self.api.call("GET", jobs_path(namespace))["items"]}
        # The watch of Jobs may be behind that list.
        self.ledger.await_stage("Complete", len(names), PATIENCE_SECONDS, self.alive)
        problems = [f"{name}: a Job was deleted" for name in self.ledger.deleted_jobs]
        for name in names:
            status = wrappers[name].get("status", {}) if name in wrappers else {}
            if status.get("state") != "Completed":
                problems.append(f"{name}: state {status.get('state')}")
            if status.get("numberOfRequeueings"):
                problems.append(f"{name}: requeued {status['numberOfRequeueings']} times")
            if self.ledger.jobs[name] != [jobs.get(name)]:
                problems.append(f"{name}: Jobs {self.ledger.jobs[name]} were created, there is {jobs.get(name)}")
        for name in {*wrappers, *jobs, *self.ledger.jobs} - set(names):
            problems.append(f"{name}: nobody asked for it")
        if problems:
            raise Failure(f"{len(problems)} problems:\n  " + "\n  ".join(problems[:20]))
