#pragma once

#include "kube/object.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

namespace codeflare::kube::internal {

// Recognises an event that was delivered already, should a server repeat some when a watch resumes.
// Events are compared for equality only (object, version, deleted or not), never by the order of
// their versions: forgetting one after a few thousand others makes a double, which does no harm,
// where a wrong guess about order would lose an event for good.
class ReplayFilter {
 public:
  // True when this very event is among the latest; otherwise it is remembered.
  bool seen(const Object& object, bool deleted) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (std::string_view part :
         {object.ns(), object.name(), object.uid(), object.resource_version()}) {
      for (char c : part) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
      }
      hash = (hash ^ 0xff) * 0x100000001b3;  // no byte of UTF-8: keeps the parts apart
    }
    hash = (hash ^ (deleted ? 2u : 1u)) * 0x100000001b3;
    hash |= 1;  // 0 stands for an empty slot
    std::uint64_t& slot = (*slots_)[(hash >> 20) % kSlots];
    if (slot == hash) {
      return true;
    }
    slot = hash;
    return false;
  }
  void clear() { slots_->fill(0); }

 private:
  static constexpr std::size_t kSlots = 4096;
  std::unique_ptr<std::array<std::uint64_t, kSlots>> slots_ =
      std::make_unique<std::array<std::uint64_t, kSlots>>();
};

}  // namespace codeflare::kube::internal
