#include "base/check.h"
#include "model/quantity.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using codeflare::model::Quantity;

// Every accepted text reads back from its canonical text as the same amount. The text is the same
// too, except for a binary amount that is not a multiple of 1024: 812.5Ki is written 832000, as
// Kubernetes does, and that reads as 832k.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const codeflare::Result<Quantity> quantity = Quantity::parse(text);
  if (!quantity) {
    return 0;
  }
  const std::string canonical = quantity->to_string();
  const codeflare::Result<Quantity> again = Quantity::parse(canonical);
  CHECK(again.has_value());
  CHECK(*again == *quantity);
  const bool lost_its_suffix = quantity->format() == Quantity::Format::binary_si &&
                               again->format() != Quantity::Format::binary_si;
  CHECK(lost_its_suffix || again->to_string() == canonical);
  const codeflare::Result<Quantity> settled = Quantity::parse(again->to_string());
  CHECK(settled.has_value());
  CHECK(settled->to_string() == again->to_string());
  CHECK(*quantity + *quantity == *quantity * 2);
  CHECK((*quantity - *quantity).is_zero());
  CHECK((quantity->value() > 0) == (quantity->sign() > 0));
  return 0;
}
