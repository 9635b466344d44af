#include "kube/testing/scripted_target.h"

#include "json/scan.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace codeflare::kube::testing {

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
        hex_digit(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) {
      parts.push_back(decoded(text.substr(0, end)));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::map<std::string, std::string> parse_query(std::string_view text) {
  std::map<std::string, std::string> query;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    const std::size_t equals = pair.find('=');
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
    query[decoded(pair.substr(0, equals))] = decoded(value);
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
  }
  return query;
}

// The text at "spec.nodeName", empty when it is not there.
std::string field_text(const json::Value& root, std::string_view path) {
  const json::Value* at = &root;
  while (!path.empty() && at != nullptr) {
    const std::string_view name = path.substr(0, path.find('.'));
    at = at->find(name);
    path.remove_prefix(std::min(name.size() + 1, path.size()));
  }
  return at != nullptr && at->is_string() ? std::string(at->as_string()) : std::string();
}

}  // namespace

bool ScriptedService::Target::selects(const Object& object) const {
  if (!key.name.empty() && object.name() != key.name) {
    return false;
  }
  if (!key.ns.empty() && object.ns() != key.ns) {
    return false;
  }
  if (labels.selects_everything() && fields.selects_everything()) {
    return true;
  }
  const Result<json::Document> document = object.parse();
  std::string text;
  return labels.matches(document->root.get({"metadata", "labels"})) &&
         fields.matches([&](std::string_view path) -> std::string_view {
           return text = field_text(document->root, path);
         });
}

std::string ScriptedService::Target::text_of(const Object& object) const {
  if (!metadata_only) {
    return object.text();
  }
  const std::string text = object.text();
  constexpr std::array<std::string_view, 1> kPaths = {"metadata"};
  std::array<std::string_view, 1> slices;
  CHECK(json::scan(text, kPaths, slices).has_value());
  return R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":)" +
         std::string(slices[0]) + "}";
}

Result<ScriptedService::Target> parse_target(const net::Request& request) {
  const std::string_view text = request.target;
  const std::size_t mark = std::min(text.find('?'), text.size());
  const std::vector<std::string> parts = split(text.substr(0, mark), '/');
  ScriptedService::Target target;
  target.query = parse_query(text.substr(std::min(mark + 1, text.size())));

  std::size_t at = 0;
  auto take = [&] { return at < parts.size() ? parts[at++] : std::string(); };
  const std::string root = take();
  target.group = root == "apis" ? take() : std::string();
  target.version = take();
  target.plural = take();
  if ((root != "api" && root != "apis") || target.plural.empty()) {
    return fail(not_found("the server could not find the requested resource"));
  }
  target.all_namespaces = true;
  if (target.plural == "namespaces" && at + 1 < parts.size() && parts[at + 1] != "status" &&
      parts[at + 1] != "finalize") {
    target.key.ns = take();
    target.plural = take();
    target.all_namespaces = false;
  }
  target.key.name = take();
  target.subresource = take();
  target.metadata_only =
      request.headers.get("accept").value_or("").contains("as=PartialObjectMetadata");
  TRY_ASSIGN(target.labels, model::Selector::parse(target.parameter("labelSelector")));
  TRY_ASSIGN(target.fields, model::FieldSelector::parse(target.parameter("fieldSelector")));
  return target;
}

}  // namespace codeflare::kube::testing
