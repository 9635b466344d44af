#include "cli/verbs/explain.h"

#include "cli/testing/verb_world.h"
#include "cli/verbs/create.h"
#include "cli/verbs/delete.h"
#include "cli/verbs/queue.h"
#include "cli/verbs/quota.h"
#include "cli/verbs/top.h"
#include "cli/views/kinds.h"
#include "json/parse.h"
#include "model/pod.h"
#include "model/resources.h"

#include <gtest/gtest.h>

namespace codeflare::cli {
namespace {

using testing::VerbWorld;

constexpr std::string_view kNode = R"(---
apiVersion: v1
kind: Node
metadata: {name: node-1}
status:
  allocatable: {cpu: "8", memory: 16Gi, pods: "110"}
  capacity: {cpu: "8", memory: 16Gi, pods: "110"}
  conditions: [{type: Ready, status: "True", reason: r, message: m}]
)";

// A pod of nobody holds six of eight cpus.
constexpr std::string_view kPod = R"(---
apiVersion: v1
kind: Pod
metadata: {name: other, namespace: default}
spec:
  nodeName: node-1
  containers: [{name: c, image: i, resources: {requests: {cpu: "6"}}}]
)";

std::string wrapper_of(const std::string& name, const std::string& cpu) {
  return "---\n"
         "apiVersion: workload.codeflare.dev/v1beta1\n"
         "kind: AppWrapper\n"
         "metadata: {name: " +
         name + R"(}
spec:
  resources:
    GenericItems:
    - replicas: 1
      custompodresources:
      - replicas: 1
        requests: {cpu: ")" +
         cpu + R"(", memory: 1Gi}
      generictemplate:
        apiVersion: v1
        kind: Pod
        metadata: {name: )" +
         name + R"(}
        spec:
          containers: [{name: c, image: i}]
)";
}

// ann may see AppWrappers of her namespace, and nothing else.
constexpr std::string_view kAnn = R"(---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: wrappers, namespace: default}
rules: [{apiGroups: [workload.codeflare.dev], resources: [appwrappers], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: ann, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: wrappers}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ann}]
)";

struct World : VerbWorld {
  World() {
    write("all.yaml", testing::app_wrapper_crd() + std::string(kNode) + std::string(kPod) +
                          wrapper_of("big", "4") + wrapper_of("huge", "12") +
                          wrapper_of("small", "1") + std::string(kAnn));
    EXPECT_EQ(verb([](Session& s) { return run_create(s, {.files = {"all.yaml"}}); }), kDone)
        << console.err_text;
  }
  int explain(const std::string& name, SessionFlags flags = {}, const std::string& user = "admin") {
    return verb(
        [&](Session& s) {
          return run_explain(
              s, {.kind = "aw", .name = name, .controller_ns = std::string(kControllerNamespace)});
        },
        flags, user);
  }
};

TEST(Explain, says_with_numbers_what_is_short) {
  World world;
  EXPECT_EQ(world.explain("big"), kDone) << world.console.err_text;
  const std::string& text = world.console.out_text;
  EXPECT_TRUE(text.starts_with("appwrapper default/big is waiting, submitted 0s ago, position 1"))
      << text;
  EXPECT_TRUE(text.contains("InsufficientResources: ")) << text;
  // The small one goes first: it fits, and the controller would start it now.
  EXPECT_TRUE(text.contains("\n  cpu        4        1      8          4         1 ")) << text;
  EXPECT_TRUE(text.contains("Resources in use by:\n  default/small holds 1 CPU")) << text;
  EXPECT_TRUE(text.contains("\n  pods outside the queue hold 6 CPUs\n")) << text;
  EXPECT_FALSE(text.contains("Not checked")) << text;
}

TEST(Explain, what_is_too_large_for_every_node_never_fits) {
  World world;
  EXPECT_EQ(world.explain("huge"), kDone) << world.console.err_text;
  EXPECT_TRUE(
      world.console.out_text.contains("Does not fit even if all running work of the queue ends"))
      << world.console.out_text;
}

TEST(Explain, what_fits_waits_for_the_controller_alone) {
  World world;
  EXPECT_EQ(world.explain("small"), kDone) << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.contains("fits now")) << world.console.out_text;
}

