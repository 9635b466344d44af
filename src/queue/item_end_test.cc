#include "queue/item_end.h"

#include "json/parse.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::queue {
namespace {

TEST(Completion, looks_for_words_in_conditions_that_are_true) {
  const auto complete = [](const std::string& status, std::string_view words) {
    return is_complete(json::parse(R"({"status":)" + status + "}")->root, words);
  };
  const std::string done = R"({"conditions":[{"type":"Complete","status":"True"}]})";
  EXPECT_TRUE(complete(done, "Complete"));
  EXPECT_TRUE(complete(done, "failed, complete"));
  EXPECT_TRUE(complete(R"({"conditions":[{"type":"JobCompleted","status":"True"}]})", "complete"));
  EXPECT_FALSE(complete(R"({"conditions":[{"type":"Complete","status":"False"}]})", "Complete"));
  EXPECT_FALSE(complete(done, "Succeeded"));
  EXPECT_FALSE(complete(done, " , "));
  EXPECT_TRUE(complete(R"({"phase":"Succeeded"})", "Succeeded"));
  EXPECT_TRUE(complete(R"({"jobStatus":"SUCCEEDED"})", "succeeded"));
  EXPECT_FALSE(complete("{}", "Complete"));
}

TEST(Completion, a_failure_is_what_the_object_says_of_itself) {
  const auto failure = [](const std::string& conditions) {
    return failure_of(json::parse(R"({"status":{"conditions":)" + conditions + "}}")->root);
  };
  EXPECT_EQ(failure(R"([{"type":"Failed","status":"True","reason":"R","message":"m"}])"), "R: m");
  EXPECT_EQ(failure(R"([{"type":"Failed","status":"False","reason":"R"}])"), "");
  EXPECT_FALSE(failure(R"([{"type":"Failed","status":"True"}])").empty());
}

TEST(Completion, pods_and_ray_jobs_say_in_their_own_way_that_they_failed) {
  const auto status = [](const std::string& text) {
    return json::parse(R"({"status":)" + text + "}");
  };
  const auto failure = [&](const std::string& text) { return failure_of(status(text)->root); };
  EXPECT_EQ(failure(R"({"phase":"Failed","reason":"Evicted","message":"no disk"})"),
            "Evicted: no disk");
  EXPECT_FALSE(failure(R"({"phase":"Failed"})").empty());
  EXPECT_EQ(failure(R"({"phase":"Running"})"), "");
  EXPECT_EQ(failure(R"({"jobStatus":"FAILED","jobDeploymentStatus":"Failed","message":"m"})"), "m");
  EXPECT_FALSE(failure(R"({"jobStatus":"STOPPED","jobDeploymentStatus":"Complete"})").empty());
  EXPECT_FALSE(failure(R"({"jobDeploymentStatus":"Failed"})").empty());
  EXPECT_EQ(failure(R"({"jobStatus":"FAILED","jobDeploymentStatus":"Retrying"})"), "");
  EXPECT_EQ(failure(R"({"jobStatus":"FAILED","jobDeploymentStatus":"Running","failed":0})"), "");
  EXPECT_FALSE(failure(R"({"jobStatus":"FAILED","jobDeploymentStatus":"Running"})").empty());
  EXPECT_EQ(failure(R"({"jobDeploymentStatus":"ValidationFailed","reason":"ValidationFailed",
                        "message":"no entry point"})"),
            "ValidationFailed: no entry point");
  EXPECT_EQ(failure(R"({"jobStatus":"SUCCEEDED","jobDeploymentStatus":"Complete"})"), "");
  EXPECT_TRUE(is_finished(status(R"({"phase":"Failed"})")->root));
  EXPECT_TRUE(is_finished(status(R"({"jobStatus":"SUCCEEDED"})")->root));
  EXPECT_TRUE(is_finished(status(R"({"conditions":[{"type":"Complete","status":"True"}]})")->root));
  EXPECT_FALSE(is_finished(status(R"({"phase":"Running"})")->root));
  EXPECT_FALSE(is_finished(status("{}")->root));
}

// An object of this kind with this status.
Result<json::Document> object(std::string_view api_version, std::string_view kind,
                              std::string_view status) {
  return json::parse(R"({"apiVersion":")" + std::string(api_version) + R"(","kind":")" +
                     std::string(kind) + R"(","status":)" + std::string(status) + "}");
}

TEST(Completion, a_known_kind_ends_only_where_its_own_api_says_so) {
  const std::string phase = R"({"phase":"Failed"})";
  EXPECT_EQ(failure_of(object("v1", "Pod", phase)->root), "its phase is Failed");
  EXPECT_EQ(failure_of(object("batch/v1", "Job", phase)->root), "");
  const std::string condition = R"({"conditions":[{"type":"Complete","status":"True"}]})";
  EXPECT_TRUE(is_finished(object("batch/v1", "Job", condition)->root));
  EXPECT_FALSE(is_finished(object("ray.io/v1", "RayJob", condition)->root));
  const std::string job = R"({"jobStatus":"FAILED"})";
  EXPECT_EQ(failure_of(object("ray.io/v1", "RayJob", job)->root), "its job is FAILED");
  EXPECT_EQ(failure_of(object("kubeflow.org/v1", "PyTorchJob", job)->root), "");
}

