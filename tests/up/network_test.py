#!/usr/bin/env python3
"""The pod network of `codeflare up`: addresses, names, services, the API server, the way in and the way out."""

import os
import signal
import socket
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

import up_test  # noqa: E402
from pod_case import (  # noqa: E402
    JOBS, SERVICES, PodCase, holders, job, job_is_complete, labelled, service, telling, terminated, why_no_network, with_container,
)
from up_test import PODS, pod  # noqa: E402

SERVER = """exec python3 -c 'import http.server, socket
class Name(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(socket.gethostname().encode())
http.server.ThreadingHTTPServer(("", 80), Name).serve_forever()'"""

# Asks the API server who the pod is, as clients in pods do.
WHO = """exec python3 -c 'import json, ssl, urllib.request
base = "/var/run/secrets/kubernetes.io/serviceaccount/"
request = urllib.request.Request("https://kubernetes.default.svc/apis/authentication.k8s.io/v1/selfsubjectreviews",
    data=json.dumps({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}).encode(),
    headers={"Authorization": "Bearer " + open(base + "token").read(), "Content-Type": "application/json"})
answer = urllib.request.urlopen(request, context=ssl.create_default_context(cafile=base + "ca.crt"), timeout=20)
print(json.load(answer)["status"]["userInfo"]["username"])'"""

# Endpoints take a moment.
FETCH = """import sys, time, urllib.request
until = time.monotonic() + 60
while True:
    try:
        print(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode())
        break
    except OSError:
        if time.monotonic() > until:
            raise
        time.sleep(0.1)"""

# Listens, and ends when it was asked by the other and the other has answered: both have the port at the same time.
MEETS = """import socket, sys, threading, time
here, other = sys.argv[1:]
server = socket.create_server(("", 29500))
def answer():
    connection, _ = server.accept()
    connection.sendall(here.encode())
    connection.close()
asked = threading.Thread(target=answer)
asked.start()
while True:
    try:
        with socket.create_connection((other + ".jobs", 29500), timeout=20) as connection:
            print("met", connection.recv(100).decode())
            break
    except OSError:
        time.sleep(0.1)
asked.join()"""


def fetch(url):
    return f"""exec python3 -c 'import urllib.request
print("got", urllib.request.urlopen("{url}", timeout=20).read().decode())'"""


