"""Ray's jobs API as a small server that runs the jobs as processes, for tests of the command line. Not Ray: tests/ray has the real one.

The same server plays the API server of a Ray cluster `demo` in namespace `default`, with the dashboard behind the proxy of its service.
"""

import base64
import hashlib
import http.server
import io
import json
import pathlib
import signal
import struct
import subprocess
import tempfile
import threading
import time
import urllib.parse
import zipfile

PACKAGES = "/api/packages/gcs/"
JOBS = "/api/jobs/"
PROXY = "/api/v1/namespaces/default/services/demo-head-svc:dashboard/proxy"
CLUSTER = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "demo", "namespace": "default"}, "status": {"state": "ready"}}


class Job:
    def __init__(self, request, folder):
        self.request = request
        self.log = folder / f"{request['submission_id']}.log"
        self.started = time.time()
        self.stopped = False
        environment = request.get("runtime_env", {}).get("env_vars", {})
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(["sh", "-c", request["entrypoint"]], cwd=folder, env={"PATH": "/usr/bin:/bin"} | environment,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)

    def status(self):
        code = self.process.poll()
        if code is None:
            return "RUNNING"
        return "STOPPED" if self.stopped else "FAILED" if code else "SUCCEEDED"

    def stop(self):
        running = self.process.poll() is None
        if running:
            self.stopped = True
            self.process.send_signal(signal.SIGKILL)
        return running

    def describe(self):
        status = self.status()
        failed = {"message": "command failed", "error_type": "JOB_ENTRYPOINT_COMMAND_ERROR", "driver_exit_code": self.process.poll()}
        return {"type": "SUBMISSION", "submission_id": self.request["submission_id"], "status": status, "entrypoint": self.request["entrypoint"],
                "metadata": self.request.get("metadata") or {}, "start_time": int(self.started * 1000)} | (failed if status == "FAILED" else {})


class Dashboard(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder = tempfile.TemporaryDirectory()
        self.jobs = {}
        self.packages = {}
        self.thread = threading.Thread(target=self.serve_forever)
        self.thread.start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def close(self):
        self.shutdown()
        self.thread.join()
        self.server_close()
        for job in self.jobs.values():
            job.stop()
            job.process.wait()
        self.folder.cleanup()

    def submit(self, request):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder.name))
        uri = request.get("runtime_env", {}).get("working_dir", "")
        if uri:
            zipfile.ZipFile(io.BytesIO(self.packages[uri.removeprefix("gcs://")])).extractall(folder)
        self.jobs[request["submission_id"]] = Job(request, folder)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        packages, jobs = self.server.packages, self.server.jobs
        if self.path.startswith("/apis/"):
            if self.path.endswith("/rayclusters/demo"):
                self.answer(200, CLUSTER)
                return
            items = [CLUSTER] if "/rayclusters" in self.path else []
            self.answer(200, {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": "1"}, "items": items})
            return
        self.path = self.path.removeprefix(PROXY)
        if self.path.startswith(PACKAGES):
            name = self.path.removeprefix(PACKAGES)
            if self.command == "PUT":
                packages[name] = body
            self.answer(200 if name in packages else 404, "" if name in packages else "no such package")
        elif self.path == JOBS and self.command == "POST":
            request = json.loads(body)
            if request["submission_id"] in jobs:
                self.answer(400, f"ValueError: Job with submission_id {request['submission_id']} already exists.")
                return
            self.server.submit(request)
            self.answer(200, {"submission_id": request["submission_id"]})
        elif self.path == JOBS:
            self.answer(200, [job.describe() for job in jobs.values()])
        else:
            name, _, verb = self.path.removeprefix(JOBS).partition("/")
            job = jobs.get(urllib.parse.unquote(name))
            if job is None:
                self.answer(404, f"Job {name} does not exist")
            elif verb == "logs/tail":
                self.tail(job)
            elif verb == "logs":
                self.answer(200, {"logs": job.log.read_text()})
            elif verb == "stop":
                self.answer(200, {"stopped": job.stop()})
            elif self.command == "DELETE":
                del jobs[name]
                self.answer(200, {"deleted": True})
            else:
                self.answer(200, job.describe())

    do_GET = do_POST = do_PUT = do_DELETE = handle_any

    def tail(self, job):
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        self.close_connection = True
        sent = 0
        while True:
            ended = job.process.poll() is not None
            try:
                fresh = job.log.read_bytes()[sent:]
                if fresh:
                    self.wfile.write(struct.pack(">BBH", 0x81, 126, len(fresh)) + fresh)
                    sent += len(fresh)
                elif ended:
                    self.wfile.write(struct.pack(">BBH", 0x88, 2, 1000))
                    return
            except OSError:
                return  # the client left, or the test has ended
            time.sleep(0.05)
