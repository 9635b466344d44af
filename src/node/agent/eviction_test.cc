#include "node/agent/eviction.h"

#include <gtest/gtest.h>

namespace codeflare::node {
namespace {

constexpr std::int64_t kMi = 1 << 20;

model::Quantity amount(std::string_view text) {
  return *model::Quantity::parse(text);
}

struct World {
  model::PodSpec spec;
  PodUsage usage;

  World() {
    for (const char* name : {"a", "b"}) {
      model::Container container;
      container.name = name;
      spec.containers.push_back(container);
    }
    model::Volume volume;
    volume.name = "data";
    volume.empty_dir.emplace();
    spec.volumes.push_back(volume);
  }
  void limit(std::size_t index, std::string_view text) {
    spec.containers.at(index).resources.limits.set("ephemeral-storage", amount(text));
  }
  std::string message() const {
    const auto problem = eviction_of(spec, usage, amount("10Gi"));
    EXPECT_TRUE(!problem || problem->reason == "Evicted");
    return problem ? problem->message : "";
  }
};

TEST(Eviction, leaves_alone_who_keeps_within_the_limits) {
  World w;
  w.usage.volumes["data"] = 100 * kMi;
  EXPECT_EQ(w.message(), "");
  w.limit(0, "200Mi");
  EXPECT_EQ(w.message(), "");
}

TEST(Eviction, a_volume_may_not_exceed_its_own_limit) {
  World w;
  w.spec.volumes.at(0).empty_dir->size_limit = amount("64Mi");
  w.usage.volumes["data"] = 64 * kMi;
  EXPECT_EQ(w.message(), "");
  w.usage.volumes["data"] += 1;
  EXPECT_EQ(w.message(), "Usage of EmptyDir volume \"data\" exceeds the limit \"64Mi\". ");
}

TEST(Eviction, a_pod_may_not_exceed_the_limits_of_its_containers_together) {
  World w;
  w.limit(0, "10Mi");
  w.limit(1, "20Mi");
  w.usage.volumes["data"] = 25 * kMi;
  w.usage.logs["a"] = 4 * kMi;
  EXPECT_EQ(w.message(), "");
  w.usage.logs["a"] = 6 * kMi;
  EXPECT_EQ(w.message(),
            "Pod ephemeral local storage usage exceeds the total limit of containers 30Mi. ");
}

TEST(Eviction, a_container_may_not_log_more_than_its_own_limit) {
  World w;
  w.limit(0, "10Mi");
  w.limit(1, "20Mi");
  w.usage.logs["a"] = 11 * kMi;
  EXPECT_EQ(w.message(), "Container a exceeded its local ephemeral storage limit \"10Mi\". ");
}

TEST(Eviction, who_says_nothing_has_the_default) {
  World w;
  w.usage.volumes["data"] = 10240 * kMi;
  EXPECT_EQ(w.message(), "");
  w.usage.other = 1;
  EXPECT_EQ(w.message(),
            "Pod ephemeral local storage usage exceeds the total limit of containers 10Gi. ");
}

}  // namespace
}  // namespace codeflare::node
