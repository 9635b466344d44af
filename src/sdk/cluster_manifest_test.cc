#include "sdk/cluster_manifest.h"

#include "json/yaml.h"

#include <gtest/gtest.h>

namespace codeflare::sdk {
namespace {

TEST(ClusterManifest, is_an_app_wrapper_unless_another_queue_is_named) {
  const auto kind = [](const ClusterConfig& config) {
    return std::string(cluster_manifest(config).root.string_or_empty("kind"));
  };
  EXPECT_EQ(kind({.name = "a"}), "AppWrapper");
  EXPECT_EQ(kind({.name = "a", .queueing = Queueing::none}), "RayCluster");
  EXPECT_EQ(kind({.name = "a", .local_queue = "q"}), "RayCluster");
  EXPECT_EQ(kind({.name = "a", .queueing = Queueing::appwrapper}), "AppWrapper");
}

TEST(ClusterManifest, the_file_reads_back_as_the_manifest) {
  const ClusterConfig config{.name = "demo", .ns = "team", .num_workers = 2};
  const Result<std::vector<json::Document>> read = json::parse_yaml(cluster_yaml(config));
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->size(), 1u);
  EXPECT_TRUE(json::equal(read->front().root, cluster_manifest(config).root));
}

TEST(ClusterManifest, keeps_the_first_comment_short) {
  EXPECT_TRUE(cluster_yaml({.name = "demo"})
                  .starts_with("# Submit with: codeflare create raycluster demo\napiVersion: "));
}

}  // namespace
}  // namespace codeflare::sdk
