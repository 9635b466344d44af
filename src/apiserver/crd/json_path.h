#pragma once

#include "base/result.h"
#include "json/value.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {

// The JSONPath of printer columns and selectable fields: .a.b, ['a'], [0], [-1], [*], and filters
// such as [?(@.type=="Ready")]. A dot in a name is written `\.`.
class JsonPath {
 public:
  static Result<JsonPath> parse(std::string_view text);
  // The first value that the path leads to, or null.
  const json::Value* first(const json::Value& root) const;

 private:
  enum class Compare : std::uint8_t { exists, equal, unequal, less, at_most, more, at_least };
  struct Step {
    enum class Kind : std::uint8_t { field, index, every, filter };
    Kind kind = Kind::field;
    std::string name{};  // of the field
    std::int64_t index = 0;
    Compare compare = Compare::exists;
    std::vector<Step> left{};  // of a filter, from the item
    std::string literal{};     // text, or a number or boolean as written
    bool literal_is_text = false;
  };
  class Reader;

  static const json::Value* find(const json::Value& value, const Step* at, const Step* end);
  static bool accepts(const Step& filter, const json::Value& item);

  std::vector<Step> steps_;
};

}  // namespace codeflare::apiserver
