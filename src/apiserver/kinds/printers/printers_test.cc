#include "apiserver/kinds/printers.h"

#include "apiserver/kinds/testing/printed.h"
#include "apiserver/schema/builtin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace codeflare::apiserver {
namespace {

using testing::printed;

// Kinds that are not stored cannot be listed.
bool is_listed(const schema::BuiltinResource& resource) {
  return std::ranges::find(resource.verbs, "list") != resource.verbs.end();
}

TEST(BuiltinPrinter, every_resource_that_can_be_listed_has_one) {
  std::vector<std::string> plain;
  for (const schema::BuiltinResource& resource : schema::builtin_resources()) {
    if (is_listed(resource) &&
        builtin_printer(resource.group, resource.version, resource.plural) == nullptr) {
      plain.emplace_back(resource.plural);
    }
  }
  // These show name and age upstream too.
  EXPECT_EQ(plain, (std::vector<std::string>{"deviceclasses", "resourceclaimtemplates"}));
  EXPECT_EQ(builtin_printer("example.com", "v1", "widgets"), nullptr);
  EXPECT_EQ(builtin_printer("example.com", "v1", "pods"), nullptr);
}

TEST(BuiltinPrinter, any_object_gives_one_cell_per_column) {
  for (const schema::BuiltinResource& resource : schema::builtin_resources()) {
    auto printer = builtin_printer(resource.group, resource.version, resource.plural);
    if (printer == nullptr) {
      continue;
    }
    for (std::string_view object :
         {R"({})", R"({"metadata":null,"spec":null,"status":null})",
          R"({"metadata":7,"spec":[1],"status":"x","webhooks":4,"subsets":[[]],"series":true})",
          R"({"metadata":{"name":3,"creationTimestamp":"soon","ownerReferences":[4]},
              "spec":{"containers":[7],"metrics":[1],"template":[],"selector":4,"ports":[""]},
              "status":{"conditions":[0],"containerStatuses":[{}],"currentMetrics":[2],
                        "initContainerStatuses":["x",{"state":[]}]}})"}) {
      json::Document document = *json::parse(object);
      json::Value cells = json::Value::array();
      printer->print(document.root, testing::noon(), document.arena, cells);
      EXPECT_EQ(cells.size(), printer->columns().size()) << resource.plural << " " << object;
    }
  }
}

struct Case {
  std::string_view group;
  std::string_view plural;
  std::string_view object;  // without its name and age, which are x and 60s
  std::string_view cells;   // without the first, which is x
};

// `fields` with the metadata that every case has.
std::string object_of(std::string_view fields) {
  std::string out = R"({"metadata":{"name":"x","creationTimestamp":"2026-11-16T11:59:00Z"})";
  return out + (fields.empty() ? "" : ",") + std::string(fields) + "}";
}

void expect_cells(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    EXPECT_EQ(printed(c.group, c.plural, object_of(c.object)),
              R"(["x",)" + std::string(c.cells) + "]")
        << c.plural << " " << c.object;
  }
}

TEST(BuiltinPrinter, nodes_show_state_roles_and_what_they_run) {
  expect_cells({
      {"", "nodes", "",
       R"("Unknown","<none>","60s","","<none>","<none>","<unknown>","<unknown>","<unknown>")"},
      {"", "nodes", R"("status":{"conditions":[{"type":"Ready","status":"Unknown"}]})",
       R"("NotReady","<none>","60s","","<none>","<none>","<unknown>","<unknown>","<unknown>")"},
      {"", "nodes",
       R"("spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"True"}],
          "addresses":[{"type":"Hostname","address":"h"},{"type":"InternalIP","address":"10.1.2.3"},
                       {"type":"ExternalIP","address":"1.2.3.4"}],
          "nodeInfo":{"kubeletVersion":"v1.34.4","osImage":"Debian","kernelVersion":"6.1",
                      "containerRuntimeVersion":"processes://1"}})",
       R"("Ready,SchedulingDisabled","<none>","60s","v1.34.4","10.1.2.3","1.2.3.4","Debian","6.1","processes://1")"},
  });
  EXPECT_TRUE(printed("", "nodes", R"({"metadata":{"name":"n","labels":{
      "node-role.kubernetes.io/worker":"","kubernetes.io/role":"gpu",
      "node-role.kubernetes.io/control-plane":"","node-role.kubernetes.io/":"","a":"b"}}})")
                  .starts_with(R"(["n","Unknown","control-plane,gpu,worker","<unknown>",)"));
}

