#!/usr/bin/env python3
"""`codeflare up` as people start it: says when it is ready, serves a cluster, ends in good order."""

import base64
import json
import os
import pathlib
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

sys.dont_write_bytecode = True

from traces import processes_about  # noqa: E402


class Cluster:
    """A running `codeflare up`; its first lines are read already."""

    def __init__(self, scratch, *flags, **how):
        self.process = subprocess.Popen(
            [PROGRAM, "up", "--listen", "127.0.0.1:0", "--data-dir", str(scratch / "data"), "--no-kubeconfig", *flags],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how,
        )
        self.lines = []
        for line in self.process.stdout:
            self.lines.append(line)
            if line.startswith("  codeflare queue "):  # the last of its advice
                break
        self.kubeconfig = "".join(self.lines[1:2]).removeprefix("kubeconfig ").strip()
        self.scratch = scratch

    def open(self, path, body=None, method=None):
        text = pathlib.Path(self.kubeconfig).read_text()
        files = {}
        for field in ("certificate-authority-data", "client-certificate-data", "client-key-data"):
            files[field] = self.scratch / field
            files[field].write_bytes(base64.b64decode(re.search(field + r'"?:\s*"?([A-Za-z0-9+/=]+)', text).group(1)))
        context = ssl.create_default_context(cafile=files["certificate-authority-data"])
        context.load_cert_chain(files["client-certificate-data"], files["client-key-data"])
        server = re.search(r"https://[^\s\"]+", text).group(0)
        request = urllib.request.Request(server + path, data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, context=context, timeout=60) as answer:
            return answer.read().decode()

    def get(self, path):
        return json.loads(self.open(path))

    def find(self, path):
        """The object, or None where it does not exist."""
        try:
            return self.get(path)
        except urllib.error.HTTPError as error:
            if error.code != 404:
                raise
            return None

    def post(self, path, body):
        return json.loads(self.open(path, body))

    def wait_for(self, path, test, patience=60):
        """The object as soon as it exists and passes."""
        until = time.monotonic() + patience
        while True:
            found = self.find(path)
            if found is not None and test(found):
                return found
            if time.monotonic() > until:
                raise AssertionError(f"{path} is missing" if found is None else f"{path} stays {json.dumps(found.get('status'))}")
            time.sleep(0.02)

    @staticmethod
    def wait_until(test, patience=60):
        until = time.monotonic() + patience
        while not test():
            if time.monotonic() > until:
                raise AssertionError("it stays as it is")
            time.sleep(0.02)

    def add_pod(self, body):
        self.wait_for("/api/v1/namespaces/default/serviceaccounts", lambda found: found["items"])
        self.post(PODS, body)

    def nodes(self):
        return [node["metadata"]["name"] for node in self.get("/api/v1/nodes")["items"]]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        _, err = self.process.communicate(timeout=60)
        return self.process.returncode, err


NOBODY = 65534
PODS = "/api/v1/namespaces/default/pods"


def pod(name, script, **spec):
    return {"metadata": {"name": name}, "spec": {**spec, "terminationGracePeriodSeconds": 2, "containers": [
        {"name": "c", "image": "any", "command": ["/bin/sh", "-c", script], "env": [{"name": "GREETING", "value": "hi"}]}]}}


