#include "kube/internal/warnings.h"

#include <gtest/gtest.h>

namespace codeflare::kube::internal {
namespace {

using Texts = std::vector<std::string>;

TEST(Warnings, the_quoted_text_is_what_counts) {
  EXPECT_EQ(warning_texts(R"(299 - "batch/v1beta1 CronJob is deprecated")"),
            (Texts{"batch/v1beta1 CronJob is deprecated"}));
  EXPECT_EQ(
      warning_texts(R"(299 kube "unknown field \"spec.foo\"" "Wed, 21 Oct 2015 07:28:00 GMT")"),
      (Texts{"unknown field \"spec.foo\""}));
}

TEST(Warnings, one_field_may_hold_several) {
  EXPECT_EQ(warning_texts(R"(299 - "a, b", 299 - "c" , 199 x "d")"), (Texts{"a, b", "c", "d"}));
}

TEST(Warnings, what_is_malformed_is_left_out) {
  for (const char* field :
       {"", "299", "299 -", "299 - text", R"(299 - "open)", R"(29 - "x")", R"(299 - "open\)"}) {
    EXPECT_EQ(warning_texts(field), Texts()) << field;
  }
  EXPECT_EQ(warning_texts(R"(299 - "a", nonsense)"), (Texts{"a"}));
}

}  // namespace
}  // namespace codeflare::kube::internal
