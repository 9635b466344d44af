"""The cases of refusals.txt: a bad pod each, and what is said about it."""

import copy
import dataclasses
import json
import pathlib

FILE = pathlib.Path(__file__).resolve().parent / "refusals.txt"
CONTAINER = {"name": "c", "image": "x"}
# Where a kind lives, and the way from its spec to the pod's template.
KINDS = {
    "Pod": ("/api/v1/namespaces/default/pods", "v1", None),
    "Deployment": ("/apis/apps/v1/namespaces/default/deployments", "apps/v1", ["template"]),
    "ReplicaSet": ("/apis/apps/v1/namespaces/default/replicasets", "apps/v1", ["template"]),
    "StatefulSet": ("/apis/apps/v1/namespaces/default/statefulsets", "apps/v1", ["template"]),
    "DaemonSet": ("/apis/apps/v1/namespaces/default/daemonsets", "apps/v1", ["template"]),
    "Job": ("/apis/batch/v1/namespaces/default/jobs", "batch/v1", ["template"]),
    "CronJob": ("/apis/batch/v1/namespaces/default/cronjobs", "batch/v1", ["jobTemplate", "spec", "template"]),
}


@dataclasses.dataclass
class Case:
    title: str
    kind: str
    where: str
    change: dict
    theirs: list  # what the real server says
    ours: list

    def path(self):
        return KINDS[self.kind][0] + "?dryRun=All&fieldValidation=Ignore"

    def body(self):
        pod = {"metadata": {"name": "p"}, "spec": {"containers": [copy.deepcopy(CONTAINER)]}}
        place = pod
        if self.where == "init":
            place = dict(CONTAINER, name="i")
            pod["spec"]["initContainers"] = [place]
        elif self.where == "volume":
            place = {"name": "v"}
            pod["spec"]["volumes"] = [place]
        elif self.where == "container":
            place = pod["spec"]["containers"][0]
        elif self.where == "spec":
            place = pod["spec"]
        for key, value in self.change.items():
            if value is None:
                place.pop(key, None)
            else:
                place[key] = value
        return self.wrapped(pod)

    def wrapped(self, pod):
        _, version, way = KINDS[self.kind]
        head = {"apiVersion": version, "kind": self.kind}
        if way is None:
            return head | pod
        labels = {"app": "a"}
        pod["metadata"] = {"labels": labels}
        if self.kind in ("Job", "CronJob"):
            pod["spec"].setdefault("restartPolicy", "Never")
        spec = {"schedule": "* * * * *"} if self.kind == "CronJob" else {"selector": {"matchLabels": labels}}
        if self.kind == "Job":
            spec = {}
        if self.kind == "StatefulSet":
            spec["serviceName"] = "s"
        place = spec
        for step in way[:-1]:
            place = place.setdefault(step, {})
        place[way[-1]] = pod
        return head | {"metadata": {"name": "p"}, "spec": spec}


def read(text=None):
    """Blocks of lines: title, place and change, complaints with `=`, or with `-` (theirs) and `+` (ours) where they differ."""
    cases = []
    for block in (FILE.read_text() if text is None else text).split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith("#")]
        if not lines:
            continue
        place, brace, rest = lines[1].partition("{")
        *kind, where = place.split()
        theirs = [line[2:] for line in lines[2:] if line[0] in "=-"]
        ours = [line[2:] for line in lines[2:] if line[0] in "=+"]
        cases.append(Case(lines[0], kind[0] if kind else "Pod", where, json.loads(brace + rest), theirs, ours))
    return cases


def write(answers):
    """The file with the complaints of the real server, {title: lines}; where ours were said to differ, they still are."""
    blocks = []
    for block in FILE.read_text().rstrip("\n").split("\n\n"):
        lines = block.splitlines()
        if not lines[0].startswith("#"):
            differs = [line for line in lines[2:] if line.startswith("+")]
            sign = "-" if differs else "="
            lines = lines[:2] + [f"{sign} {line}" for line in answers[lines[0]]] + differs
        blocks.append("\n".join(lines))
    FILE.write_text("\n\n".join(blocks) + "\n")
