#include "apiserver/rest/testing/api_world.h"

#include <gtest/gtest.h>

namespace codeflare::apiserver {
namespace {

const std::string kMaps = "/api/v1/namespaces/default/configmaps";
const std::string kPods = "/api/v1/namespaces/default/pods";
const std::string kThings = "/apis/example.com/v1/namespaces/default/things";

std::string named(std::string_view name, std::string_view meta = "", std::string_view rest = "") {
  return "{\"metadata\":{\"name\":\"" + std::string(name) + "\"" + std::string(meta) + "}" +
         std::string(rest) + "}";
}

std::string pod(std::string_view name, std::string_view spec = "") {
  return named(
      name, "",
      ",\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]" + std::string(spec) + "}");
}

TEST(Delete, answers_a_status_that_names_what_is_gone) {
  ApiWorld world;
  Answer made = world.post(kMaps, named("a"));
  Answer gone = world.remove(kMaps + "/a");
  EXPECT_EQ(gone.status, 200);
  EXPECT_EQ(gone.at("kind"), "Status");
  EXPECT_EQ(gone.at("status"), "Success");
  EXPECT_EQ(gone.at("details.name"), "a");
  EXPECT_EQ(gone.at("details.kind"), "configmaps");
  EXPECT_EQ(gone.at("details.uid"), made.at("metadata.uid"));
  EXPECT_EQ(world.get(kMaps + "/a").status, 404);
  EXPECT_EQ(world.remove(kMaps + "/a").status, 404);
}

TEST(Delete, some_kinds_answer_their_last_state) {
  ApiWorld world;
  world.post("/api/v1/namespaces/default/serviceaccounts", named("a"));
  Answer gone = world.remove("/api/v1/namespaces/default/serviceaccounts/a");
  EXPECT_EQ(gone.at("kind"), "ServiceAccount");
}

TEST(Delete, preconditions_that_do_not_hold_are_conflicts) {
  ApiWorld world;
  Answer made = world.post(kMaps, named("a"));
  Answer wrong = world.remove(kMaps + "/a", R"({"preconditions":{"uid":"x"}})");
  EXPECT_EQ(wrong.status, 409);
  EXPECT_TRUE(wrong.at("message").contains("the UID in the precondition (x) does not match"));
  wrong = world.remove(kMaps + "/a", R"({"preconditions":{"resourceVersion":"1"}})");
  EXPECT_EQ(wrong.status, 409);
  EXPECT_EQ(
      world
          .remove(kMaps + "/a", R"({"preconditions":{"uid":")" + made.at("metadata.uid") + R"("}})")
          .status,
      200);
}

TEST(Delete, options_of_the_wrong_type_are_refused_and_the_object_stays) {
  ApiWorld world;
  world.post(kMaps, named("a"));
  for (const char* options :
       {R"({"dryRun":"All"})", R"({"preconditions":{"uid":5}})", R"({"preconditions":[]})",
        R"({"preconditions":{"resourceVersion":5}})", R"({"propagationPolicy":1})",
        R"({"orphanDependents":"yes"})", R"({"gracePeriodSeconds":"0"})"}) {
    Answer refused = world.remove(kMaps + "/a", options);
    EXPECT_EQ(refused.status, 400) << options;
    EXPECT_EQ(world.get(kMaps + "/a").status, 200) << options;
  }
  EXPECT_EQ(world.remove(kMaps + "/a", R"({"preconditions":null,"dryRun":null})").status, 200);
}

TEST(Delete, a_dry_run_leaves_the_object) {
  ApiWorld world;
  world.post(kMaps, named("a"));
  EXPECT_EQ(world.remove(kMaps + "/a?dryRun=All").status, 200);
  EXPECT_EQ(world.remove(kMaps + "/a", R"({"dryRun":["All"]})").status, 200);
  EXPECT_EQ(world.get(kMaps + "/a").status, 200);
  EXPECT_EQ(world.remove(kMaps + "/a", R"({"dryRun":["x"]})").status, 422);
}

TEST(Delete, an_unknown_propagation_policy_is_refused) {
  ApiWorld world;
  world.post(kMaps, named("a"));
  Answer gone = world.remove(kMaps + "/a?propagationPolicy=Sideways");
  EXPECT_EQ(gone.status, 422);
  EXPECT_EQ(gone.at("details.causes.0.field"), "propagationPolicy");
}

TEST(Finalizers, hold_a_deleted_object_until_the_last_is_removed) {
  ApiWorld world;
  world.add_custom();
  world.post(kThings, named("a", R"(,"finalizers":["x.io/f"])", R"(,"spec":{})"));
  Answer marked = world.remove(kThings + "/a");
  EXPECT_EQ(marked.status, 200);
  EXPECT_EQ(marked.at("kind"), "Thing");
  EXPECT_NE(marked.at("metadata.deletionTimestamp"), "<absent>");
  EXPECT_EQ(marked.at("metadata.deletionGracePeriodSeconds"), "0");
  EXPECT_EQ(marked.at("metadata.generation"), "2");
  const Revision before = world.store().revision();
  Answer again = world.remove(kThings + "/a");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(world.store().revision(), before);
  Answer freed = world.patch(kThings + "/a", "merge", R"({"metadata":{"finalizers":null}})");
  EXPECT_EQ(freed.status, 200);
  EXPECT_EQ(world.store().revision(), before + 1) << "removed in the same commit";
  EXPECT_EQ(world.get(kThings + "/a").status, 404);
}

TEST(Finalizers, none_can_be_added_once_deletion_began) {
  ApiWorld world;
  world.add_custom();
  world.post(kThings, named("a", R"(,"finalizers":["x.io/f"])"));
  world.remove(kThings + "/a");
  Answer more =
      world.patch(kThings + "/a", "merge", R"({"metadata":{"finalizers":["x.io/f","x.io/g"]}})");
  EXPECT_EQ(more.status, 422);
  EXPECT_TRUE(more.at("message").contains(
      "no new finalizers can be added if the object is being deleted, found new finalizers "
      "[]string{\"x.io/g\"}"))
      << more.body;
}

TEST(Finalizers, of_built_in_kinds_are_qualified) {
  ApiWorld world;
  Answer made = world.post(kMaps, named("a", R"(,"finalizers":["nope"])"));
  EXPECT_EQ(made.status, 422);
  EXPECT_TRUE(made.at("message").contains(
      "metadata.finalizers[0]: Invalid value: \"nope\": name is neither a standard finalizer name "
      "nor is it fully qualified"))
      << made.body;
}

TEST(Finalizers, of_what_extends_the_api_are_not_asked_for_a_slash) {
  ApiWorld world;
  Answer made = world.post("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
                           named("a", R"(,"finalizers":["cleanup.example.com"])"));
  EXPECT_EQ(made.status, 201) << made.body;
}

TEST(Propagation, foreground_and_orphan_become_finalizers) {
  ApiWorld world;
  world.post(kMaps, named("a"));
  Answer marked = world.remove(kMaps + "/a", R"({"propagationPolicy":"Foreground"})");
  EXPECT_EQ(marked.at("metadata.finalizers"), R"(["foregroundDeletion"])");
  marked = world.remove(kMaps + "/a?propagationPolicy=Orphan");
  EXPECT_EQ(marked.at("metadata.finalizers"), R"(["orphan"])");
  marked = world.remove(kMaps + "/a?propagationPolicy=Background");
  EXPECT_EQ(marked.status, 200);
  EXPECT_EQ(world.get(kMaps + "/a").status, 404);
}

TEST(Propagation, jobs_leave_their_pods_unless_told_otherwise_and_say_so) {
  ApiWorld world;
  const std::string jobs = "/apis/batch/v1/namespaces/default/jobs";
  Answer made = world.post(
      jobs,
      named(
          "j", "",
          R"(,"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}})"));
  ASSERT_EQ(made.status, 201) << made.body;
  Answer marked = world.remove(jobs + "/j");
  EXPECT_TRUE(marked.headers.get("Warning").value_or("").contains("child pods are preserved"));
  EXPECT_TRUE(marked.at("metadata.finalizers").contains("\"orphan\"")) << marked.body;
}

TEST(Grace, a_bound_pod_gets_its_time_and_a_shorter_one_counts) {
  ApiWorld world;
  Answer made = world.post(kPods, pod("p", R"(,"nodeName":"n")"));
  ASSERT_EQ(made.status, 201) << made.body;
  Answer marked = world.remove(kPods + "/p");
  EXPECT_EQ(marked.at("metadata.deletionGracePeriodSeconds"), "30") << marked.body;
  Answer longer = world.remove(kPods + "/p?gracePeriodSeconds=60");
  EXPECT_EQ(longer.at("metadata.deletionGracePeriodSeconds"), "30");
  Answer shorter = world.remove(kPods + "/p", R"({"gracePeriodSeconds":5})");
  EXPECT_EQ(shorter.at("metadata.deletionGracePeriodSeconds"), "5");
  Answer now = world.remove(kPods + "/p", R"({"gracePeriodSeconds":0})");
  EXPECT_EQ(now.status, 200);
  EXPECT_EQ(world.get(kPods + "/p").status, 404);
}

TEST(Grace, a_pod_without_a_node_goes_at_once) {
  ApiWorld world;
  ASSERT_EQ(world.post(kPods, pod("p")).status, 201);
  EXPECT_EQ(world.remove(kPods + "/p").status, 200);
  EXPECT_EQ(world.get(kPods + "/p").status, 404);
}

TEST(DeleteCollection, removes_what_the_selector_matches) {
  ApiWorld world;
  for (const char* name : {"a", "b", "c"}) {
    world.post(kMaps, named(name, name == std::string_view("b") ? "" : R"(,"labels":{"x":"1"})"));
  }
  Answer gone = world.remove(kMaps + "?labelSelector=x%3D1");
  EXPECT_EQ(gone.status, 200);
  EXPECT_EQ(gone.at("kind"), "ConfigMapList");
  EXPECT_EQ(gone.size("items"), 2u);
  Answer left = world.get(kMaps);
  ASSERT_EQ(left.size("items"), 1u);
  EXPECT_EQ(left.at("items.0.metadata.name"), "b");
}

TEST(Namespaces, stay_until_their_own_finalizer_is_taken_through_finalize) {
  ApiWorld world;
  Answer made = world.post("/api/v1/namespaces", named("x"));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.at("spec.finalizers"), R"(["kubernetes"])");
  Answer marked = world.remove("/api/v1/namespaces/x");
  EXPECT_EQ(marked.at("status.phase"), "Terminating") << marked.body;
  EXPECT_EQ(world.get("/api/v1/namespaces/x").status, 200);
  Answer ended =
      world.put("/api/v1/namespaces/x/finalize", R"({"metadata":{"name":"x"},"spec":{}})");
  EXPECT_EQ(ended.status, 200) << ended.body;
  EXPECT_EQ(world.get("/api/v1/namespaces/x").status, 404);
}

