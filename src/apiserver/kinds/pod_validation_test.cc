#include "apiserver/kinds/pod_spec.h"
#include "apiserver/kinds/podspec/field.h"
#include "json/parse.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::apiserver {
namespace {

using Lines = std::vector<std::string>;

Lines lines(const FieldErrors& errors) {
  Lines out;
  for (const model::StatusCause& cause : errors.causes()) {
    out.push_back(cause.field + ": " + cause.message);
  }
  return out;
}

// The complaints about a pod with these members of its spec beside a good container.
Lines about_spec(std::string_view members) {
  json::Document pod =
      *json::parse(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"x"}])" +
                   std::string(members.empty() ? "" : ",") + std::string(members) + "}}");
  default_pod_spec(pod.arena, *pod.root.find("spec"));
  FieldErrors errors;
  validate_pod(pod.root, errors);
  return lines(errors);
}

// The same with members of its only container.
Lines about_container(std::string_view members) {
  json::Document pod = *json::parse(R"({"spec":{"volumes":[{"name":"v"},{"name":"claim",)"
                                    R"("persistentVolumeClaim":{"claimName":"k"}}],)"
                                    R"("containers":[{"name":"c","image":"x",)" +
                                    std::string(members) + "}]}}");
  default_pod_spec(pod.arena, *pod.root.find("spec"));
  FieldErrors errors;
  validate_pod(pod.root, errors);
  return lines(errors);
}

Lines about_volume(std::string_view members) {
  return about_spec(R"("volumes":[{"name":"v",)" + std::string(members) + "}]");
}

TEST(PodValidation, says_nothing_about_a_pod_that_uses_all_of_it) {
  EXPECT_EQ(about_spec(""), Lines{});
  EXPECT_EQ(about_container(
                R"("ports":[{"name":"web","containerPort":80,"hostPort":80},{"containerPort":81}],
      "env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['a/b']"}}},
             {"name":"B","valueFrom":{"resourceFieldRef":{"resource":"limits.memory","divisor":"1Mi"}}},
             {"name":"C","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}],
      "envFrom":[{"prefix":"A_","configMapRef":{"name":"m"}}],
      "volumeMounts":[{"name":"v","mountPath":"/v","subPath":"a/b","readOnly":true,
                       "recursiveReadOnly":"Enabled","mountPropagation":"None"}],
      "volumeDevices":[{"name":"claim","devicePath":"/dev/k"}],
      "livenessProbe":{"httpGet":{"port":"web"},"terminationGracePeriodSeconds":5},
      "readinessProbe":{"tcpSocket":{"port":80},"successThreshold":2},
      "startupProbe":{"grpc":{"port":80}},
      "lifecycle":{"preStop":{"sleep":{"seconds":30}},"postStart":{"exec":{"command":["true"]}}},
      "resources":{"requests":{"cpu":"1","nvidia.com/gpu":1},"limits":{"cpu":"2",
        "nvidia.com/gpu":"1","hugepages-2Mi":"4Mi"}},
      "securityContext":{"runAsUser":0,"seccompProfile":{"type":"Localhost","localhostProfile":"a/b"},
        "appArmorProfile":{"type":"Unconfined"},"allowPrivilegeEscalation":false,
        "capabilities":{"add":["NET_ADMIN"]}})"),
            Lines{});
  EXPECT_EQ(about_spec(R"("dnsPolicy":"None","dnsConfig":{"nameservers":["1.1.1.1","::1"],
      "searches":["a.b","_c.d.","."],"options":[{"name":"ndots"}]},
      "hostAliases":[{"ip":"10.0.0.1","hostnames":["a.b"]}],
      "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{
          "nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}],
                                "matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]}},
        "podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":100,
          "podAffinityTerm":{"topologyKey":"zone","labelSelector":{"matchLabels":{"a":"b"}},
                             "matchLabelKeys":["c"]}}]}},
      "topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","minDomains":2,
        "whenUnsatisfiable":"DoNotSchedule","labelSelector":{}}],
      "tolerations":[{"operator":"Exists"},{"key":"a","value":"b","effect":"NoExecute",
        "tolerationSeconds":3}],
      "securityContext":{"sysctls":[{"name":"net/ipv4/ip_forward","value":"1"}],"fsGroup":1,
        "supplementalGroups":[1,2],"fsGroupChangePolicy":"OnRootMismatch"},
      "initContainers":[{"name":"side","image":"x","restartPolicy":"Always",
        "startupProbe":{"exec":{"command":["true"]}}}],
      "resourceClaims":[{"name":"d","resourceClaimName":"x"}],
      "schedulingGates":[{"name":"example.com/a"}],"os":{"name":"linux"})"),
            Lines{});
}