TEST(Completion, an_unknown_kind_ends_wherever_it_says_so) {
  for (const std::string_view status : {R"({"phase":"Failed"})", R"({"jobStatus":"FAILED"})",
                                        R"({"conditions":[{"type":"Failed","status":"True"}]})"}) {
    EXPECT_FALSE(failure_of(object("example.com/v1", "Train", status)->root).empty()) << status;
  }
}

model::AppWrapper of_items(const std::vector<std::string>& templates) {
  model::AppWrapper wrapper;
  wrapper.metadata.name = "w";
  wrapper.metadata.ns = "a";
  for (const std::string& each : templates) {
    model::GenericItem item;
    item.generic_template.text = each;
    wrapper.spec.resources.generic_items.push_back(std::move(item));
  }
  return wrapper;
}

// The awaited items, one character each, and why it stays.
std::pair<std::string, std::string> end_of(const model::AppWrapper& wrapper) {
  std::vector<ItemInfo> infos;
  for (const model::GenericItem& item : wrapper.spec.resources.generic_items) {
    const Result<json::Document> object = json::parse(item.generic_template.text);
    infos.push_back({.key = {"a", "x"},
                     .kind = std::string(object->root.string_or_empty("kind")),
                     .life = life_of(object->root)});
  }
  std::string awaited;
  for (const bool each : awaited_items(wrapper, infos)) {
    awaited += each ? '+' : '-';
  }
  return {awaited, why_it_stays(wrapper, infos)};
}

constexpr const char* kJobText = R"({"apiVersion":"batch/v1","kind":"Job"})";
constexpr const char* kServiceText = R"({"apiVersion":"v1","kind":"Service"})";
constexpr const char* kDeploymentText = R"({"apiVersion":"apps/v1","kind":"Deployment"})";
constexpr const char* kThing = R"({"apiVersion":"example.com/v1","kind":"Thing"})";

std::string pod_text(const std::string& policy) {
  return R"({"apiVersion":"v1","kind":"Pod","spec":{"restartPolicy":")" + policy + R"("}})";
}

TEST(AppWrapperEnd, comes_with_the_items_when_all_of_them_end) {
  const std::vector<std::string> ending = {
      kJobText,
      pod_text("Never"),
      pod_text("OnFailure"),
      R"({"apiVersion":"ray.io/v1","kind":"RayJob"})",
      R"({"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob"})",
      R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet"})",
  };
  EXPECT_EQ(end_of(of_items(ending)), std::pair(std::string("++++++"), std::string()));
  for (const std::string& each : ending) {
    EXPECT_EQ(end_of(of_items({each})), std::pair(std::string("+"), std::string())) << each;
  }
}

TEST(AppWrapperEnd, waits_neither_for_services_nor_for_configuration) {
  EXPECT_EQ(end_of(of_items({kServiceText, kJobText})),
            std::pair(std::string("-+"), std::string()));
  // Objects of `--expose`, and gangs as other schedulers have them.
  for (const auto& [api_version, kind] : {std::pair("route.openshift.io/v1", "Route"),
                                          std::pair("gateway.networking.k8s.io/v1", "HTTPRoute"),
                                          std::pair("networking.k8s.io/v1", "Ingress"),
                                          std::pair("networking.k8s.io/v1", "NetworkPolicy"),
                                          std::pair("scheduling.sigs.k8s.io/v1alpha1", "PodGroup"),
                                          std::pair("scheduling.x-k8s.io/v1alpha1", "PodGroup")}) {
    const std::string text =
        R"({"apiVersion":")" + std::string(api_version) + R"(","kind":")" + kind + R"("})";
    EXPECT_EQ(end_of(of_items({text, kJobText})), std::pair(std::string("-+"), std::string()))
        << kind;
  }
}

TEST(AppWrapperEnd, does_not_come_while_an_item_runs_on) {
  const auto [awaited, why] = end_of(of_items({kJobText, kDeploymentText}));
  EXPECT_EQ(awaited, "--");
  EXPECT_EQ(why,
            "Deployment x runs until it is deleted; no item has a completionstatus that says when "
            "the work is done");
  EXPECT_TRUE(end_of(of_items({pod_text("Always")})).second.contains("restartPolicy Always"));
  EXPECT_TRUE(end_of(of_items({kThing})).second.contains("Thing x is of a kind whose end"));
  EXPECT_TRUE(end_of(of_items({R"({"apiVersion":"ray.io/v1","kind":"RayCluster"})"}))
                  .second.contains("RayCluster x runs until"));
  EXPECT_EQ(end_of(of_items({kServiceText})),
            std::pair(std::string("-"), std::string("none of its items has pods that could end")));
}

TEST(AppWrapperEnd, is_decided_by_completionstatus_where_an_item_has_one) {
  model::AppWrapper wrapper = of_items({kJobText, kDeploymentText, kThing});
  wrapper.spec.resources.generic_items[2].completion_status = "Complete";
  EXPECT_EQ(end_of(wrapper), std::pair(std::string("--+"), std::string()));
}

}  // namespace
}  // namespace codeflare::queue
