#include "json/parse.h"
#include "json/write.h"
#include "model/codec/apps.h"
#include "model/codec/core.h"
#include "model/codec/custom_resource_definition.h"
#include "model/codec/event.h"
#include "model/codec/job.h"
#include "model/codec/node.h"
#include "model/codec/pod.h"
#include "model/codec/service.h"
#include "model/resources.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

// Objects as servers send them: what is read and written again must be the same JSON, also when a
// newer server has added members to every object in the tree.
namespace codeflare::model {
namespace {

// Members whose keys are data: anything added there would be data too.
bool is_map(std::string_view key) {
  constexpr std::array<std::string_view, 13> kMaps = {
      "labels",     "annotations", "matchLabels", "nodeSelector", "limits",
      "requests",   "overhead",    "capacity",    "allocatable",  "data",
      "stringData", "binaryData",  "selector"};
  return std::ranges::find(kMaps, key) != kMaps.end();
}

std::size_t add_unknown_members(json::Arena& arena, json::Value& value, bool map) {
  std::size_t added = 0;
  for (json::Value& item : value.items()) {
    added += add_unknown_members(arena, item, false);
  }
  for (json::Member& member : value.members()) {
    // A label selector is not a map, the selector of a Service is one.
    const bool plain = is_map(member.key) && member.value.find("matchLabels") == nullptr;
    added += add_unknown_members(arena, member.value, plain);
  }
  if (value.is_object() && !map) {
    json::Value list = json::Value::array();
    list.push_back(arena, json::Value::number_text("1.50"));
    list.push_back(arena, json::Value());
    value.set(arena, "notYetInvented", list);
    ++added;
  }
  return added;
}

template <typename T>
void expect_round_trip(std::string_view text) {
  Result<json::Document> document = json::parse(text);
  ASSERT_TRUE(document.has_value()) << document.error().message;
  Result<T> object = from_json<T>(document->root);
  ASSERT_TRUE(object.has_value()) << object.error().message;
  json::Arena arena;
  EXPECT_TRUE(json::equal(to_json(arena, *object), document->root)) << to_json_text(*object);
  Result<json::Document> written = json::parse(to_json_text(*object));
  ASSERT_TRUE(written.has_value());
  Result<T> again = from_json<T>(written->root);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(*again, *object);

  EXPECT_GT(add_unknown_members(document->arena, document->root, false), 1u);
  object = from_json<T>(document->root);
  ASSERT_TRUE(object.has_value()) << object.error().message;
  EXPECT_TRUE(json::equal(to_json(arena, *object), document->root)) << to_json_text(*object);
  EXPECT_EQ(object->extra.find("notYetInvented"), "[1.50,null]");
}

TEST(Kinds, pod) {
  expect_round_trip<Pod>(R"({
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {
      "name": "trainer-0", "generateName": "trainer-", "namespace": "ml", "uid": "6f1c-11",
      "resourceVersion": "1042", "generation": 2, "creationTimestamp": "2026-03-01T10:00:00Z",
      "deletionTimestamp": "2026-03-01T11:00:00Z", "deletionGracePeriodSeconds": 0,
      "labels": {"app": "trainer", "batch.kubernetes.io/job-completion-index": "0"},
      "annotations": {"example.com/empty": ""},
      "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "trainer",
        "uid": "6f1c-10", "controller": true, "blockOwnerDeletion": false}],
      "finalizers": ["batch.kubernetes.io/job-tracking"],
      "managedFields": [{"manager": "kube-controller-manager", "operation": "Update",
        "apiVersion": "v1", "time": "2026-03-01T10:00:00Z", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:metadata": {"f:labels": {".": {}}}}, "subresource": "status"}]
    },
    "spec": {
      "volumes": [
        {"name": "scratch", "emptyDir": {"medium": "Memory", "sizeLimit": "2Gi"}},
        {"name": "plain", "emptyDir": {}},
        {"name": "conf", "configMap": {"name": "conf", "defaultMode": 420, "optional": false,
          "items": [{"key": "a", "path": "etc/a", "mode": 256}]}},
        {"name": "cert", "secret": {"secretName": "cert", "defaultMode": 420}},
        {"name": "host", "hostPath": {"path": "/dev", "type": ""}},
        {"name": "claim", "persistentVolumeClaim": {"claimName": "data", "readOnly": true}},
        {"name": "me", "downwardAPI": {"items": [{"path": "labels",
          "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.labels"}}]}},
        {"name": "kube-api-access", "projected": {"defaultMode": 420, "sources": [
          {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
          {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt",
            "path": "ca.crt"}]}},
          {"downwardAPI": {"items": [{"path": "namespace",
            "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}}]}},
        {"name": "share", "nfs": {"server": "10.0.0.1", "path": "/exports"}}
      ],
      "initContainers": [{"name": "proxy", "image": "proxy:1", "restartPolicy": "Always",
        "resources": {}}],
      "containers": [{
        "name": "main", "image": "registry.example/trainer:2", "command": ["python"],
        "args": ["-m", "train", ""], "workingDir": "/src",
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP", "hostPort": 80,
          "hostIP": "127.0.0.1"}],
        "envFrom": [{"prefix": "X_", "configMapRef": {"name": "env"}},
                    {"secretRef": {"name": "env", "optional": true}}],
        "env": [
          {"name": "PLAIN", "value": "1"},
          {"name": "POD", "valueFrom": {"fieldRef": {"apiVersion": "v1",
            "fieldPath": "metadata.name"}}},
          {"name": "CPUS", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu",
            "divisor": "0"}}},
          {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
        "resources": {"limits": {"cpu": "2", "memory": "4Gi", "nvidia.com/gpu": "1"},
                      "requests": {"cpu": "1500m", "memory": "4Gi", "nvidia.com/gpu": "1"}},
        "volumeMounts": [{"name": "scratch", "mountPath": "/tmp", "subPath": "t"},
          {"name": "kube-api-access", "readOnly": true,
           "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}],
        "livenessProbe": {"exec": {"command": ["true"]}, "initialDelaySeconds": 3,
          "timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3},
        "readinessProbe": {"httpGet": {"path": "/ready", "port": "http", "scheme": "HTTP",
          "httpHeaders": [{"name": "X", "value": "y"}]}},
        "startupProbe": {"grpc": {"port": 9000, "service": "s"}},
        "lifecycle": {"preStop": {"sleep": {"seconds": 5}},
                      "postStart": {"tcpSocket": {"port": 80}}},
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent", "tty": true, "stdin": true,
        "securityContext": {"runAsUser": 1000, "capabilities": {"drop": ["ALL"]}}
      }],
      "restartPolicy": "Never", "terminationGracePeriodSeconds": 30, "activeDeadlineSeconds": 600,
      "dnsPolicy": "ClusterFirst", "nodeSelector": {"zone": "a"}, "serviceAccountName": "default",
      "serviceAccount": "default", "automountServiceAccountToken": false, "nodeName": "n1",
      "securityContext": {"fsGroup": 100}, "imagePullSecrets": [{"name": "pull"}],
      "hostname": "trainer-0", "subdomain": "trainer",
      "affinity": {
        "nodeAffinity": {
          "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "gpus", "operator": "Gt", "values": ["1"]}],
             "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]},
          "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 10, "preference":
            {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}}]},
        "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1,
          "podAffinityTerm": {"topologyKey": "zone",
            "labelSelector": {"matchLabels": {"app": "trainer"}}}}]},
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{
          "labelSelector": {"matchExpressions": [{"key": "app", "operator": "In",
            "values": ["trainer"]}]},
          "namespaces": ["ml"], "topologyKey": "kubernetes.io/hostname",
          "namespaceSelector": {}}]}},
      "schedulerName": "codeflare",
      "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists",
        "effect": "NoExecute", "tolerationSeconds": 300}, {"operator": "Exists"}],
      "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a"]}],
      "priorityClassName": "high", "priority": 0, "preemptionPolicy": "PreemptLowerPriority",
      "readinessGates": [{"conditionType": "x"}], "runtimeClassName": "gvisor",
      "enableServiceLinks": true, "overhead": {"cpu": "250m"},
      "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"a": "b"}},
        "minDomains": 2, "nodeAffinityPolicy": "Honor", "matchLabelKeys": ["h"]}],
      "schedulingGates": [{"name": "wait"}], "resources": {"limits": {"memory": "8Gi"}},
      "dnsConfig": {"nameservers": ["1.1.1.1"]}
    },
    "status": {
      "observedGeneration": 2, "phase": "Running", "message": "m", "reason": "r",
      "conditions": [{"type": "Ready", "status": "False", "observedGeneration": 2,
        "lastProbeTime": null, "lastTransitionTime": "2026-03-01T10:00:01Z",
        "reason": "ContainersNotReady", "message": "containers with unready status: [main]"}],
      "hostIP": "192.168.1.1", "hostIPs": [{"ip": "192.168.1.1"}], "podIP": "10.244.0.5",
      "podIPs": [{"ip": "10.244.0.5"}], "startTime": "2026-03-01T10:00:00Z",
      "initContainerStatuses": [{"name": "proxy", "state": {"running": {
        "startedAt": "2026-03-01T10:00:00Z"}}, "lastState": {}, "ready": true, "restartCount": 0,
        "image": "proxy:1", "imageID": "sha256:1", "started": true}],
      "containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "CrashLoopBackOff",
        "message": "back-off"}}, "lastState": {"terminated": {"exitCode": 137, "signal": 9,
        "reason": "OOMKilled", "startedAt": "2026-03-01T10:00:00Z",
        "finishedAt": "2026-03-01T10:00:09Z", "containerID": "c://1"}}, "ready": false,
        "restartCount": 3, "image": "x", "imageID": "y", "containerID": "c://1",
        "started": false, "resources": {"requests": {"cpu": "1500m"}}}],
      "qosClass": "Burstable"
    }})");
}