TEST(PodValidation, wants_one_action_of_a_probe_and_all_it_needs) {
  EXPECT_EQ(about_container(R"("livenessProbe":{"periodSeconds":5})"),
            Lines{"spec.containers[0].livenessProbe: Required value: must specify a handler type"});
  EXPECT_EQ(
      about_container(
          R"("livenessProbe":{"exec":{"command":["a"]},"httpGet":{"port":1},"tcpSocket":{"port":1}})"),
      (Lines{"spec.containers[0].livenessProbe.httpGet: Forbidden: may not specify more than 1 "
             "handler type",
             "spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 "
             "handler type"}));
  EXPECT_EQ(about_container(R"("readinessProbe":{"httpGet":{"path":"/"}})"),
            Lines{"spec.containers[0].readinessProbe.httpGet.port: Invalid value: 0: must be "
                  "between 1 and 65535, inclusive"});
  EXPECT_EQ(about_container(R"("lifecycle":{"preStop":{"sleep":{"seconds":31}}})"),
            Lines{"spec.containers[0].lifecycle.preStop.sleep: Invalid value: 31: must be "
                  "non-negative and less than terminationGracePeriodSeconds (30)"});
}

TEST(PodValidation, wants_one_source_of_a_variable) {
  EXPECT_EQ(
      about_container(R"("env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"spec.x"}}}])"),
      Lines{"spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "
            "\"spec.x\": error converting fieldPath: field label not supported: spec.x"});
  EXPECT_EQ(about_container(R"("env":[{"name":"A","value":"1","valueFrom":{"fieldRef":)"
                            R"({"fieldPath":"metadata.name"}}}])"),
            Lines{"spec.containers[0].env[0].valueFrom: Invalid value: \"\": may not be specified "
                  "when `value` is not empty"});
  EXPECT_EQ(about_container(R"("envFrom":[{}])"),
            Lines{"spec.containers[0].envFrom: Invalid value: \"\": must specify one of: "
                  "`configMapRef` or `secretRef`"});
}

TEST(PodValidation, wants_one_source_of_a_volume_and_paths_inside_it) {
  EXPECT_EQ(
      about_volume(R"("emptyDir":{},"downwardAPI":{})"),
      Lines{"spec.volumes[0].downwarAPI: Forbidden: may not specify more than 1 volume type"});
  EXPECT_EQ(about_volume(R"("gcePersistentDisk":{})"),
            Lines{"spec.volumes[0].persistentDisk.pdName: Required value"});
  EXPECT_EQ(about_volume(R"("configMap":{"name":"m","defaultMode":512,)"
                         R"("items":[{"key":"k","path":"../a"}]})"),
            (Lines{"spec.volumes[0].configMap.defaultMode: Invalid value: 512: must be a number "
                   "between 0 and 0777 (octal), both inclusive",
                   "spec.volumes[0].configMap.items[0].path: Invalid value: \"../a\": must not "
                   "contain '..'"}));
  EXPECT_EQ(about_volume(R"("projected":{"sources":[{"secret":{"name":"s","items":)"
                         R"([{"key":"k","path":"p"}]}},{"downwardAPI":{"items":)"
                         R"([{"path":"p","fieldRef":{"fieldPath":"metadata.name"}}]}}]})"),
            Lines{"spec.volumes[0].projected: Invalid value: \"p\": conflicting duplicate paths"});
  EXPECT_EQ(about_volume(R"("projected":{"sources":[{"clusterTrustBundle":)"
                         R"({"name":"b","path":"../x"}},{"clusterTrustBundle":{"path":"y"}}]})"),
            (Lines{"spec.volumes[0].projected.sources[0].clusterTrustBundle.path: Invalid value: "
                   "\"../x\": must not contain '..'",
                   "spec.volumes[0].projected.sources[1].clusterTrustBundle: Required value: "
                   "either name or signerName must be specified"}));
  EXPECT_EQ(about_volume(R"("projected":{"sources":[{"clusterTrustBundle":)"
                         R"({"signerName":"example.com/s","labelSelector":{},"path":"x"}}]})"),
            Lines{});
}

