#include "model/resource_list.h"

#include <gtest/gtest.h>

namespace codeflare::model {
namespace {

TEST(ResourceList, entries_are_sorted_and_unique) {
  ResourceList list = {{"memory", Quantity(1)}, {"cpu", Quantity(2)}, {"memory", Quantity(3)}};
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list.begin()->first, "cpu");
  EXPECT_EQ(list.get("memory"), Quantity(3));
  EXPECT_EQ(list.get("gpu"), Quantity());
  EXPECT_EQ(list.find("gpu"), nullptr);
  EXPECT_TRUE(list.erase("cpu"));
  EXPECT_FALSE(list.erase("cpu"));
}

TEST(ResourceList, arithmetic_takes_missing_as_zero) {
  const ResourceList a = {{"cpu", Quantity(2)}, {"gpu", Quantity(1)}};
  const ResourceList b = {{"cpu", Quantity(1)}, {"memory", Quantity(8)}};
  EXPECT_EQ(a + b,
            (ResourceList{{"cpu", Quantity(3)}, {"gpu", Quantity(1)}, {"memory", Quantity(8)}}));
  EXPECT_EQ(a - b,
            (ResourceList{{"cpu", Quantity(1)}, {"gpu", Quantity(1)}, {"memory", Quantity(-8)}}));
  EXPECT_EQ(a * 3, (ResourceList{{"cpu", Quantity(6)}, {"gpu", Quantity(3)}}));
  ResourceList most = a;
  most.raise_to(b);
  EXPECT_EQ(most,
            (ResourceList{{"cpu", Quantity(2)}, {"gpu", Quantity(1)}, {"memory", Quantity(8)}}));
}

TEST(ResourceList, a_zero_request_fits_where_the_resource_is_unknown) {
  const ResourceList node = {{"cpu", Quantity(2)}};
  EXPECT_TRUE((ResourceList{{"cpu", Quantity(2)}, {"gpu", Quantity(0)}}).fits_in(node));
  EXPECT_FALSE((ResourceList{{"cpu", Quantity::milli(2001)}}).fits_in(node));
  EXPECT_FALSE((ResourceList{{"gpu", Quantity(1)}}).fits_in(node));
  EXPECT_TRUE(ResourceList().fits_in(ResourceList()));
}

}  // namespace
}  // namespace codeflare::model