TEST(Kinds, node) {
  expect_round_trip<Node>(R"({
    "apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"a": "b"}},
    "spec": {"podCIDR": "10.244.0.0/24", "podCIDRs": ["10.244.0.0/24"], "providerID": "kwok://n1",
      "unschedulable": true, "taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"},
      {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule",
       "timeAdded": "2026-03-01T10:00:00Z"}]},
    "status": {"capacity": {"cpu": "32", "memory": "263856980Ki", "pods": "110"},
      "allocatable": {"cpu": "31500m", "memory": "253Gi", "pods": "110"},
      "conditions": [{"type": "Ready", "status": "True",
        "lastHeartbeatTime": "2026-03-01T10:00:00Z", "lastTransitionTime": "2026-03-01T09:00:00Z",
        "reason": "KubeletReady", "message": "kubelet is posting ready status"}],
      "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
      "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
      "nodeInfo": {"machineID": "", "systemUUID": "", "bootID": "", "kernelVersion": "6.1",
        "osImage": "Debian GNU/Linux 12", "containerRuntimeVersion": "containerd://1.7",
        "kubeletVersion": "v1.34.4", "kubeProxyVersion": "", "operatingSystem": "linux",
        "architecture": "amd64"},
      "images": [{"names": ["a:1"], "sizeBytes": 100}], "volumesInUse": ["v"]}})");
}

