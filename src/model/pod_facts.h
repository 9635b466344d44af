#pragma once

#include "base/time.h"
#include "model/pod.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare::model {

enum class PodPhase : std::uint8_t { pending, running, succeeded, failed };

// An unknown word is `pending`.
PodPhase pod_phase(std::string_view word);

// The facts about a pod by which controllers decide. Texts point into the pod.
struct PodFacts {
  const OwnerReference* controller = nullptr;  // null: nobody controls the pod
  PodPhase phase = PodPhase::pending;
  bool deleting = false;
  bool ready = false;
  WallTime ready_since{};
  WallTime created{};

  bool over() const { return phase == PodPhase::succeeded || phase == PodPhase::failed; }
  std::string_view controller_uid() const;
};

PodFacts facts_of(const Pod& pod);

}  // namespace codeflare::model
