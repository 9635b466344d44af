#include "apiserver/identity/static_tokens.h"

#include <gtest/gtest.h>

namespace codeflare::apiserver {
namespace {

TEST(StaticTokens, are_read_as_upstream_reads_them) {
  std::vector<std::string> warnings;
  auto tokens = StaticTokens::parse(Secret("t1,ann,1\r\n"
                                           "\n"
                                           "t2,bob,2,\"dev,ops\"\n"
                                           "\"t,\"\"3\",\"eve\nx\",3,one,ignored\n"
                                           ",nobody,4\n"
                                           "t1,ann2,5"),
                                    "/f", &warnings);
  ASSERT_TRUE(tokens) << tokens.error().message;
  EXPECT_EQ(tokens->size(), 3u);
  ASSERT_NE(tokens->find("t1"), nullptr);
  EXPECT_EQ(tokens->find("t1")->name, "ann2");
  EXPECT_EQ(tokens->find("t1")->uid, "5");
  EXPECT_TRUE(tokens->find("t1")->groups.empty());
  EXPECT_EQ(tokens->find("t2")->groups, (std::vector<std::string>{"dev", "ops"}));
  ASSERT_NE(tokens->find("t,\"3"), nullptr);
  EXPECT_EQ(tokens->find("t,\"3")->name, "eve\nx");
  EXPECT_EQ(tokens->find(""), nullptr);
  EXPECT_EQ(tokens->find("t"), nullptr);
  EXPECT_EQ(tokens->find("t11"), nullptr);
  EXPECT_EQ(warnings, (std::vector<std::string>{
                          "token file /f, line 6: an empty token is skipped",
                          "token file /f, line 7: the token stands here a second time; this line "
                          "counts"}));
}

TEST(StaticTokens, refuse_bad_files_without_showing_tokens) {
  for (const std::string text :
       {"sEcReT", "sEcReT,ann", "a,b,c\n\"sEcReT,b,c", "sEc\"ReT,b,c", "\"sEcReT\"x,b,c"}) {
    auto tokens = StaticTokens::parse(Secret(text), "/f", nullptr);
    ASSERT_FALSE(tokens) << text;
    EXPECT_TRUE(tokens.error().message.starts_with("token file /f, line ")) << text;
    EXPECT_FALSE(tokens.error().message.contains("sEc")) << tokens.error().message;
  }
  EXPECT_EQ(StaticTokens::parse(Secret(""), "/f", nullptr)->size(), 0u);
}

}  // namespace
}  // namespace codeflare::apiserver