def make_root(root, *programs):
    """A root file system with these programs of the machine, and the libraries that they need."""
    for program in programs:
        said = subprocess.run(["ldd", program], check=True, capture_output=True, text=True, timeout=60).stdout
        for path in [program, *re.findall(r"(/\S+) \(0x", said)]:
            copy = root / path.lstrip("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)


def processes_below(scratch, role="pod-keeper"):
    """Ids of the keepers whose pods are in this directory, or of those that have another role there."""
    return sorted(pid for pid, words in processes_about(scratch).items() if role in words)


class Up(unittest.TestCase):
    def test_serves_a_cluster_and_ends_in_good_order(self):
        with tempfile.TemporaryDirectory() as name:
            cluster = Cluster(pathlib.Path(name), "--fake-nodes", "3", "--cpus", "16", "--gpus", "2")
            try:
                self.assertRegex(cluster.lines[0], r"^ready https://127\.0\.0\.1:\d+ in \d+ ms$")
                nodes = cluster.get("/api/v1/nodes")["items"]
                groups = [group["name"] for group in cluster.get("/apis")["groups"]]
            finally:
                code, err = cluster.stop()
        self.assertEqual([node["metadata"]["name"] for node in nodes], [f"codeflare-fake-{i}" for i in range(3)])
        self.assertEqual(nodes[0]["status"]["allocatable"]["nvidia.com/gpu"], "2")
        self.assertIn("workload.codeflare.dev", groups)
        self.assertIn("ray.io", groups)
        self.assertIn(f"  export KUBECONFIG={cluster.kubeconfig}\n", cluster.lines)
        self.assertEqual(code, 0, err)

    def test_runs_pods_as_processes_and_takes_them_along_when_it_ends(self):
        with tempfile.TemporaryDirectory() as name:
            scratch = pathlib.Path(name)
            cluster = Cluster(scratch)
            try:
                cluster.wait_for("/api/v1/namespaces/default/serviceaccounts", lambda found: found["items"])
                cluster.post(PODS, pod("hello", "echo $GREETING from $(hostname); exit 3", restartPolicy="Never"))
                cluster.post(PODS, pod("stays", "echo up; while :; do sleep 1; done"))
                ended = cluster.wait_for(PODS + "/hello", lambda found: found["status"]["phase"] == "Failed")
                state = ended["status"]["containerStatuses"][0]["state"]["terminated"]
                self.assertEqual((state["exitCode"], state["reason"]), (3, "Error"))
                self.assertEqual(ended["spec"]["nodeName"], "codeflare-0")
                self.assertRegex(cluster.open(PODS + "/hello/log"), r"^hi from .+\n$")
                cluster.wait_for(PODS + "/stays", lambda found: found["status"]["phase"] == "Running")
                keepers = processes_below(scratch)
                self.assertTrue(keepers)
                directories = list((scratch / "data/node/pods").iterdir())
                self.assertEqual(len(directories), 2)
            finally:
                code, err = cluster.stop()
            self.assertEqual(code, 0, err)
            self.assertEqual(processes_below(scratch), [])
            # Containers that may restart do so at the next start; ended ones stay as they were.
            cluster = Cluster(scratch)
            try:
                again = cluster.wait_for(PODS + "/stays", lambda found: found["status"]["containerStatuses"][0]["restartCount"] == 1
                                         and found["status"]["containerStatuses"][0]["ready"])
                self.assertEqual(again["status"]["phase"], "Running")
                self.assertEqual(cluster.get(PODS + "/hello")["status"]["phase"], "Failed")
            finally:
                code, err = cluster.stop()
            self.assertEqual(code, 0, err)

    def test_a_start_that_fails_says_why_and_leaves_nothing_running(self):
        with tempfile.TemporaryDirectory() as name:
            scratch = pathlib.Path(name)
            mode = scratch / "data/node/mode"
            mode.parent.mkdir(parents=True)
            mode.write_text("what a later version may say\n")
            ended = subprocess.run([PROGRAM, "up", "--listen", "127.0.0.1:0", "--data-dir", str(scratch / "data"), "--no-kubeconfig"],
                                   stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
            self.assertEqual(ended.returncode, 1, ended.stderr)
            self.assertIn(f"{mode}: not the mode of a node", ended.stderr)
            Cluster.wait_until(lambda: not processes_below(scratch, "node-holder"))
            mode.unlink()
            cluster = Cluster(scratch)
            code, err = cluster.stop()
            self.assertEqual(code, 0, err)
            self.assertIn(mode.read_text().split()[0], ("isolated", "plain"))

    def test_pods_outlive_a_killed_program_and_are_adopted(self):
        with tempfile.TemporaryDirectory() as name:
            scratch = pathlib.Path(name)
            cluster = Cluster(scratch)
            cluster.wait_for("/api/v1/namespaces/default/serviceaccounts", lambda found: found["items"])
            cluster.post(PODS, pod("stays", "echo up; while :; do sleep 1; done"))
            cluster.wait_for(PODS + "/stays", lambda found: found["status"]["phase"] == "Running")
            cluster.process.kill()
            cluster.process.communicate()
            before = processes_below(scratch)
            self.assertTrue(before)
            cluster = Cluster(scratch)
            try:
                status = cluster.wait_for(PODS + "/stays", lambda found: found["status"]["phase"] == "Running")["status"]
                self.assertEqual(status["containerStatuses"][0]["restartCount"], 0)
                self.assertEqual(processes_below(scratch), before)
                self.assertEqual(cluster.open(PODS + "/stays/log"), "up\n")
                cluster.open(PODS + "/stays?gracePeriodSeconds=1", method="DELETE")
                cluster.wait_for(PODS, lambda found: not found["items"])
                cluster.wait_until(lambda: not processes_below(scratch) and not list((scratch / "data/node/pods").iterdir()))
            finally:
                code, err = cluster.stop()
            self.assertEqual(code, 0, err)

    @unittest.skipUnless(os.geteuid() == 0, "we are an ordinary user already")
    def test_an_ordinary_user_has_pods_that_see_nothing_of_hers(self):
        with tempfile.TemporaryDirectory() as name:
            scratch = pathlib.Path(name)
            os.chown(scratch, NOBODY, NOBODY)
            cluster = Cluster(scratch, user=NOBODY, group=NOBODY, extra_groups=[])
            try:
                if any("not isolated" in line for line in cluster.lines):
                    self.skipTest("namespaces are forbidden here: " + "".join(cluster.lines))
                cluster.wait_for("/api/v1/namespaces/default/serviceaccounts", lambda found: found["items"])
                cluster.post(PODS, pod("spy", f"cat {scratch}/data/admin.kubeconfig && echo LEAK; ls {scratch} && echo LEAK; id -u; "
                                              "test -s /var/run/secrets/kubernetes.io/serviceaccount/token && echo token",
                                       restartPolicy="Never", securityContext={"runAsUser": 1000}))
                cluster.wait_for(PODS + "/spy", lambda found: found["status"]["phase"] == "Succeeded")
                log = cluster.open(PODS + "/spy/log")
                # Files of another owner, as in most archives.
                cluster.post(PODS, pod("unpacks", "cd /tmp && touch file && tar --owner=4242 --group=4242 -cf archive file && tar -xf archive",
                                       restartPolicy="Never"))
                unpacked = cluster.wait_for(PODS + "/unpacks", lambda found: found["status"]["phase"] in ("Succeeded", "Failed"))
                self.assertEqual(unpacked["status"]["phase"], "Succeeded", cluster.open(PODS + "/unpacks/log"))
            finally:
                code, err = cluster.stop()
            self.assertEqual(code, 0, err)
            self.assertNotIn("LEAK", log)
            # Lines of standard error may stand between.
            self.assertEqual([line for line in log.splitlines() if line in ("1000", "token")], ["1000", "token"], log)

    def test_several_nodes_share_the_machine_and_adopt_their_own_pods(self):
        flags = ("--nodes", "2", "--cpus", "2", "--memory", "1Gi", "--fake-nodes", "1")
        large = {"requests": {"cpu": "2"}}
        with tempfile.TemporaryDirectory() as name:
            scratch = pathlib.Path(name)
            cluster = Cluster(scratch, *flags)
            self.assertEqual(cluster.nodes(), ["codeflare-0", "codeflare-1", "codeflare-fake-0"])
            for each in ("a", "b"):
                body = pod(each, f"echo {each}; while :; do sleep 1; done", nodeSelector={"codeflare.dev/process-node": "true"})
                body["spec"]["containers"][0]["resources"] = large
                cluster.add_pod(body)
            running = lambda found: found["status"]["phase"] == "Running"
            before = [cluster.wait_for(f"{PODS}/{each}", running)["spec"]["nodeName"] for each in ("a", "b")]
            self.assertEqual(sorted(before), ["codeflare-0", "codeflare-1"])
            cluster.process.kill()
            cluster.process.communicate()
            keepers = processes_below(scratch)
            cluster = Cluster(scratch, *flags)
            try:
                for each in ("a", "b"):
                    status = cluster.wait_for(f"{PODS}/{each}", running)["status"]
                    self.assertEqual(status["containerStatuses"][0]["restartCount"], 0)
                    self.assertEqual(cluster.open(f"{PODS}/{each}/log"), f"{each}\n")
                self.assertEqual(processes_below(scratch), keepers)
                cluster.open(PODS + "/b?gracePeriodSeconds=0", method="DELETE")
                cluster.wait_until(lambda: len(list((scratch / "data/node/pods").iterdir())) == 1)
            finally:
                code, err = cluster.stop()
            self.assertEqual(code, 0, err)
            self.assertEqual(processes_below(scratch), [])
            cluster = Cluster(scratch)
            try:
                self.assertEqual(cluster.nodes(), ["codeflare-0"])
            finally:
                code, err = cluster.stop()
            self.assertEqual(code, 0, err)

    def test_images_are_noticed_while_it_runs(self):
        with tempfile.TemporaryDirectory() as name:
            scratch = pathlib.Path(name)
            tool = scratch / "tool"
            tool.mkdir()
            (tool / "hello.sh").write_text('echo "hello from $WHERE"\n')
            image = [PROGRAM, "image", "--data-dir", str(scratch / "data")]
            cluster = Cluster(scratch)
            try:
                if any("not isolated" in line for line in cluster.lines):
                    self.skipTest("namespaces are forbidden here: " + "".join(cluster.lines))
                body = pod("greeter", "", restartPolicy="Never")
                body["spec"]["containers"][0].update(image="greeter:1", command=[])
                cluster.add_pod(body)
                waiting = cluster.wait_for(PODS + "/greeter", lambda found: "containerStatuses" in found["status"]
                                           and "ImagePull" in found["status"]["containerStatuses"][0]["state"].get("waiting", {}).get("reason", ""))
                self.assertIn("codeflare image add", waiting["status"]["containerStatuses"][0]["state"]["waiting"]["message"])
                added = subprocess.run([*image, "add", "greeter:*", "--directory", str(tool), "--entrypoint", "sh",
                                        "--args", f"{tool}/hello.sh", "--env", "WHERE=a directory"], capture_output=True, text=True, timeout=60)
                self.assertEqual((added.returncode, added.stdout), (0, f"image greeter:* maps to directory {tool}\n"), added.stderr)
                cluster.wait_for(PODS + "/greeter", lambda found: found["status"]["phase"] == "Succeeded")
                self.assertEqual(cluster.open(PODS + "/greeter/log"), "hello from a directory\n")
                listed = json.loads(subprocess.run([*image, "list", "-o", "json"], capture_output=True, text=True, timeout=60).stdout)
                self.assertEqual([entry["image"] for entry in listed["images"]], ["greeter:*"])
                self.assertEqual(subprocess.run([*image, "remove", "greeter:*"], capture_output=True, timeout=60).returncode, 0)
                self.assertEqual(subprocess.run([*image, "remove", "greeter:*"], capture_output=True, timeout=60).returncode, 3)
            finally:
                code, err = cluster.stop()
            self.assertEqual(code, 0, err)

    def test_a_root_file_system_stands_for_an_image_and_stays_as_it_is(self):
        with tempfile.TemporaryDirectory() as name:
            scratch = pathlib.Path(name).resolve()
            root = scratch / "small"
            make_root(root, "/bin/sh", "/bin/cat")
            (root / "var").mkdir()
            (root / "greeting").write_text("hello from a root\n")
            before = sorted(root.rglob("*"))
            script = "cat /greeting > /var/tmp/text; cat /var/tmp/text > $HOME/text; cat $HOME/text > /srv/deep/text; cat /srv/deep/text; echo more > /top"
            words = [PROGRAM, "image", "add", "small:1", "--data-dir", str(scratch / "data"), "--rootfs", str(root),
                     "--entrypoint", json.dumps(["/bin/sh", "-ec", script])]
            subprocess.run(words, stdin=subprocess.DEVNULL, check=True, capture_output=True, timeout=60)
            cluster = Cluster(scratch)
            try:
                if any("not isolated" in line for line in cluster.lines):
                    self.skipTest("namespaces are forbidden here: " + "".join(cluster.lines))
                body = pod("small", "", restartPolicy="Never", volumes=[{"name": "v", "emptyDir": {}}])
                body["spec"]["containers"][0].update(image="small:1", command=[], volumeMounts=[{"name": "v", "mountPath": "/srv/deep"}])
                cluster.add_pod(body)
                ended = cluster.wait_for(PODS + "/small", lambda found: found["status"]["phase"] in ("Succeeded", "Failed"))
                self.assertEqual(cluster.open(PODS + "/small/log"), "hello from a root\n", ended["status"])
                self.assertEqual(ended["status"]["phase"], "Succeeded", ended["status"])
            finally:
                code, err = cluster.stop()
            self.assertEqual(code, 0, err)
            self.assertEqual(sorted(root.rglob("*")), before)
            self.assertEqual((root / "greeting").read_text(), "hello from a root\n")

    def test_a_node_joins_another_cluster_and_takes_what_tolerates_it(self):
        with tempfile.TemporaryDirectory() as name:
            scratch = pathlib.Path(name)
            cluster = Cluster(scratch, "--fake-nodes", "0")
            worker = None
            try:
                worker = subprocess.Popen(
                    [PROGRAM, "node", "--join", "--kubeconfig", cluster.kubeconfig, "--name", "worker-1", "--data-dir", str(scratch / "worker")],
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
                self.assertRegex(worker.stdout.readline(), r"^joined https://\S+ as node worker-1$")
                cluster.add_pod(pod("any", "exit 0", restartPolicy="Never"))
                cluster.add_pod(pod("tolerant", "exit 4", restartPolicy="Never", tolerations=[{"key": "codeflare.dev/process-node", "operator": "Exists"}]))
                ended = cluster.wait_for(PODS + "/tolerant", lambda found: found["status"]["phase"] == "Failed")
                self.assertEqual(ended["spec"]["nodeName"], "worker-1")
                self.assertEqual(ended["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"], 4)
                self.assertNotIn("nodeName", cluster.get(PODS + "/any")["spec"])
                worker.send_signal(signal.SIGTERM)
                self.assertEqual(worker.wait(60), 0)
                ready = [c["status"] for c in cluster.get("/api/v1/nodes/worker-1")["status"]["conditions"] if c["type"] == "Ready"]
                self.assertEqual(ready, ["False"])
            finally:
                if worker is not None and worker.poll() is None:
                    worker.kill()
                    worker.wait()
                if worker is not None:
                    worker.stdout.close()
                code, err = cluster.stop()
            self.assertEqual(code, 0, err)

    def test_a_node_has_the_labels_and_resources_that_it_is_given_and_keeps_those_of_others(self):
        node = "/api/v1/nodes/codeflare-0"
        with tempfile.TemporaryDirectory() as name:
            scratch = pathlib.Path(name)
            cluster = Cluster(scratch, "--label", "zone=a", "--resource", "example.com/fpga=2")
            try:
                found = cluster.get(node)
                self.assertEqual(found["metadata"]["labels"]["zone"], "a")
                for size in ("capacity", "allocatable"):
                    self.assertEqual(found["status"][size]["example.com/fpga"], "2")
                    found["status"][size]["example.com/dongle"] = "1"
                cluster.open(node + "/status", found, method="PUT")
                # They are counted: the second waits for the first, and the third for nobody.
                scripts = {"first": "while :; do sleep 1; done", "second": "exit 0", "third": "exit 0"}
                for each, script in scripts.items():
                    body = pod(each, script, restartPolicy="Never", nodeSelector={"zone": "a"})
                    if each != "third":
                        body["spec"]["containers"][0]["resources"] = {"limits": {"example.com/fpga": "2", "example.com/dongle": "1"}}
                    cluster.add_pod(body)
                cluster.wait_for(PODS + "/third", lambda found: found["status"]["phase"] == "Succeeded")
                self.assertEqual(cluster.get(PODS + "/first")["spec"].get("nodeName"), "codeflare-0")
                self.assertNotIn("nodeName", cluster.get(PODS + "/second")["spec"])
                cluster.open(PODS + "/first?gracePeriodSeconds=0", method="DELETE")
                cluster.wait_for(PODS + "/second", lambda found: found["status"]["phase"] == "Succeeded")
            finally:
                code, err = cluster.stop()
            self.assertEqual(code, 0, err)
            cluster = Cluster(scratch)
            try:
                found = cluster.get(node)
            finally:
                code, err = cluster.stop()
            self.assertEqual(code, 0, err)
            self.assertNotIn("zone", found["metadata"]["labels"])
            for size in ("capacity", "allocatable"):
                self.assertNotIn("example.com/fpga", found["status"][size])
                self.assertEqual(found["status"][size]["example.com/dongle"], "1")

    def test_refuses_amounts_that_are_none(self):
        for verb in (["up", "--fake-nodes", "1"], ["node", "--join"]):
            for wrong in ("--cpus many", "--label zone", "--resource example.com/fpga=some", "--resource cpu=4"):
                with self.subTest(verb=verb, wrong=wrong):
                    run = subprocess.run([PROGRAM, *verb, *wrong.split()], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
                    self.assertEqual(run.returncode, 2)
                    self.assertIn(wrong, run.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
