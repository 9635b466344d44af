#include "model/meta.h"

#include <algorithm>

namespace codeflare::model {

const OwnerReference* controller_of(const ObjectMeta& meta) {
  auto at = std::ranges::find_if(meta.owner_references, [](const OwnerReference& owner) {
    return owner.controller.value_or(false);
  });
  return at == meta.owner_references.end() ? nullptr : &*at;
}

bool is_owned_by(const ObjectMeta& meta, std::string_view uid) {
  return std::ranges::any_of(meta.owner_references,
                             [&](const OwnerReference& owner) { return owner.uid == uid; });
}

std::string_view find_or_empty(const StringMap& map, std::string_view key) {
  auto at = map.find(key);
  return at == map.end() ? std::string_view() : std::string_view(at->second);
}

}  // namespace codeflare::model