TEST(DeleteCollection, never_reaches_across_namespaces) {
  ApiWorld world;
  world.add_custom();
  ASSERT_EQ(world.post(kMaps, named("a")).status, 201);
  ASSERT_EQ(world.post(kThings, named("t")).status, 201);
  Answer refused = world.remove("/api/v1/configmaps");
  EXPECT_EQ(refused.status, 405);
  EXPECT_EQ(refused.at("reason"), "MethodNotAllowed");
  EXPECT_EQ(refused.at("message"),
            "the server does not allow this method on the requested resource");
  EXPECT_EQ(world.remove("/apis/example.com/v1/things").status, 404);
  EXPECT_EQ(world.post("/apis/example.com/v1/things", named("u")).status, 404);
  EXPECT_EQ(world.get(kMaps).size("items"), 1u);
  EXPECT_EQ(world.get(kThings).size("items"), 1u);
}

TEST(DeleteCollection, of_many_shares_commits_and_leaves_nothing) {
  ApiWorld world;
  for (int i = 0; i < 50; ++i) {
    world.post(kMaps, named("m" + std::to_string(i)));
  }
  Answer gone = world.remove(kMaps);
  EXPECT_EQ(gone.status, 200);
  EXPECT_EQ(gone.size("items"), 50u);
  EXPECT_EQ(world.get(kMaps).size("items"), 0u);
}

}  // namespace
}  // namespace codeflare::apiserver
