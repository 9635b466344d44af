#include "platform/words.h"

#include "platform/repo_url.h"

#include <gtest/gtest.h>

namespace codeflare::platform {
namespace {

using Words = std::vector<std::string>;

TEST(Words, quotes_and_backslashes_keep_blanks_and_nothing_is_expanded) {
  EXPECT_EQ(*split_words("  a 'b c'\t\"d \\\" $X\"\n e\\ f $(date) ''"),
            (Words{"a", "b c", "d \" $X", "e f", "$(date)", ""}));
  EXPECT_EQ(*split_words(""), Words{});
}

TEST(Words, a_quote_without_an_end_is_an_error_that_says_where) {
  EXPECT_EQ(split_words("a 'b").error().message, "the quote ' at character 3 has no end");
  EXPECT_EQ(split_words("\"b").error().message, "the quote \" at character 1 has no end");
  EXPECT_FALSE(split_words("a\\"));
}

TEST(Words, a_quoted_word_reads_back_as_itself) {
  for (const std::string word : {"", "a", "it's", "$(x)`y`", "a\nb", "\"\\'", "a;b|c&&d", "é*?"}) {
    EXPECT_EQ(*split_words(quote_word(word)), Words{word});
  }
}

TEST(RepoUrl, reads_tree_urls_of_github_and_gitlab_and_plain_ones) {
  EXPECT_EQ(*parse_repo("https://github.com/o/r/tree/feature/x/sub", "", ""),
            (RepoUrl{"https://github.com/o/r", "", "", "feature/x/sub"}));
  EXPECT_EQ(*parse_repo("https://gitlab.com/g/s/r/-/tree/main/", "", ""),
            (RepoUrl{"https://gitlab.com/g/s/r", "", "", "main"}));
  EXPECT_EQ(*parse_repo("https://h/o/r.git", "v1", "a/b/"),
            (RepoUrl{"https://h/o/r.git", "v1", "a/b", ""}));
  EXPECT_EQ(*parse_repo("git@h:o/r", "", ""), (RepoUrl{"git@h:o/r", "", "", ""}));
}

TEST(RepoUrl, rejects_what_git_would_misread) {
  for (const std::string url :
       {"", "main.py", "ftp://h/r", "https://u:p@h/r", "https://h", "https://h/o/r/tree/",
        "https://h/o/r/tree/a/../b", "https://h/r?x", "https://h/o r"}) {
    EXPECT_FALSE(parse_repo(url, "", "")) << url;
  }
  EXPECT_FALSE(parse_repo("https://h/o/r", "--upload-pack=x", ""));
  EXPECT_FALSE(parse_repo("https://h/o/r", "", "/etc"));
  EXPECT_FALSE(parse_repo("https://h/o/r/tree/main", "main", ""));
}

}  // namespace
}  // namespace codeflare::platform