TEST(Kinds, service) {
  expect_round_trip<Service>(R"({
    "apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "d"},
    "spec": {"ports": [{"name": "http", "protocol": "TCP", "appProtocol": "http", "port": 80,
        "targetPort": 8080, "nodePort": 30080}, {"port": 81, "targetPort": "admin"}],
      "selector": {"app": "web"}, "clusterIP": "10.96.0.10", "clusterIPs": ["10.96.0.10"],
      "type": "NodePort", "sessionAffinity": "None", "externalTrafficPolicy": "Cluster",
      "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack", "internalTrafficPolicy": "Cluster",
      "publishNotReadyAddresses": true},
    "status": {"loadBalancer": {}}})");
}

TEST(Kinds, job) {
  expect_round_trip<Job>(R"({
    "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "generation": 1},
    "spec": {"parallelism": 4, "completions": 4, "activeDeadlineSeconds": 100, "backoffLimit": 0,
      "completionMode": "Indexed", "suspend": false, "manualSelector": true,
      "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}},
      "ttlSecondsAfterFinished": 0, "podReplacementPolicy": "TerminatingOrFailed",
      "podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [
        {"type": "DisruptionTarget", "status": "True"}]}]},
      "template": {"metadata": {"creationTimestamp": null, "labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": {}}],
          "restartPolicy": "Never"}}},
    "status": {"conditions": [{"type": "Complete", "status": "True",
        "lastProbeTime": "2026-03-01T10:00:00Z", "lastTransitionTime": "2026-03-01T10:00:00Z"}],
      "startTime": "2026-03-01T09:00:00Z", "completionTime": "2026-03-01T10:00:00Z", "active": 1,
      "succeeded": 3, "failed": 1, "terminating": 0, "completedIndexes": "0-2",
      "uncountedTerminatedPods": {"succeeded": ["u1"]}, "ready": 0}})");
}

