#include "queue/field_hint.h"

#include <gtest/gtest.h>

namespace codeflare::queue {
namespace {

TEST(FieldHint, finds_what_was_meant_in_any_case_and_with_a_slip) {
  EXPECT_EQ(meant_field("completionStatus"), "completionstatus");
  EXPECT_EQ(meant_field("restartpolicy"), "restartPolicy");
  EXPECT_EQ(meant_field("restart_policy"), "restartPolicy");
  EXPECT_EQ(meant_field("resturtPolicy"), "restartPolicy");
  EXPECT_EQ(meant_field("genericitems"), "GenericItems");
  EXPECT_EQ(meant_field("imagePullpolicy"), "imagePullPolicy");
  EXPECT_EQ(meant_field("nodeselector"), "nodeSelector");
  EXPECT_EQ(meant_field("xyzzy"), "");
  EXPECT_EQ(meant_field("image"), "");
}

TEST(FieldHint, finds_the_resource_that_was_meant) {
  EXPECT_EQ(meant_resource("cpus"), "cpu");
  EXPECT_EQ(meant_resource("CPU"), "cpu");
  EXPECT_EQ(meant_resource("gpu"), "nvidia.com/gpu");
  EXPECT_EQ(meant_resource("Memory"), "memory");
  EXPECT_EQ(meant_resource("mem"), "memory");
  EXPECT_EQ(meant_resource("nvidia.com/gpus"), "nvidia.com/gpu");
  EXPECT_EQ(meant_resource("example.com/fpga"), "");
}

TEST(FieldHint, names_the_path) {
  EXPECT_EQ(unknown_field_text("spec.template.spec.restartpolicy"),
            "unknown field \"spec.template.spec.restartpolicy\"; did you mean restartPolicy?");
  EXPECT_EQ(with_field_hints("strict decoding error: unknown field \"spec.a.completionStatus\", "
                             "unknown field \"spec.xyzzy\""),
            "strict decoding error: unknown field \"spec.a.completionStatus\"; did you mean "
            "completionstatus?, unknown field \"spec.xyzzy\"");
  EXPECT_EQ(with_field_hints("all is well"), "all is well");
  EXPECT_EQ(unknown_field_text("spec.xyzzy[0]"), "unknown field \"spec.xyzzy[0]\"");
}

}  // namespace
}  // namespace codeflare::queue
