#include "controllers/raycluster/kuberay_signs.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::raycluster {
namespace {

using std::chrono::seconds;

struct World {
  KubeRaySigns signs;
  Instant now{seconds(1'000'000)};
  WallTime wall{seconds(2'000'000'000)};

  void pass(Duration time) {
    now += time;
    wall += std::chrono::duration_cast<WallTime::duration>(time);
  }
  void renew(std::string holder, Duration ago = {}, bool first = false) {
    model::Lease lease;
    lease.metadata.name = "ray-operator-leader";
    lease.metadata.ns = "ray";
    lease.spec.holder_identity = std::move(holder);
    lease.spec.renew_time.emplace().time =
        wall - std::chrono::duration_cast<WallTime::duration>(ago);
    signs.lease(lease, {now, wall}, first);
  }
  static model::Deployment deployment(std::int32_t replicas,
                                      std::string name = "kuberay-operator") {
    model::Deployment made;
    made.metadata.name = std::move(name);
    made.metadata.ns = "ray";
    made.spec.replicas = replicas;
    return made;
  }
  std::optional<std::string> where() const { return signs.where(now); }
};

TEST(KubeRaySigns, an_operator_is_gone_a_minute_after_its_last_renewal) {
  World w;
  EXPECT_EQ(w.where(), std::nullopt);
  w.renew("a");
  w.pass(seconds(50));
  w.renew("a");
  w.pass(seconds(59));
  EXPECT_EQ(w.where(), "lease ray/ray-operator-leader held by a");
  EXPECT_EQ(w.signs.until(w.now), w.now + seconds(1));
  w.pass(seconds(1));
  EXPECT_EQ(w.where(), std::nullopt);
  EXPECT_EQ(w.signs.until(w.now), std::nullopt);
}

TEST(KubeRaySigns, a_lease_that_is_read_again_is_no_renewal) {
  World w;
  w.renew("a");
  w.pass(seconds(40));
  w.renew("a", seconds(40));
  w.pass(seconds(20));
  EXPECT_EQ(w.where(), std::nullopt);
}

TEST(KubeRaySigns, the_first_look_believes_the_clock_of_the_lease) {
  World old;
  old.renew("a", seconds(3600), true);
  EXPECT_EQ(old.where(), std::nullopt);
  World recent;
  recent.renew("a", seconds(20), true);
  EXPECT_EQ(recent.signs.until(recent.now), recent.now + seconds(40));
  // Clocks differ: what is written while we look is new, whatever its time.
  World skewed;
  skewed.renew("a", seconds(3600));
  EXPECT_TRUE(skewed.where());
}

TEST(KubeRaySigns, a_released_lease_is_no_sign) {
  World w;
  w.renew("");
  EXPECT_EQ(w.where(), std::nullopt);
}

TEST(KubeRaySigns, a_deployment_counts_while_it_asks_for_pods_and_a_minute_longer) {
  World w;
  w.signs.deployment(World::deployment(1, "other"), w.now);
  EXPECT_EQ(w.where(), std::nullopt);
  w.signs.deployment(World::deployment(1), w.now);
  w.pass(seconds(3600));
  EXPECT_EQ(w.where(), "deployment ray/kuberay-operator");
  EXPECT_EQ(w.signs.until(w.now), std::nullopt);
  w.signs.deployment(World::deployment(0), w.now);
  EXPECT_TRUE(w.where());
  w.pass(seconds(60));
  EXPECT_EQ(w.where(), std::nullopt);
}

TEST(KubeRaySigns, a_list_may_be_older_than_the_watch_and_counts_for_a_minute) {
  World w;
  w.signs.glimpse(World::deployment(1, "other"), w.now);
  EXPECT_EQ(w.where(), std::nullopt);
  // Deleted meanwhile, as the watch has told.
  w.signs.glimpse(World::deployment(1), w.now);
  EXPECT_EQ(w.where(), "deployment ray/kuberay-operator");
  w.pass(seconds(60));
  EXPECT_EQ(w.where(), std::nullopt);
  w.signs.deployment(World::deployment(1), w.now);
  w.signs.glimpse(World::deployment(0), w.now);
  w.pass(seconds(3600));
  EXPECT_TRUE(w.where()) << "the list may also be from before the operator came";
}

}  // namespace
}  // namespace codeflare::controllers::raycluster
