#include "apiserver/admission/amounts.h"

#include <string_view>

namespace codeflare::apiserver {

model::ResourceList amounts_of(const json::Value& object) {
  model::ResourceList amounts;
  for (const json::Member& member : object.members()) {
    const std::string_view text = member.value.is_string()   ? member.value.as_string()
                                  : member.value.is_number() ? member.value.number()
                                                             : "";
    if (Result<model::Quantity> amount = model::Quantity::parse(text); amount) {
      amounts.set(member.key, *amount);
    }
  }
  return amounts;
}

}  // namespace codeflare::apiserver
