#include "model/node_extras.h"

#include <gtest/gtest.h>

namespace codeflare::model {
namespace {

Node node(const NodeExtras& extras = {}) {
  Node made;
  made.metadata.labels = {{"kubernetes.io/os", "linux"}};
  made.status.capacity = {{"cpu", Quantity(4)}, {"memory", Quantity(8)}};
  made.status.allocatable = made.status.capacity;
  add_extras(made, extras);
  return made;
}

NodeExtras fpga() {
  return {.labels = {{"zone", "a"}}, .resources = {{"example.com/fpga", Quantity(2)}}};
}

TEST(NodeExtras, are_labels_capacity_and_allocatable) {
  const Node made = node(fpga());
  EXPECT_EQ(find_or_empty(made.metadata.labels, "zone"), "a");
  EXPECT_EQ(find_or_empty(made.metadata.labels, "kubernetes.io/os"), "linux");
  EXPECT_EQ(made.status.capacity.get("example.com/fpga"), Quantity(2));
  EXPECT_EQ(made.status.allocatable.get("example.com/fpga"), Quantity(2));
  EXPECT_EQ(made.status.capacity.get("cpu"), Quantity(4));
}

TEST(NodeExtras, a_node_without_any_says_nothing_of_them) {
  EXPECT_TRUE(node().metadata.annotations.empty());
}

TEST(NodeExtras, what_is_not_given_any_more_goes) {
  Node known = node(fpga());
  renew_extras(known, node());
  EXPECT_EQ(known, node());
}

TEST(NodeExtras, another_amount_and_another_value_take_the_place_of_the_first) {
  const NodeExtras more{.labels = {{"zone", "b"}},
                        .resources = {{"example.com/fpga", Quantity(3)}}};
  Node known = node(fpga());
  renew_extras(known, node(more));
  EXPECT_EQ(known, node(more));
}

TEST(NodeExtras, what_others_added_stays) {
  Node known = node(fpga());
  known.metadata.labels.insert_or_assign("team", "blue");
  known.metadata.annotations.insert_or_assign("note", "mine");
  known.status.capacity.set("example.com/dongle", Quantity(4));
  known.status.allocatable.set("example.com/dongle", Quantity(3));
  renew_extras(known, node());
  EXPECT_EQ(known.metadata.labels, (StringMap{{"kubernetes.io/os", "linux"}, {"team", "blue"}}));
  EXPECT_EQ(known.metadata.annotations, (StringMap{{"note", "mine"}}));
  EXPECT_EQ(known.status.capacity.get("example.com/dongle"), Quantity(4));
  EXPECT_EQ(known.status.allocatable.get("example.com/dongle"), Quantity(3));
  EXPECT_EQ(known.status.capacity.find("example.com/fpga"), nullptr);
}

TEST(NodeExtras, what_the_machine_has_and_its_gpus_are_never_others) {
  Node known = node();
  known.status.capacity.set("cpu", Quantity(64));
  known.status.capacity.set("hugepages-2Mi", Quantity(1));
  known.status.capacity.set(kGpuResource, Quantity(8));
  renew_extras(known, node());
  EXPECT_EQ(known, node());
}

}  // namespace
}  // namespace codeflare::model
