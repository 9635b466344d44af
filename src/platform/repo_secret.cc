#include "platform/repo_secret.h"

#include "platform/repo_url.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace codeflare::platform {

namespace {

constexpr std::string_view kHttps = "https://";
constexpr std::string_view kHttp = "http://";

// Hosts compare without regard to case.
std::string lower_host(std::string_view text) {
  std::string lower(text);
  const std::size_t end = std::min(lower.find('/'), lower.size());
  for (std::size_t i = 0; i < end; ++i) {
    lower[i] = static_cast<char>(std::tolower(static_cast<unsigned char>(lower[i])));
  }
  return lower;
}

bool is_plain_host(std::string_view text) {
  const std::string_view host = text.substr(0, text.find('/'));
  return !host.empty() && std::ranges::all_of(host, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == ':' ||
           c == '_' || c == '[' || c == ']';
  });
}

bool is_end(std::string_view rest) {
  return rest.empty() || rest.front() == '/' || rest == ".git" || rest.starts_with(".git/");
}

// Patterns are short, and few have more than one *.
bool begins_with(std::string_view text, std::string_view pattern) {
  if (pattern.empty()) {
    return is_end(text);
  }
  if (pattern.front() == '*') {
    for (std::size_t skip = 0;; ++skip) {
      if (begins_with(text.substr(skip), pattern.substr(1))) {
        return true;
      }
      if (skip == text.size() || text[skip] == '/') {
        return false;
      }
    }
  }
  return !text.empty() && text.front() == pattern.front() &&
         begins_with(text.substr(1), pattern.substr(1));
}

}  // namespace

std::optional<std::size_t> repo_match(std::string_view pattern, std::string_view url) {
  const std::string_view scheme = pattern.starts_with(kHttp) ? kHttp : kHttps;
  if (pattern.starts_with(scheme)) {
    pattern.remove_prefix(scheme.size());
  }
  while (pattern.ends_with('/')) {
    pattern.remove_suffix(1);
  }
  const Result<RepoUrl> repo = parse_repo(url, "", "");
  // A password for every host would go to any host.
  if (pattern.substr(0, pattern.find('/')).find_first_not_of('*') == std::string_view::npos ||
      !repo || !repo->remote.starts_with(scheme)) {
    return std::nullopt;
  }
  const std::string text = lower_host(std::string_view(repo->remote).substr(scheme.size()));
  if (!is_plain_host(text) || std::ranges::count(pattern, '*') > 8 ||
      !begins_with(text, lower_host(pattern))) {
    return std::nullopt;
  }
  return pattern.size() - static_cast<std::size_t>(std::ranges::count(pattern, '*'));
}

namespace {

bool selects(const model::PlatformRepoSecret& secret, const model::StringMap& namespace_labels) {
  if (!secret.spec.namespace_selector) {
    return true;
  }
  const auto selector = model::to_selector(*secret.spec.namespace_selector);
  return selector && selector->matches(namespace_labels);
}

}  // namespace

const model::PlatformRepoSecret* choose_repo_secret(
    const std::vector<model::PlatformRepoSecret>& secrets, std::string_view url,
    const model::StringMap& namespace_labels) {
  const model::PlatformRepoSecret* best = nullptr;
  std::size_t best_size = 0;
  for (const model::PlatformRepoSecret& each : secrets) {
    const std::optional<std::size_t> size = repo_match(each.spec.repo, url);
    if (!size || !selects(each, namespace_labels)) {
      continue;
    }
    if (best == nullptr || *size > best_size ||
        (*size == best_size && each.metadata.name < best->metadata.name)) {
      best = &each;
      best_size = *size;
    }
  }
  return best;
}

}  // namespace codeflare::platform
