#include "model/list.h"

#include "model/extra.h"
#include "model/internal/list_life.h"

#include <algorithm>

namespace codeflare::model {

StringMap::StringMap() noexcept = default;
StringMap::StringMap(const StringMap& other) = default;
StringMap::StringMap(StringMap&& other) noexcept = default;
StringMap& StringMap::operator=(const StringMap& other) = default;
StringMap& StringMap::operator=(StringMap&& other) noexcept = default;
StringMap::~StringMap() = default;

bool StringMap::equals(const StringMap& other) const {
  return std::ranges::equal(*this, other);
}

template struct List<std::string>;
template struct List<Extra::Member>;

}  // namespace codeflare::model
