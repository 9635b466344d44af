#include "queue/demand.h"
#include "queue/queue.h"
#include "queue/testing/wrappers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

// Rules of templates about the pods beside theirs.
namespace codeflare::queue {
namespace {

using testing::wrapper;
using testing::wrapping;

std::string anti_affinity(std::string_view selector,
                          std::string_view key = "kubernetes.io/hostname",
                          std::string_view more = "") {
  return R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
      {"topologyKey":")" +
         std::string(key) + R"(","labelSelector":)" + std::string(selector) + std::string(more) +
         "}]}},";
}

std::string pod_template(std::string_view labels, std::string_view constraint) {
  return R"({"metadata":{"labels":)" + std::string(labels) + R"(},"spec":{)" +
         std::string(constraint) +
         R"("containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}})";
}

std::string job(std::string_view labels, std::string_view constraint) {
  return R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"it"},
      "spec":{"parallelism":3,"template":)" +
         pod_template(labels, constraint) + "}}";
}

std::vector<std::uint32_t> numbers(const Result<Demand>& demand) {
  std::vector<std::uint32_t> found;
  if (demand) {
    for (const PodSetDemand& set : demand->pod_sets) {
      found.push_back(set.pods.apart);
    }
  }
  return found;
}

using Numbers = std::vector<std::uint32_t>;
constexpr std::string_view kApp = R"({"matchLabels":{"app":"x"}})";

TEST(DemandNeighbours, pods_that_repel_their_own_kind_on_a_node_keep_apart) {
  const auto demand = demand_of(wrapping(job(R"({"app":"x"})", anti_affinity(kApp))));
  EXPECT_EQ(numbers(demand), Numbers{1});
  EXPECT_TRUE(demand->unheeded.empty());
  EXPECT_EQ(unheeded_text(*demand), "");
}

TEST(DemandNeighbours, labels_that_come_from_outside_the_template_count) {
  EXPECT_EQ(numbers(demand_of(wrapping(job(
                "{}", anti_affinity(R"({"matchLabels":{"batch.kubernetes.io/job-name":"it"}})"))))),
            Numbers{1});
  EXPECT_EQ(numbers(demand_of(wrapping(
                job("{}", anti_affinity(R"({"matchLabels":{"appwrapper.mcad.ibm.com":"aw"}})"))))),
            Numbers{1});
  const std::string labelled =
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"it","labels":{"app":"x"}},
      "spec":{"replicas":2,"template":)" +
      pod_template("{}", anti_affinity(kApp)) + "}}";
  EXPECT_EQ(numbers(demand_of(wrapping(labelled))), Numbers{1});
}

TEST(DemandNeighbours, head_and_workers_of_one_ray_cluster_keep_apart_from_each_other) {
  const std::string term = anti_affinity(R"({"matchLabels":{"ray.io/cluster":"it"}})");
  const auto cluster = [&](std::string_view of_head) {
    return wrapping(
        R"({"apiVersion":"ray.io/v1","kind":"RayCluster","metadata":{"name":"it"},"spec":{
        "headGroupSpec":{"template":)" +
        pod_template("{}", of_head) + R"(},"workerGroupSpecs":[{"groupName":"w","replicas":2,
        "template":)" +
        pod_template("{}", term) + "}]}}");
  };
  EXPECT_EQ(numbers(demand_of(cluster(term))), (Numbers{1, 1}));
  // One head: that it does not mind another changes nothing.
  EXPECT_EQ(numbers(demand_of(cluster(""))), (Numbers{1, 1}));
}

TEST(DemandNeighbours, what_one_number_would_be_too_strict_for_is_told) {
  const std::string shy = job(R"({"app":"x"})", anti_affinity(kApp));
  std::string plain = job(R"({"app":"x"})", "");
  plain.replace(plain.find(R"("it")"), 4, R"("other")");
  const auto demand =
      demand_of(wrapper(R"({"generictemplate":)" + shy + R"(},{"generictemplate":)" + plain + "}"));
  EXPECT_EQ(numbers(demand), (Numbers{1, 0}));
  ASSERT_EQ(demand->unheeded.size(), 1U);
}

