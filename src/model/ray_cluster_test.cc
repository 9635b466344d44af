#include "model/ray_cluster.h"

#include <gtest/gtest.h>

namespace codeflare::model {
namespace {

RayWorkerGroup group(std::optional<std::int32_t> replicas, std::optional<std::int32_t> least,
                     std::optional<std::int32_t> most) {
  RayWorkerGroup made;
  made.replicas = replicas;
  made.min_replicas = least;
  made.max_replicas = most;
  return made;
}

TEST(RayCluster, replicas_stay_within_their_bounds_and_default_to_none) {
  EXPECT_EQ(desired_replicas(group(3, 1, 5)), 3);
  EXPECT_EQ(desired_replicas(group(0, 2, 5)), 2);
  EXPECT_EQ(desired_replicas(group(9, 1, 5)), 5);
  EXPECT_EQ(desired_replicas(group({}, 2, {})), 2);
  EXPECT_EQ(desired_replicas(group({}, {}, {})), 0);
  EXPECT_EQ(desired_replicas(group(3, 7, 5)), 5);  // bounds that contradict each other
}

TEST(RayCluster, a_replica_has_several_hosts_and_a_suspended_group_none) {
  RayWorkerGroup hosts = group(3, 1, 5);
  hosts.num_of_hosts = 4;
  EXPECT_EQ(desired_pods(hosts), 12);
  hosts.suspend = true;
  EXPECT_EQ(desired_pods(hosts), 0);
}

}  // namespace
}  // namespace codeflare::model
