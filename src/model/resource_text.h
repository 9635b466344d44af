#pragma once

#include "model/quantity.h"

#include <string>
#include <string_view>

// Amounts as people write them, for sentences and tables. Rounded: where a program reads the number
// or a person copies it, write Quantity::to_string().
namespace codeflare::model {

// The number alone: "1.95" of 1950m cpu, "7.7Gi" of 8118372Ki memory, "4G" of 4000000k. At most
// one decimal of bytes, three of CPUs. Names of a ResourceQuota (limits.cpu) are known too.
std::string human_amount(std::string_view resource, const Quantity& amount);

// With its noun: "2 CPUs", "7.7Gi memory", "8 nvidia.com/gpu", "1 pod", "2 CPUs (limits)".
std::string human_resource(std::string_view resource, const Quantity& amount);

}  // namespace codeflare::model