TEST(DemandNeighbours, terms_that_places_do_not_heed_are_told_by_field) {
  const std::string field = "spec.resources.GenericItems[0].generictemplate.spec.template.spec.";
  const std::string required = "requiredDuringSchedulingIgnoredDuringExecution[0]";
  const auto unheeded = [](std::string_view constraint) {
    const auto demand = demand_of(wrapping(job(R"({"app":"x"})", constraint)));
    EXPECT_EQ(numbers(demand), Numbers{0});
    return demand && demand->unheeded.size() == 1 ? demand->unheeded.front() : "";
  };
  const std::string anti = field + "affinity.podAntiAffinity." + required;
  EXPECT_EQ(unheeded(anti_affinity(kApp, "topology.kubernetes.io/zone")), anti);
  EXPECT_EQ(unheeded(anti_affinity(R"({"matchLabels":{"app":"others"}})")), anti);
  EXPECT_EQ(unheeded(anti_affinity(kApp, "kubernetes.io/hostname", R"(,"namespaces":["far"])")),
            anti);
  EXPECT_EQ(
      unheeded(anti_affinity(kApp, "kubernetes.io/hostname", R"(,"mismatchLabelKeys":["app"])")),
      anti);
  EXPECT_EQ(unheeded(R"("affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
      [{"topologyKey":"kubernetes.io/hostname","labelSelector":{}}]}},)"),
            field + "affinity.podAffinity." + required);
  EXPECT_EQ(unheeded(R"("topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone",
      "whenUnsatisfiable":"DoNotSchedule","labelSelector":{}}],)"),
            field + "topologySpreadConstraints[0]");
}

TEST(DemandNeighbours, what_is_merely_preferred_is_nobodys_business_here) {
  const auto demand = demand_of(wrapping(job("{}", R"("affinity":{"podAntiAffinity":{
      "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"podAffinityTerm":
      {"topologyKey":"kubernetes.io/hostname","labelSelector":{}}}]}},
      "topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone",
      "whenUnsatisfiable":"ScheduleAnyway","labelSelector":{}}],)")));
  EXPECT_EQ(numbers(demand), Numbers{0});
  EXPECT_TRUE(demand->unheeded.empty());
}

model::Node node(const std::string& name) {
  model::Node made;
  made.metadata.name = name;
  made.status.allocatable = {{"cpu", model::Quantity(8)}, {"pods", model::Quantity(10)}};
  made.status.conditions.push_back({.type = "Ready", .status = "True"});
  return made;
}

TEST(DemandNeighbours, the_queue_waits_for_as_many_nodes_and_says_so) {
  const Time now{};
  Queue queue({.user_check = false});
  queue.upsert_node(node("a"));
  queue.upsert_node(node("b"));
  ASSERT_TRUE(queue.upsert(wrapping(job(R"({"app":"x"})", anti_affinity(kApp))), now));
  (void)queue.step(now);
  EXPECT_EQ(queue.sentence("u-1", now),
            "enough is free in total, but fragmented: 2 of 3 pods fit on 2 eligible "
            "nodes, at most one pod per node");
  queue.upsert_node(node("c"));
  (void)queue.step(now);
  EXPECT_EQ(queue.standing("u-1").plan.size(), 3U);
}

TEST(DemandNeighbours, the_sentence_of_one_that_waits_tells_what_is_not_heeded) {
  const Time now{};
  Queue queue({.user_check = false});
  ASSERT_TRUE(queue.upsert(
      wrapping(job(R"({"app":"x"})", anti_affinity(kApp, "topology.kubernetes.io/zone"))), now));
  (void)queue.step(now);
  EXPECT_TRUE(
      queue.sentence("u-1", now)
          .ends_with(
              "; "
              "spec.resources.GenericItems[0].generictemplate.spec.template.spec.affinity."
              "podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0] is ignored for "
              "placement; pods may be rejected by their node, or placed against the rule"))
      << queue.sentence("u-1", now);
}

}  // namespace
}  // namespace codeflare::queue
