#include "apiserver/identity/rbac_rule.h"

#include "apiserver/identity/internal/go_text.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace codeflare::apiserver {

namespace {

bool has(const std::vector<std::string>& set, std::string_view text) {
  return std::ranges::find(set, text) != set.end();
}

bool has_or_all(const std::vector<std::string>& set, std::string_view text) {
  return has(set, "*") || has(set, text);
}

// "pods/log" matches itself, "*" and "*/log".
bool has_resource(const std::vector<std::string>& set, std::string_view resource) {
  if (has_or_all(set, resource)) {
    return true;
  }
  std::size_t slash = resource.find('/');
  return slash != std::string_view::npos && has(set, "*" + std::string(resource.substr(slash)));
}

bool path_matches(std::string_view pattern, std::string_view path) {
  if (pattern == path) {
    return true;
  }
  if (!pattern.ends_with('*')) {
    return false;
  }
  std::size_t last = pattern.find_last_not_of('*');
  return path.starts_with(pattern.substr(0, last == std::string_view::npos ? 0 : last + 1));
}

bool has_path(const std::vector<std::string>& patterns, std::string_view path) {
  return std::ranges::any_of(
      patterns, [&](const std::string& pattern) { return path_matches(pattern, path); });
}

std::vector<std::string> read_strings(const json::Value& rule, std::string_view key) {
  std::vector<std::string> out;
  if (const json::Value* list = rule.find(key)) {
    for (const json::Value& item : list->items()) {
      if (item.is_string()) {
        out.emplace_back(item.as_string());
      }
    }
  }
  return out;
}

// Rules of a few kilobytes can stand for billions of parts. Those beyond as many as anybody means
// count as missing.
constexpr std::size_t kPartsMax = 20'000;

// At most one more than kPartsMax.
std::size_t count_parts(const PolicyRule& rule) {
  std::size_t count = 1;
  for (std::size_t factor : {rule.api_groups.size(), rule.resources.size(),
                             std::max<std::size_t>(1, rule.resource_names.size())}) {
    count = std::min(kPartsMax + 1, count * factor);
  }
  return std::min(kPartsMax + 1, (count + rule.non_resource_urls.size()) * rule.verbs.size());
}

// Rules of at most one verb, one resource and one name each.
PolicyRules break_down(const PolicyRule& rule) {
  PolicyRules parts;
  for (const std::string& group : rule.api_groups) {
    for (const std::string& resource : rule.resources) {
      for (const std::string& verb : rule.verbs) {
        PolicyRule part{.verbs = {verb}, .api_groups = {group}, .resources = {resource}};
        if (rule.resource_names.empty()) {
          parts.push_back(part);
        }
        for (const std::string& name : rule.resource_names) {
          part.resource_names = {name};
          parts.push_back(part);
        }
      }
    }
  }
  for (const std::string& path : rule.non_resource_urls) {
    for (const std::string& verb : rule.verbs) {
      parts.push_back({.verbs = {verb}, .non_resource_urls = {path}});
    }
  }
  return parts;
}

bool covers(const PolicyRule& held, const PolicyRule& part) {
  if (!has_or_all(held.verbs, part.verbs.front())) {
    return false;
  }
  if (!part.non_resource_urls.empty()) {
    // A rule of names says nothing about paths.
    return held.resource_names.empty() &&
           has_path(held.non_resource_urls, part.non_resource_urls.front());
  }
  return has_or_all(held.api_groups, part.api_groups.front()) &&
         has_resource(held.resources, part.resources.front()) &&
         (held.resource_names.empty() ||
          (!part.resource_names.empty() && has(held.resource_names, part.resource_names.front())));
}

void append_part(std::string& out, std::string_view name, const std::vector<std::string>& values) {
  if (!values.empty()) {
    out += (out.empty() ? "" : ", ") + std::string(name) + ':' + internal::quote_list(values);
  }
}

void set_strings(json::Arena& arena, json::Value& object, std::string_view key,
                 const std::vector<std::string>& values) {
  if (values.empty()) {
    return;
  }
  json::Value list = json::Value::array();
  for (const std::string& value : values) {
    list.push_back(arena, json::Value::string(arena, value));
  }
  object.set_static(arena, key, list);
}

}  // namespace

