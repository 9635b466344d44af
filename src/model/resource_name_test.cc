#include "model/resource_name.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::model {
namespace {

TEST(ResourceName, devices_of_somebodys_domain_are_extended) {
  EXPECT_TRUE(is_extended_resource("nvidia.com/gpu"));
  for (const char* name : {"cpu", "pods", "hugepages-2Mi", "requests.nvidia.com/gpu",
                           "kubernetes.io/batch-cpu", "node.kubernetes.io/x", "a b/c"}) {
    EXPECT_FALSE(is_extended_resource(name)) << name;
  }
  EXPECT_FALSE(is_extended_resource(std::string(250, 'a') + "/gpu")) << "no quota could name it";
}

TEST(ResourceName, what_comes_in_pieces_cannot_be_promised_twice) {
  for (const char* name : {"cpu", "memory", "ephemeral-storage", "kubernetes.io/batch-cpu"}) {
    EXPECT_TRUE(may_overcommit(name)) << name;
  }
  EXPECT_FALSE(may_overcommit("nvidia.com/gpu"));
  EXPECT_FALSE(may_overcommit("hugepages-2Mi"));
}

}  // namespace
}  // namespace codeflare::model