// As the controller writes it that waits with the AppWrapper for this reason.
Task<int> refuse(Session& session, std::string name, std::string reason) {
  std::string status =
      R"({"status":{"state":"Pending","conditions":[{"type":"Queued","status":"True","reason":")" +
      reason + R"(","message":"m"}]}})";
  const Result<kube::ObjectRef> done = co_await session.client().patch(
      app_wrapper_kind().type, {"default", std::move(name)}, kube::PatchKind::merge,
      std::move(status), {.subresource = "status"});
  co_return done ? kDone : kFailed;
}

TEST(Explain, what_no_node_is_allowed_for_is_not_told_to_wait_for_other_work) {
  World world;
  world.write("far.yaml", wrapper_of("far", "1") + "          nodeSelector: {zone: nowhere}\n");
  ASSERT_EQ(world.verb([](Session& s) { return run_create(s, {.files = {"far.yaml"}}); }), kDone)
      << world.console.err_text;
  EXPECT_EQ(world.explain("far"), kDone) << world.console.err_text;
  const std::string& text = world.console.out_text;
  EXPECT_TRUE(text.contains("NoNodeAllowed: 0 of 1 nodes are eligible: selector zone=")) << text;
  EXPECT_TRUE(text.contains("no node is eligible")) << text;
  EXPECT_FALSE(text.contains("does not say how long")) << text;
}

TEST(Explain, a_paused_queue_is_said_to_be_that_also_to_who_may_not_read_its_config_map) {
  World world;
  ASSERT_EQ(world.verb([](Session& s) { return run_pause(s, {}, true); }), kDone);
  EXPECT_EQ(world.explain("small"), kDone) << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.contains("\n  Paused: fits now, starts when "))
      << world.console.out_text;
  EXPECT_FALSE(world.console.out_text.contains("the controller starts it next"));
  ASSERT_EQ(world.verb([](Session& s) { return refuse(s, "small", "Paused"); }), kDone);
  EXPECT_EQ(world.explain("small", {}, "ann"), kDone) << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.contains("the queue is paused (ConfigMap "))
      << world.console.out_text;
}

TEST(Explain, what_nobody_is_known_to_have_submitted_does_not_just_fit) {
  World world;
  ASSERT_EQ(world.verb([](Session& s) { return refuse(s, "small", "UserUnknown"); }), kDone);
  EXPECT_EQ(world.explain("small"), kDone) << world.console.err_text;
  const std::string& text = world.console.out_text;
  EXPECT_TRUE(text.contains("UserUnknown")) << text;
  EXPECT_TRUE(text.contains("create the AppWrapper again while the admission webhook is served"))
      << text;
  EXPECT_FALSE(text.contains("fits now")) << text;
}

// A gang holds one of the two cpus that are free; the next in line wants both.
Task<int> start(Session& session, std::string name) {
  const Result<kube::ObjectRef> done = co_await session.client().patch(
      app_wrapper_kind().type, {"default", std::move(name)}, kube::PatchKind::merge,
      R"({"status":{"state":"Running","canrun":true,
          "plan":{"places":[{"podSet":0,"node":"node-1","count":1}]}}})",
      {.subresource = "status"});
  co_return done ? kDone : kFailed;
}

TEST(Explain, the_settings_of_the_controller_are_heeded) {
  World world;
  world.write("more.yaml", wrapper_of("runs", "1") + wrapper_of("head", "2") + "  priority: 5\n");
  ASSERT_EQ(world.verb([](Session& s) { return run_create(s, {.files = {"more.yaml"}}); }), kDone)
      << world.console.err_text;
  ASSERT_EQ(world.verb([](Session& s) { return start(s, "runs"); }), kDone);
  EXPECT_EQ(world.explain("small"), kDone) << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.contains("fits now")) << world.console.out_text;
  world.write("settings.yaml", R"(---
apiVersion: v1
kind: Namespace
metadata: {name: codeflare-system}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: codeflare-queue, namespace: codeflare-system}
data: {settings: '{"holdingSeconds":60}'}
)");
  ASSERT_EQ(world.verb([](Session& s) { return run_create(s, {.files = {"settings.yaml"}}); }),
            kDone)
      << world.console.err_text;
  EXPECT_EQ(world.explain("small"), kDone) << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.contains("Reserved: nodes are reserved for default/head"))
      << world.console.out_text;
}

