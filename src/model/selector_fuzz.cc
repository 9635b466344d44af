#include "base/check.h"
#include "model/fields.h"
#include "model/labels.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

using codeflare::Result;
using codeflare::model::FieldSelector;
using codeflare::model::Selector;
using codeflare::model::StringMap;

// Every accepted selector reads back from its canonical text as the same selector.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const StringMap labels = {{"a", "1"}, {"in", ""}};
  if (Result<Selector> selector = Selector::parse(text)) {
    const Result<Selector> again = Selector::parse(selector->to_string());
    CHECK(again.has_value());
    CHECK(*again == *selector);
    CHECK(again->matches(labels) == selector->matches(labels));
  }
  if (Result<FieldSelector> selector = FieldSelector::parse(text)) {
    const Result<FieldSelector> again = FieldSelector::parse(selector->to_string());
    CHECK(again.has_value());
    CHECK(*again == *selector);
    const auto lookup = [](std::string_view field) { return field; };
    CHECK(again->matches(lookup) == selector->matches(lookup));
  }
  return 0;
}
