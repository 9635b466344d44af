#include "bench/apiserver_program/hostile_cases.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace codeflare::bench {

namespace {

constexpr std::string_view kMerge = "application/merge-patch+json";
constexpr std::string_view kStrategic = "application/strategic-merge-patch+json";
constexpr std::string_view kApply = "application/apply-patch+yaml";
constexpr std::string_view kJsonPatch = "application/json-patch+json";
constexpr std::string_view kYaml = "application/yaml";

// A place of a kind that holds many items. In `frame`, `@` is where they go; in `item`, `#` is the
// number of the item.
struct Spot {
  std::string_view name;
  std::string_view collection;
  std::string_view api_version;
  std::string_view kind;
  std::string_view frame;
  std::string_view item;
};

constexpr std::string_view kMaps = "/api/v1/namespaces/default/configmaps";
constexpr std::string_view kPods = "/api/v1/namespaces/default/pods";
constexpr std::string_view kServices = "/api/v1/namespaces/default/services";
constexpr std::string_view kJobs = "/apis/batch/v1/namespaces/default/jobs";
constexpr std::string_view kRoles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
constexpr std::string_view kBindings =
    "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";
constexpr std::string_view kRbac = "rbac.authorization.k8s.io/v1";
constexpr std::string_view kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr std::string_view kExtensions = "apiextensions.k8s.io/v1";
constexpr std::string_view kThings = "/apis/hostile.dev/v1/namespaces/default/things";
constexpr std::string_view kThingVersion = "hostile.dev/v1";

#define POD(inside) R"("spec":{"containers":[{"name":"c","image":"i")" inside "}]}"
#define POD_SPEC(inside) R"("spec":{"containers":[{"name":"c","image":"i"}],)" inside "}"
#define DEFINITION(schema)                                                                         \
  R"("spec":{"group":"made.dev","scope":"Namespaced","names":{"plural":"NAME","singular":"NAME",)" \
  R"("kind":"KNAME","listKind":"KNAMEList"},"versions":[{"name":"v1","served":true,)"              \
  R"("storage":true,"schema":{"openAPIV3Schema":{"type":"object",)" schema "}}}]}"

constexpr std::array kSpots = {
    Spot{"finalizers", kMaps, "v1", "ConfigMap", R"("metadata":{META,"finalizers":[@]})",
         R"("a.b/f#")"},
    Spot{"labels", kMaps, "v1", "ConfigMap", R"("metadata":{META,"labels":{@}})", R"("k#":"v")"},
    Spot{"annotations", kMaps, "v1", "ConfigMap", R"("metadata":{META,"annotations":{@}})",
         R"("k#":"v")"},
    Spot{"owners", kMaps, "v1", "ConfigMap", R"("metadata":{META,"ownerReferences":[@]})",
         R"({"apiVersion":"v1","kind":"Pod","name":"p","uid":"u#","controller":true})"},
    Spot{"managedFields", kMaps, "v1", "ConfigMap", R"("metadata":{META,"managedFields":[@]})",
         R"({"manager":"m#","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1",)"
         R"("fieldsV1":{"f:data":{"f:a":{}}}})"},
    Spot{"managedFields.fields", kMaps, "v1", "ConfigMap",
         R"("metadata":{META,"managedFields":[{"manager":"m","operation":"Update",)"
         R"("apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{@}}}]})",
         R"("f:k#":{})"},
    Spot{"managedFields.keys", kMaps, "v1", "ConfigMap",
         R"("metadata":{META,"managedFields":[{"manager":"m","operation":"Update",)"
         R"("apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{@}}}]})",
         R"("k:{\"a\":1,\"b#\":2,\"b#\":2}":{"f:k#":{}})"},
    Spot{"unknown fields", kMaps, "v1", "ConfigMap", R"("metadata":{META},@)", R"("unknown#":1)"},
    Spot{"unknown metadata", kMaps, "v1", "ConfigMap", R"("metadata":{META,@})", R"("unknown#":1)"},
    Spot{"data", kMaps, "v1", "ConfigMap", R"("metadata":{META},"data":{@})", R"("k#":"v")"},
    Spot{"binaryData", kMaps, "v1", "ConfigMap", R"("metadata":{META},"binaryData":{@})",
         R"("k#":"YQ==")"},
    Spot{"containers", kPods, "v1", "Pod", R"("metadata":{META},"spec":{"containers":[@]})",
         R"({"name":"c#","image":"i"})"},
    Spot{"initContainers", kPods, "v1", "Pod",
         R"("metadata":{META},)" POD_SPEC(R"("initContainers":[@])"),
         R"({"name":"c#","image":"i"})"},
    Spot{"env", kPods, "v1", "Pod", R"("metadata":{META},)" POD(R"(,"env":[@])"),
         R"({"name":"E#","value":"v"})"},
    Spot{"env references", kPods, "v1", "Pod", R"("metadata":{META},)" POD(R"(,"env":[@])"),
         R"({"name":"E#","valueFrom":{"fieldRef":{"fieldPath":"bad.#"}}})"},
    Spot{"envFrom", kPods, "v1", "Pod", R"("metadata":{META},)" POD(R"(,"envFrom":[@])"),
         R"({"configMapRef":{"name":"m#"}})"},
    Spot{"ports", kPods, "v1", "Pod", R"("metadata":{META},)" POD(R"(,"ports":[@])"),
         R"({"name":"p#","containerPort":#})"},
    Spot{"args", kPods, "v1", "Pod", R"("metadata":{META},)" POD(R"(,"args":[@])"), R"("a#")"},
    Spot{"limits", kPods, "v1", "Pod",
         R"("metadata":{META},)" POD(R"(,"resources":{"limits":{@},"requests":{@}})"),
         R"("e.x/r#":"1")"},
    Spot{"volumeMounts", kPods, "v1", "Pod", R"("metadata":{META},)" POD(R"(,"volumeMounts":[@])"),
         R"({"name":"v#","mountPath":"/m#"})"},
    Spot{"volumes", kPods, "v1", "Pod", R"("metadata":{META},)" POD_SPEC(R"("volumes":[@])"),
         R"({"name":"v#","emptyDir":{}})"},
    Spot{
        "projected sources", kPods, "v1", "Pod",
        R"("metadata":{META},)" POD_SPEC(R"("volumes":[{"name":"v","projected":{"sources":[@]}}])"),
        R"({"configMap":{"name":"m#","items":[{"key":"k","path":"p#"}]}})"},
    Spot{"tolerations", kPods, "v1", "Pod",
         R"("metadata":{META},)" POD_SPEC(R"("tolerations":[@])"),
         R"({"key":"k#","operator":"Exists"})"},
    Spot{"topologySpreadConstraints", kPods, "v1", "Pod",
         R"("metadata":{META},)" POD_SPEC(R"("topologySpreadConstraints":[@])"),
         R"({"maxSkew":1,"topologyKey":"k#","whenUnsatisfiable":"DoNotSchedule"})"},
    Spot{"spread matchLabelKeys", kPods, "v1", "Pod",
         R"("metadata":{META},)" POD_SPEC(
             R"("topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"k",)"
             R"("whenUnsatisfiable":"DoNotSchedule","labelSelector":{},"matchLabelKeys":[@]}])"),
         R"("k#")"},
    Spot{"nodeSelector", kPods, "v1", "Pod",
         R"("metadata":{META},)" POD_SPEC(R"("nodeSelector":{@})"), R"("k#":"v")"},
    Spot{"node affinity", kPods, "v1", "Pod",
         R"("metadata":{META},)" POD_SPEC(
             R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
             R"({"nodeSelectorTerms":[@]}}})"),
         R"({"matchExpressions":[{"key":"k#","operator":"In","values":["a","a"]}]})"},
    Spot{"pod affinity labels", kPods, "v1", "Pod",
         R"("metadata":{META},)" POD_SPEC(
             R"("affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
             R"([{"topologyKey":"z","labelSelector":{"matchLabels":{@}}}]}})"),
         R"("k#":"v")"},
    Spot{"hostAliases", kPods, "v1", "Pod",
         R"("metadata":{META},)" POD_SPEC(R"("hostAliases":[@])"),
         R"({"ip":"10.0.0.1","hostnames":["h#"]})"},
    Spot{"imagePullSecrets", kPods, "v1", "Pod",
         R"("metadata":{META},)" POD_SPEC(R"("imagePullSecrets":[@])"), R"({"name":"s#"})"},
    Spot{"readinessGates", kPods, "v1", "Pod",
         R"("metadata":{META},)" POD_SPEC(R"("readinessGates":[@])"),
         R"({"conditionType":"a.b/c#"})"},
    Spot{"schedulingGates", kPods, "v1", "Pod",
         R"("metadata":{META},)" POD_SPEC(R"("schedulingGates":[@])"), R"({"name":"a.b/c#"})"},
    Spot{"sysctls", kPods, "v1", "Pod",
         R"("metadata":{META},)" POD_SPEC(R"("securityContext":{"sysctls":[@]})"),
         R"({"name":"kernel.shm#","value":"1"})"},
    Spot{"resourceClaims", kPods, "v1", "Pod",
         R"("metadata":{META},)" POD_SPEC(R"("resourceClaims":[@])"),
         R"({"name":"c#","resourceClaimName":"r#"})"},
    Spot{"service ports", kServices, "v1", "Service", R"("metadata":{META},"spec":{"ports":[@]})",
         R"({"name":"p#","port":#})"},
    Spot{"service addresses", kServices, "v1", "Service",
         R"("metadata":{META},"spec":{"ports":[{"port":1}],"externalIPs":[@]})", R"("10.1.0.#")"},
    Spot{"pod failure rules", kJobs, "batch/v1", "Job",
         R"("metadata":{META},"spec":{"podFailurePolicy":{"rules":[@]},"template":{"spec":)"
         R"({"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}})",
         R"({"action":"Ignore","onExitCodes":{"operator":"In","values":[#]}})"},
    Spot{"exit codes", kJobs, "batch/v1", "Job",
         R"("metadata":{META},"spec":{"podFailurePolicy":{"rules":[{"action":"Ignore",)"
         R"("onExitCodes":{"operator":"In","values":[@]}}]},"template":{"spec":)"
         R"({"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}})",
         "#"},
    Spot{"role rules", kRoles, kRbac, "Role", R"("metadata":{META},"rules":[@])",
         R"({"apiGroups":[""],"resources":["r#"],"verbs":["get"]})"},
    Spot{"role verbs", kRoles, kRbac, "Role",
         R"("metadata":{META},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":[@]}])",
         R"("v#")"},
    Spot{"subjects", kBindings, kRbac, "RoleBinding",
         R"("metadata":{META},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role",)"
         R"("name":"r"},"subjects":[@])",
         R"({"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"u#"})"},
    Spot{"quota", "/api/v1/namespaces/default/resourcequotas", "v1", "ResourceQuota",
         R"("metadata":{META},"spec":{"hard":{@}})", R"("count/r#.g":"1")"},
    Spot{"limit range", "/api/v1/namespaces/other/limitranges", "v1", "LimitRange",
         R"("metadata":{META},"spec":{"limits":[@]})", R"({"type":"Container","max":{"cpu":"#"}})"},
    Spot{"limit range amounts", "/api/v1/namespaces/other/limitranges", "v1", "LimitRange",
         R"("metadata":{META},"spec":{"limits":[{"type":"Container","max":{@}}]})",
         R"("e.x/r#":"1")"},
    Spot{"deployment labels", "/apis/apps/v1/namespaces/default/deployments", "apps/v1",
         "Deployment",
         R"("metadata":{META},"spec":{"selector":{"matchLabels":{@}},"template":{"metadata":)"
         R"({"labels":{@}},"spec":{"containers":[{"name":"c","image":"i"}]}}})",
         R"("k#":"v")"},
    Spot{"network policy", "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
         "networking.k8s.io/v1", "NetworkPolicy",
         R"("metadata":{META},"spec":{"podSelector":{},"ingress":[@]})",
         R"({"from":[{"ipBlock":{"cidr":"10.0.0.0/8"}}],"ports":[{"port":#}]})"},
    Spot{"ingress rules", "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
         "networking.k8s.io/v1", "Ingress", R"("metadata":{META},"spec":{"rules":[@]})",
         R"({"host":"h#.x","http":{"paths":[]}})"},
    Spot{"endpoint slice", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
         "discovery.k8s.io/v1", "EndpointSlice",
         R"("metadata":{META},"addressType":"IPv4","endpoints":[@])",
         R"({"addresses":["10.0.0.#"]})"},
    Spot{"secret", "/api/v1/namespaces/default/secrets", "v1", "Secret",
         R"("metadata":{META},"stringData":{@})", R"("k#":"v")"},
    Spot{"claim modes", "/api/v1/namespaces/default/persistentvolumeclaims", "v1",
         "PersistentVolumeClaim",
         R"("metadata":{META},"spec":{"resources":{"requests":{"storage":"1"}},"accessModes":[@]})",
         R"("ReadWriteOnce")"},
    Spot{"definition properties", kDefinitions, kExtensions, "CustomResourceDefinition",
         R"("metadata":{"name":"NAME.made.dev"},)" DEFINITION(
             R"("properties":{"spec":{"type":"object","properties":{@}}})"),
         R"("p#":{"type":"string"})"},
    Spot{"definition defaults", kDefinitions, kExtensions, "CustomResourceDefinition",
         R"("metadata":{"name":"NAME.made.dev"},)" DEFINITION(
             R"("properties":{"spec":{"type":"object","properties":{@}}})"),
         R"("p#":{"type":"string","default":"x"})"},
    Spot{"definition required", kDefinitions, kExtensions, "CustomResourceDefinition",
         R"("metadata":{"name":"NAME.made.dev"},)" DEFINITION(
             R"("properties":{"spec":{"type":"object","required":[@]}})"),
         R"("p#")"},
    Spot{"definition enum", kDefinitions, kExtensions, "CustomResourceDefinition",
         R"("metadata":{"name":"NAME.made.dev"},)" DEFINITION(
             R"("properties":{"spec":{"type":"string","enum":[@]}})"),
         R"("p#")"},
    Spot{"definition branches", kDefinitions, kExtensions, "CustomResourceDefinition",
         R"("metadata":{"name":"NAME.made.dev"},)" DEFINITION(
             R"("properties":{"spec":{"type":"object","properties":{"a":{"type":"string"}},)"
             R"("anyOf":[@]}})"),
         R"({"properties":{"a":{"minLength":#}}})"},
    Spot{"definition rules", kDefinitions, kExtensions, "CustomResourceDefinition",
         R"("metadata":{"name":"NAME.made.dev"},)" DEFINITION(
             R"("properties":{"spec":{"type":"object","properties":{"a":{"type":"integer"}},)"
             R"("x-kubernetes-validations":[@]}})"),
         R"({"rule":"self.a > #"})"},
    Spot{"definition formats", kDefinitions, kExtensions, "CustomResourceDefinition",
         R"("metadata":{"name":"NAME.made.dev"},)" DEFINITION(
             R"("properties":{"spec":{"type":"object","properties":{@}}})"),
         R"("p#":{"type":"string","format":"odd#"})"},
    Spot{"definition faults", kDefinitions, kExtensions, "CustomResourceDefinition",
         R"("metadata":{"name":"NAME.made.dev"},)" DEFINITION(
             R"("properties":{"spec":{"type":"object","properties":{@}}})"),
         R"("p#":{"type":"odd","default":{"a":1}})"},
    Spot{"definition map keys", kDefinitions, kExtensions, "CustomResourceDefinition",
         R"("metadata":{"name":"NAME.made.dev"},)" DEFINITION(
             R"("properties":{"spec":{"type":"array","x-kubernetes-list-type":"map",)"
             R"("x-kubernetes-list-map-keys":[@],"items":{"type":"object","properties":)"
             R"({"p0":{"type":"string"}}}}})"),
         R"("p#")"},
    Spot{"definition short names", kDefinitions, kExtensions, "CustomResourceDefinition",
         R"("metadata":{"name":"NAME.made.dev"},"spec":{"group":"made.dev","scope":"Namespaced",)"
         R"("names":{"plural":"NAME","kind":"KNAME","shortNames":[@],"categories":[@]},)"
         R"("versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":)"
         R"({"type":"object"}}}]})",
         R"("s#")"},
    Spot{"definition versions", kDefinitions, kExtensions, "CustomResourceDefinition",
         R"("metadata":{"name":"NAME.made.dev"},"spec":{"group":"made.dev","scope":"Namespaced",)"
         R"("names":{"plural":"NAME","kind":"KNAME"},"versions":[{"name":"v0","served":true,)"
         R"("storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}},@]})",
         R"({"name":"v1#","served":true,"storage":false,"schema":{"openAPIV3Schema":)"
         R"({"type":"object"}}})"},
    Spot{"definition columns", kDefinitions, kExtensions, "CustomResourceDefinition",
         R"("metadata":{"name":"NAME.made.dev"},"spec":{"group":"made.dev","scope":"Namespaced",)"
         R"("names":{"plural":"NAME","kind":"KNAME"},"versions":[{"name":"v1","served":true,)"
         R"("storage":true,"schema":{"openAPIV3Schema":{"type":"object"}},)"
         R"("additionalPrinterColumns":[@]}]})",
         R"({"name":"c#","type":"string","jsonPath":".spec.a#"})"},
    Spot{"custom map", kThings, kThingVersion, "Thing", R"("metadata":{META},"spec":{"map":{@}})",
         R"("k#":"v")"},
    Spot{"custom faults", kThings, kThingVersion, "Thing",
         R"("metadata":{META},"spec":{"map":{@}})", R"("k#":#)"},
    Spot{"custom keyed list", kThings, kThingVersion, "Thing",
         R"("metadata":{META},"spec":{"keyed":[@]})", R"({"key":"k#","value":"v"})"},
    Spot{"custom set", kThings, kThingVersion, "Thing", R"("metadata":{META},"spec":{"set":[@]})",
         R"("k#")"},
    Spot{"custom defaults", kThings, kThingVersion, "Thing",
         R"("metadata":{META},"spec":{"defaulted":[@]})", "{}"},
    Spot{"custom rules", kThings, kThingVersion, "Thing",
         R"("metadata":{META},"spec":{"ruled":[@]})", "#"},
    Spot{"custom branches", kThings, kThingVersion, "Thing",
         R"("metadata":{META},"spec":{"either":[@]})", R"({"a":"#"})"},
    Spot{"custom open part", kThings, kThingVersion, "Thing",
         R"("metadata":{META},"spec":{"open":{@}})", R"("k#":{"a":[#]})"},
    Spot{"custom unknown", kThings, kThingVersion, "Thing", R"("metadata":{META},"spec":{@})",
         R"("u#":1)"},
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

enum class Filling : std::uint8_t { equal, distinct, null, wrong, long_key };
constexpr std::array kFillings = {Filling::equal, Filling::distinct, Filling::null, Filling::wrong,
                                  Filling::long_key};
constexpr std::array<std::string_view, 5> kFillingNames = {"equal", "distinct", "null", "wrong",
                                                           "long key"};

enum class Verb : std::uint8_t {
  create,
  create_yaml,
  update,
  merge,
  strategic,
  apply,
  apply_again,
  apply_other
};
constexpr std::array kVerbs = {Verb::create,      Verb::create_yaml, Verb::update,
                               Verb::merge,       Verb::strategic,   Verb::apply,
                               Verb::apply_again, Verb::apply_other};
constexpr std::array<std::string_view, 8> kVerbNames = {
    "create", "create yaml", "update", "merge", "strategic", "apply", "apply again", "apply other"};

std::string replaced(std::string_view text, std::string_view what, std::string_view with) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with(what)) {
      out += with;
      at += what.size();
    } else {
      out += text[at++];
    }
  }
  return out;
}

bool is_member(std::string_view item) {
  return item.starts_with('"') && item.contains("\":");
}

std::string filled_item(const Spot& spot, Filling filling, std::size_t number) {
  const bool member = is_member(spot.item);
  const std::string_view key =
      member ? spot.item.substr(0, spot.item.find("\":") + 1) : std::string_view();
  const std::string digits = std::to_string(filling == Filling::equal ? 1 : number);
  std::string item(spot.item);
  if (filling == Filling::null) {
    item = member ? std::string(key) + ":null" : "null";
  } else if (filling == Filling::wrong) {
    item = member ? std::string(key) + R"(:{"a":[true]})" : R"({"odd":[true]})";
  }
  return replaced(item, "#", digits);
}

// `other`: the same items with other numbers.
std::string filled(const Spot& spot, Filling filling, std::size_t bytes, bool other) {
  std::string items;
  const std::size_t first = other ? 50'000'000 : 0;
  if (filling == Filling::long_key) {
    // Half of the room is one long name.
    std::string item = filled_item(spot, filling, 0);
    const std::size_t at = item.find('0');
    if (at != std::string::npos) {
      item.replace(at, 1, std::string(bytes / 2, other ? 'y' : 'x'));
    }
    items = item;
  }
  for (std::size_t number = first; items.size() < bytes; ++number) {
    items += items.empty() ? "" : ",";
    items += filled_item(spot, filling, number);
  }
  return items;
}

std::string body_of(const Spot& spot, std::string_view name, std::string_view items) {
  std::string frame = replaced(spot.frame, "META", "\"name\":\"" + std::string(name) + "\"");
  frame = replaced(frame, "NAME", name);
  return "{\"apiVersion\":\"" + std::string(spot.api_version) + "\",\"kind\":\"" +
         std::string(spot.kind) + "\"," + replaced(frame, "@", items) + "}";
}

HostileCase at_spot(const Spot& spot, Filling filling, Verb verb, std::size_t bytes) {
  const std::string name = "hostile";
  const std::string object = std::string(spot.collection) + "/" + name +
                             (spot.collection == kDefinitions ? ".made.dev" : "");
  bytes /= static_cast<std::size_t>(std::ranges::count(spot.frame, '@'));
  const std::string body = body_of(spot, name, filled(spot, filling, bytes, false));
  const std::string other = body_of(spot, name, filled(spot, filling, bytes, true));
  const std::string collection(spot.collection);
  auto patch = [&](std::string_view type, const std::string& text, std::string_view query = "") {
    return HostileCall{.method = "PATCH",
                       .target = object + std::string(query),
                       .body = text,
                       .type = std::string(type)};
  };
  const HostileCall create{.method = "POST", .target = collection, .body = body};
  HostileCase made{.name = {}, .call = create};
  switch (verb) {
    case Verb::create:
      break;
    case Verb::create_yaml:
      made.call.type = kYaml;
      break;
    case Verb::update:
      made.before = {create};
      made.call = {.method = "PUT", .target = object, .body = other};
      break;
    case Verb::merge:
      made.before = {create};
      made.call = patch(kMerge, other);
      break;
    case Verb::strategic:
      made.before = {create};
      made.call = patch(kStrategic, other);
      break;
    case Verb::apply:
      made.call = patch(kApply, body, "?fieldManager=one");
      break;
    case Verb::apply_again:
      made.before = {patch(kApply, body, "?fieldManager=one")};
      made.call = patch(kApply, other, "?fieldManager=one&force=true");
      break;
    case Verb::apply_other:
      made.before = {patch(kApply, body, "?fieldManager=one")};
      made.call = patch(kApply, other, "?fieldManager=two");
      break;
  }
  made.after = {patch(kMerge, R"({"metadata":{"finalizers":null}})"),
                {.method = "DELETE", .target = object + "?gracePeriodSeconds=0"}};
  return made;
}

const Spot& spot_named(std::string_view name) {
  return *std::ranges::find(kSpots, name, &Spot::name);
}

// Cases that fit no spot: a name and what makes the case of so many bytes.
struct Special {
  std::string_view name;
  HostileCase (*make)(std::size_t bytes);
};

std::string repeated(std::size_t bytes, std::string_view item, std::string_view between = ",") {
  std::string out;
  for (std::size_t number = 0; out.size() < bytes; ++number) {
    out += out.empty() ? "" : between;
    out += replaced(item, "#", std::to_string(number));
  }
  return out;
}

std::string nested(std::size_t bytes, std::string_view open, std::string_view close,
                   std::size_t depth_max) {
  const std::size_t depth = std::min(depth_max, bytes / (open.size() + close.size()));
  std::string out;
  for (std::size_t i = 0; i < depth; ++i) {
    out += open;
  }
  out += "1";
  for (std::size_t i = 0; i < depth; ++i) {
    out += close;
  }
  return out;
}

const std::string kMap = std::string(kMaps) + "/hostile";
const HostileCall kSmallMap{.method = "POST",
                            .target = std::string(kMaps),
                            .body = R"({"metadata":{"name":"hostile"},"data":{"a":"b"}})"};
const HostileCall kNoMap{.method = "DELETE", .target = kMap};

HostileCall big_map(std::size_t bytes) {
  return {
      .method = "POST",
      .target = std::string(kMaps),
      .body = R"({"metadata":{"name":"hostile"},"data":{)" + repeated(bytes, R"("k#":"v")") + "}}"};
}

HostileCase json_patch(HostileCall before, std::string operations) {
  return {.name = {},
          .before = {std::move(before)},
          .call = {.method = "PATCH",
                   .target = kMap,
                   .body = "[" + std::move(operations) + "]",
                   .type = std::string(kJsonPatch)},
          .after = {kNoMap}};
}

HostileCase review(std::string_view resource, std::string body) {
  return {.name = {},
          .call = {.method = "POST",
                   .target = "/apis/authorization.k8s.io/v1/" + std::string(resource),
                   .body = std::move(body)}};
}

constexpr std::array kSpecials = {
    Special{"json patch, adds",
            [](std::size_t bytes) {
              return json_patch(kSmallMap,
                                repeated(bytes, R"({"op":"add","path":"/data/k#","value":"v"})"));
            }},
    Special{"json patch, adds to a large object",
            [](std::size_t bytes) {
              return json_patch(big_map(bytes),
                                repeated(bytes, R"({"op":"add","path":"/data/n#","value":"v"})"));
            }},
    Special{"json patch, tests of a large object",
            [](std::size_t bytes) {
              return json_patch(big_map(bytes),
                                repeated(bytes, R"({"op":"test","path":"/data/k#","value":"v"})"));
            }},
    Special{"json patch, inserts at the front",
            [](std::size_t bytes) {
              return json_patch(
                  kSmallMap,
                  R"({"op":"add","path":"/metadata/finalizers","value":[]},)" +
                      repeated(bytes,
                               R"({"op":"add","path":"/metadata/finalizers/0","value":"a/f#"})"));
            }},
    Special{"json patch, copies",
            [](std::size_t bytes) {
              return json_patch(
                  big_map(bytes / 2),
                  repeated(bytes / 2, R"({"op":"copy","from":"/data","path":"/data/c#"})"));
            }},
    Special{"json patch, moves",
            [](std::size_t bytes) {
              return json_patch(
                  big_map(bytes / 2),
                  repeated(bytes / 2, R"({"op":"move","from":"/data/k#","path":"/data/m#"})"));
            }},
    Special{"json patch, removes",
            [](std::size_t bytes) {
              return json_patch(big_map(bytes),
                                repeated(bytes, R"({"op":"remove","path":"/data/k#"})"));
            }},
    Special{"json patch, long path",
            [](std::size_t bytes) {
              return json_patch(kSmallMap, R"({"op":"add","path":")" + repeated(bytes, "/#", "") +
                                               R"(","value":1})");
            }},
    Special{"merge patch, removes",
            [](std::size_t bytes) {
              return HostileCase{
                  .name = {},
                  .before = {big_map(bytes)},
                  .call = {.method = "PATCH",
                           .target = kMap,
                           .body = R"({"data":{)" + repeated(bytes, R"("k#":null)") + "}}",
                           .type = std::string(kMerge)},
                  .after = {kNoMap}};
            }},
    Special{"strategic, one container many times",
            [](std::size_t bytes) {
              return HostileCase{
                  .name = {},
                  .before = {{.method = "POST",
                              .target = std::string(kPods),
                              .body = R"({"metadata":{"name":"hostile"},"spec":{"containers":)"
                                      R"([{"name":"c","image":"i"}]}})"}},
                  .call = {.method = "PATCH",
                           .target = std::string(kPods) + "/hostile",
                           .body = R"({"spec":{"containers":[)" +
                                   repeated(bytes, R"({"name":"c","env":[{"name":"E#"}]})") + "]}}",
                           .type = std::string(kStrategic)},
                  .after = {{.method = "DELETE",
                             .target = std::string(kPods) + "/hostile?gracePeriodSeconds=0"}}};
            }},
    Special{"strategic, order directives",
            [](std::size_t bytes) {
              return HostileCase{
                  .name = {},
                  .before = {{.method = "POST",
                              .target = std::string(kPods),
                              .body = R"({"metadata":{"name":"hostile"},"spec":{"containers":)"
                                      R"([{"name":"c","image":"i"}]}})"}},
                  .call = {.method = "PATCH",
                           .target = std::string(kPods) + "/hostile",
                           .body = R"({"spec":{"$setElementOrder/tolerations":[],"tolerations":[)" +
                                   repeated(bytes, R"({"key":"k#"})") +
                                   R"(],"$setElementOrder/containers":[)" +
                                   repeated(bytes / 2, R"({"name":"c#"})") + "]}}",
                           .type = std::string(kStrategic)},
                  .after = {{.method = "DELETE",
                             .target = std::string(kPods) + "/hostile?gracePeriodSeconds=0"}}};
            }},
    Special{"deep lists",
            [](std::size_t bytes) {
              return HostileCase{
                  .name = {},
                  .call = {.method = "POST",
                           .target = std::string(kThings),
                           .body = R"({"metadata":{"name":"hostile"},"spec":{"open":{"a":)" +
                                   nested(bytes, "[", "]", 100'000) + "}}}"}};
            }},
    Special{"deep objects",
            [](std::size_t bytes) {
              return HostileCase{
                  .name = {},
                  .call = {.method = "POST",
                           .target = std::string(kThings),
                           .body = R"({"metadata":{"name":"hostile"},"spec":{"open":{"a":)" +
                                   nested(bytes, R"({"k":)", "}", 200) + R"(,"w":[)" +
                                   repeated(bytes, nested(1000, R"({"k":)", "}", 60)) + "]}}}"},
                  .after = {{.method = "DELETE", .target = std::string(kThings) + "/hostile"}}};
            }},
    Special{"deep apply",
            [](std::size_t bytes) {
              return HostileCase{
                  .name = {},
                  .call = {.method = "PATCH",
                           .target = std::string(kThings) + "/hostile?fieldManager=one",
                           .body = R"({"apiVersion":"hostile.dev/v1","kind":"Thing","metadata":)"
                                   R"({"name":"hostile"},"spec":{"open":{)" +
                                   repeated(bytes, R"("n#":)" + nested(600, R"({"k":)", "}", 60)) +
                                   "}}}",
                           .type = std::string(kApply)},
                  .after = {{.method = "DELETE", .target = std::string(kThings) + "/hostile"}}};
            }},
    Special{"long number",
            [](std::size_t bytes) {
              return HostileCase{
                  .name = {},
                  .call = {.method = "POST",
                           .target = std::string(kThings),
                           .body = R"({"metadata":{"name":"hostile"},"spec":{"open":{"a":1)" +
                                   std::string(bytes, '7') + "}}}"},
                  .after = {{.method = "DELETE", .target = std::string(kThings) + "/hostile"}}};
            }},
    Special{"escapes",
            [](std::size_t bytes) {
              return HostileCase{
                  .name = {},
                  .call = {.method = "POST",
                           .target = std::string(kMaps),
                           .body = R"({"metadata":{"name":"hostile"},"data":{"a":")" +
                                   repeated(bytes, R"(\u00e9\n)", "") + R"("}})"},
                  .after = {kNoMap}};
            }},
    Special{"broken text",
            [](std::size_t bytes) {
              return HostileCase{
                  .name = {},
                  .call = {.method = "POST",
                           .target = std::string(kMaps),
                           .body = R"({"metadata":{"name":"hostile"},"data":{"a":")" +
                                   std::string(bytes, '\xff') + R"("}})"},
                  .after = {kNoMap}};
            }},
    Special{"yaml anchors",
            [](std::size_t bytes) {
              return HostileCase{
                  .name = {},
                  .call = {.method = "POST",
                           .target = std::string(kThings),
                           .body = "metadata: {name: hostile}\nspec:\n  open:\n    a: &a [x,x,x]\n"
                                   "    b: [" +
                                   repeated(bytes, "*a") + "]\n",
                           .type = std::string(kYaml)},
                  .after = {{.method = "DELETE", .target = std::string(kThings) + "/hostile"}}};
            }},
    Special{"yaml block lines",
            [](std::size_t bytes) {
              return HostileCase{.name = {},
                                 .call = {.method = "POST",
                                          .target = std::string(kMaps),
                                          .body = "metadata: {name: hostile}\ndata:\n" +
                                                  repeated(bytes, "  k#: |\n    text\n", ""),
                                          .type = std::string(kYaml)},
                                 .after = {kNoMap}};
            }},
    Special{"delete options",
            [](std::size_t bytes) {
              return HostileCase{.name = {},
                                 .before = {kSmallMap},
                                 .call = {.method = "DELETE",
                                          .target = kMap,
                                          .body = R"({"kind":"DeleteOptions","apiVersion":"v1",)"
                                                  R"("dryRun":[)" +
                                                  repeated(bytes, R"("All#")") + "]}"},
                                 .after = {kNoMap}};
            }},
    Special{"delete options, unknown",
            [](std::size_t bytes) {
              return HostileCase{.name = {},
                                 .before = {kSmallMap},
                                 .call = {.method = "DELETE",
                                          .target = kMap,
                                          .body = R"({"kind":"DeleteOptions","apiVersion":"v1",)" +
                                                  repeated(bytes, R"("u#":1)") + "}"},
                                 .after = {kNoMap}};
            }},
    Special{
        "finalizers of an object that goes",
        [](std::size_t bytes) {
          const std::string many = repeated(bytes, R"("a.b/f#")");
          return HostileCase{
              .name = {},
              .before = {{.method = "POST",
                          .target = std::string(kMaps),
                          .body = R"({"metadata":{"name":"hostile","finalizers":[)" + many + "]}}"},
                         kNoMap},
              .call = {.method = "PATCH",
                       .target = kMap,
                       .body = R"({"metadata":{"finalizers":[)" + many + R"(,"a.b/new"]}})",
                       .type = std::string(kMerge)},
              .after = {{.method = "PATCH",
                         .target = kMap,
                         .body = R"({"metadata":{"finalizers":null}})",
                         .type = std::string(kMerge)}}};
        }},
    Special{"deletion with many finalizers",
            [](std::size_t bytes) {
              return HostileCase{
                  .name = {},
                  .before = {{.method = "POST",
                              .target = std::string(kMaps),
                              .body = R"({"metadata":{"name":"hostile","finalizers":[)" +
                                      repeated(bytes, R"("a.b/f#")") + "]}}"}},
                  .call = {.method = "DELETE",
                           .target = kMap,
                           .body = R"({"propagationPolicy":"Foreground"})"},
                  .after = {{.method = "PATCH",
                             .target = kMap,
                             .body = R"({"metadata":{"finalizers":null}})",
                             .type = std::string(kMerge)}}};
            }},
    Special{"list with a long selector",
            [](std::size_t bytes) {
              return HostileCase{
                  .name = {},
                  .before = {big_map(100'000)},
                  .call = {.method = "GET",
                           .target = std::string(kMaps) + "?labelSelector=" +
                                     repeated(std::min<std::size_t>(bytes, 60'000), "k#%3Dv")},
                  .after = {kNoMap}};
            }},
    Special{"list with a long set selector",
            [](std::size_t bytes) {
              return HostileCase{
                  .name = {},
                  .before = {kSmallMap},
                  .call = {.method = "GET",
                           .target = std::string(kMaps) + "?labelSelector=a%20notin%20(" +
                                     repeated(std::min<std::size_t>(bytes, 60'000), "k#") + ")"},
                  .after = {kNoMap}};
            }},
    Special{"table of a large object",
            [](std::size_t bytes) {
              return HostileCase{.name = {},
                                 .before = {big_map(bytes)},
                                 .call = {.method = "GET",
                                          .target = std::string(kMaps) + "?includeObject=Object",
                                          .accept = "application/json;as=Table;v=v1;g=meta.k8s.io"},
                                 .after = {kNoMap}};
            }},
    Special{"pretty large object",
            [](std::size_t bytes) {
              return HostileCase{.name = {},
                                 .before = {big_map(bytes)},
                                 .call = {.method = "GET", .target = kMap + "?pretty=true"},
                                 .after = {kNoMap}};
            }},
    Special{"openapi v3 after a large definition",
            [](std::size_t bytes) {
              const Spot& spot = spot_named("definition properties");
              HostileCase made = at_spot(spot, Filling::distinct, Verb::create, bytes);
              made.before = {made.call};
              made.call = {.method = "GET", .target = "/openapi/v3/apis/made.dev/v1"};
              return made;
            }},
    Special{"openapi v2 after a large definition",
            [](std::size_t bytes) {
              const Spot& spot = spot_named("definition properties");
              HostileCase made = at_spot(spot, Filling::distinct, Verb::create, bytes);
              made.before = {made.call};
              made.call = {.method = "GET", .target = "/openapi/v2"};
              return made;
            }},
    Special{"discovery",
            [](std::size_t) {
              return HostileCase{.name = {}, .call = {.method = "GET", .target = "/apis"}};
            }},
    Special{"access review with many groups",
            [](std::size_t bytes) {
              return review("subjectaccessreviews",
                            R"({"spec":{"user":"u","groups":[)" + repeated(bytes, R"("g#")") +
                                R"(],"resourceAttributes":{"verb":"get","resource":"pods"}}})");
            }},
    Special{"access review with many extras",
            [](std::size_t bytes) {
              return review("subjectaccessreviews",
                            R"({"spec":{"user":"u","extra":{)" + repeated(bytes, R"("e#":["a"])") +
                                R"(},"resourceAttributes":{"verb":"get","resource":"pods"}}})");
            }},
    Special{"rules review",
            [](std::size_t) {
              return review("selfsubjectrulesreviews", R"({"spec":{"namespace":"default"}})");
            }},
    Special{"token with many audiences",
            [](std::size_t bytes) {
              return HostileCase{
                  .name = {},
                  .call = {
                      .method = "POST",
                      .target = "/api/v1/namespaces/default/serviceaccounts/default/token",
                      .body = R"({"spec":{"audiences":[)" + repeated(bytes, R"("a#")") + "]}}"}};
            }},
    Special{"status of a node",
            [](std::size_t bytes) {
              return HostileCase{
                  .name = {},
                  .before = {{.method = "POST",
                              .target = "/api/v1/nodes",
                              .body = R"({"metadata":{"name":"hostile"}})"}},
                  .call = {.method = "PATCH",
                           .target = "/api/v1/nodes/hostile/status",
                           .body = R"({"status":{"conditions":[)" +
                                   repeated(bytes, R"({"type":"T#","status":"True"})") + "]}}",
                           .type = std::string(kStrategic)},
                  .after = {{.method = "DELETE", .target = "/api/v1/nodes/hostile"}}};
            }},
};

constexpr std::size_t kPerSpot = kFillings.size() * kVerbs.size();

}  // namespace

std::size_t HostileCases::count() const {
  return kSpots.size() * kPerSpot + kSpecials.size();
}

std::string HostileCases::name(std::size_t index) const {
  if (index >= kSpots.size() * kPerSpot) {
    return std::string(kSpecials[index - kSpots.size() * kPerSpot].name);
  }
  const std::size_t filling = index % kPerSpot / kVerbs.size();
  return std::string(kSpots[index / kPerSpot].name) + ", " + std::string(kFillingNames[filling]) +
         ", " + std::string(kVerbNames[index % kVerbs.size()]);
}

HostileCase HostileCases::make(std::size_t index, std::size_t bytes) const {
  const std::size_t spots = kSpots.size() * kPerSpot;
  HostileCase made = index >= spots ? kSpecials[index - spots].make(bytes)
                                    : at_spot(kSpots[index / kPerSpot],
                                              kFillings[index % kPerSpot / kVerbs.size()],
                                              kVerbs[index % kVerbs.size()], bytes);
  made.name = name(index);
  return made;
}

std::vector<HostileCall> hostile_setup() {
  return {{.method = "POST",
           .target = std::string(kDefinitions),
           .body = std::string(kThingDefinition)},
          {.method = "POST",
           .target = "/api/v1/namespaces",
           .body = R"({"metadata":{"name":"other"}})"}};
}

}  // namespace codeflare::bench
