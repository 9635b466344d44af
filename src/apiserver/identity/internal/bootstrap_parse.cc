#include "apiserver/identity/internal/bootstrap_parse.h"

#include "base/check.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace codeflare::apiserver::internal {

namespace {

using Words = std::vector<std::string>;

Words split_words(std::string_view text) {
  Words words;
  while (true) {
    std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) {
      return words;
    }
    text.remove_prefix(begin);
    std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

// Lines without the empty ones, those that end in a backslash joined with the next.
std::vector<std::string> split_lines(std::string_view table) {
  std::vector<std::string> lines;
  bool joins = false;
  while (!table.empty()) {
    std::size_t end = std::min(table.find('\n'), table.size());
    std::string_view line = table.substr(0, end);
    table.remove_prefix(std::min(end + 1, table.size()));
    if (line.empty()) {
      continue;
    }
    bool continues = line.ends_with('\\');
    if (continues) {
      line.remove_suffix(1);
    }
    if (joins) {
      lines.back() += line;
    } else {
      lines.emplace_back(line);
    }
    joins = continues;
  }
  return lines;
}

Words verbs_of(std::string_view text) {
  Words words = split_words(text);
  if (words == Words{"read"}) {
    return {"get", "list", "watch"};
  }
  if (words == Words{"write"}) {
    return {"create", "delete", "deletecollection", "patch", "update"};
  }
  if (words == Words{"all"}) {
    return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
  }
  return words;
}

PolicyRule parse_rule(std::string_view line) {
  if (split_words(line) == Words{"events"}) {
    line = "create patch update | core events.k8s.io | events";
  }
  if (std::size_t at = line.find('@'); at != std::string_view::npos) {
    return {.verbs = verbs_of(line.substr(0, at)),
            .non_resource_urls = split_words(line.substr(at + 1))};
  }
  std::vector<std::string_view> parts;
  for (std::size_t bar = line.find('|'); bar != std::string_view::npos; bar = line.find('|')) {
    parts.push_back(line.substr(0, bar));
    line.remove_prefix(bar + 1);
  }
  parts.push_back(line);
  CHECK(parts.size() == 3 || parts.size() == 4);
  PolicyRule rule{.verbs = verbs_of(parts[0]),
                  .api_groups = split_words(parts[1]),
                  .resources = split_words(parts[2])};
  for (std::string& group : rule.api_groups) {
    if (group == "core") {
      group.clear();
    }
  }
  if (parts.size() == 4) {
    rule.resource_names = split_words(parts[3]);
  }
  return rule;
}

// "kube-system/name", or a name alone.
std::pair<std::string, std::string> split_name(std::string_view text) {
  std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return {std::string(), std::string(text)};
  }
  return {std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

}  // namespace

std::vector<BootstrapRole> parse_roles(std::string_view table) {
  std::vector<BootstrapRole> roles;
  for (const std::string& line : split_lines(table)) {
    if (line.starts_with(' ')) {
      CHECK(!roles.empty());
      roles.back().rules.push_back(parse_rule(line));
      continue;
    }
    Words words = split_words(line);
    BootstrapRole& role = roles.emplace_back();
    std::tie(role.ns, role.name) = split_name(words.front());
    for (std::size_t i = 1; i < words.size(); ++i) {
      std::string rest = words[i].substr(1);
      if (words[i].front() == '=') {
        role.gathers = std::move(rest);
      } else {
        CHECK(words[i].front() == '+');
        role.gathered_by.push_back(std::move(rest));
      }
    }
  }
  return roles;
}

std::vector<BootstrapBinding> parse_bindings(std::string_view table) {
  std::vector<BootstrapBinding> bindings;
  for (const std::string& line : split_lines(table)) {
    Words words = split_words(line);
    BootstrapBinding& binding = bindings.emplace_back();
    std::tie(binding.ns, binding.name) = split_name(words.front());
    binding.role = binding.name;
    std::size_t i = 1;
    if (words.at(i) == "of") {
      binding.role = words.at(i + 1);
      i += 2;
    }
    CHECK(words.at(i) == "to");
    for (++i; i < words.size(); ++i) {
      std::size_t colon = words[i].find(':');
      std::string kind = words[i].substr(0, colon);
      std::string name = words[i].substr(colon + 1);
      if (kind == "account") {
        auto [ns, account] = split_name(name);
        binding.subjects.push_back({.kind = "ServiceAccount", .ns = ns, .name = account});
      } else {
        CHECK(kind == "user" || kind == "group");
        binding.subjects.push_back({.kind = kind == "user" ? "User" : "Group", .name = name});
      }
    }
  }
  return bindings;
}

}  // namespace codeflare::apiserver::internal