TEST(Kinds, event_of_both_groups) {
  expect_round_trip<Event>(R"({
    "apiVersion": "v1", "kind": "Event", "metadata": {"name": "p.17", "namespace": "d"},
    "involvedObject": {"kind": "Pod", "namespace": "d", "name": "p", "uid": "u",
      "apiVersion": "v1", "resourceVersion": "7", "fieldPath": "spec.containers{c}"},
    "reason": "Pulled", "message": "m", "source": {"component": "kubelet", "host": "n1"},
    "firstTimestamp": "2026-03-01T10:00:00Z", "lastTimestamp": "2026-03-01T10:00:00Z", "count": 1,
    "type": "Normal", "eventTime": null, "reportingComponent": "kubelet",
    "reportingInstance": "n1"})");
  expect_round_trip<EventsV1Event>(R"({
    "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "p.17"},
    "eventTime": "2026-03-01T10:00:00.000001Z",
    "series": {"count": 2, "lastObservedTime": "2026-03-01T10:00:01.500000Z"},
    "reportingController": "codeflare/queue", "reportingInstance": "codeflare-0",
    "action": "Admit", "reason": "Admitted", "regarding": {"kind": "Job", "name": "j"},
    "related": {"kind": "Node", "name": "n1"}, "note": "n", "type": "Warning",
    "deprecatedFirstTimestamp": null, "deprecatedCount": 2,
    "deprecatedSource": {"component": "c"}})");
}

TEST(Kinds, lease) {
  expect_round_trip<Lease>(R"({
    "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"},
    "spec": {"holderIdentity": "", "leaseDurationSeconds": 15,
      "acquireTime": "2026-03-01T10:00:00.000000Z", "renewTime": "2026-03-01T10:00:02.123456Z",
      "leaseTransitions": 0}})");
}

TEST(Kinds, namespace_secret_config_map_and_service_account) {
  expect_round_trip<Namespace>(R"({
    "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "d"},
    "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active", "conditions": [
      {"type": "NamespaceContentRemaining", "status": "False", "lastTransitionTime": null}]}})");
  expect_round_trip<Secret>(R"({
    "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "immutable": true,
    "data": {"token": "AP8=", "empty": ""}, "stringData": {"a": "b"}, "type": "Opaque"})");
  expect_round_trip<ConfigMap>(R"({
    "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "immutable": false,
    "data": {"z": "1", "a": "line\nline"}, "binaryData": {"b": "AA=="}})");
  expect_round_trip<ServiceAccount>(R"({
    "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"},
    "secrets": [{"name": "t"}], "imagePullSecrets": [{"name": "p"}],
    "automountServiceAccountToken": false})");
}

