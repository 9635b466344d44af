#include "kube/internal/config_text.h"

#include "json/yaml.h"

#include <cstddef>
#include <utility>

namespace codeflare::kube::internal {

namespace {

// The parser quotes what it does not understand, and `password: *abc` reads as an alias.
std::string without_quotes(std::string_view message) {
  std::size_t first = message.find('"');
  std::size_t last = message.rfind('"');
  if (first == last) {
    return std::string(message);
  }
  return std::string(message.substr(0, first + 1)) + "..." + std::string(message.substr(last));
}

}  // namespace

Result<json::Document> parse_config_text(std::string_view text, const std::string& path,
                                         std::vector<std::string>* warnings) {
  std::vector<std::string> duplicates;
  Result<std::vector<json::Document>> documents =
      json::parse_yaml(text, {.max_depth = 64, .duplicate_keys = &duplicates});
  if (!documents) {
    Error error = std::move(documents).error();
    return fail(Error(error.code, one_line(path + ": " + without_quotes(error.message))));
  }
  if (documents->size() > 1) {
    return fail(invalid_argument(one_line(path + ": expected one YAML document, found " +
                                          std::to_string(documents->size()))));
  }
  if (warnings != nullptr) {
    for (const std::string& key : duplicates) {
      warnings->push_back(one_line(path + ": " + key + " occurs twice; the last one counts"));
    }
  }
  return documents->empty() ? json::Document() : std::move(documents->front());
}

std::string write_config_text(const json::Value& root) {
  return json::to_yaml(root);
}

std::string one_line(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      c = ' ';
    }
  }
  return out;
}

}  // namespace codeflare::kube::internal
