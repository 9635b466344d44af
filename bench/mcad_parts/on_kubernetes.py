"""MCAD and ours on one real control plane, one after the other, and ours alone where MCAD would take hours."""

import math
import os
import random
import time

from api import Api
from killed_controller import KilledController
from live_cluster import MCAD, Cluster, module_folder, wait_for
from wrapped_jobs import Ledger, add_namespace, job, jobs_path, wrapped_job, wrappers_path

from measured import Measured, System, wait_for_rest
from report import PATIENCE_SECONDS, number, row, say

FEW = 150
# A pod holds half of the node, so what does not fit now would fit later: nobody may reject it for good.
NODE = {"cpu": "2000", "memory": "8Ti", "pods": "20000"}
HOLDER_CPU = "1000"
MISFIT_CPU = "1500"
HOLDER = {
    "metadata": {"name": "holder"},
    "spec": {"containers": [{"name": "main", "image": "pause", "resources": {"requests": {"cpu": HOLDER_CPU}}}]},
}


class OnKubernetes:
    """Every measurement has a namespace of its own."""

    def __init__(self, folder, program, many):
        kubeconfig = os.environ["KUBECONFIG"]
        self.folder, self.program, self.number = folder, program, many
        self.cluster = Cluster({**os.environ, "HOME": str(folder)})
        self.api = Api(kubeconfig, folder)
        mcad = ["mcad", f"--kubeconfig={kubeconfig}", "--healthProbeListenAddr={health}"]
        self.mcad = System(self.cluster, folder / "mcad.log", mcad, "healthz")
        ours = [str(program), "controller", "--install-crds", "--no-leader-election", "--no-user-check", "--no-rayclusters", "--health-address={health}"]
        self.ours = System(self.cluster, folder / "codeflare.log", ours, "readyz")

    def prepare(self):
        self.cluster.add_node("kwok", NODE)
        pods = "/api/v1/namespaces/default/pods"
        self.api.call("POST", pods, HOLDER)
        wait_for("the pod that holds", lambda: ((s := self.api.call("GET", f"{pods}/holder")["status"]).get("phase") == "Running", s))

    def compare(self):
        self.mcad_definitions("create")
        theirs = self.all_fit(self.mcad, FEW, "mcad-few")
        theirs_behind, _ = self.behind(self.mcad, 10, "mcad-behind")
        self.clear_mcad("mcad-few", "mcad-behind")
        ours = self.all_fit(self.ours, FEW, "ours-few")
        ours_behind, _ = self.behind(self.ours, 10, "ours-behind")
        print(f"| | MCAD {MCAD[1]} | codeflare | ratio |\n|---|---|---|---|")
        row(f"{FEW} fitting AppWrappers until all are Completed, s", theirs.seconds, ours.seconds)
        row("Completed a second", FEW / theirs.seconds, FEW / ours.seconds)
        self.costs(theirs, ours, FEW)
        row("a fitting one right behind 10 misfits until Dispatched, s", theirs_behind, ours_behind)

    def many(self):
        behind, behind_at_rest = self.behind(self.ours, 1000, "ours-behind-many")
        print("\n| codeflare alone | |\n|---|---|")
        print(f"| a fitting one right behind 1,000 misfits until Dispatched, s | {number(behind)} |")
        print(f"| the slowest of ten, when all misfits have said that they wait, s | {number(behind_at_rest)} |", flush=True)

        plain = self.plain_jobs(self.number, "plain")
        many = self.all_fit(self.ours, self.number, "ours-many")
        print(f"\n| {self.number:,} | Jobs, no queue | AppWrappers of such a Job | ratio |\n|---|---|---|---|")
        row("until all are complete, s", plain.seconds, many.seconds)
        row("complete a second", self.number / plain.seconds, self.number / many.seconds)
        row("writes a second", plain.writes / plain.seconds, many.writes / many.seconds)
        self.costs(plain, many, self.number)

    @staticmethod
    def costs(first, second, count):
        row("of that, submitting them, s", first.submitted, second.submitted)
        row("writes of all clients for each", first.writes / count, second.writes / count)
        row("controller's CPU, s", first.controller, second.controller)
        row("controller's resident memory, MB", first.resident, second.resident)
        row("load generator's CPU, s", first.generator, second.generator)

    def kills(self):
        seed = random.randrange(1 << 32)
        say(f"100 kills, seed {seed}")
        story = KilledController(self.cluster, self.api, self.folder, self.program, random.Random(seed))
        seconds = story.run("killed", 1000, 100)
        moments = ", ".join(f"{moment} {times}" for moment, times in sorted(story.kills.items()))
        print(f"\nController killed {story.kills.total()} times ({moments}) during 1,000 AppWrappers: ", end="")
        print(f"all Completed after {seconds:.0f} s, every Job created once.", flush=True)

    # ---- measurements

    def namespace(self, name):
        say(name)
        add_namespace(self.api, name)
        return name

    def await_all(self, ledger, stage, count, system):
        """When the last got there. MCAD may never end, ours must."""
        if system is not self.mcad:
            ledger.await_stage(stage, count, PATIENCE_SECONDS, system.alive)
        elif not ledger.reaches(stage, count, PATIENCE_SECONDS, system.alive):
            return math.inf
        return ledger.last(stage)

    def all_fit(self, system, count, namespace):
        namespace = self.namespace(namespace)
        with system:
            wait_for_rest(self.api)
            ledger = Ledger(self.api, namespace)
            try:
                measured = Measured(self.api, system.process.pid)
                measured.submit(wrappers_path(namespace), (wrapped_job(f"{namespace}-{i}") for i in range(count)))
                return measured.done(self.await_all(ledger, "Completed", count, system))
            finally:
                ledger.ended()

    def plain_jobs(self, count, namespace):
        namespace = self.namespace(namespace)
        wait_for_rest(self.api)
        ledger = Ledger(self.api, namespace, wrappers=False)
        try:
            measured = Measured(self.api)
            measured.submit(jobs_path(namespace), (job(f"{namespace}-{i}") for i in range(count)))
            ledger.await_stage("Complete", count, PATIENCE_SECONDS)
            return measured.done(ledger.last("Complete"))
        finally:
            ledger.ended()

    def behind(self, system, misfits, namespace):
        """Seconds until a fitting one is dispatched: right behind that many misfits and, of ours, the slowest of ten when they are at rest."""
        namespace = self.namespace(namespace)
        path = wrappers_path(namespace)
        with system:
            ledger = Ledger(self.api, namespace)
            try:
                self.api.create_all(path, (wrapped_job(f"{namespace}-large-{i}", MISFIT_CPU) for i in range(misfits)))
                at_once, at_rest = self.until_dispatched(system, ledger, namespace, 0), None
                if system is self.ours:
                    ledger.await_stage("Backoff", misfits, PATIENCE_SECONDS, system.alive)
                    at_rest = max(self.until_dispatched(system, ledger, namespace, i) for i in range(1, 11))
            finally:
                ledger.ended()
            self.api.text("DELETE", path)
            # Ours has a finalizer, so the controller must see them go.
            wait_for(f"{path} to be empty", lambda: (self.is_empty(path), None), PATIENCE_SECONDS)
        return at_once, at_rest

    def until_dispatched(self, system, ledger, namespace, number):
        began = time.monotonic()
        self.api.call("POST", wrappers_path(namespace), wrapped_job(f"{namespace}-small-{number}"))
        return self.await_all(ledger, "Dispatched", number + 1, system) - began

    def is_empty(self, path):
        return not self.api.call("GET", f"{path}?limit=1")["items"]

    def mcad_definitions(self, verb):
        for definition in sorted((module_folder(*MCAD) / "config/crd/bases").glob("*.yaml")):
            self.cluster.kubectl(verb, "-f", str(definition))

    def clear_mcad(self, *namespaces):
        """So that ours finds the cluster as MCAD did."""
        self.mcad_definitions("delete")
        for namespace in namespaces:
            self.api.text("DELETE", f"{jobs_path(namespace)}?propagationPolicy=Background")
            for path in (jobs_path(namespace), f"/api/v1/namespaces/{namespace}/pods"):
                wait_for(f"{path} to be empty", lambda path=path: (self.is_empty(path), None))
