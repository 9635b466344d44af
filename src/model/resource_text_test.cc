#include "model/resource_text.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::model {
namespace {

std::string amount(const std::string& resource, const std::string& quantity) {
  return human_amount(resource, *Quantity::parse(quantity));
}

std::string resource(const std::string& name, const std::string& quantity) {
  return human_resource(name, *Quantity::parse(quantity));
}

TEST(ResourceText, bytes_keep_their_unit_where_that_is_exact) {
  EXPECT_EQ(amount("memory", "4G"), "4G");
  EXPECT_EQ(amount("memory", "4Gi"), "4Gi");
  EXPECT_EQ(amount("memory", "128Mi"), "128Mi");
  EXPECT_EQ(amount("memory", "1536Mi"), "1.5Gi");
  EXPECT_EQ(amount("memory", "2500M"), "2.5G");
  EXPECT_EQ(amount("memory", "1023Gi"), "1023Gi");
  EXPECT_EQ(amount("memory", "1500Pi"), "1500Pi");
  EXPECT_EQ(amount("memory", "0"), "0");
  EXPECT_EQ(amount("memory", "999"), "999");
}

TEST(ResourceText, bytes_are_rounded_to_a_decimal_otherwise) {
  EXPECT_EQ(amount("memory", "1992294Ki"), "1.9Gi");
  EXPECT_EQ(amount("memory", "8118372Ki"), "7.7Gi");
  EXPECT_EQ(amount("memory", "24641536Ki"), "23.5Gi");
  EXPECT_EQ(amount("memory", "987654Ki"), "965Mi");
  EXPECT_EQ(amount("ephemeral-storage", "1025"), "1Ki");
  EXPECT_EQ(amount("memory", "-2912Ki"), "-2.8Mi");
  EXPECT_EQ(amount("limits.memory", "9223372036854775807"), "8192Pi");
}

TEST(ResourceText, cpus_are_decimals) {
  EXPECT_EQ(amount("cpu", "3"), "3");
  EXPECT_EQ(amount("cpu", "1950m"), "1.95");
  EXPECT_EQ(amount("limits.cpu", "12m"), "0.012");
  EXPECT_EQ(amount("cpu", "-500m"), "-0.5");
}

TEST(ResourceText, nouns_follow_the_number) {
  EXPECT_EQ(resource("cpu", "1"), "1 CPU");
  EXPECT_EQ(resource("cpu", "0"), "0 CPUs");
  EXPECT_EQ(resource("cpu", "1500m"), "1.5 CPUs");
  EXPECT_EQ(resource("limits.cpu", "2"), "2 CPUs (limits)");
  EXPECT_EQ(resource("requests.nvidia.com/gpu", "2"), "2 nvidia.com/gpu");
  EXPECT_EQ(resource("memory", "2G"), "2G memory");
  EXPECT_EQ(resource("pods", "1"), "1 pod");
  EXPECT_EQ(resource("pods", "3"), "3 pods");
}

}  // namespace
}  // namespace codeflare::model