TEST(Kinds, persistent_volume_claim) {
  expect_round_trip<PersistentVolumeClaim>(R"({
    "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}},
      "volumeName": "pv-1", "storageClassName": "", "volumeMode": "Filesystem",
      "selector": {"matchLabels": {"a": "b"}}, "dataSource": {"kind": "PersistentVolumeClaim",
      "name": "other"}},
    "status": {"phase": "Bound", "accessModes": ["ReadWriteOnce"],
      "capacity": {"storage": "10Gi"}}})");
}

TEST(Kinds, deployment_replica_set_and_stateful_set) {
  expect_round_trip<Deployment>(R"({
    "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
    "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "web"}},
      "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [
        {"name": "c"}]}},
      "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%",
        "maxSurge": 1}}, "minReadySeconds": 5, "revisionHistoryLimit": 10, "paused": true,
      "progressDeadlineSeconds": 600},
    "status": {"observedGeneration": 3, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 1,
      "availableReplicas": 1, "unavailableReplicas": 1, "collisionCount": 0, "conditions": [
      {"type": "Available", "status": "True", "lastUpdateTime": "2026-03-01T10:00:00Z",
       "lastTransitionTime": "2026-03-01T10:00:00Z", "reason": "R", "message": "m"}]}})");
  expect_round_trip<ReplicaSet>(R"({
    "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web-1"},
    "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": {
      "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c"}]}}},
    "status": {"replicas": 0, "fullyLabeledReplicas": 1, "readyReplicas": 1,
      "availableReplicas": 1, "observedGeneration": 1}})");
  expect_round_trip<StatefulSet>(R"({
    "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"},
    "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "db"}}, "serviceName": "db",
      "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": []}},
      "volumeClaimTemplates": [{"kind": "PersistentVolumeClaim", "apiVersion": "v1",
        "metadata": {"name": "data", "creationTimestamp": null},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        "status": {"phase": "Pending"}}, {"metadata": {"name": "bare"}}],
      "podManagementPolicy": "Parallel", "updateStrategy": {"type": "OnDelete"},
      "revisionHistoryLimit": 10},
    "status": {"observedGeneration": 1, "replicas": 3, "readyReplicas": 3, "currentReplicas": 3,
      "updatedReplicas": 3, "currentRevision": "db-1", "updateRevision": "db-1",
      "collisionCount": 0, "availableReplicas": 3}})");
}

TEST(Kinds, custom_resource_definition) {
  expect_round_trip<CustomResourceDefinition>(R"({
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "appwrappers.workload.codeflare.dev"},
    "spec": {"group": "workload.codeflare.dev", "scope": "Namespaced",
      "names": {"plural": "appwrappers", "singular": "appwrapper", "kind": "AppWrapper",
        "listKind": "AppWrapperList", "shortNames": ["aw"], "categories": ["all"]},
      "versions": [{"name": "v1beta1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": {"type": "object"}}, "subresources": {"status": {}},
        "additionalPrinterColumns": [{"name": "Age", "type": "date", "jsonPath": ".x"}]},
        {"name": "v1alpha1", "served": false, "storage": false, "deprecated": true}],
      "conversion": {"strategy": "None"}},
    "status": {"conditions": [{"type": "Established", "status": "True",
        "lastTransitionTime": "2026-03-01T10:00:00Z", "reason": "InitialNamesAccepted",
        "message": "ok"}], "acceptedNames": {"plural": "appwrappers", "kind": "AppWrapper"},
      "storedVersions": ["v1beta1"]}})");
}

TEST(Kinds, traits_say_where_a_kind_is_served) {
  EXPECT_EQ(resource_type<Pod>(), (ResourceType{"", "v1", "Pod", "pods", true}));
  EXPECT_EQ(resource_type<Node>(), (ResourceType{"", "v1", "Node", "nodes", false}));
  EXPECT_EQ(resource_type<Job>().qualified_name(), "jobs.batch");
  EXPECT_EQ(resource_type<EventsV1Event>(),
            (ResourceType{"events.k8s.io", "v1", "Event", "events", true}));
  EXPECT_EQ(ResourceTraits<CustomResourceDefinition>::api_version, "apiextensions.k8s.io/v1");
}

}  // namespace
}  // namespace codeflare::model
