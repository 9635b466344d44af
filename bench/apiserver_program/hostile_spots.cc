#include "bench/apiserver_program/hostile_spots.h"

#include <algorithm>
#include <array>

namespace codeflare::bench {

namespace {

constexpr std::string_view kServices = "/api/v1/namespaces/default/services";
constexpr std::string_view kJobs = "/apis/batch/v1/namespaces/default/jobs";
constexpr std::string_view kRoles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
constexpr std::string_view kBindings =
    "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";
constexpr std::string_view kRbac = "rbac.authorization.k8s.io/v1";
constexpr std::string_view kExtensions = "apiextensions.k8s.io/v1";
constexpr std::string_view kThingVersion = "hostile.dev/v1";

#define POD(inside) R"("spec":{"containers":[{"name":"c","image":"i")" inside "}]}"
#define POD_SPEC(inside) R"("spec":{"containers":[{"name":"c","image":"i"}],)" inside "}"
#define DEFINITION(schema)                                                                         \
  R"("spec":{"group":"made.dev","scope":"Namespaced","names":{"plural":"NAME","singular":"NAME",)" \
  R"("kind":"KNAME","listKind":"KNAMEList"},"versions":[{"name":"v1","served":true,)"              \
  R"("storage":true,"schema":{"openAPIV3Schema":{"type":"object",)" schema "}}}]}"

constexpr std::array kSpots = {
    HostileSpot{"finalizers", kMaps, "v1", "ConfigMap", R"("metadata":{META,"finalizers":[@]})",
                R"("a.b/f#")"},
    HostileSpot{"labels", kMaps, "v1", "ConfigMap", R"("metadata":{META,"labels":{@}})",
                R"("k#":"v")"},
    HostileSpot{"annotations", kMaps, "v1", "ConfigMap", R"("metadata":{META,"annotations":{@}})",
                R"("k#":"v")"},
    HostileSpot{"owners", kMaps, "v1", "ConfigMap", R"("metadata":{META,"ownerReferences":[@]})",
                R"({"apiVersion":"v1","kind":"Pod","name":"p","uid":"u#","controller":true})"},
    // Without a controller the server accepts them, and the garbage collector judges each.
    HostileSpot{"owners without controller", kMaps, "v1", "ConfigMap",
                R"("metadata":{META,"ownerReferences":[@]})",
                R"({"apiVersion":"v1","kind":"Pod","name":"p","uid":"u#"})"},
    HostileSpot{"managedFields", kMaps, "v1", "ConfigMap",
                R"("metadata":{META,"managedFields":[@]})",
                R"({"manager":"m#","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1",)"
                R"("fieldsV1":{"f:data":{"f:a":{}}}})"},
    HostileSpot{"managedFields.fields", kMaps, "v1", "ConfigMap",
                R"("metadata":{META,"managedFields":[{"manager":"m","operation":"Update",)"
                R"("apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{@}}}]})",
                R"("f:k#":{})"},
    HostileSpot{"managedFields.keys", kMaps, "v1", "ConfigMap",
                R"("metadata":{META,"managedFields":[{"manager":"m","operation":"Update",)"
                R"("apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{@}}}]})",
                R"("k:{\"a\":1,\"b#\":2,\"b#\":2}":{"f:k#":{}})"},
    HostileSpot{"unknown fields", kMaps, "v1", "ConfigMap", R"("metadata":{META},@)",
                R"("unknown#":1)"},
    HostileSpot{"unknown metadata", kMaps, "v1", "ConfigMap", R"("metadata":{META,@})",
                R"("unknown#":1)"},
    HostileSpot{"data", kMaps, "v1", "ConfigMap", R"("metadata":{META},"data":{@})", R"("k#":"v")"},
    HostileSpot{"binaryData", kMaps, "v1", "ConfigMap", R"("metadata":{META},"binaryData":{@})",
                R"("k#":"YQ==")"},
    HostileSpot{"containers", kPods, "v1", "Pod", R"("metadata":{META},"spec":{"containers":[@]})",
                R"({"name":"c#","image":"i"})"},
    HostileSpot{"initContainers", kPods, "v1", "Pod",
                R"("metadata":{META},)" POD_SPEC(R"("initContainers":[@])"),
                R"({"name":"c#","image":"i"})"},
    HostileSpot{"env", kPods, "v1", "Pod", R"("metadata":{META},)" POD(R"(,"env":[@])"),
                R"({"name":"E#","value":"v"})"},
    HostileSpot{"env references", kPods, "v1", "Pod", R"("metadata":{META},)" POD(R"(,"env":[@])"),
                R"({"name":"E#","valueFrom":{"fieldRef":{"fieldPath":"bad.#"}}})"},
    HostileSpot{"envFrom", kPods, "v1", "Pod", R"("metadata":{META},)" POD(R"(,"envFrom":[@])"),
                R"({"configMapRef":{"name":"m#"}})"},
    HostileSpot{"ports", kPods, "v1", "Pod", R"("metadata":{META},)" POD(R"(,"ports":[@])"),
                R"({"name":"p#","containerPort":#})"},
    HostileSpot{"args", kPods, "v1", "Pod", R"("metadata":{META},)" POD(R"(,"args":[@])"),
                R"("a#")"},
    HostileSpot{"limits", kPods, "v1", "Pod",
                R"("metadata":{META},)" POD(R"(,"resources":{"limits":{@},"requests":{@}})"),
                R"("e.x/r#":"1")"},
    HostileSpot{"volumeMounts", kPods, "v1", "Pod",
                R"("metadata":{META},)" POD(R"(,"volumeMounts":[@])"),
                R"({"name":"v#","mountPath":"/m#"})"},
    HostileSpot{"volumes", kPods, "v1", "Pod", R"("metadata":{META},)" POD_SPEC(R"("volumes":[@])"),
                R"({"name":"v#","emptyDir":{}})"},
    HostileSpot{
        "projected sources", kPods, "v1", "Pod",
        R"("metadata":{META},)" POD_SPEC(R"("volumes":[{"name":"v","projected":{"sources":[@]}}])"),
        R"({"configMap":{"name":"m#","items":[{"key":"k","path":"p#"}]}})"},
    HostileSpot{"tolerations", kPods, "v1", "Pod",
                R"("metadata":{META},)" POD_SPEC(R"("tolerations":[@])"),
                R"({"key":"k#","operator":"Exists"})"},
    HostileSpot{"topologySpreadConstraints", kPods, "v1", "Pod",
                R"("metadata":{META},)" POD_SPEC(R"("topologySpreadConstraints":[@])"),
                R"({"maxSkew":1,"topologyKey":"k#","whenUnsatisfiable":"DoNotSchedule"})"},
    HostileSpot{
        "spread matchLabelKeys", kPods, "v1", "Pod",
        R"("metadata":{META},)" POD_SPEC(
            R"("topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"k",)"
            R"("whenUnsatisfiable":"DoNotSchedule","labelSelector":{},"matchLabelKeys":[@]}])"),
        R"("k#")"},
    HostileSpot{"nodeSelector", kPods, "v1", "Pod",
                R"("metadata":{META},)" POD_SPEC(R"("nodeSelector":{@})"), R"("k#":"v")"},
    HostileSpot{
        "node affinity", kPods, "v1", "Pod",
        R"("metadata":{META},)" POD_SPEC(
            R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
            R"({"nodeSelectorTerms":[@]}}})"),
        R"({"matchExpressions":[{"key":"k#","operator":"In","values":["a","a"]}]})"},
    HostileSpot{
        "pod affinity labels", kPods, "v1", "Pod",
        R"("metadata":{META},)" POD_SPEC(
            R"("affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
            R"([{"topologyKey":"z","labelSelector":{"matchLabels":{@}}}]}})"),
        R"("k#":"v")"},
    HostileSpot{"hostAliases", kPods, "v1", "Pod",
                R"("metadata":{META},)" POD_SPEC(R"("hostAliases":[@])"),
                R"({"ip":"10.0.0.1","hostnames":["h#"]})"},
    HostileSpot{"imagePullSecrets", kPods, "v1", "Pod",
                R"("metadata":{META},)" POD_SPEC(R"("imagePullSecrets":[@])"), R"({"name":"s#"})"},
    HostileSpot{"readinessGates", kPods, "v1", "Pod",
                R"("metadata":{META},)" POD_SPEC(R"("readinessGates":[@])"),
                R"({"conditionType":"a.b/c#"})"},
    HostileSpot{"schedulingGates", kPods, "v1", "Pod",
                R"("metadata":{META},)" POD_SPEC(R"("schedulingGates":[@])"),
                R"({"name":"a.b/c#"})"},
    HostileSpot{"sysctls", kPods, "v1", "Pod",
                R"("metadata":{META},)" POD_SPEC(R"("securityContext":{"sysctls":[@]})"),
                R"({"name":"kernel.shm#","value":"1"})"},
    HostileSpot{"resourceClaims", kPods, "v1", "Pod",
                R"("metadata":{META},)" POD_SPEC(R"("resourceClaims":[@])"),
                R"({"name":"c#","resourceClaimName":"r#"})"},
    HostileSpot{"service ports", kServices, "v1", "Service",
                R"("metadata":{META},"spec":{"ports":[@]})", R"({"name":"p#","port":#})"},
    HostileSpot{"service addresses", kServices, "v1", "Service",
                R"("metadata":{META},"spec":{"ports":[{"port":1}],"externalIPs":[@]})",
                R"("10.1.0.#")"},
    HostileSpot{"pod failure rules", kJobs, "batch/v1", "Job",
                R"("metadata":{META},"spec":{"podFailurePolicy":{"rules":[@]},"template":{"spec":)"
                R"({"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}})",
                R"({"action":"Ignore","onExitCodes":{"operator":"In","values":[#]}})"},
    HostileSpot{"exit codes", kJobs, "batch/v1", "Job",
                R"("metadata":{META},"spec":{"podFailurePolicy":{"rules":[{"action":"Ignore",)"
                R"("onExitCodes":{"operator":"In","values":[@]}}]},"template":{"spec":)"
                R"({"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}})",
                "#"},
    HostileSpot{"role rules", kRoles, kRbac, "Role", R"("metadata":{META},"rules":[@])",
                R"({"apiGroups":[""],"resources":["r#"],"verbs":["get"]})"},
    HostileSpot{
        "role verbs", kRoles, kRbac, "Role",
        R"("metadata":{META},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":[@]}])",
        R"("v#")"},
    HostileSpot{
        "subjects", kBindings, kRbac, "RoleBinding",
        R"("metadata":{META},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role",)"
        R"("name":"r"},"subjects":[@])",
        R"({"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"u#"})"},
    HostileSpot{"quota", "/api/v1/namespaces/default/resourcequotas", "v1", "ResourceQuota",
                R"("metadata":{META},"spec":{"hard":{@}})", R"("count/r#.g":"1")"},
    HostileSpot{"limit range", "/api/v1/namespaces/other/limitranges", "v1", "LimitRange",
                R"("metadata":{META},"spec":{"limits":[@]})",
                R"({"type":"Container","max":{"cpu":"#"}})"},
    HostileSpot{"limit range amounts", "/api/v1/namespaces/other/limitranges", "v1", "LimitRange",
                R"("metadata":{META},"spec":{"limits":[{"type":"Container","max":{@}}]})",
                R"("e.x/r#":"1")"},
    HostileSpot{
        "deployment labels", "/apis/apps/v1/namespaces/default/deployments", "apps/v1",
        "Deployment",
        R"("metadata":{META},"spec":{"selector":{"matchLabels":{@}},"template":{"metadata":)"
        R"({"labels":{@}},"spec":{"containers":[{"name":"c","image":"i"}]}}})",
        R"("k#":"v")"},
    HostileSpot{"network policy", "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
                "networking.k8s.io/v1", "NetworkPolicy",
                R"("metadata":{META},"spec":{"podSelector":{},"ingress":[@]})",
                R"({"from":[{"ipBlock":{"cidr":"10.0.0.0/8"}}],"ports":[{"port":#}]})"},
    HostileSpot{"ingress rules", "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
                "networking.k8s.io/v1", "Ingress", R"("metadata":{META},"spec":{"rules":[@]})",
                R"({"host":"h#.x","http":{"paths":[]}})"},
    HostileSpot{"endpoint slice", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
                "discovery.k8s.io/v1", "EndpointSlice",
                R"("metadata":{META},"addressType":"IPv4","endpoints":[@])",
                R"({"addresses":["10.0.0.#"]})"},
    HostileSpot{"secret", "/api/v1/namespaces/default/secrets", "v1", "Secret",
                R"("metadata":{META},"stringData":{@})", R"("k#":"v")"},
    HostileSpot{
        "claim modes", "/api/v1/namespaces/default/persistentvolumeclaims", "v1",
        "PersistentVolumeClaim",
        R"("metadata":{META},"spec":{"resources":{"requests":{"storage":"1"}},"accessModes":[@]})",
        R"("ReadWriteOnce")"},
    HostileSpot{"definition properties", kDefinitions, kExtensions, "CustomResourceDefinition",
                R"("metadata":{"name":"NAME.made.dev"},)" DEFINITION(
                    R"("properties":{"spec":{"type":"object","properties":{@}}})"),
                R"("p#":{"type":"string"})"},
    HostileSpot{"definition defaults", kDefinitions, kExtensions, "CustomResourceDefinition",
                R"("metadata":{"name":"NAME.made.dev"},)" DEFINITION(
                    R"("properties":{"spec":{"type":"object","properties":{@}}})"),
                R"("p#":{"type":"string","default":"x"})"},
    HostileSpot{"definition required", kDefinitions, kExtensions, "CustomResourceDefinition",
                R"("metadata":{"name":"NAME.made.dev"},)" DEFINITION(
                    R"("properties":{"spec":{"type":"object","required":[@]}})"),
                R"("p#")"},
    HostileSpot{"definition enum", kDefinitions, kExtensions, "CustomResourceDefinition",
                R"("metadata":{"name":"NAME.made.dev"},)" DEFINITION(
                    R"("properties":{"spec":{"type":"string","enum":[@]}})"),
                R"("p#")"},
    HostileSpot{"definition branches", kDefinitions, kExtensions, "CustomResourceDefinition",
                R"("metadata":{"name":"NAME.made.dev"},)" DEFINITION(
                    R"("properties":{"spec":{"type":"object","properties":{"a":{"type":"string"}},)"
                    R"("anyOf":[@]}})"),
                R"({"properties":{"a":{"minLength":#}}})"},
    HostileSpot{
        "definition rules", kDefinitions, kExtensions, "CustomResourceDefinition",
        R"("metadata":{"name":"NAME.made.dev"},)" DEFINITION(
            R"("properties":{"spec":{"type":"object","properties":{"a":{"type":"integer"}},)"
            R"("x-kubernetes-validations":[@]}})"),
        R"({"rule":"self.a > #"})"},
    HostileSpot{"definition formats", kDefinitions, kExtensions, "CustomResourceDefinition",
                R"("metadata":{"name":"NAME.made.dev"},)" DEFINITION(
                    R"("properties":{"spec":{"type":"object","properties":{@}}})"),
                R"("p#":{"type":"string","format":"odd#"})"},
    HostileSpot{"definition faults", kDefinitions, kExtensions, "CustomResourceDefinition",
                R"("metadata":{"name":"NAME.made.dev"},)" DEFINITION(
                    R"("properties":{"spec":{"type":"object","properties":{@}}})"),
                R"("p#":{"type":"odd","default":{"a":1}})"},
    HostileSpot{"definition map keys", kDefinitions, kExtensions, "CustomResourceDefinition",
                R"("metadata":{"name":"NAME.made.dev"},)" DEFINITION(
                    R"("properties":{"spec":{"type":"array","x-kubernetes-list-type":"map",)"
                    R"("x-kubernetes-list-map-keys":[@],"items":{"type":"object","properties":)"
                    R"({"p0":{"type":"string"}}}}})"),
                R"("p#")"},
    HostileSpot{
        "definition short names", kDefinitions, kExtensions, "CustomResourceDefinition",
        R"("metadata":{"name":"NAME.made.dev"},"spec":{"group":"made.dev","scope":"Namespaced",)"
        R"("names":{"plural":"NAME","kind":"KNAME","shortNames":[@],"categories":[@]},)"
        R"("versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":)"
        R"({"type":"object"}}}]})",
        R"("s#")"},
    HostileSpot{
        "definition versions", kDefinitions, kExtensions, "CustomResourceDefinition",
        R"("metadata":{"name":"NAME.made.dev"},"spec":{"group":"made.dev","scope":"Namespaced",)"
        R"("names":{"plural":"NAME","kind":"KNAME"},"versions":[{"name":"v0","served":true,)"
        R"("storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}},@]})",
        R"({"name":"v1#","served":true,"storage":false,"schema":{"openAPIV3Schema":)"
        R"({"type":"object"}}})"},
    HostileSpot{
        "definition columns", kDefinitions, kExtensions, "CustomResourceDefinition",
        R"("metadata":{"name":"NAME.made.dev"},"spec":{"group":"made.dev","scope":"Namespaced",)"
        R"("names":{"plural":"NAME","kind":"KNAME"},"versions":[{"name":"v1","served":true,)"
        R"("storage":true,"schema":{"openAPIV3Schema":{"type":"object"}},)"
        R"("additionalPrinterColumns":[@]}]})",
        R"({"name":"c#","type":"string","jsonPath":".spec.a#"})"},
    HostileSpot{"custom map", kThings, kThingVersion, "Thing",
                R"("metadata":{META},"spec":{"map":{@}})", R"("k#":"v")"},
    HostileSpot{"custom faults", kThings, kThingVersion, "Thing",
                R"("metadata":{META},"spec":{"map":{@}})", R"("k#":#)"},
    HostileSpot{"custom keyed list", kThings, kThingVersion, "Thing",
                R"("metadata":{META},"spec":{"keyed":[@]})", R"({"key":"k#","value":"v"})"},
    HostileSpot{"custom set", kThings, kThingVersion, "Thing",
                R"("metadata":{META},"spec":{"set":[@]})", R"("k#")"},
    HostileSpot{"custom defaults", kThings, kThingVersion, "Thing",
                R"("metadata":{META},"spec":{"defaulted":[@]})", "{}"},
    HostileSpot{"custom rules", kThings, kThingVersion, "Thing",
                R"("metadata":{META},"spec":{"ruled":[@]})", "#"},
    HostileSpot{"custom branches", kThings, kThingVersion, "Thing",
                R"("metadata":{META},"spec":{"either":[@]})", R"({"a":"#"})"},
    HostileSpot{"custom open part", kThings, kThingVersion, "Thing",
                R"("metadata":{META},"spec":{"open":{@}})", R"("k#":{"a":[#]})"},
    HostileSpot{"custom unknown", kThings, kThingVersion, "Thing",
                R"("metadata":{META},"spec":{@})", R"("u#":1)"},
};

constexpr std::string_view kThingDefinition =
    R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":)"
    R"({"name":"things.hostile.dev"},"spec":{"group":"hostile.dev","scope":"Namespaced","names":)"
    R"({"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"},"versions":)"
    R"([{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",)"
    R"("properties":{"spec":{"type":"object","properties":{)"
    R"("map":{"type":"object","additionalProperties":{"type":"string","maxLength":9}},)"
    R"("keyed":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["key"],)"
    R"("items":{"type":"object","required":["key"],"properties":{"key":{"type":"string"},)"
    R"("value":{"type":"string"}}}},)"
    R"("set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},)"
    R"("defaulted":{"type":"array","items":{"type":"object","properties":)"
    R"({"a":{"type":"string","default":"x"},"b":{"type":"object","default":{"c":[1,2,3]},)"
    R"("x-kubernetes-preserve-unknown-fields":true}}}},)"
    R"("ruled":{"type":"array","maxItems":1000,"items":{"type":"integer"},)"
    R"j("x-kubernetes-validations":[{"rule":"self.all(x, x >= 0)"}]},)j"
    R"("either":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"}},)"
    R"("anyOf":[{"properties":{"a":{"minLength":9}}},{"properties":{"a":{"maxLength":0}}}]}},)"
    R"("open":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}}}]}})";

}  // namespace

std::span<const HostileSpot> hostile_spots() {
  return kSpots;
}

const HostileSpot& hostile_spot(std::string_view name) {
  return *std::ranges::find(kSpots, name, &HostileSpot::name);
}

std::string_view hostile_definition() {
  return kThingDefinition;
}

}  // namespace codeflare::bench
