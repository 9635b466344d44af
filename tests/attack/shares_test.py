#!/usr/bin/env python3
"""The slots of a node's proxies (services by TCP and UDP, the way out): a pod that takes all of them keeps no other pod out."""

import re
import sys
import time
import unittest

from attack_case import AttackCase

import up_test
from pod_case import SERVICES, labelled, service, telling, why_no_network, with_container
from up_test import PODS, pod

# More than the node forwards at a time (node/holder/internal/real_tcp_proxy.cc).
GREEDY = 9000
GREEDY_TUNNELS = 300
GREEDY_SESSIONS = 600
# Without a share the wait would have no end.
SOON_SECONDS = 10

LIMITS = """import resource, select, socket, sys, time
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
"""

CONNECT = """
def connect(timeout):
    return socket.create_connection(("web", 8080), timeout=timeout)
"""

# Through the way out, which leads to services, too.
TUNNEL = """
import os, urllib.parse
def connect(timeout):
    proxy = urllib.parse.urlsplit(os.environ["http_proxy"])
    connection = socket.create_connection((proxy.hostname, proxy.port), timeout=timeout)
    connection.sendall(b"CONNECT web:8080 HTTP/1.1\\r\\n\\r\\n")
    head = b""
    while not head.endswith(b"\\r\\n\\r\\n"):
        byte = connection.recv(1)
        if not byte:
            raise OSError("closed")
        head += byte
    if b" 200 " not in head:
        raise OSError(head)
    return connection
"""

# Greets, and keeps every connection.
SERVER = LIMITS + """
server = socket.create_server(("", 80), backlog=4096)
kept = {}
poll = select.epoll()
poll.register(server)
while True:
    for number, _ in poll.poll():
        if number != server.fileno():
            poll.unregister(number)
            kept.pop(number).close()
            continue
        try:
            connection, _ = server.accept()
        except OSError:
            continue
        try:
            connection.sendall(b"hi")
        except OSError:
            continue
        kept[connection.fileno()] = connection
        poll.register(connection, select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR)
"""

# Opens them all, reports that, and replaces each that it loses.
TAKER = """
wanted = int(sys.argv[1])
if most < wanted + 100:
    print("cannot open", most, flush=True)
    time.sleep(3600)
poll, kept, said = select.epoll(), {}, False
while True:
    if len(kept) < wanted:
        try:
            connection = connect(20)
            kept[connection.fileno()] = connection
            poll.register(connection, select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR)
        except OSError:
            time.sleep(0.01)
    for number, _ in poll.poll(0 if len(kept) < wanted else 0.1):
        poll.unregister(number)
        kept.pop(number).close()
        if not said:
            print("the node is full with", len(kept), flush=True)
            said = True
"""

# How long each of twenty connections takes until it is greeted, and whether an idle one is kept meanwhile.
OTHER = """
import time
kept = connect(60)
kept.settimeout(60)
kept.recv(2)
for _ in range(20):
    began = time.monotonic()
    with connect(60) as connection:
        connection.settimeout(60)
        said = connection.recv(2)
    print(said.decode(), round(time.monotonic() - began, 3), flush=True)
    time.sleep(0.2)
kept.setblocking(False)
try:
    kept.recv(1)
except BlockingIOError:
    print("kept", flush=True)
"""

# Tells each client the port that it comes from: of its session at the proxy.
UDP_SERVER = """import socket
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("", 80))
while True:
    _, client = server.recvfrom(100)
    server.sendto(str(client[1]).encode(), client)
"""

# Uses them all in turn, some at a time, and reports when each was answered once.
UDP_TAKER = LIMITS + """
sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(int(sys.argv[1]))]
answered = set()
said = False
for one in sockets:
    one.connect(("web", 8080))
    one.settimeout(0.2)
while True:
    for first in range(0, len(sockets), 50):
        some = sockets[first:first + 50]
        for one in some:
            try:
                one.send(b"x")
            except OSError:
                pass
        for one in some:
            try:
                one.recv(100)
                answered.add(one)
            except OSError:
                pass
    if not said and len(answered) == len(sockets):
        print("sessions used:", len(sockets), flush=True)
        said = True
"""

# Ten datagrams of one session, each repeated until it is answered.
UDP_OTHER = """import socket, time
one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
one.connect(("web", 8080))
one.settimeout(1)
for _ in range(10):
    for _ in range(60):
        try:
            one.send(b"x")
            print("from", one.recv(100).decode(), flush=True)
            break
        except OSError:
            pass
    time.sleep(1)
"""


class Shares(AttackCase):
    def begin(self, server, *flags, **port):
        if why := why_no_network(up_test.PROGRAM, self.scratch):
            self.skipTest("networks are forbidden here: " + why)
        self.start(*flags)
        self.cluster.post(PODS, with_container(labelled("web", pod("web", "")), command=["python3", "-c", server]))
        web = service("web")
        web["spec"]["ports"][0].update(port)
        self.cluster.post(SERVICES, web)
        self.running("web")

    def taken(self, script, wanted):
        """The output of the pod that has taken all."""
        self.cluster.post(PODS, with_container(pod("taker", ""), command=["python3", "-c", script, str(wanted)]))
        self.running("taker")
        said = self.said_by("taker")
        if "cannot open" in said:
            self.skipTest("too few descriptors per process here: " + said)
        return said

    def told_by_other(self, script):
        """Its connections come from an address of its own."""
        self.cluster.post(PODS, telling(pod("other", "", restartPolicy="Never"), "python3", "-c", script))
        ended = self.ended("other")
        told = ended["status"]["containerStatuses"][0]["state"]["terminated"].get("message", "")
        self.assertEqual(ended["status"]["phase"], "Succeeded", told)
        return told

    def check_connections(self, connect, wanted):
        # It is full when the taker loses the first one.
        said = self.taken(LIMITS + connect + TAKER, wanted)
        self.assertGreater(int(re.search(r"full with (\d+)", said)[1]), 100)
        told = self.told_by_other("import socket\n" + connect + OTHER)
        waits = [float(seconds) for seconds in re.findall(r"^hi (\S+)$", told, re.MULTILINE)]
        self.assertEqual(len(waits), 20, told)
        self.assertLess(max(waits), SOON_SECONDS)
        self.assertTrue(told.endswith("kept\n"), told)

    def test_idle_connections_of_one_pod_keep_no_other_from_a_service(self):
        self.begin(SERVER)
        self.check_connections(CONNECT, GREEDY)

    def test_idle_tunnels_of_one_pod_keep_no_other_from_the_way_out(self):
        self.begin(SERVER, "--egress")
        self.check_connections(TUNNEL, GREEDY_TUNNELS)

    def test_udp_sessions_of_one_pod_keep_no_other_from_a_service(self):
        self.begin(UDP_SERVER, protocol="UDP")
        self.taken(UDP_TAKER, GREEDY_SESSIONS)
        told = self.told_by_other(UDP_OTHER)
        ports = re.findall(r"^from (\d+)$", told, re.MULTILINE)
        self.assertEqual(len(ports), 10, told)
        self.assertEqual(len(set(ports)), 1, "its session was kept")


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
