#include "apiserver/request/request_info.h"

#include "model/fields.h"
#include "net/url.h"

#include <algorithm>
#include <span>

namespace codeflare::apiserver {
namespace {

// Segments of a path; empty ones at both ends do not count.
Result<std::vector<std::string>> split_path(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty() && path.front() == '/') {
    path.remove_prefix(1);
  }
  while (!path.empty() && path.back() == '/') {
    path.remove_suffix(1);
  }
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    TRY_ASSIGN(std::string part, net::percent_decode(path.substr(0, slash)));
    parts.push_back(std::move(part));
    if (slash == std::string_view::npos) {
      break;
    }
    path.remove_prefix(slash + 1);
    if (path.empty()) {
      parts.emplace_back();
    }
  }
  return parts;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

std::string verb_of(std::string_view method) {
  if (method == "POST") {
    return "create";
  }
  if (method == "GET" || method == "HEAD") {
    return "get";
  }
  if (method == "PUT") {
    return "update";
  }
  if (method == "PATCH") {
    return "patch";
  }
  if (method == "DELETE") {
    return "delete";
  }
  return lower(method);
}

// A name that a field selector asks for counts as the request's name: a user who may watch one
// object watches it through the collection.
void name_from_selector(RequestInfo& info) {
  std::optional<std::string_view> text = info.query.get("fieldSelector");
  if (!text || text->empty()) {
    return;
  }
  Result<model::FieldSelector> selector = model::FieldSelector::parse(*text);
  if (!selector) {
    return;
  }
  std::optional<std::string_view> name = selector->exact_value("metadata.name");
  if (name && !name->empty() && *name != "." && *name != ".." &&
      name->find_first_of("/%") == std::string_view::npos) {
    info.name = *name;
  }
}

void read_resource(RequestInfo& info, std::span<std::string> parts) {
  if (parts.front() == "namespaces" && parts.size() > 1) {
    info.ns = parts[1];
    if (parts.size() > 2 && parts[2] != "status" && parts[2] != "finalize") {
      parts = parts.subspan(2);
    }
  }
  info.resource = parts[0];
  if (parts.size() > 1) {
    info.name = parts[1];
  }
  if (parts.size() > 2) {
    info.subresource = parts[2];
    info.rest.assign(parts.begin() + 3, parts.end());
  }
}

}  // namespace

Result<Query> Query::parse(std::string_view text) {
  TRY_ASSIGN(std::vector<net::QueryItem> items, net::parse_query(text));
  Query query;
  for (net::QueryItem& item : items) {
    query.fields_.emplace_back(std::move(item.name), std::move(item.value));
  }
  return query;
}

std::optional<std::string_view> Query::get(std::string_view name) const {
  auto at = std::ranges::find(fields_, name, &std::pair<std::string, std::string>::first);
  return at == fields_.end() ? std::nullopt : std::optional<std::string_view>(at->second);
}

bool Query::flag(std::string_view name) const {
  std::optional<std::string_view> value = get(name);
  return value && *value != "0" && lower(*value) != "false";
}

Result<RequestInfo> RequestInfo::parse(std::string_view method, std::string_view target) {
  const net::TargetParts split = net::split_target(target);
  RequestInfo info;
  TRY_ASSIGN(info.path, net::percent_decode(split.path));
  TRY_ASSIGN(info.query, Query::parse(split.query));
  info.verb = lower(method);
  TRY_ASSIGN(std::vector<std::string> owned, split_path(split.path));
  std::span<std::string> parts = owned;
  if (parts.size() < 3 || (parts[0] != "api" && parts[0] != "apis")) {
    return info;
  }
  const bool core = parts[0] == "api";
  if (!core && parts.size() < 4) {
    return info;
  }
  parts = parts.subspan(1);
  if (!core) {
    info.group = parts[0];
    parts = parts.subspan(1);
  }
  info.is_resource = true;
  info.version = parts[0];
  parts = parts.subspan(1);
  info.verb = verb_of(method);
  if (parts[0] == "watch" && parts.size() > 1) {
    info.verb = "watch";
    parts = parts.subspan(1);
  }
  read_resource(info, parts);
  if (info.name.empty() && info.verb == "get") {
    info.verb = info.query.flag("watch") ? "watch" : "list";
  }
  if (info.name.empty() && info.verb == "delete") {
    info.verb = "deletecollection";
  }
  if (info.name.empty() && (info.verb == "list" || info.verb == "watch")) {
    name_from_selector(info);
  }
  return info;
}

}  // namespace codeflare::apiserver
