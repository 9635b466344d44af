#include "elastic/store.h"

namespace codeflare::elastic {

std::string StoreKey::to_string() const {
  switch (kind) {
    case Kind::membership:
      return "membership";
    case Kind::member:
      return "member/" + std::to_string(index);
    case Kind::round:
      return "round";
  }
  return {};
}

}  // namespace codeflare::elastic
