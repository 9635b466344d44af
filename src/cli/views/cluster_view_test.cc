#include "cli/views/cluster_view.h"

#include <gtest/gtest.h>

namespace codeflare::cli {
namespace {

TEST(ClusterView, lists_memory_as_people_write_it) {
  sdk::ClusterInfo info;
  info.key = {"default", "demo"};
  info.sizes.requests.set("memory", *model::Quantity::parse("30769803776"));
  const std::string text = render_clusters({info}, {});
  EXPECT_TRUE(text.contains(" 28.7Gi ")) << text;
}

}  // namespace
}  // namespace codeflare::cli