TEST(BuiltinPrinter, small_kinds_of_the_cluster) {
  expect_cells({
      {"", "namespaces", R"("status":{"phase":"Terminating"})", R"("Terminating","60s")"},
      {"", "componentstatuses",
       R"("conditions":[{"type":"Healthy","status":"True","message":"ok"}])",
       R"("Healthy","ok","")"},
      {"", "componentstatuses",
       R"("conditions":[{"type":"Healthy","status":"False","error":"no"}])",
       R"("Unhealthy","","no")"},
      {"coordination.k8s.io", "leases", R"("spec":{"holderIdentity":"me"})", R"("me","60s")"},
      {"coordination.k8s.io", "leases", "", R"("","60s")"},
      {"scheduling.k8s.io", "priorityclasses",
       R"("value":-5,"globalDefault":true,"preemptionPolicy":"Never")", R"(-5,true,"60s","Never")"},
      {"node.k8s.io", "runtimeclasses", R"("handler":"runsc")", R"("runsc","60s")"},
      {"apiregistration.k8s.io", "apiservices", "", R"("Local","Unknown","60s")"},
      {"apiregistration.k8s.io", "apiservices",
       R"("spec":{"service":{"namespace":"a","name":"b"}},"status":{"conditions":[
          {"type":"Available","status":"False","reason":"MissingEndpoints"}]})",
       R"-("a/b","False (MissingEndpoints)","60s")-"},
      {"apiextensions.k8s.io", "customresourcedefinitions", "", R"("2026-11-16T11:59:00Z")"},
      {"flowcontrol.apiserver.k8s.io", "flowschemas",
       R"("spec":{"priorityLevelConfiguration":{"name":"p"},"matchingPrecedence":500,
          "distinguisherMethod":{"type":"ByUser"}},
          "status":{"conditions":[{"type":"Dangling","status":"False"}]})",
       R"("p",500,"ByUser","60s","False")"},
      {"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations",
       R"("spec":{"type":"Exempt","exempt":{}})",
       R"("Exempt","<none>","<none>","<none>","<none>","60s")"},
      {"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations",
       R"("spec":{"type":"Limited","limited":{"nominalConcurrencyShares":20,"limitResponse":
          {"type":"Queue","queuing":{"queues":4,"handSize":2,"queueLengthLimit":9}}}})",
       R"("Limited",20,4,2,9,"60s")"},
  });
}

TEST(BuiltinPrinter, small_kinds_of_namespaces) {
  expect_cells({
      {"", "configmaps", R"("data":{"a":"1","b":"2"},"binaryData":{"c":""})", R"(3,"60s")"},
      {"", "secrets", R"("type":"kubernetes.io/tls","data":{"a":"MQ=="})",
       R"("kubernetes.io/tls",1,"60s")"},
      {"", "serviceaccounts", R"("secrets":[{"name":"s"}])", R"(1,"60s")"},
      {"", "limitranges", "", R"("2026-11-16T11:59:00Z")"},
      {"", "resourcequotas",
       R"("status":{"hard":{"pods":"10","limits.cpu":"4000m","cpu":"2","limits":"1"},
          "used":{"pods":"3","limits.cpu":"1.5"}})",
       R"("cpu: 0/2, limits: 0/1, pods: 3/10","limits.cpu: 1500m/4","60s")"},
      {"resource.k8s.io", "resourceclaims", "", R"("pending","60s")"},
      {"resource.k8s.io", "resourceclaims",
       R"("status":{"allocation":{},"reservedFor":[{"name":"p"}]})",
       R"("allocated,reserved","60s")"},
      {"resource.k8s.io", "resourceslices",
       R"("spec":{"nodeName":"n","driver":"d","pool":{"name":"p"}})", R"("n","d","p","60s")"},
  });
}

