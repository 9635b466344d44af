#include "base/close_words.h"

#include <gtest/gtest.h>

namespace codeflare {
namespace {

using Words = std::vector<std::string>;

const Words kVerbs = {"list", "logs", "login", "logout", "explain", "delete", "define"};

TEST(CloseWords, a_misspelt_word_finds_its_likeliest_ones_first) {
  EXPECT_EQ(close_words("expalin", kVerbs), Words{"explain"});
  EXPECT_EQ(close_words("lits", kVerbs), Words{"list"});
  EXPECT_EQ(close_words("lst", kVerbs), Words{"list"});
  EXPECT_EQ(close_words("LOGS", kVerbs), (Words{"logs"}));
  EXPECT_EQ(close_words("log", kVerbs), (Words{"logs", "login", "logout"}));
  EXPECT_EQ(close_words("delte", kVerbs, 1), Words{"delete"});
  EXPECT_EQ(close_words("frobnicate", kVerbs), Words{});
  EXPECT_EQ(close_words("", kVerbs), Words{});
}

TEST(CloseWords, are_a_question_for_people) {
  EXPECT_EQ(did_you_mean("expalin", kVerbs), "; did you mean explain?");
  EXPECT_EQ(did_you_mean("log", kVerbs), "; did you mean logs, login or logout?");
  EXPECT_EQ(did_you_mean("frobnicate", kVerbs), "");
}

TEST(CloseWords, distance_counts_letters) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("queue", "qeuue"), 1U);
}

}  // namespace
}  // namespace codeflare
