"""The client that behaves, in a process of its own, while others do not."""

import http.client
import json
import multiprocessing
import time

MAPS = "/api/v1/namespaces/default/configmaps"


class Neighbour:
    """Creates, reads, lists and deletes all the time. Each phase of the test gets its slowest request and their number."""

    PHASES_MAX = 16

    def __init__(self, server):
        self.phase = multiprocessing.Value("i", 0)
        self.going = multiprocessing.Value("b", True)
        self.slowest = multiprocessing.Array("d", self.PHASES_MAX)
        self.count = multiprocessing.Array("i", self.PHASES_MAX)
        self.problem = multiprocessing.Array("c", 500)
        self.process = multiprocessing.Process(target=self._run, args=(server,), daemon=True)
        self.process.start()

    def begin(self, phase):
        self.phase.value = phase

    def end(self):
        """The failures, if any."""
        self.going.value = False
        self.process.join()
        return self.problem.value.decode()

    def _run(self, server):
        try:
            connection = server.connect()
            number = 0
            while self.going.value:
                number += 1
                body = json.dumps({"metadata": {"name": f"neighbour-{number}"}, "data": {"number": str(number)}})
                self._call(connection, "POST", MAPS, body, 201)
                self._call(connection, "GET", f"{MAPS}/neighbour-{number}", None, 200)
                self._call(connection, "GET", f"{MAPS}?limit=10", None, 200)
                self._call(connection, "DELETE", f"{MAPS}/neighbour-{number}", None, 200)
                time.sleep(0.01)
        except (OSError, http.client.HTTPException, AssertionError) as error:
            self.problem.value = f"{type(error).__name__}: {error}"[:400].encode()

    def _call(self, connection, method, target, body, expected):
        phase = self.phase.value
        began = time.monotonic()
        connection.request(method, target, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        took = time.monotonic() - began
        if answer.status != expected:
            raise AssertionError(f"{method} {target}: {answer.status} {text[:200]!r}")
        self.slowest[phase] = max(self.slowest[phase], took)
        self.count[phase] += 1
