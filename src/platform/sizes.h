#pragma once

#include "model/run_size_configuration.h"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::platform {

// From the smallest to the largest; `auto` is none of them.
std::span<const std::string_view> sizes_in_order();
inline constexpr std::string_view kAutoSize = "auto";
inline constexpr std::string_view kDefaultSize = "sm";

struct KnownSize {
  model::RunSize size;
  std::string from;  // "RunSizeConfiguration team", "built-in"
};
using SizeTable = std::map<std::string, KnownSize, std::less<>>;

// Size by size: the configuration with the lowest priority number, then by name; the built-in table
// behind them.
SizeTable size_table(std::vector<model::RunSizeConfiguration> configurations);

}  // namespace codeflare::platform