TEST(BuiltinPrinter, storage_kinds) {
  expect_cells({
      {"", "persistentvolumes",
       R"("spec":{"capacity":{"storage":"1024Mi"},"accessModes":["ReadWriteMany","ReadWriteOnce"],
          "claimRef":{"namespace":"a","name":"b"},"storageClassName":"fast","volumeMode":"Block"},
          "status":{"phase":"Bound"})",
       R"("1Gi","RWO,RWX","Retain","Bound","a/b","fast","<unset>","","60s","Block")"},
      {"", "persistentvolumeclaims", R"("spec":{"resources":{"requests":{"storage":"1Gi"}}})",
       R"("Pending","","","","","<unset>","60s","Filesystem")"},
      {"", "persistentvolumeclaims",
       R"("spec":{"volumeName":"v","storageClassName":"fast","volumeAttributesClassName":"gold"},
          "status":{"phase":"Bound","capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOncePod"]})",
       R"("Bound","v","1Gi","RWOP","fast","gold","60s","Filesystem")"},
      {"storage.k8s.io", "storageclasses", R"("provisioner":"p","allowVolumeExpansion":true)",
       R"("p","Delete","Immediate",true,"60s")"},
      {"storage.k8s.io", "volumeattributesclasses", R"("driverName":"d")", R"("d","60s")"},
      {"storage.k8s.io", "csinodes", R"("spec":{"drivers":[{},{}]})", R"(2,"60s")"},
      {"storage.k8s.io", "csidrivers",
       R"("spec":{"attachRequired":false,"podInfoOnMount":true,"tokenRequests":
          [{"audience":"a"},{"audience":"b"}],"volumeLifecycleModes":["Persistent","Ephemeral"]})",
       R"(false,true,false,"a,b",false,"Persistent,Ephemeral","60s")"},
      {"storage.k8s.io", "csidrivers", "",
       R"(true,false,false,"<unset>",false,"Persistent","60s")"},
      {"storage.k8s.io", "volumeattachments",
       R"("spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"v"}},
          "status":{"attached":true})",
       R"("a","v","n",true,"60s")"},
  });
  EXPECT_TRUE(printed("storage.k8s.io", "storageclasses", R"({"metadata":{"name":"s","annotations":
      {"storageclass.kubernetes.io/is-default-class":"true"}},"provisioner":"p"})")
                  .starts_with(R"-(["s (default)","p",)-"));
}

TEST(BuiltinPrinter, kinds_of_access_and_admission) {
  expect_cells({
      {"rbac.authorization.k8s.io", "clusterroles", "", R"("2026-11-16T11:59:00Z")"},
      {"rbac.authorization.k8s.io", "rolebindings",
       R"("roleRef":{"kind":"ClusterRole","name":"view"},"subjects":[{"kind":"User","name":"u"},
          {"kind":"Group","name":"g"},{"kind":"User","name":"v"},
          {"kind":"ServiceAccount","namespace":"n","name":"s"}])",
       R"("ClusterRole/view","60s","u, v","g","n/s")"},
      {"certificates.k8s.io", "certificatesigningrequests", "",
       R"("60s","<none>","","<none>","Pending")"},
      {"certificates.k8s.io", "certificatesigningrequests",
       R"("spec":{"signerName":"example.com/s","username":"u","expirationSeconds":3600},
          "status":{"conditions":[{"type":"Approved"}],"certificate":"MQ=="})",
       R"("60s","example.com/s","u","60m","Approved,Issued")"},
      {"certificates.k8s.io", "certificatesigningrequests",
       R"("status":{"conditions":[{"type":"Approved"},{"type":"Denied"},{"type":"Failed"}]})",
       R"("60s","<none>","","<none>","Denied,Failed")"},
      {"admissionregistration.k8s.io", "mutatingwebhookconfigurations", R"("webhooks":[{},{}])",
       R"(2,"60s")"},
      {"admissionregistration.k8s.io", "validatingadmissionpolicies",
       R"("spec":{"validations":[{}],"paramKind":{"apiVersion":"v1","kind":"ConfigMap"}})",
       R"(1,"v1/ConfigMap","60s")"},
      {"admissionregistration.k8s.io", "validatingadmissionpolicybindings",
       R"("spec":{"policyName":"p","paramRef":{"name":"c"}})", R"("p","*/c","60s")"},
      {"admissionregistration.k8s.io", "validatingadmissionpolicybindings",
       R"("spec":{"policyName":"p","paramRef":{"selector":{"matchLabels":{"b":"1","a":"2"},
          "matchExpressions":[{"key":"k","operator":"In","values":["v","w"]}]}}})",
       R"("p","&LabelSelector{MatchLabels:map[string]string{a: 2,b: 1,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[v w],},},}","60s")"},
  });
}

}  // namespace
}  // namespace codeflare::apiserver
