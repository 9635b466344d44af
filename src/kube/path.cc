#include "kube/path.h"

namespace codeflare::kube {

namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~' || c == ':';
}

Result<void> check_segment(std::string_view segment, std::string_view what,
                           const model::ResourceType& type) {
  if (segment.empty() || segment == "." || segment == "..") {
    return fail(invalid_argument(type.qualified_name() + ": " + std::string(what) + " \"" +
                                 std::string(segment) + "\" cannot be part of a request"));
  }
  return {};
}

}  // namespace

void append_encoded(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  for (char c : text) {
    if (is_plain(c)) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
}

std::string encoded(std::string_view text) {
  std::string out;
  append_encoded(out, text);
  return out;
}

std::string group_version_path(std::string_view group, std::string_view version) {
  std::string path = group.empty() ? "/api/" : "/apis/";
  if (!group.empty()) {
    append_encoded(path, group);
    path += '/';
  }
  append_encoded(path, version);
  return path;
}

Result<std::string> collection_path(const model::ResourceType& type, std::string_view ns) {
  TRY(check_segment(type.version, "version", type));
  TRY(check_segment(type.plural, "resource", type));
  std::string path = group_version_path(type.group, type.version);
  if (!ns.empty()) {
    if (!type.namespaced) {
      return fail(invalid_argument(type.qualified_name() + " have no namespace, but \"" +
                                   std::string(ns) + "\" is given"));
    }
    TRY(check_segment(ns, "namespace", type));
    path += "/namespaces/";
    append_encoded(path, ns);
  }
  path += '/';
  append_encoded(path, type.plural);
  return path;
}

Result<std::string> create_path(const model::ResourceType& type, std::string_view ns) {
  if (type.namespaced && ns.empty()) {
    return fail(invalid_argument(type.qualified_name() + " need a namespace"));
  }
  return collection_path(type, ns);
}

Result<std::string> object_path(const model::ResourceType& type, const model::ObjectKey& key,
                                std::string_view subresource) {
  TRY(check_segment(key.name, "name", type));
  TRY_ASSIGN(std::string path, create_path(type, key.ns));
  path += '/';
  append_encoded(path, key.name);
  if (!subresource.empty()) {
    TRY(check_segment(subresource, "subresource", type));
    path += '/';
    append_encoded(path, subresource);
  }
  return path;
}

Query& Query::add(std::string_view name, std::string_view value) {
  if (!text_.empty()) {
    text_ += '&';
  }
  append_encoded(text_, name);
  text_ += '=';
  append_encoded(text_, value);
  return *this;
}

Query& Query::add(std::string_view name, std::int64_t value) {
  return add(name, std::string_view(std::to_string(value)));
}

Query& Query::add_if_set(std::string_view name, std::string_view value) {
  return value.empty() ? *this : add(name, value);
}

Query& Query::add_if_set(std::string_view name, std::optional<std::int64_t> value) {
  return value ? add(name, *value) : *this;
}

std::string Query::on(std::string path) const {
  return text_.empty() ? path : path + '?' + text_;
}

}  // namespace codeflare::kube