bool PolicyRule::allows(const Access& access) const {
  if (!has_or_all(verbs, access.verb)) {
    return false;
  }
  if (access.resource.empty()) {
    return has_path(non_resource_urls, access.path);
  }
  if (!has_or_all(api_groups, access.group)) {
    return false;
  }
  if (!resource_names.empty() && !has(resource_names, access.name)) {
    return false;
  }
  if (access.subresource.empty()) {
    return has_or_all(resources, access.resource);
  }
  return has_or_all(resources, access.resource + '/' + access.subresource) ||
         has(resources, "*/" + access.subresource);
}

std::string PolicyRule::to_string() const {
  std::string out;
  append_part(out, "APIGroups", api_groups);
  append_part(out, "Resources", resources);
  append_part(out, "NonResourceURLs", non_resource_urls);
  append_part(out, "ResourceNames", resource_names);
  append_part(out, "Verbs", verbs);
  return '{' + out + '}';
}

PolicyRules read_rules(const json::Value* rules) {
  PolicyRules out;
  if (rules == nullptr) {
    return out;
  }
  for (const json::Value& rule : rules->items()) {
    out.push_back({.verbs = read_strings(rule, "verbs"),
                   .api_groups = read_strings(rule, "apiGroups"),
                   .resources = read_strings(rule, "resources"),
                   .resource_names = read_strings(rule, "resourceNames"),
                   .non_resource_urls = read_strings(rule, "nonResourceURLs")});
  }
  return out;
}

json::Value to_json(json::Arena& arena, const PolicyRule& rule) {
  json::Value out = json::Value::object();
  out.set_static(arena, "verbs", json::Value::array());
  set_strings(arena, out, "verbs", rule.verbs);
  set_strings(arena, out, "apiGroups", rule.api_groups);
  set_strings(arena, out, "resources", rule.resources);
  set_strings(arena, out, "resourceNames", rule.resource_names);
  set_strings(arena, out, "nonResourceURLs", rule.non_resource_urls);
  return out;
}

PolicyRules missing_rules(const PolicyRules& held, const PolicyRules& wanted) {
  PolicyRules missing;
  std::size_t parts = 0;
  for (const PolicyRule& rule : wanted) {
    parts += count_parts(rule);
    if (parts > kPartsMax) {
      missing.push_back(rule);
      continue;
    }
    for (PolicyRule& part : break_down(rule)) {
      bool covered =
          std::ranges::any_of(held, [&](const PolicyRule& one) { return covers(one, part); });
      if (!covered) {
        missing.push_back(std::move(part));
      }
    }
  }
  return missing;
}

std::string describe_missing(const PolicyRules& missing) {
  using Key =
      std::tuple<std::vector<std::string>, std::vector<std::string>, std::vector<std::string>>;
  std::map<Key, PolicyRule> by_resource;
  std::set<std::string> lines;
  for (const PolicyRule& rule : missing) {
    if (rule.resources.empty()) {
      lines.insert(rule.to_string());
      continue;
    }
    auto [at, added] =
        by_resource.try_emplace({rule.api_groups, rule.resources, rule.resource_names}, rule);
    if (!added) {
      at->second.verbs.insert(at->second.verbs.end(), rule.verbs.begin(), rule.verbs.end());
    }
  }
  for (const auto& [key, rule] : by_resource) {
    lines.insert(rule.to_string());
  }
  std::string text;
  for (const std::string& line : lines) {
    text += (text.empty() ? "" : "\n") + line;
  }
  return text;
}

}  // namespace codeflare::apiserver
