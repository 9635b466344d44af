"""The command line of each program. Where a flag differs from upstream's default, the comment says why."""

from pathlib import Path

SERVICE_NETWORK = "10.96.0.0/16"
POD_NETWORK = "10.244.0.0/16"
FRONT_PROXY = "front-proxy-client"


def programs(options):
    names = ["etcd", "kube-apiserver", "kubectl", *options.build]
    names += ["kube-controller-manager"] if options.controller_manager else []
    names += ["kube-scheduler"] if options.scheduler else []
    names += ["kwok"] if options.kwok else []
    return names


def runs_service_accounts(options):
    """Whether the asked list of controllers includes the one that makes each namespace's default account."""
    names = (options.controllers or "*").split(",")
    for spelling in ("serviceaccount-controller", "serviceaccount"):
        if spelling in names or f"-{spelling}" in names:
            return spelling in names
    return "*" in names


def etcd(cluster, options):
    url = cluster.state["etcd"]
    arguments = [
        f"--data-dir={cluster.dir / 'etcd'}",
        f"--listen-client-urls={url}",
        f"--advertise-client-urls={url}",
        # One member has no peers; port 0 keeps it off the well-known port.
        "--listen-peer-urls=http://127.0.0.1:0",
        "--log-level=warn",
        f"--quota-backend-bytes={8 << 30}",
    ]
    if not options.fsync:
        # A crash of the machine may lose the data of a test; in exchange writes do not wait for the disk.
        arguments.append("--unsafe-no-fsync")
    return arguments + options.etcd_arg


def apiserver(cluster, options):
    pki = cluster.dir / "pki"
    arguments = [
        f"--etcd-servers={cluster.state['etcd']}",
        "--bind-address=127.0.0.1",
        # Without it the address of the default route is looked up, and a machine may have none.
        "--advertise-address=127.0.0.1",
        # Endpoints reject loopback addresses, so the kubernetes service stays without them.
        "--endpoint-reconciler-type=none",
        f"--secure-port={cluster.state['server'].rpartition(':')[2]}",
        f"--service-cluster-ip-range={SERVICE_NETWORK}",
        f"--tls-cert-file={pki / 'apiserver.crt'}",
        f"--tls-private-key-file={pki / 'apiserver.key'}",
        f"--client-ca-file={pki / 'ca.crt'}",
        f"--token-auth-file={cluster.dir / 'tokens.csv'}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={pki / 'service-account.pub'}",
        f"--service-account-signing-key-file={pki / 'service-account.key'}",
        # As kubeadm has them: calls of kubelets and of aggregated APIs.
        f"--kubelet-client-certificate={pki / 'apiserver-kubelet-client.crt'}",
        f"--kubelet-client-key={pki / 'apiserver-kubelet-client.key'}",
        "--kubelet-preferred-address-types=InternalIP",
        f"--proxy-client-cert-file={pki / 'front-proxy' / 'client.crt'}",
        f"--proxy-client-key-file={pki / 'front-proxy' / 'client.key'}",
        f"--requestheader-client-ca-file={pki / 'front-proxy' / 'ca.crt'}",
        f"--requestheader-allowed-names={FRONT_PROXY}",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--authorization-mode=Node,RBAC",
        "--allow-privileged=true",
        "--profiling=false",
    ]
    if not options.controller_manager:
        # Nobody makes service accounts then, and the plugin would reject every pod.
        arguments.append("--disable-admission-plugins=ServiceAccount")
    if not options.watch_cache:
        arguments.append("--watch-cache=false")
    if options.etcd_compaction_interval is not None:
        arguments.append(f"--etcd-compaction-interval={options.etcd_compaction_interval}")
    return arguments + options.apiserver_arg


def others(cluster, options):
    """The clients of the API server, in the order in which they are started."""
    chosen = {}
    if options.controller_manager:
        chosen["kube-controller-manager"] = controller_manager(cluster, options)
    if options.scheduler:
        chosen["kube-scheduler"] = scheduler(cluster, options)
    if options.kwok:
        chosen["kwok"] = kwok(cluster, options)
    return chosen


# No port of their own (nothing probes them), no lease to wait for (there is one of each), and no speed limit.
PLAIN = ["--secure-port=0", "--leader-elect=false", "--kube-api-qps=1000", "--kube-api-burst=2000"]


def controller_manager(cluster, options):
    pki: Path = cluster.dir / "pki"
    arguments = [
        *PLAIN,
        f"--kubeconfig={cluster.dir / 'controller-manager.kubeconfig'}",
        # The role of the manager itself is small: each controller acts under its own account.
        "--use-service-account-credentials=true",
        f"--service-account-private-key-file={pki / 'service-account.key'}",
        f"--root-ca-file={pki / 'ca.crt'}",
        f"--cluster-signing-cert-file={pki / 'ca.crt'}",
        f"--cluster-signing-key-file={pki / 'ca.key'}",
    ]
    if options.controllers:
        arguments.append(f"--controllers={options.controllers}")
    return arguments + options.controller_manager_arg


def scheduler(cluster, options):
    return [*PLAIN, f"--kubeconfig={cluster.dir / 'scheduler.kubeconfig'}"] + options.scheduler_arg


def kwok(cluster, options):
    return [
        f"--kubeconfig={cluster.dir / 'admin.kubeconfig'}",
        # Only nodes that say so are fake: others may belong to the node agent under test.
        "--manage-all-nodes=false",
        "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
        "--node-lease-duration-seconds=40",
        f"--cidr={POD_NETWORK}",
        "--server-address=127.0.0.1:0",
    ] + options.kwok_arg


def fake_node(number):
    """A node that kwok keeps ready and whose pods it declares running."""
    name = f"fake-{number}"
    resources = {"cpu": "32", "memory": "256Gi", "pods": "110"}
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "type": "kwok"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "annotations": {"kwok.x-k8s.io/node": "fake"}, "labels": labels},
        "status": {"allocatable": resources, "capacity": resources},
    }
