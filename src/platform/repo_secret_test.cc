#include "platform/repo_secret.h"

#include <gtest/gtest.h>

namespace codeflare::platform {
namespace {

model::PlatformRepoSecret secret(std::string name, std::string repo) {
  model::PlatformRepoSecret made;
  made.metadata.name = std::move(name);
  made.spec.repo = std::move(repo);
  return made;
}

TEST(RepoSecret, patterns_are_the_beginning_of_a_url) {
  const char* url = "https://git.example.com/org/repo/tree/main/dir";
  for (const char* pattern :
       {"git.example.com", "https://git.example.com/", "GIT.example.com/org", "*.example.com",
        "git.example.com/org/repo", "git.example.com/*/repo", "git.example.com/o*"}) {
    EXPECT_TRUE(repo_match(pattern, url)) << pattern;
  }
  for (const char* pattern : {"", "*", "example.com", "git.example", "git.example.com/or",
                              "git.example.com/org/rep", "http://git.example.com", "git.*"}) {
    const bool all = std::string_view(pattern) == "git.*";
    EXPECT_EQ(repo_match(pattern, url).has_value(), all) << pattern;
  }
  EXPECT_TRUE(repo_match("h/o/r", "https://h/o/r.git"));
}

// A writer of an Application must not get the password sent elsewhere.
TEST(RepoSecret, look_alikes_do_not_match) {
  for (const char* url :
       {"https://git.example.com.evil.org/a/b", "https://evil.org/git.example.com/b",
        "https://git.example.com@evil.org/a/b", "https://evil.org/?git.example.com",
        "https://git.example.com:444/a/b", "http://git.example.com/a/b",
        "ssh://git.example.com/a/b", "git@git.example.com:a/b", "https://gitxexample.com/a/b",
        "https://evil.org\\.git.example.com/a"}) {
    EXPECT_FALSE(repo_match("git.example.com", url)) << url;
    EXPECT_FALSE(repo_match("*.example.com", url) && std::string_view(url).contains("evil")) << url;
  }
}

TEST(RepoSecret, the_longest_match_wins) {
  const std::vector<model::PlatformRepoSecret> all = {
      secret("c", "git.example.com"), secret("b", "git.example.com/org"),
      secret("a", "git.example.com/*"), secret("d", "git.example.com/org")};
  EXPECT_EQ(choose_repo_secret(all, "https://git.example.com/org/x", {})->metadata.name, "b");
  EXPECT_EQ(choose_repo_secret(all, "https://git.example.com/other/x", {})->metadata.name, "a");
  EXPECT_EQ(choose_repo_secret(all, "https://elsewhere.com/x", {}), nullptr);
}

TEST(RepoSecret, only_for_namespaces_that_it_selects) {
  std::vector<model::PlatformRepoSecret> all = {secret("a", "h")};
  all[0].spec.namespace_selector.emplace().match_labels.emplace("team", "x");
  EXPECT_EQ(choose_repo_secret(all, "https://h/r", {}), nullptr);
  EXPECT_NE(choose_repo_secret(all, "https://h/r", {{"team", "x"}}), nullptr);
}

}  // namespace
}  // namespace codeflare::platform
