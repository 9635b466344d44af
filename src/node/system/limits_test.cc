#include "node/system/limits.h"

#include <gtest/gtest.h>

namespace codeflare::node {
namespace {

model::Container container(std::string_view cpu_request, std::string_view cpu_limit,
                           std::string_view memory_limit) {
  model::Container one;
  const auto set = [](model::ResourceList& list, std::string_view name, std::string_view text) {
    if (!text.empty()) {
      list.set(name, *model::Quantity::parse(text));
    }
  };
  set(one.resources.requests, "cpu", cpu_request);
  set(one.resources.limits, "cpu", cpu_limit);
  set(one.resources.limits, "memory", memory_limit);
  return one;
}

std::string value_of(const std::vector<GroupSetting>& settings, std::string_view file) {
  for (const GroupSetting& setting : settings) {
    if (setting.file == file) {
      return setting.value;
    }
  }
  return "";
}

TEST(Limits, are_read_from_the_container) {
  EXPECT_EQ(bounds_of(container("250m", "1500m", "64Mi")),
            (ResourceBounds{
                .memory_limit = 64 << 20, .cpu_limit_milli = 1500, .cpu_request_milli = 250}));
  EXPECT_EQ(bounds_of(container("", "2", "")).cpu_request_milli, 2000);
  EXPECT_EQ(bounds_of(container("", "", "")), ResourceBounds());
}

TEST(Limits, a_pod_has_the_share_of_its_containers_and_may_not_fork_for_ever) {
  model::PodSpec spec;
  spec.containers = {container("250m", "", ""), container("1", "", "")};
  EXPECT_EQ(bounds_of(spec).cpu_request_milli, 1250);
  EXPECT_GT(bounds_of(spec).pids_limit, 1000);
  EXPECT_EQ(bounds_of(spec).memory_limit, 0);
}

TEST(Limits, a_pod_may_have_what_its_containers_may_have_together) {
  model::PodSpec spec;
  spec.containers = {container("", "", "64Mi"), container("", "", "32Mi")};
  EXPECT_EQ(bounds_of(spec).memory_limit, 96 << 20);
  spec.init_containers = {container("", "", "1Gi")};
  EXPECT_EQ(bounds_of(spec).memory_limit, 1 << 30);
  spec.init_containers.push_back(container("", "", ""));
  EXPECT_EQ(bounds_of(spec).memory_limit, 0);
  // Were it killed as a whole, one container would take the others along.
  EXPECT_EQ(value_of(group_settings(GroupVersion::v2, {.memory_limit = 1, .holds_others = true}),
                     "memory.oom.group"),
            "");
}

TEST(Limits, version_1_has_shares_quota_and_bytes) {
  const auto settings = group_settings(GroupVersion::v1, bounds_of(container("500m", "2", "1Mi")));
  EXPECT_EQ(value_of(settings, "cpu.shares"), "512");
  EXPECT_EQ(value_of(settings, "cpu.cfs_quota_us"), "200000");
  EXPECT_EQ(value_of(settings, "memory.limit_in_bytes"), "1048576");
  EXPECT_EQ(value_of(settings, "pids.max"), "");
  EXPECT_EQ(value_of(group_settings(GroupVersion::v1, {}), "cpu.shares"), "2");
  EXPECT_EQ(value_of(group_settings(GroupVersion::v1, {.cpu_limit_milli = 1}), "cpu.cfs_quota_us"),
            "1000");
}

TEST(Limits, version_2_has_weight_max_and_kills_a_group_as_a_whole) {
  const auto settings = group_settings(GroupVersion::v2, bounds_of(container("1", "500m", "1Mi")));
  EXPECT_EQ(value_of(settings, "cpu.weight"), "39");
  EXPECT_EQ(value_of(settings, "cpu.max"), "50000 100000");
  EXPECT_EQ(value_of(settings, "memory.max"), "1048576");
  EXPECT_EQ(value_of(settings, "memory.swap.max"), "0");
  EXPECT_EQ(value_of(settings, "memory.oom.group"), "1");
  EXPECT_EQ(value_of(group_settings(GroupVersion::v2, {}), "cpu.weight"), "1");
}

TEST(Limits, who_asked_for_nothing_is_killed_first) {
  const std::int64_t memory = 10ll << 30;
  model::PodSpec spec;
  const auto score = [&](const model::Container& one) {
    spec.containers = {one};
    return oom_score_of(spec, one, memory);
  };
  EXPECT_EQ(score(container("", "", "")), 1000);
  EXPECT_EQ(score(container("1", "", "")), 999);
  EXPECT_EQ(score(container("", "", "5Gi")), 500);
  EXPECT_EQ(score(container("", "", "100Gi")), 3);
  EXPECT_EQ(score(container("", "1", "1Gi")), 2);
  EXPECT_EQ(score(container("500m", "1", "1Gi")), 900);
}

TEST(Limits, niceness_follows_what_is_asked_for) {
  struct Case {
    std::int64_t milli;
    int niceness;
  };
  for (const Case& one :
       {Case{4000, 5}, {1000, 5}, {500, 8}, {250, 11}, {100, 17}, {1, 19}, {0, 15}}) {
    EXPECT_EQ(niceness_of(one.milli), one.niceness) << one.milli;
  }
}

TEST(Limits, processes_without_groups_are_bounded_by_processors) {
  EXPECT_EQ(soft_processes_max(0), 2048);
  EXPECT_EQ(soft_processes_max(2), 2048);
  EXPECT_EQ(soft_processes_max(16), 4096);
  EXPECT_EQ(soft_processes_max(256), kProcessesMax);
}

}  // namespace
}  // namespace codeflare::node
