#pragma once

#include "model/resources.h"

#include <string_view>

namespace codeflare::model {

// UsageLedger (usage.codeflare.dev/v1alpha1), by its name only: its status is a usage::Ledger.
struct UsageLedger {};

template <>
struct ResourceTraits<UsageLedger> {
  static constexpr std::string_view group = "usage.codeflare.dev";
  static constexpr std::string_view version = "v1alpha1";
  static constexpr std::string_view api_version = "usage.codeflare.dev/v1alpha1";
  static constexpr std::string_view kind = "UsageLedger";
  static constexpr std::string_view plural = "usageledgers";
  static constexpr bool namespaced = true;
};

}  // namespace codeflare::model
