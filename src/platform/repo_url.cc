#include "platform/repo_url.h"

#include <algorithm>
#include <cstddef>

namespace codeflare::platform {

namespace {

constexpr std::string_view kRemedy =
    "; write https://HOST/ORG/REPO/tree/BRANCH/DIR, or https://HOST/ORG/REPO with ref and path";

Result<void> check_ref(std::string_view ref) {
  if (ref.starts_with('-')) {
    return fail(invalid_argument("'" + std::string(ref) + "' is not a branch, tag or commit id"));
  }
  return {};
}

Result<void> check_path(std::string_view path) {
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    if (part.empty() || part == "." || part == ".." || part.starts_with('-')) {
      return fail(invalid_argument("'" + std::string(path) +
                                   "' is not a directory of the repository; write a/b"));
    }
    rest = slash == std::string_view::npos ? "" : rest.substr(slash + 1);
  }
  return {};
}

bool has_scheme(std::string_view url) {
  constexpr std::string_view kSchemes[] = {"https://", "http://", "ssh://", "git://"};
  return std::ranges::any_of(kSchemes, [&](std::string_view s) { return url.starts_with(s); });
}

}  // namespace

Result<RepoUrl> parse_repo(std::string_view url, std::string_view ref, std::string_view path) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 127; };
  for (const std::string_view text : {url, ref, path}) {
    if (std::ranges::any_of(text, is_control)) {
      return fail(invalid_argument("it has blanks or control characters"));
    }
  }
  const bool ssh_path = url.starts_with("git@") && url.contains(':');
  if (!has_scheme(url) && !ssh_path) {
    return fail(
        invalid_argument("'" + std::string(url) + "' is not a URL of git" + std::string(kRemedy)));
  }
  while (path.ends_with('/')) {
    path.remove_suffix(1);
  }
  TRY(check_ref(ref));
  TRY(check_path(path));
  if (ssh_path) {
    return RepoUrl{
        .remote = std::string(url), .ref = std::string(ref), .path = std::string(path), .tree = {}};
  }
  const std::size_t host_at = url.find("://") + 3;
  const std::size_t host_end = std::min(url.find('/', host_at), url.size());
  const std::string_view authority = url.substr(host_at, host_end - host_at);
  const std::size_t user_end = authority.rfind('@');
  if (user_end != std::string_view::npos && !url.starts_with("ssh://")) {
    return fail(invalid_argument("it has a user or password; use repoSecret"));
  }
  if (authority.empty() || host_end + 1 >= url.size()) {
    return fail(
        invalid_argument("'" + std::string(url) + "' names no repository" + std::string(kRemedy)));
  }
  if (url.find_first_of("?#") != std::string_view::npos) {
    return fail(invalid_argument("it has ? or #" + std::string(kRemedy)));
  }
  std::size_t tree = url.find("/-/tree/", host_end);
  std::size_t tree_length = std::string_view("/-/tree/").size();
  if (tree == std::string_view::npos) {
    tree = url.find("/tree/", host_end);
    tree_length = std::string_view("/tree/").size();
  }
  if (tree == std::string_view::npos) {
    return RepoUrl{
        .remote = std::string(url), .ref = std::string(ref), .path = std::string(path), .tree = {}};
  }
  std::string_view below = url.substr(tree + tree_length);
  while (below.ends_with('/')) {
    below.remove_suffix(1);
  }
  if (!ref.empty() || !path.empty()) {
    return fail(invalid_argument("it names branch and directory already; remove ref and path"));
  }
  if (below.empty()) {
    return fail(invalid_argument("no branch behind /tree/"));
  }
  TRY(check_path(below));
  return RepoUrl{.remote = std::string(url.substr(0, tree)),
                 .ref = {},
                 .path = {},
                 .tree = std::string(below)};
}

}  // namespace codeflare::platform