TEST(PodValidation, mounts_only_volumes_without_fault) {
  EXPECT_EQ(about_spec(R"("volumes":[{"name":"v","hostPath":{}}],"initContainers":[{"name":"i",)"
                       R"("image":"x","volumeMounts":[{"name":"v","mountPath":"/v"}]}])"),
            (Lines{"spec.volumes[0].hostPath.path: Required value",
                   "spec.initContainers[0].volumeMounts[0].name: Not found: \"v\""}));
  EXPECT_EQ(about_container(R"("volumeDevices":[{"name":"v","devicePath":"/d"}])"),
            Lines{"spec.containers[0].volumeDevices[0].name: Invalid value: \"v\": can only use "
                  "volume source type of PersistentVolumeClaim or Ephemeral for block mode"});
}

TEST(PodValidation, keeps_privileges_apart) {
  EXPECT_EQ(
      about_container(R"("securityContext":{"privileged":true,"allowPrivilegeEscalation":false})"),
      Lines{"spec.containers[0].securityContext: Invalid value: {\"Capabilities\":null,"
            "\"Privileged\":true,\"SELinuxOptions\":null,\"WindowsOptions\":null,"
            "\"RunAsUser\":null,\"RunAsGroup\":null,\"RunAsNonRoot\":null,"
            "\"ReadOnlyRootFilesystem\":null,\"AllowPrivilegeEscalation\":false,"
            "\"ProcMount\":null,\"SeccompProfile\":null,\"AppArmorProfile\":null}: cannot set "
            "`allowPrivilegeEscalation` to false and `privileged` to true"});
  EXPECT_EQ(about_spec(R"("hostNetwork":true,"securityContext":{"sysctls":)"
                       R"([{"name":"net/core/x","value":"1"}]})"),
            Lines{"spec.securityContext.sysctls[0].name: Invalid value: \"net/core/x\": may not be "
                  "specified when 'hostNetwork' is true"});
}

TEST(PodValidation, knows_where_a_pod_may_be) {
  EXPECT_EQ(about_spec(R"("affinity":{"podAntiAffinity":{)"
                       R"("preferredDuringSchedulingIgnoredDuringExecution":[{"weight":101,)"
                       R"("podAffinityTerm":{"topologyKey":"zone"}}]}})"),
            Lines{"spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]"
                  ".weight: Invalid value: 101: must be in the range 1-100"});
  EXPECT_EQ(about_spec(R"("topologySpreadConstraints":[)"
                       R"({"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"ScheduleAnyway"},)"
                       R"({"maxSkew":2,"topologyKey":"z","whenUnsatisfiable":"ScheduleAnyway"}])"),
            Lines{"spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate "
                  "value: \"{z, ScheduleAnyway}\""});
}

TEST(PodValidation, holds_what_its_containers_ask_for_together) {
  EXPECT_EQ(about_spec(R"("resources":{"requests":{"cpu":"1"}},"initContainers":[)"
                       R"({"name":"s","image":"x","restartPolicy":"Always",)"
                       R"("resources":{"requests":{"cpu":"600m"}}},)"
                       R"({"name":"i","image":"x","resources":{"requests":{"cpu":"500m"}}}])"),
            Lines{"spec.resources.requests[cpu]: Invalid value: \"1\": must be greater than or "
                  "equal to aggregate container requests of 1100m"});
}

TEST(PodValidation, takes_each_init_container_for_the_first_when_ports_collide) {
  EXPECT_EQ(about_spec(R"("initContainers":[{"name":"i","image":"x"},{"name":"j","image":"x",)"
                       R"("ports":[{"containerPort":1,"hostPort":1},)"
                       R"({"containerPort":2,"hostPort":1}]}])"),
            Lines{"spec.initContainers[0].ports[1].hostPort: Duplicate value: \"TCP//1\""});
}

TEST(Field, says_where_it_is) {
  const json::Document document = *json::parse(R"({"a":[{"b":{"c/d":1}}]})");
  FieldErrors errors;
  const Field root(document.root, "spec", errors);
  const Field list = root["a"];
  list.each([](const Field& item) {
    const Field map = item["b"];
    map.each_entry([](const Field& entry) { entry.invalid("", "odd"); });
    item.required("none");
    map.called("x").required("y");
  });
  EXPECT_EQ(lines(errors),
            (Lines{"spec.a[0].b[c/d]: Invalid value: 1: odd", "spec.a[0].none: Required value",
                   "spec.a[0].x.y: Required value"}));
  EXPECT_FALSE(root["none"].given());
}

}  // namespace
}  // namespace codeflare::apiserver
