#include "kube/internal/config_reader.h"

#include <algorithm>
#include <cstddef>

namespace codeflare::kube::internal {

namespace {

constexpr std::size_t kQuotedBytesMax = 100;
constexpr std::size_t kNamesMax = 10;

std::string_view name_of(json::Kind kind) {
  switch (kind) {
    case json::Kind::null:
      return "nothing";
    case json::Kind::boolean:
      return "true or false";
    case json::Kind::number:
      return "a number";
    case json::Kind::string:
      return "text";
    case json::Kind::array:
      return "a list";
    case json::Kind::object:
      return "a mapping";
  }
  return "another type";
}

// Whether a key may be shown: `{token:abc}` is a key too, without value and with a secret in it.
bool looks_like_field(const json::Member& member) {
  constexpr std::size_t kNameBytesMax = 40;
  return !member.value.is_null() && member.key.size() <= kNameBytesMax &&
         std::ranges::all_of(member.key, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
         });
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text.substr(0, kQuotedBytesMax)) {
    auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += '?';
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else {
      out += c;
    }
  }
  return out + (text.size() > kQuotedBytesMax ? "...\"" : "\"");
}

std::string quoted_list(const std::vector<std::string>& names) {
  if (names.empty()) {
    return "none";
  }
  std::string out;
  std::size_t shown = std::min(names.size(), kNamesMax);
  for (std::size_t i = 0; i < shown; ++i) {
    out += (i == 0 ? "" : ", ") + quoted(names[i]);
  }
  if (shown < names.size()) {
    out += " and " + std::to_string(names.size() - shown) + " more";
  }
  return out;
}

ConfigReader::ConfigReader(State& state, const json::Value* value, std::string path,
                           std::string_view content)
    : state_(&state), value_(nullptr), path_(std::move(path)) {
  if (value == nullptr || value->is_null()) {
    return;
  }
  if (!value->is_object()) {
    expected(path_, "a mapping with " + std::string(content), *value);
    return;
  }
  value_ = value;
}

const json::Value* ConfigReader::find(std::string_view key) const {
  const json::Value* value = value_ == nullptr ? nullptr : value_->find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::string ConfigReader::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

void ConfigReader::report(std::string_view key, std::string_view what) const {
  if (!state_->error) {
    state_->error = place().error(key, what);
  }
}

void ConfigReader::expect_only(std::initializer_list<std::string_view> known) const {
  if (value_ == nullptr) {
    return;
  }
  std::string names;
  for (std::string_view name : known) {
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  for (const json::Member& member : value_->members()) {
    if (std::ranges::find(known, member.key) != known.end()) {
      continue;
    }
    bool shown = looks_like_field(member);
    std::string what = shown ? "is not a field of a kubeconfig and is ignored"
                             : "has a field with an invalid name, which is ignored";
    state_->warnings.push_back(
        place().error(shown ? member.key : "", what + "; expected one of: " + names).message);
  }
}

void ConfigReader::expected(const std::string& path, std::string_view what,
                            const json::Value& found) const {
  if (!state_->error) {
    std::string message = "expected " + std::string(what) + ", found ";
    message += name_of(found.kind());
    if (what == "text" && (found.is_number() || found.is_boolean())) {
      message += "; put it in quotes";
    }
    state_->error = ConfigPlace{state_->file, path}.error("", message);
  }
}

std::string ConfigReader::string(std::string_view key) const {
  const json::Value* value = find(key);
  if (value == nullptr) {
    return {};
  }
  if (!value->is_string()) {
    expected(path_of(key), "text", *value);
    return {};
  }
  return std::string(value->as_string());
}

bool ConfigReader::boolean(std::string_view key) const {
  const json::Value* value = find(key);
  if (value == nullptr) {
    return false;
  }
  if (!value->is_boolean()) {
    expected(path_of(key), "true or false", *value);
    return false;
  }
  return value->as_bool();
}

std::vector<std::string> ConfigReader::strings_of(const json::Value& list,
                                                  const std::string& path) const {
  std::vector<std::string> texts;
  if (!list.is_array()) {
    expected(path, "a list of texts", list);
    return texts;
  }
  for (const json::Value& item : list.items()) {
    if (!item.is_string()) {
      expected(path + "[" + std::to_string(texts.size()) + "]", "text", item);
      return {};
    }
    texts.emplace_back(item.as_string());
  }
  return texts;
}

std::vector<std::string> ConfigReader::strings(std::string_view key) const {
  const json::Value* value = find(key);
  return value == nullptr ? std::vector<std::string>() : strings_of(*value, path_of(key));
}

std::map<std::string, std::vector<std::string>> ConfigReader::string_lists(
    std::string_view key) const {
  std::map<std::string, std::vector<std::string>> lists;
  ConfigReader inner = mapping(key, "lists of texts");
  if (inner.value_ != nullptr) {
    for (const json::Member& member : inner.value_->members()) {
      lists[std::string(member.key)] = inner.strings(member.key);
    }
  }
  return lists;
}

ConfigReader ConfigReader::mapping(std::string_view key, std::string_view content) const {
  return ConfigReader(*state_, find(key), path_of(key), content);
}

std::vector<ConfigReader> ConfigReader::mappings(std::string_view key,
                                                 std::string_view content) const {
  std::vector<ConfigReader> readers;
  const json::Value* value = find(key);
  if (value == nullptr) {
    return readers;
  }
  if (!value->is_array()) {
    expected(path_of(key), "a list of mappings with " + std::string(content), *value);
    return readers;
  }
  for (const json::Value& item : value->items()) {
    std::string path = path_of(key) + "[" + std::to_string(readers.size()) + "]";
    if (item.is_null()) {
      expected(path, "a mapping with " + std::string(content), item);
    }
    readers.emplace_back(*state_, &item, std::move(path), content);
  }
  return readers;
}

}  // namespace codeflare::kube::internal
