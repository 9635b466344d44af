#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace codeflare::platform {

// Where code comes from.
struct RepoUrl {
  std::string remote;  // what git clones
  std::string ref;     // branch, tag or commit id; empty: the default branch
  std::string path;    // directory in it; empty: all of it
  // Of a tree URL: branch and directory, which only the remote's list of refs can tell apart.
  std::string tree;

  friend bool operator==(const RepoUrl&, const RepoUrl&) = default;
};

// Tree URLs of GitHub and GitLab (https://HOST/ORG/REPO[/-]/tree/BRANCH/DIR), or a plain URL
// (https, http, ssh, git, git@HOST:PATH) with `ref` and `path`. A URL with a password is an error:
// it would be seen by everybody.
Result<RepoUrl> parse_repo(std::string_view url, std::string_view ref, std::string_view path);

}  // namespace codeflare::platform