// A pod of `going` that somebody's finalizer keeps, as one keeps itself.
Task<int> keep_with_pod(Session& session) {
  const auto wrapper = co_await session.client().patch(
      app_wrapper_kind().type, {"default", "going"}, kube::PatchKind::merge,
      R"({"metadata":{"finalizers":["example.com/test"]}})");
  if (!wrapper) {
    co_return kFailed;
  }
  std::string pod = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p0",
      "finalizers":["example.com/slow"],"labels":{"workload.codeflare.dev/appwrapper-uid":")" +
                    std::string((*wrapper)->uid()) + R"("}},
      "spec":{"nodeName":"node-1","containers":[{"name":"c","image":"i"}]}})";
  const auto made = co_await session.client().create(model::resource_type<model::Pod>(), "default",
                                                     std::move(pod));
  co_return made ? kDone : kFailed;
}

TEST(Explain, a_quota_node_that_is_not_there_is_held_by_nobody) {
  World world;
  world.write("quota.yaml", testing::app_wrapper_crd("quotasubtrees.quota.codeflare.dev") + R"(---
apiVersion: quota.codeflare.dev/v1alpha1
kind: QuotaSubtree
metadata: {name: q, namespace: default, labels: {tree: team}}
spec: {children: [{name: gold, quotas: {requests: {cpu: 4}}}]}
)");
  ASSERT_EQ(world.verb([](Session& s) { return run_create(s, {.files = {"quota.yaml"}}); }), kDone)
      << world.console.err_text;
  EXPECT_EQ(world.explain("big"), kDone) << world.console.err_text;
  const std::string& text = world.console.out_text;
  EXPECT_TRUE(text.contains("UnknownQuota: quota node default does not exist in tree team"))
      << text;
  EXPECT_FALSE(text.contains("Resources in use by")) << text;
  EXPECT_TRUE(
      text.contains("To start it now:\n"
                    "  set the label to an existing quota node: team=gold\n"))
      << text;
}

TEST(Explain, names_the_pods_that_keep_one_from_being_deleted) {
  World world;
  world.write("going.yaml", wrapper_of("going", "1"));
  ASSERT_EQ(world.verb([](Session& s) { return run_create(s, {.files = {"going.yaml"}}); }), kDone)
      << world.console.err_text;
  ASSERT_EQ(world.verb([](Session& s) { return keep_with_pod(s); }), kDone)
      << world.console.err_text;
  EXPECT_EQ(world.verb([](Session& s) {
    return run_delete(s, {.files = {"going.yaml"}, .timeout = std::chrono::seconds(7)});
  }),
            kTimeUp);
  const std::string pod = "pod p0 on node-1 (finalizers example.com/slow)";
  EXPECT_EQ(world.console.err_text,
            "error: appwrapper.workload.codeflare.dev/going: still there after 7s, held by "
            "example.com/test, waiting for " +
                pod + "\n");
  EXPECT_EQ(world.explain("going"), kDone) << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.contains("Waiting for these to go:\n  " + pod + "\n"))
      << world.console.out_text;
}

TEST(Explain, a_resource_quota_is_heeded_as_far_as_its_scopes_go) {
  World world;
  world.write("quotas.yaml", R"(---
apiVersion: v1
kind: ResourceQuota
metadata: {name: hurried, namespace: default}
spec: {hard: {pods: "0"}, scopes: [Terminating]}
)");
  const auto create = [](Session& s) { return run_create(s, {.files = {"quotas.yaml"}}); };
  ASSERT_EQ(world.verb(create), kDone) << world.console.err_text;
  EXPECT_EQ(world.explain("small"), kDone) << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.contains("fits now")) << world.console.out_text;
  world.write("quotas.yaml", R"(---
apiVersion: v1
kind: ResourceQuota
metadata: {name: patient, namespace: default}
spec: {hard: {pods: "0"}, scopes: [NotTerminating]}
)");
  ASSERT_EQ(world.verb(create), kDone) << world.console.err_text;
  EXPECT_EQ(world.explain("small"), kDone) << world.console.err_text;
  EXPECT_TRUE(world.console.out_text.contains("ResourceQuota default/patient"))
      << world.console.out_text;
}

TEST(Explain, who_may_see_less_is_told_what_is_missing_and_why) {
  World world;
  EXPECT_EQ(world.explain("big", {}, "ann"), kDone) << world.console.err_text;
  const std::string& text = world.console.out_text;
  EXPECT_TRUE(text.starts_with("appwrapper default/big is waiting, submitted 0s ago\n")) << text;
  EXPECT_TRUE(text.contains("Not checked:\n  nodes of all namespaces: nodes is forbidden")) << text;
  EXPECT_TRUE(text.contains("pods of all namespaces: pods is forbidden")) << text;
  EXPECT_TRUE(text.contains("settings of the controller, defaults are used: ")) << text;
}

