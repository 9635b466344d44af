"""A cluster's nodes as seen through the API: every pod is bound, runs at once, and ends when it is asked to."""

import threading

from kubernetes import client, watch

NODE = "node-1"


class Kubelet(threading.Thread):
    def __init__(self, api):
        super().__init__(daemon=True)
        self.core = client.CoreV1Api(api)
        self.stopping = threading.Event()
        self.addresses = 1
        self.problem = None

    def stop(self):
        self.stopping.set()
        self.join()

    def run(self):
        while not self.stopping.is_set():
            try:
                self.follow()
            except client.ApiException as error:
                if error.status != 410:  # a restarted server has no history: begin anew
                    self.problem = error
                    return
            except Exception:  # noqa: BLE001: the server is being restarted; every library below has its own error for that
                self.stopping.wait(0.1)

    def follow(self):
        listed = self.core.list_pod_for_all_namespaces()
        for pod in listed.items:
            self.tend(pod)
        version = listed.metadata.resource_version
        while not self.stopping.is_set():
            for event in watch.Watch().stream(self.core.list_pod_for_all_namespaces, resource_version=version, timeout_seconds=1):
                version = event["object"].metadata.resource_version
                if event["type"] in ("ADDED", "MODIFIED"):
                    self.tend(event["object"])

    def tend(self, pod):
        name, namespace = pod.metadata.name, pod.metadata.namespace
        try:
            if pod.metadata.deletion_timestamp:
                only = client.V1Preconditions(uid=pod.metadata.uid)
                self.core.delete_namespaced_pod(name, namespace, body=client.V1DeleteOptions(grace_period_seconds=0, preconditions=only))
            elif not pod.spec.node_name:
                target = client.V1ObjectReference(api_version="v1", kind="Node", name=NODE)
                body = client.V1Binding(metadata=client.V1ObjectMeta(name=name), target=target)
                self.core.create_namespaced_pod_binding(name, namespace, body, _preload_content=False)
            elif pod.status.phase == "Pending":
                self.core.patch_namespaced_pod_status(name, namespace, {"status": self.running(pod)})
        except client.ApiException as error:
            if error.status not in (404, 409):  # gone or changed meanwhile: the next event tells
                raise

    def running(self, pod):
        self.addresses += 1
        address = f"10.244.{self.addresses // 256}.{self.addresses % 256}"
        started = pod.metadata.creation_timestamp.isoformat()
        state = {"running": {"startedAt": started}}
        return {
            "phase": "Running",
            "hostIP": "10.0.0.1",
            "podIP": address,
            "podIPs": [{"ip": address}],
            "startTime": started,
            "conditions": [{"type": kind, "status": "True", "lastTransitionTime": started} for kind in ("Initialized", "ContainersReady", "Ready")],
            "containerStatuses": [
                {"name": c.name, "image": c.image, "imageID": c.image, "ready": True, "started": True, "restartCount": 0, "state": state}
                for c in pod.spec.containers
            ],
        }
