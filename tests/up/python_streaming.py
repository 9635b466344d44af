"""The tests of python_streaming_test.py, run where the client is installed."""

import itertools
import pathlib
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import up_test  # noqa: E402
from kubernetes import client, config, stream, watch  # noqa: E402
from streaming_server import SERVER  # noqa: E402
from up_test import PODS, Cluster  # noqa: E402


class Streaming(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.cluster = Cluster(pathlib.Path(cls.folder.name))
        cls.cluster.wait_for("/api/v1/namespaces/default/serviceaccounts", lambda found: found["items"])
        cls.cluster.post(PODS, {"metadata": {"name": "server"}, "spec": {"terminationGracePeriodSeconds": 1, "containers": [
            {"name": "c", "image": "any", "command": ["python3", "-c", SERVER]}]}})
        cls.cluster.wait_for(f"{PODS}/server", lambda found: found["status"]["phase"] == "Running")
        config.load_kube_config(config_file=cls.cluster.kubeconfig)
        cls.api = client.CoreV1Api()

    @classmethod
    def tearDownClass(cls):
        code, err = cls.cluster.stop()
        cls.folder.cleanup()
        if code != 0:
            raise AssertionError(f"exit code {code}: {err}")

    def exec(self, *command, **how):
        # The client changes the API object that it calls: each call has its own.
        return stream.stream(client.CoreV1Api().connect_get_namespaced_pod_exec, "server", "default", command=list(command), stderr=True,
                             stdin=how.pop("stdin", False), stdout=True, tty=False, **how)

    def names(self):
        return [pod.metadata.name for pod in self.api.list_namespaced_pod("default").items]

    def watch_until_running(self, name):
        watcher = watch.Watch()
        for event in watcher.stream(self.api.list_namespaced_pod, "default", field_selector=f"metadata.name={name}", timeout_seconds=60):
            if event["object"].status.phase == "Running":
                watcher.stop()
                return
        self.fail(f"the pod {name} does not run")

    def test_a_pod_is_made_followed_and_deleted(self):
        script = "for i in 1 2 3; do echo line $i; done; exec sleep 100000"
        container = client.V1Container(name="c", image="busybox", command=["/bin/sh", "-c", script])
        spec = client.V1PodSpec(containers=[container], restart_policy="Never", termination_grace_period_seconds=1)
        made = self.api.create_namespaced_pod("default", client.V1Pod(metadata=client.V1ObjectMeta(name="made"), spec=spec))
        self.assertEqual((made.metadata.name, made.status.phase), ("made", "Pending"))
        self.watch_until_running("made")
        follower = watch.Watch()
        lines = follower.stream(self.api.read_namespaced_pod_log, "made", "default")
        self.assertEqual(list(itertools.islice(lines, 3)), ["line 1", "line 2", "line 3"])
        follower.stop()
        lines.close()
        self.assertEqual(self.api.read_namespaced_pod_log("made", "default", tail_lines=1), "line 3\n")
        self.assertIn("made", self.names())
        self.api.delete_namespaced_pod("made", "default")
        self.cluster.wait_until(lambda: "made" not in self.names())
        with self.assertRaises(client.ApiException) as caught:
            self.api.read_namespaced_pod("made", "default")
        self.assertEqual(caught.exception.status, 404)

    def test_exec_returns_what_a_program_says(self):
        self.assertEqual(self.exec("sh", "-c", "echo hello"), "hello\n")

    def test_exec_tells_the_exit_code(self):
        for code in (0, 7):
            with self.subTest(code=code):
                open_stream = self.exec("sh", "-c", f"exit {code}", _preload_content=False)
                open_stream.run_forever(timeout=60)
                self.assertEqual(open_stream.returncode, code)
                open_stream.close()

    def test_exec_talks_to_a_shell(self):
        shell = self.exec("/bin/sh", stdin=True, _preload_content=False)
        shell.write_stdin("echo test string 1\n")
        self.assertEqual(shell.readline_stdout(timeout=60), "test string 1")
        shell.write_stdin("echo test string 2 >&2\n")
        self.assertEqual(shell.readline_stderr(timeout=60), "test string 2")
        shell.write_stdin("exit 3\n")
        shell.run_forever(timeout=60)
        self.assertEqual(shell.returncode, 3)

    def test_port_forward_is_a_socket(self):
        until = time.monotonic() + 60
        port = ""
        while not port and time.monotonic() < until:
            port = self.exec("sh", "-c", "cat ${CODEFLARE_POD_ROOT:-/tmp}/port 2>/dev/null")
        forward = stream.portforward(client.CoreV1Api().connect_get_namespaced_pod_portforward, "server", "default", ports=port)
        connection = forward.socket(int(port))
        connection.setblocking(True)
        connection.sendall(b"hello")
        self.assertEqual(connection.recv(100), b"HELLO")
        connection.close()
        self.assertIsNone(forward.error(int(port)))

    def test_port_forward_tells_what_is_wrong(self):
        forward = stream.portforward(client.CoreV1Api().connect_get_namespaced_pod_portforward, "server", "default", ports="1")
        forward.socket(1).setblocking(True)
        self.assertEqual(forward.socket(1).recv(10), b"")
        self.assertIn("refused", forward.error(1))


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
