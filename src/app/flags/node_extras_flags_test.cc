#include "app/flags/node_extras_flags.h"

#include <gtest/gtest.h>

namespace codeflare {
namespace {

std::string complaint(const NodeExtrasFlags& flags) {
  const Result<model::NodeExtras> extras = parse_node_extras(flags);
  return extras ? "" : extras.error().message;
}

TEST(NodeExtrasFlags, give_labels_and_resources) {
  const Result<model::NodeExtras> extras = parse_node_extras(
      {.labels = {"topology.kubernetes.io/zone=a", "empty=", "twice=1", "twice=2"},
       .resources = {"example.com/fpga=2", "example.com/tokens=1k"}});
  ASSERT_TRUE(extras) << extras.error().message;
  EXPECT_EQ(
      extras->labels,
      (model::StringMap{{"empty", ""}, {"topology.kubernetes.io/zone", "a"}, {"twice", "2"}}));
  EXPECT_EQ(extras->resources.get("example.com/fpga"), model::Quantity(2));
  EXPECT_EQ(extras->resources.get("example.com/tokens"), model::Quantity(1000));
}

TEST(NodeExtrasFlags, name_the_flag_that_is_wrong) {
  EXPECT_EQ(complaint({.labels = {"zone"}, .resources = {}}), "--label zone: expected KEY=VALUE");
  EXPECT_EQ(complaint({.labels = {}, .resources = {"example.com/fpga"}}),
            "--resource example.com/fpga: expected NAME=AMOUNT");
}

TEST(NodeExtrasFlags, are_what_the_api_allows) {
  for (const char* label : {"=a", "a b=c", "a/b/c=d", "a=b c", "-a=b"}) {
    EXPECT_TRUE(complaint({.labels = {label}, .resources = {}}).starts_with("--label ")) << label;
  }
  for (const char* amount : {"1.5", "500m", "-1", "many", ""}) {
    const std::string text = std::string("example.com/fpga=") + amount;
    EXPECT_EQ(complaint({.labels = {}, .resources = {text}}),
              "--resource " + text + ": expected a whole number");
  }
}

TEST(NodeExtrasFlags, are_nothing_that_the_node_says_itself) {
  for (const char* label : {"kubernetes.io/hostname=x", "kubernetes.io/arch=x",
                            "codeflare.dev/process-node=false", "codeflare.dev/fake-node=true"}) {
    EXPECT_TRUE(complaint({.labels = {label}, .resources = {}}).ends_with("the node sets it"))
        << label;
  }
  for (const char* name : {"cpu", "memory", "pods", "hugepages-2Mi", "kubernetes.io/x",
                           "a.kubernetes.io/x", "requests.example.com/x"}) {
    EXPECT_TRUE(complaint({.labels = {}, .resources = {std::string(name) + "=1"}})
                    .ends_with("expected a name such as example.com/fpga"))
        << name;
  }
  EXPECT_EQ(complaint({.labels = {}, .resources = {"nvidia.com/gpu=1"}}),
            "--resource nvidia.com/gpu=1: use --gpus for GPUs");
}

}  // namespace
}  // namespace codeflare
