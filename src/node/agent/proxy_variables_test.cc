#include "node/agent/proxy_variables.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace codeflare::node {
namespace {

TEST(ProxyVariables, are_set_in_both_spellings_unless_the_container_has_its_own) {
  std::vector<std::string> environment = {"A=1", "HTTPS_PROXY=http://mine"};
  add_proxy_variables(environment, "http://10.244.0.1:3128");
  const auto has = [&](const std::string& entry) {
    return std::ranges::find(environment, entry) != environment.end();
  };
  EXPECT_TRUE(has("http_proxy=http://10.244.0.1:3128"));
  EXPECT_TRUE(has("HTTP_PROXY=http://10.244.0.1:3128"));
  EXPECT_FALSE(has("https_proxy=http://10.244.0.1:3128"));
  EXPECT_EQ(environment.size(), 6u);
}

}  // namespace
}  // namespace codeflare::node
