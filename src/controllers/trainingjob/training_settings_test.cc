#include "controllers/trainingjob/training_settings.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::trainingjob {
namespace {

TEST(NodeSelectorFile, keeps_everything_after_the_first_equals_sign) {
  const auto selector = parse_selector("# pools\npool=gpu\n\n example.com/key = a=b \nempty=\n");
  ASSERT_TRUE(selector);
  EXPECT_EQ(*selector,
            (model::StringMap{{"pool", "gpu"}, {"example.com/key", "a=b"}, {"empty", ""}}));
}

TEST(NodeSelectorFile, names_the_line_that_is_wrong) {
  const auto selector = parse_selector("pool=gpu\nno equals\n");
  ASSERT_FALSE(selector);
  EXPECT_NE(selector.error().message.find("line 2: \"no equals\""), std::string::npos);
}

}  // namespace
}  // namespace codeflare::controllers::trainingjob
