#pragma once

#include "model/extra.h"
#include "model/meta.h"

#include <cstdint>
#include <optional>
#include <string>

namespace codeflare::model {

struct LeaseSpec {
  std::optional<std::string> holder_identity;
  std::optional<std::int32_t> lease_duration_seconds;
  std::optional<MicroTime> acquire_time;
  std::optional<MicroTime> renew_time;
  std::optional<std::int32_t> lease_transitions;
  Extra extra;

  friend bool operator==(const LeaseSpec&, const LeaseSpec&) = default;
};

struct Lease {
  ObjectMeta metadata;
  LeaseSpec spec;
  Extra extra;

  friend bool operator==(const Lease&, const Lease&) = default;
};

}  // namespace codeflare::model
