#pragma once

#include "base/result.h"
#include "json/value.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::json {

struct YamlOptions {
  std::size_t max_bytes = std::size_t{16} << 20;
  std::size_t max_depth = 512;
  std::size_t max_documents = 10'000;
  // The limit of what all aliases of one document together add to it.
  std::size_t max_alias_bytes = std::size_t{16} << 20;
  // Receives the paths of keys that occur twice in one mapping, the last of which wins. Without a
  // list such a key is an error.
  std::vector<std::string>* duplicate_keys = nullptr;
  // Documents that hold nothing ("---" alone, comments only) are dropped, as kubectl does.
  bool keep_empty_documents = false;
};

// Reads a stream of YAML documents as kubectl does (YAML 1.1, go-yaml v2, sigs.k8s.io/yaml):
//  - yes, No, on, off, y, N ... are booleans; 017, 0o17, 0x1f, 0b11, 1_000 integers; dates strings;
//  - numbers come out as Go would write them in JSON: 1.0 is 1, 1e3 is 1000;
//  - keys that are numbers or booleans become strings; null keys are errors;
//  - .inf and .nan have no JSON and are errors;
//  - merge keys (<<) are applied in the order of the mapping; overriding a merged key is not a
//  duplicate.
// Errors name line and column (in characters): invalid_argument, or too_large for the limits; the
// detail is a TextPosition.
Result<std::vector<Document>> parse_yaml(std::string_view text, const YamlOptions& options = {});

struct YamlWriteOptions {
  // Keys in the order of `kubectl -o yaml`: letters after other characters, digits by number.
  bool sorted = true;
};

// One YAML document as `kubectl -o yaml` prints it: two spaces, sequences not indented, long plain
// text folded, strings with line breaks as literal blocks, quotes where a string would otherwise
// read back as something else. Ends with a line break.
std::string to_yaml(const Value& value, const YamlWriteOptions& options = {});

}  // namespace codeflare::json