class Network(PodCase):
    def test_pods_have_addresses_names_and_services(self):
        self.start()
        cluster = self.cluster
        node = cluster.get("/api/v1/nodes/codeflare-0")
        condition = next(one for one in node["status"]["conditions"] if one["type"] == "PodNetwork")
        self.assertEqual((condition["status"], condition["reason"]), ("True", "Bridge"))
        self.assertEqual(node["spec"]["podCIDR"], "10.244.0.0/24")
        # Two servers on one port.
        cluster.post(PODS, labelled("web", pod("web-0", SERVER, hostname="web-0", subdomain="all")))
        cluster.post(PODS, labelled("web", pod("web-1", SERVER, hostname="web-1", subdomain="all")))
        cluster.post(SERVICES, service("web"))
        headless = service("all", headless=True)
        headless["spec"]["selector"] = {"app": "web"}
        cluster.post(SERVICES, headless)
        addresses = {self.running(name)["status"]["podIP"] for name in ("web-0", "web-1")}
        self.assertEqual(len(addresses), 2)
        for address in addresses:
            self.assertRegex(address, r"^10\.244\.0\.\d+$")
        self.retried("service", fetch("http://web:8080/"), "got web-")
        self.retried("member", fetch("http://web-1.all.default.svc.cluster.local/"), "got web-1")
        self.assertEqual(self.output("who", WHO), "system:serviceaccount:default:default\n")
        # As Ray and torch find out which address they have.
        said = self.output("self", "hostname -i; exec python3 -c 'import socket\n"
                                   "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect((\"8.8.8.8\", 9))\n"
                                   "print(s.getsockname()[0])'").split()
        self.assertEqual(said, [cluster.get(PODS + "/self")["status"]["podIP"]] * 2)

    def test_pods_of_different_jobs_listen_on_one_port_at_once(self):
        self.start()
        self.cluster.post(SERVICES, service("jobs", headless=True))
        for here, other in (("one", "two"), ("two", "one")):
            body = with_container(labelled("jobs", pod(here, "", hostname=here, subdomain="jobs")), command=["python3", "-c", MEETS, here, other])
            self.cluster.post(JOBS, job(here, body))
        for here, other in (("one", "two"), ("two", "one")):
            self.cluster.wait_for(f"{JOBS}/{here}", job_is_complete)
            self.assertEqual(list(self.logs(f"?labelSelector=job-name={here}").values()), [f"met {other}\n"])

    @unittest.skipUnless(os.geteuid() == 0, "we are an ordinary user already")
    def test_so_have_those_of_an_ordinary_user(self):
        self.start_as_nobody()
        self.cluster.post(PODS, labelled("web", pod("web-0", SERVER)))
        self.cluster.post(SERVICES, service("web"))
        self.retried("service", fetch("http://web:8080/"), "got web-0")
        self.assertEqual(self.output("who", WHO), "system:serviceaccount:default:default\n")

    def test_the_machines_network_is_refused_unless_it_is_allowed(self):
        self.start()
        self.cluster.post(PODS, pod("a", "sleep 60", hostNetwork=True))
        status = self.cluster.wait_for(PODS + "/a", lambda found: found["status"].get("phase") == "Failed")["status"]
        self.assertEqual(status["reason"], "HostNetworkForbidden")
        code, err = self.cluster.stop()
        self.assertEqual(code, 0, err)
        self.start("--allow-host-network")
        self.cluster.post(PODS, pod("b", "sleep 60", hostNetwork=True))
        self.assertEqual(self.running("b")["status"]["podIP"], "127.0.0.1")

    def test_pods_of_a_node_that_joined_have_such_a_network_too(self):
        if why := why_no_network(up_test.PROGRAM, self.scratch):
            self.skipTest("networks are forbidden here: " + why)
        self.start("--fake-nodes", "1")
        words = [up_test.PROGRAM, "node", "--join", "--name", "joined", "--kubeconfig", self.cluster.kubeconfig, "--data-dir", str(self.scratch / "joined")]
        node = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        try:
            self.assertIn("as node joined", node.stdout.readline())
            conditions = self.cluster.get("/api/v1/nodes/joined")["status"]["conditions"]
            self.assertIn(("PodNetwork", "True"), [(one["type"], one["status"]) for one in conditions])
            self.cluster.post(SERVICES, service("web"))
            self.cluster.post(PODS, labelled("web", pod("web", SERVER, nodeName="joined")))
            self.cluster.post(PODS, telling(pod("asks", "", nodeName="joined", restartPolicy="Never"), "python3", "-c", FETCH, "http://web:8080/"))
            self.assertEqual(terminated(self.ended("asks"))["message"], "web\n")
            self.cluster.post(PODS, telling(pod("who", "", nodeName="joined", restartPolicy="Never"), "sh", "-c", WHO))
            self.assertEqual(terminated(self.ended("who"))["message"], "system:serviceaccount:default:default\n")
            self.assertRegex(self.running("web")["status"]["podIP"], r"^10\.244\.0\.\d+$")
        finally:
            node.terminate()
            self.assertEqual(node.wait(60), 0)
            node.stdout.close()

    def test_the_network_outlives_a_killed_program(self):
        self.start()
        self.cluster.post(PODS, labelled("web", pod("web-0", SERVER)))
        self.cluster.post(SERVICES, service("web"))
        address = self.running("web-0")["status"]["podIP"]
        self.retried("before", fetch("http://web:8080/"), "got web-0")
        before = holders(self.scratch)
        self.assertEqual(sorted(before), ["codeflare-anch", "codeflare-hold"])
        self.kill_program()
        self.start()
        self.assertEqual(holders(self.scratch), before)
        self.assertEqual(self.running("web-0")["status"]["podIP"], address)
        self.retried("after", fetch("http://web:8080/"), "got web-0")
        # And a holder that is killed is replaced.
        os.kill(before["codeflare-hold"], signal.SIGKILL)
        self.retried("again", fetch("http://web:8080/"), "got web-0")

    def test_this_machine_reaches_services_through_the_proxy(self):
        self.start()
        self.cluster.post(PODS, labelled("web", pod("web-0", SERVER)))
        self.cluster.post(SERVICES, service("web"))
        self.retried("before", fetch("http://web:8080/"), "got web-0")
        proxy = subprocess.Popen([up_test.PROGRAM, "proxy", "--data-dir", str(self.scratch / "data")],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        try:
            at = proxy.stdout.readline().split()[1]
            got = subprocess.run([sys.executable, "-c", "import sys, urllib.request\n"
                                  "opener = urllib.request.build_opener(urllib.request.ProxyHandler({'http': sys.argv[1]}))\n"
                                  "print(opener.open('http://web.default:8080/', timeout=20).read().decode())", at],
                                 capture_output=True, text=True, timeout=60)
            self.assertEqual(got.stdout, "web-0\n", got.stderr)
            proxy.send_signal(signal.SIGINT)
            self.assertEqual(proxy.wait(timeout=60), 0)
        finally:
            proxy.kill()
            proxy.communicate()

    def test_the_way_out_is_there_when_asked_for_and_leads_nowhere_on_this_machine(self):
        self.start("--egress")
        with socket.create_server(("127.0.0.2", 0)) as here:
            asks = fetch(f"http://127.0.0.2:{here.getsockname()[1]}/")
            self.retried("out", f'test "$http_proxy" = http://10.244.0.1:3128 && {asks} 2>&1', "HTTP Error 502")

    def test_with_a_way_out_services_are_where_they_are_without(self):
        # Python asks the proxy for short names and for all addresses.
        self.start("--egress")
        self.cluster.post(PODS, labelled("web", pod("web-0", SERVER)))
        self.cluster.post(SERVICES, service("web"))
        self.retried("service", fetch("http://web:8080/"), "got web-0")
        addresses = [self.cluster.get(SERVICES + "/web")["spec"]["clusterIP"] + ":8080", self.running("web-0")["status"]["podIP"]]
        for number, host in enumerate(["web.default:8080", "web.default.svc.cluster.local:8080", *addresses]):
            self.assertIn("got web-0", self.output(f"host-{number}", fetch(f"http://{host}/") + " 2>&1"))
        self.assertEqual(self.output("who", WHO), "system:serviceaccount:default:default\n")


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
