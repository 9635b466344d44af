"""Requests to an API server over kept connections, many at a time, and watches without gaps."""

import concurrent.futures
import http.client
import json
import pathlib
import socket
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from kubeconfig import read_admin  # noqa: E402
from live_cluster import Failure  # noqa: E402

PATIENCE_SECONDS = 60
CLIENTS = 16
# Servers close connections on which nothing was asked for a while, and a request must not meet that.
IDLE_SECONDS = 10


class Refused(Failure):
    def __init__(self, what, status, text):
        super().__init__(f"{what}: {status} {text[:300]}")
        self.status = status


class Api:
    """As administrator. Each thread keeps a connection of its own."""

    def __init__(self, kubeconfig, folder):
        self.url, self.tls = read_admin(kubeconfig, folder)
        self.kept = threading.local()

    def connect(self, timeout=PATIENCE_SECONDS):
        return http.client.HTTPSConnection(self.url.hostname, self.url.port, context=self.tls, timeout=timeout)

    def kept_connection(self):
        now = time.monotonic()
        if not hasattr(self.kept, "connection"):
            self.kept.connection = self.connect()
        elif now - self.kept.used > IDLE_SECONDS:
            self.kept.connection.close()  # and opens again by itself
        self.kept.used = now
        return self.kept.connection

    def text(self, method, path, body=None):
        connection = self.kept_connection()
        data = None if body is None else json.dumps(body)
        try:
            connection.request(method, path, data, {"Content-Type": "application/json"} if data else {})
            answer = connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise Failure(f"{method} {path}: {error!r}") from None
        if answer.status >= 300:
            raise Refused(f"{method} {path}", answer.status, text)
        return text

    def call(self, method, path, body=None):
        return json.loads(self.text(method, path, body))

    def create_all(self, path, objects, clients=CLIENTS):
        """`clients` at a time; the first error ends it."""
        with concurrent.futures.ThreadPoolExecutor(clients) as pool:
            waiting = [pool.submit(self.text, "POST", path, body) for body in objects]
            try:
                for one in waiting:
                    one.result()
            except Failure:
                pool.shutdown(cancel_futures=True)
                raise


class Watch(threading.Thread):
    """Calls `seen(type, object)` for every change of a collection after `version`.

    When the server ends the watch it goes on where it was; where that is not possible `problem` says so, because changes may be missing.
    """

    def __init__(self, api, path, version, seen):
        super().__init__(daemon=True)
        self.api, self.path, self.version, self.seen = api, path, version, seen
        self.connection = None
        self.ending = False
        self.problem = None

    def run(self):
        try:
            while not self.ending:
                self.follow()
        except Exception as error:  # whatever it is, the one who waits must hear of it
            if not self.ending:
                self.problem = f"watch of {self.path}: {error!r}"

    def follow(self):
        self.connection = self.api.connect(timeout=None)
        try:
            self.connection.request("GET", f"{self.path}?watch=1&allowWatchBookmarks=true&resourceVersion={self.version}")
            answer = self.connection.getresponse()
            if answer.status != 200:
                raise Refused(f"watch of {self.path}", answer.status, answer.read().decode())
            rest = b""
            while piece := answer.read1(1 << 20):
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    self.take(json.loads(line))
        finally:
            self.connection.close()

    def take(self, event):
        if event["type"] == "ERROR":
            raise Failure(f"watch of {self.path}: {event['object'].get('message')}")
        self.version = event["object"]["metadata"]["resourceVersion"]
        if event["type"] != "BOOKMARK":
            self.seen(event["type"], event["object"])

    def end(self):
        self.ending = True
        if self.connection is not None and self.connection.sock is not None:
            try:
                self.connection.sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.join(PATIENCE_SECONDS)
