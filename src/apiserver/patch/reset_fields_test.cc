#include "apiserver/patch/reset_fields.h"

#include <gtest/gtest.h>

namespace codeflare::apiserver {
namespace {

using Paths = std::vector<std::string_view>;

TEST(ResetFields, status_and_spec_belong_to_their_endpoints) {
  EXPECT_EQ(reset_fields({"", "services", "", true}), Paths{"status"});
  EXPECT_EQ(reset_fields({"", "services", "status", true}), Paths{"spec"});
  EXPECT_EQ(reset_fields({"", "namespaces", "finalize", true}), Paths{"status"});
  EXPECT_EQ(reset_fields({"e.com", "widgets", "status", true}), Paths{"spec"});
  EXPECT_EQ(reset_fields({"", "configmaps"}), Paths());
  EXPECT_EQ(reset_fields({"apps", "deployments", "scale", true}), Paths());
}

TEST(ResetFields, some_strategies_keep_more) {
  EXPECT_EQ(reset_fields({"", "pods", "status", true}),
            (Paths{"spec", "metadata.deletionTimestamp", "metadata.ownerReferences"}));
  EXPECT_EQ(reset_fields({"apps", "deployments", "status", true}),
            (Paths{"spec", "metadata.labels"}));
}

}  // namespace
}  // namespace codeflare::apiserver
