"""Objects at random, of every built-in kind that has columns of its own: odd ones as often as common ones.

Words come from small sets, so that the branches of the printers are met: a phase is a phase and a reason is now and then
the one that matters.
"""

import random
from datetime import datetime, timedelta, timezone


class Make:
    """Parts of objects. An absent part is None; `of` leaves it out."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.start = datetime.now(timezone.utc).replace(microsecond=0)

    def chance(self, share):
        return self.random.random() < share

    def pick(self, *choices):
        return self.random.choice(choices)

    def maybe(self, make, share=0.6):
        return make() if self.chance(share) else None

    def several(self, make, most=4):
        return [make() for _ in range(self.random.randint(0, most))]

    def of(self, **fields):
        return {name.rstrip("_"): value for name, value in fields.items() if value is not None}

    def number(self):
        return self.pick(0, 1, 1, 2, 3, 7, 40)

    def truth(self):
        return self.pick(True, False, None)

    def word(self):
        return self.pick("a", "web", "x-1", "gpu", "")

    def name(self):
        return self.pick("a", "web-0", "x.example.com", "n1")

    def quantity(self):
        return self.pick("0", "1", "1500m", "0.5", "1024Mi", "3e3", "100k", "2Gi", 4)

    def moment(self):
        span = self.pick(0, 1, 59, 119, 120, 200, 599, 3000, 10799, 11000, 30000, 86400, 180000, 700000, 10**7, 7 * 10**7, 3 * 10**8)
        return (self.start - timedelta(seconds=span + self.random.randint(-3, 3000))).strftime("%Y-%m-%dT%H:%M:%SZ")

    def micro_moment(self):
        return self.moment().replace("Z", ".000000Z")

    def labels(self):
        return {self.pick("app", "tier", "example.com/a", "z"): self.pick("web", "1", "") for _ in range(self.random.randint(0, 3))}

    def selector(self):
        return self.of(matchLabels=self.maybe(self.labels), matchExpressions=self.maybe(lambda: self.several(self.expression, 2)))

    def expression(self):
        operator = self.pick("In", "NotIn", "Exists", "DoesNotExist", "Exists", "Near")
        values = self.pick(["b", "a"], ["x"], []) if operator in ("In", "NotIn") else None
        return self.of(key=self.pick("app", "k", "b/c", "-bad"), operator=operator, values=values)

    def condition(self, *types):
        return self.of(type=self.pick(*types), status=self.pick("True", "False", "Unknown"), reason=self.maybe(self.word))

    def conditions(self, *types):
        chosen = self.random.sample(types, self.random.randint(0, len(types)))
        return [self.condition(type_) for type_ in chosen]

    def metadata(self):
        return self.of(
            name=self.name(),
            creationTimestamp=self.maybe(self.moment, 0.9),
            deletionTimestamp=self.maybe(self.moment, 0.15),
            labels=self.maybe(lambda: {self.pick("node-role.kubernetes.io/", "kubernetes.io/") + self.pick("role", "worker", ""): self.word() for _ in range(2)}),
            annotations=self.maybe(self.annotations, 0.3),
            ownerReferences=self.maybe(lambda: self.several(self.owner, 2), 0.5),
        )

    def annotations(self):
        return {
            self.pick(
                "volume.beta.kubernetes.io/storage-class",
                "storageclass.kubernetes.io/is-default-class",
                "storageclass.beta.kubernetes.io/is-default-class",
            ): self.pick("true", "fast", "")
        }

    def owner(self):
        return self.of(
            apiVersion=self.pick("v1", "apps/v1"), kind=self.pick("StatefulSet", "Pod"), name=self.name(), uid="u", controller=self.truth()
        )

    def container(self):
        return self.of(name=self.pick("a", "b", "c"), image=self.pick("i:1", "j", ""))

    def template(self):
        spec = self.of(containers=self.several(self.container, 3), nodeSelector=self.maybe(self.labels))
        return {"metadata": self.of(labels=self.maybe(self.labels)), "spec": spec}


def pod(make):
    def init_container():
        return make.of(name=make.pick("a", "i", "j"), restartPolicy=make.maybe(lambda: "Always", 0.4))

    def terminated():
        return make.of(
            exitCode=make.pick(0, 0, 1, 137),
            signal=make.pick(0, 9, None),
            reason=make.pick("Completed", "Completed", "Error", "", None),
            finishedAt=make.maybe(make.moment),
        )

    def state():
        kind = make.pick("running", "running", "waiting", "terminated", "")
        if kind == "waiting":
            return {"waiting": make.of(reason=make.pick("CrashLoopBackOff", "PodInitializing", "ContainerCreating", "", None))}
        if kind == "terminated":
            return {"terminated": terminated()}
        return {kind: {}} if kind else {}

    def status():
        return make.of(
            name=make.pick("a", "i", "j", "b"),
            ready=make.truth(),
            started=make.truth(),
            restartCount=make.number(),
            state=state(),
            lastState=make.maybe(lambda: {"terminated": terminated()}, 0.5),
        )

    def condition(type_):
        return make.of(type=type_, status=make.pick("True", "True", "False"), reason=make.pick(None, "SchedulingGated"))

    types = make.random.sample(["PodScheduled", "Ready", "Initialized", "example.com/a", "example.com/b"], make.random.randint(0, 5))
    return {
        "spec": make.of(
            containers=make.several(make.container, 3),
            initContainers=make.maybe(lambda: make.several(init_container, 3)),
            nodeName=make.maybe(make.name),
            readinessGates=make.maybe(lambda: make.several(lambda: {"conditionType": make.pick("example.com/a", "example.com/b", "c")}, 3)),
        ),
        "status": make.of(
            phase=make.pick("Pending", "Running", "Running", "Succeeded", "Failed", "Unknown", None),
            reason=make.maybe(lambda: make.pick("NodeLost", "Evicted", ""), 0.3),
            podIP=make.maybe(lambda: make.pick("10.0.0.1", "")),
            podIPs=make.maybe(lambda: make.several(lambda: {"ip": make.pick("10.0.0.1", "fd00::1")}, 2)),
            nominatedNodeName=make.maybe(make.name, 0.2),
            conditions=[condition(type_) for type_ in types],
            containerStatuses=make.maybe(lambda: make.several(status, 3)),
            initContainerStatuses=make.maybe(lambda: make.several(status, 3), 0.5),
        ),
    }


def pod_template(make):
    return {"template": make.template()}


def replicated(make):
    return {
        "spec": make.of(replicas=make.maybe(make.number), selector=make.maybe(make.selector), template=make.template()),
        "status": make.of(
            replicas=make.maybe(make.number),
            readyReplicas=make.maybe(make.number),
            updatedReplicas=make.maybe(make.number),
            availableReplicas=make.maybe(make.number),
            currentReplicas=make.maybe(make.number),
        ),
    }


def replication_controller(make):
    out = replicated(make)
    # Without one it is taken from the template, when the object is written.
    out["spec"]["selector"] = make.labels() or {"app": "web"}
    return out


def daemon_set(make):
    counts = ("desiredNumberScheduled", "currentNumberScheduled", "numberReady", "updatedNumberScheduled", "numberAvailable")
    return {
        "spec": make.of(selector=make.maybe(make.selector), template=make.template()),
        "status": {name: make.number() for name in counts},
    }


def job(make):
    return {
        "spec": make.of(
            completions=make.maybe(make.number), parallelism=make.maybe(make.number), selector=make.maybe(make.selector), template=make.template()
        ),
        "status": make.of(
            succeeded=make.maybe(make.number),
            startTime=make.maybe(make.moment),
            completionTime=make.maybe(make.moment),
            conditions=make.conditions("Complete", "Failed", "Suspended", "FailureTarget", "SuccessCriteriaMet"),
        ),
    }


def cron_job(make):
    return {
        "spec": make.of(
            schedule=make.pick("@daily", "* * * * *"),
            timeZone=make.maybe(lambda: make.pick("Europe/Berlin", ""), 0.4),
            suspend=make.truth(),
            jobTemplate={"spec": job(make)["spec"]},
        ),
        "status": make.of(active=make.maybe(lambda: make.several(lambda: {}, 3)), lastScheduleTime=make.maybe(make.moment)),
    }


def revision(make):
    return {"revision": make.number()}


def disruption_budget(make):
    def bound():
        return make.pick(0, 3, "50%", "")

    return {
        "spec": make.of(minAvailable=make.maybe(bound), maxUnavailable=make.maybe(bound)),
        "status": {"disruptionsAllowed": make.number()},
    }


def autoscaler(make):
    def metric(values):
        def amounts():
            return make.of(
                value=make.maybe(make.quantity), averageValue=make.maybe(make.quantity), averageUtilization=make.maybe(make.number)
            )

        type_ = make.pick("External", "Pods", "Object", "Resource", "ContainerResource")
        field = type_[0].lower() + type_[1:]
        body = {"name": make.pick("cpu", "memory"), values: amounts()} if "Resource" in type_ else {values: amounts()}
        return {"type": type_, field: body}

    return {
        "spec": make.of(
            scaleTargetRef={"kind": "Deployment", "name": make.name()},
            minReplicas=make.maybe(make.number),
            maxReplicas=make.number(),
            metrics=make.maybe(lambda: make.several(lambda: metric("target"), 4), 0.9),
        ),
        "status": make.of(
            currentReplicas=make.maybe(make.number), currentMetrics=make.maybe(lambda: make.several(lambda: metric("current"), 3))
        ),
    }


def autoscaler_v1(make):
    return {
        "spec": make.of(
            scaleTargetRef={"kind": "Deployment", "name": make.name()},
            minReplicas=make.maybe(make.number),
            maxReplicas=make.number(),
            targetCPUUtilizationPercentage=make.maybe(make.number),
        ),
        "status": make.of(currentReplicas=make.number(), currentCPUUtilizationPercentage=make.maybe(make.number)),
    }


def balancer(make):
    def ingress():
        return make.of(ip=make.pick("9.9.9.9", "1.2.3.4", "", None), hostname=make.pick("a-very-long-name.example.com", "", None))

    return {"loadBalancer": make.of(ingress=make.maybe(lambda: make.several(ingress)))}


def service(make):
    def port():
        return make.of(port=make.pick(80, 53), nodePort=make.pick(None, 0, 30080), protocol=make.pick("TCP", "UDP", None))

    type_ = make.pick("ClusterIP", "NodePort", "LoadBalancer", "ExternalName", None)
    address = make.pick("10.0.0.1", "None", "fd00::1")
    return {
        "spec": make.of(
            type=type_,
            clusterIP=None if type_ == "ExternalName" else address,
            clusterIPs=None if type_ == "ExternalName" else make.pick([address], [address, "fd00::2"]),
            externalIPs=make.maybe(lambda: make.several(lambda: make.pick("5.5.5.5", "6.6.6.6"), 2)),
            externalName=make.maybe(make.name),
            ports=make.maybe(lambda: make.several(port, 3)),
            selector=make.maybe(make.labels),
        ),
        "status": balancer(make),
    }


def endpoints(make):
    def subset():
        return make.of(
            addresses=make.maybe(lambda: make.several(lambda: {"ip": make.pick("10.0.0.1", "fd00::1")}, 3)),
            ports=make.maybe(lambda: make.several(lambda: {"port": make.pick(80, 443)}, 2)),
        )

    return make.of(subsets=make.maybe(lambda: make.several(subset, 3), 0.8))


def endpoint_slice(make):
    return make.of(
        addressType=make.pick("IPv4", "IPv6"),
        ports=make.maybe(lambda: make.several(lambda: make.of(name=make.pick("web", "", None), port=make.pick(80, 1, None)), 5)),
        endpoints=make.maybe(lambda: make.several(lambda: {"addresses": make.several(lambda: make.pick("10.0.0.1", "10.0.0.2"), 3)}, 3)),
    )


def ingress(make):
    return {
        "spec": make.of(
            ingressClassName=make.pick("nginx", "", None),
            rules=make.maybe(lambda: make.several(lambda: make.of(host=make.pick("a.com", "b.com", "", None)), 6)),
            tls=make.maybe(lambda: make.several(lambda: {}, 1)),
        ),
        "status": balancer(make),
    }


def ingress_class(make):
    return {
        "spec": make.of(
            controller=make.word(),
            parameters=make.maybe(lambda: make.of(apiGroup=make.pick("e.com", "", None), kind="Conf", name=make.name())),
        )
    }


def network_policy(make):
    return {"spec": {"podSelector": make.selector()}}


def service_cidr(make):
    return {"spec": make.of(cidrs=make.maybe(lambda: make.several(lambda: make.pick("10.0.0.0/8", "fd00::/64"), 2)))}


def ip_address(make):
    def parent():
        return make.of(group=make.pick("E.com", "", None), resource=make.pick("services", "Things"), namespace=make.word(), name=make.name())

    return {"spec": make.of(parentRef=make.maybe(parent))}


def node(make):
    info = {name: make.word() for name in ("kubeletVersion", "osImage", "kernelVersion", "containerRuntimeVersion")}
    return {
        "spec": make.of(unschedulable=make.truth()),
        "status": make.of(
            conditions=make.conditions("Ready", "MemoryPressure"),
            addresses=make.several(lambda: {"type": make.pick("InternalIP", "ExternalIP", "Hostname"), "address": make.word()}),
            nodeInfo=make.maybe(lambda: info),
        ),
    }


def namespace(make):
    return {"status": make.of(phase=make.pick("Active", "Terminating", None))}


def event(make, fields=("firstTimestamp", "lastTimestamp", "count", "involvedObject", "source", "message", "reportingComponent")):
    first, last, count, object_, source, message, reporter = fields
    parts = {
        first: make.maybe(make.moment),
        last: make.maybe(make.moment),
        count: make.pick(None, 0, 1, 9),
        object_: make.of(kind=make.pick("Pod", "StatefulSet"), name=make.pick("web", "", None), fieldPath=make.maybe(make.word)),
        source: make.maybe(lambda: make.of(component=make.pick("kubelet", ""), host=make.pick("n1", "", None))),
        message: make.pick("hello", "  two\nlines \n", ""),
        reporter: make.pick("sched", "", None),
    }
    return make.of(
        **parts,
        type=make.pick("Normal", "Warning"),
        reason=make.word(),
        eventTime=make.maybe(make.micro_moment),
        series=make.maybe(lambda: make.of(count=make.number(), lastObservedTime=make.maybe(make.micro_moment, 0.9)), 0.4),
        reportingInstance=make.pick("i-1", "", None),
    )


def new_event(make):
    fields = ("deprecatedFirstTimestamp", "deprecatedLastTimestamp", "deprecatedCount", "regarding", "deprecatedSource", "note")
    return event(make, (*fields, "reportingController"))


def config_map(make):
    return make.of(data=make.maybe(make.labels), binaryData=make.maybe(lambda: {"b": "MQ=="}, 0.3))


def secret(make):
    return make.of(type=make.pick("Opaque", "kubernetes.io/tls", None), data=make.maybe(lambda: {make.name(): "MQ==", "k": ""}))


def service_account(make):
    return make.of(secrets=make.maybe(lambda: make.several(lambda: {"name": make.name()})))


def quota(make):
    def amounts():
        names = make.random.sample(["cpu", "pods", "limits.cpu", "limits.memory", "requests.storage", "count/jobs.batch", "limits"], 4)
        return {name: make.quantity() for name in names}

    return {"status": make.of(hard=make.maybe(amounts, 0.9), used=make.maybe(amounts, 0.9))}


def modes(make):
    return make.several(lambda: make.pick("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"))


def volume(make):
    return {
        "spec": make.of(
            capacity=make.maybe(lambda: {"storage": make.quantity()}),
            accessModes=modes(make),
            persistentVolumeReclaimPolicy=make.pick("Retain", "Delete", None),
            claimRef=make.maybe(lambda: {"namespace": "n", "name": make.name()}),
            storageClassName=make.maybe(make.word),
            volumeAttributesClassName=make.pick("gold", "", None),
            volumeMode=make.pick("Block", "Filesystem", None),
        ),
        "status": make.of(phase=make.pick("Bound", "Available", None), reason=make.maybe(make.word, 0.3)),
    }


def claim(make):
    return {
        "spec": make.of(
            volumeName=make.maybe(make.word),
            storageClassName=make.maybe(make.word),
            volumeAttributesClassName=make.pick("gold", None),
            volumeMode=make.pick("Block", None),
        ),
        "status": make.of(
            phase=make.pick("Bound", "Lost", None), accessModes=modes(make), capacity=make.maybe(lambda: {"storage": make.quantity()})
        ),
    }


def storage_class(make):
    return make.of(
        provisioner=make.word(),
        reclaimPolicy=make.pick("Retain", None),
        volumeBindingMode=make.pick("WaitForFirstConsumer", None),
        allowVolumeExpansion=make.truth(),
    )


def attributes_class(make):
    return {"driverName": make.word()}


def csi_node(make):
    return {"spec": make.of(drivers=make.maybe(lambda: make.several(lambda: {"name": "d"})))}


def csi_driver(make):
    return {
        "spec": make.of(
            attachRequired=make.truth(),
            podInfoOnMount=make.truth(),
            storageCapacity=make.truth(),
            requiresRepublish=make.truth(),
            tokenRequests=make.maybe(lambda: make.several(lambda: {"audience": make.word()}, 2)),
            volumeLifecycleModes=make.maybe(lambda: make.several(lambda: make.pick("Persistent", "Ephemeral"), 2)),
        )
    }


def attachment(make):
    return {
        "spec": {"attacher": make.word(), "nodeName": make.name(), "source": make.of(persistentVolumeName=make.maybe(make.name))},
        "status": make.of(attached=make.pick(True, False)),
    }


def lease(make):
    return {"spec": make.of(holderIdentity=make.maybe(make.word))}


def priority_class(make):
    return make.of(value=make.number() - 3, globalDefault=make.truth(), preemptionPolicy=make.pick("Never", None))


def runtime_class(make):
    return {"handler": make.word()}


def flow_schema(make):
    return {
        "spec": make.of(
            priorityLevelConfiguration={"name": make.name()},
            matchingPrecedence=make.pick(500, None),
            distinguisherMethod=make.maybe(lambda: {"type": make.pick("ByUser", "ByNamespace")}),
        ),
        "status": {"conditions": make.conditions("Dangling", "Other")},
    }


def priority_level(make):
    def queuing():
        return make.of(queues=make.pick(9, None), handSize=make.pick(3, None), queueLengthLimit=make.pick(5, None))

    def limited():
        response = make.of(type=make.pick("Queue", "Reject"), queuing=make.maybe(queuing))
        return make.of(nominalConcurrencyShares=make.pick(0, 20, None), limitResponse=response)

    return {"spec": make.of(type=make.pick("Limited", "Exempt"), limited=make.maybe(limited))}


def binding(make):
    def subject():
        return make.of(kind=make.pick("User", "Group", "ServiceAccount", "Other"), name=make.name(), namespace=make.word())

    return {"roleRef": {"kind": "ClusterRole", "name": make.name()}, "subjects": make.several(subject, 5)}


def signing_request(make):
    return {
        "spec": make.of(
            signerName=make.pick("e.com/s", ""), username=make.word(), expirationSeconds=make.maybe(lambda: make.pick(600, 3600, 90000, 10**8))
        ),
        "status": make.of(conditions=make.conditions("Approved", "Denied", "Failed"), certificate=make.pick("MQ==", "", None)),
    }


def webhooks(make):
    return make.of(webhooks=make.maybe(lambda: make.several(lambda: {"name": "w"})))


def policy(make):
    return {
        "spec": make.of(
            validations=make.maybe(lambda: make.several(lambda: {"expression": "true"})),
            paramKind=make.maybe(lambda: {"apiVersion": "v1", "kind": "ConfigMap"}),
        )
    }


def policy_binding(make):
    def reference():
        return make.of(name=make.pick(None, "", "p"), namespace=make.pick(None, "n"), selector=make.maybe(make.selector))

    return {"spec": make.of(policyName=make.name(), paramRef=make.maybe(reference))}


def resource_claim(make):
    return {
        "status": make.of(
            allocation=make.maybe(dict), reservedFor=make.maybe(lambda: make.several(lambda: {"resource": "pods", "name": "p", "uid": "u"}, 2))
        )
    }


def resource_slice(make):
    return {"spec": make.of(nodeName=make.maybe(make.name), driver=make.word(), pool={"name": make.name()})}


KINDS = [
    ("v1", "Pod", "pods", pod),
    ("v1", "Pod", "pods", pod),
    ("v1", "Pod", "pods", pod),
    ("v1", "PodTemplate", "podtemplates", pod_template),
    ("v1", "ReplicationController", "replicationcontrollers", replication_controller),
    ("apps/v1", "ReplicaSet", "replicasets", replicated),
    ("apps/v1", "Deployment", "deployments", replicated),
    ("apps/v1", "StatefulSet", "statefulsets", replicated),
    ("apps/v1", "DaemonSet", "daemonsets", daemon_set),
    ("apps/v1", "ControllerRevision", "controllerrevisions", revision),
    ("batch/v1", "Job", "jobs", job),
    ("batch/v1", "CronJob", "cronjobs", cron_job),
    ("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", disruption_budget),
    ("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", autoscaler),
    ("autoscaling/v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers", autoscaler_v1),
    ("v1", "Service", "services", service),
    ("v1", "Endpoints", "endpoints", endpoints),
    ("discovery.k8s.io/v1", "EndpointSlice", "endpointslices", endpoint_slice),
    ("networking.k8s.io/v1", "Ingress", "ingresses", ingress),
    ("networking.k8s.io/v1", "IngressClass", "ingressclasses", ingress_class),
    ("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", network_policy),
    ("networking.k8s.io/v1", "ServiceCIDR", "servicecidrs", service_cidr),
    ("networking.k8s.io/v1", "IPAddress", "ipaddresses", ip_address),
    ("v1", "Node", "nodes", node),
    ("v1", "Namespace", "namespaces", namespace),
    ("v1", "Event", "events", event),
    ("events.k8s.io/v1", "Event", "events", new_event),
    ("v1", "ConfigMap", "configmaps", config_map),
    ("v1", "Secret", "secrets", secret),
    ("v1", "ServiceAccount", "serviceaccounts", service_account),
    ("v1", "ResourceQuota", "resourcequotas", quota),
    ("v1", "PersistentVolume", "persistentvolumes", volume),
    ("v1", "PersistentVolumeClaim", "persistentvolumeclaims", claim),
    ("storage.k8s.io/v1", "StorageClass", "storageclasses", storage_class),
    ("storage.k8s.io/v1", "VolumeAttributesClass", "volumeattributesclasses", attributes_class),
    ("storage.k8s.io/v1", "CSINode", "csinodes", csi_node),
    ("storage.k8s.io/v1", "CSIDriver", "csidrivers", csi_driver),
    ("storage.k8s.io/v1", "VolumeAttachment", "volumeattachments", attachment),
    ("coordination.k8s.io/v1", "Lease", "leases", lease),
    ("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", priority_class),
    ("node.k8s.io/v1", "RuntimeClass", "runtimeclasses", runtime_class),
    ("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", "flowschemas", flow_schema),
    ("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", "prioritylevelconfigurations", priority_level),
    ("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", binding),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", binding),
    ("certificates.k8s.io/v1", "CertificateSigningRequest", "certificatesigningrequests", signing_request),
    ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", webhooks),
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", webhooks),
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", policy),
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", policy_binding),
    ("resource.k8s.io/v1", "ResourceClaim", "resourceclaims", resource_claim),
    ("resource.k8s.io/v1", "ResourceSlice", "resourceslices", resource_slice),
]


def cases(seed, count):
    """`count` of them: the resource and an object of it."""
    make = Make(seed)
    for i in range(count):
        version, kind, plural, body = KINDS[i % len(KINDS)]
        parts = body(make)
        yield {"plural": plural, "object": {"apiVersion": version, "kind": kind, "metadata": make.metadata(), **parts}}