TEST(Explain, of_one_that_is_gone_shows_the_events_that_outlive_it) {
  World world;
  world.write("events.yaml", R"(---
apiVersion: v1
kind: Event
metadata: {name: train.2, namespace: default}
involvedObject: {apiVersion: workload.codeflare.dev/v1beta1, kind: AppWrapper, namespace: default, name: train}
reason: Completed
message: all items are complete
type: Normal
lastTimestamp: "2001-01-02T00:00:02Z"
---
apiVersion: v1
kind: Event
metadata: {name: train.1, namespace: default}
involvedObject: {apiVersion: workload.codeflare.dev/v1beta1, kind: AppWrapper, namespace: default, name: train}
reason: Dispatched
message: all objects exist
type: Normal
lastTimestamp: "2001-01-02T00:00:01Z"
---
apiVersion: v1
kind: Event
metadata: {name: other.1, namespace: default}
involvedObject: {apiVersion: v1, kind: Pod, namespace: default, name: train}
reason: Pulled
message: of a pod of this name
type: Normal
lastTimestamp: "2001-01-02T00:00:03Z"
)");
  ASSERT_EQ(world.verb([](Session& s) { return run_create(s, {.files = {"events.yaml"}}); }), kDone)
      << world.console.err_text;
  EXPECT_EQ(world.explain("train"), kNotFound);
  const std::string& text = world.console.out_text;
  EXPECT_TRUE(text.starts_with(
      "appwrapper default/train does not exist any more; its last Events:\n  AGE "))
      << text;
  EXPECT_LT(text.find("all objects exist"), text.find("all items are complete")) << text;
  EXPECT_FALSE(text.contains("of a pod")) << text;
  EXPECT_TRUE(world.console.err_text.contains("not found")) << world.console.err_text;
  EXPECT_EQ(world.explain("nobody"), kNotFound);
  EXPECT_EQ(world.console.out_text, "");
}

TEST(Explain, answers_as_json_and_refuses_what_it_does_not_know) {
  World world;
  EXPECT_EQ(world.explain("big", {.output = "json"}), kDone) << world.console.err_text;
  const Result<json::Document> document = json::parse(world.console.out_text);
  ASSERT_TRUE(document.has_value()) << world.console.out_text;
  EXPECT_TRUE(document->root.find("report")->is_object());
  EXPECT_EQ(world.explain("none"), kNotFound);
  EXPECT_EQ(world.explain("big", {.output = "yaml"}), kUsage);
}

// dora may see AppWrappers and quota trees of her namespace alone.
constexpr std::string_view kDora = R"(---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: quotas, namespace: default}
rules:
- {apiGroups: [workload.codeflare.dev], resources: [appwrappers], verbs: [get, list]}
- {apiGroups: [quota.codeflare.dev], resources: [quotasubtrees], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: dora, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: quotas}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: dora}]
)";

TEST(Quota, without_cluster_rights_no_one_is_told_to_create_trees) {
  World world;
  world.write("quota.yaml",
              testing::app_wrapper_crd("quotasubtrees.quota.codeflare.dev") + std::string(kDora));
  ASSERT_EQ(world.verb([](Session& s) { return run_create(s, {.files = {"quota.yaml"}}); }), kDone)
      << world.console.err_text;
  EXPECT_EQ(world.verb([](Session& s) { return run_quota(s, {}); }), kDone);
  EXPECT_TRUE(world.console.err_text.contains("no quota trees; create QuotaSubtrees"))
      << world.console.err_text;
  EXPECT_EQ(world.verb([](Session& s) { return run_quota(s, {}); }, {}, "dora"), kDone);
  EXPECT_TRUE(
      world.console.err_text.contains("no quota trees in namespace default; 'codeflare "
                                      "explain NAME' names the quota"))
      << world.console.err_text;
  EXPECT_FALSE(world.console.err_text.contains("create")) << world.console.err_text;
}

TEST(Top, shows_requests_where_nothing_is_measured) {
  World world;
  EXPECT_EQ(world.verb([](Session& s) { return run_top(s, {}); }), kDone) << world.console.err_text;
  EXPECT_EQ(world.console.err_text,
            "note: only requests are shown: the cluster has no metrics API; metrics-server brings "
            "it\n");
  EXPECT_TRUE(world.console.out_text.contains("node-1   -     6           8 "))
      << world.console.out_text;
}

}  // namespace
}  // namespace codeflare::cli
