#include "platform/sizes.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace codeflare::platform {

namespace {

constexpr std::array<std::string_view, 7> kOrder = {"xxs", "xs", "sm", "md", "lg", "xl", "xxl"};

model::RunSize size_of(std::int32_t workers, std::int64_t cpu_milli, std::int64_t memory_mi,
                       std::int32_t gpu) {
  return {.workers = workers,
          .cpu = model::Quantity::milli(cpu_milli),
          .memory = model::Quantity(memory_mi << 20, model::Quantity::Format::binary_si),
          .gpu = gpu,
          .extra = {}};
}

SizeTable built_in() {
  SizeTable table;
  const auto add = [&](std::string_view name, model::RunSize size) {
    table.emplace(name, KnownSize{std::move(size), "built-in"});
  };
  add("xxs", size_of(1, 500, 1536, 0));
  add("xs", size_of(1, 1000, 4096, 1));
  add("sm", size_of(2, 1000, 8192, 1));
  add("md", size_of(4, 2000, 16384, 1));
  add("lg", size_of(8, 4000, 32768, 1));
  add("xl", size_of(20, 4000, 49152, 1));
  add("xxl", size_of(40, 8000, 65536, 1));
  add(kAutoSize, {.workers = 1, .cpu = {}, .memory = {}, .gpu = 0, .extra = {}});
  return table;
}

}  // namespace

std::span<const std::string_view> sizes_in_order() {
  return kOrder;
}

SizeTable size_table(std::vector<model::RunSizeConfiguration> configurations) {
  const auto rank = [](const model::RunSizeConfiguration& each) {
    return std::tuple(each.spec.priority.value_or(1), each.metadata.name);
  };
  // The winner comes last and overwrites.
  std::ranges::sort(configurations, std::greater(), rank);
  SizeTable table = built_in();
  for (const model::RunSizeConfiguration& each : configurations) {
    for (const auto& [name, size] : each.spec.config) {
      table.insert_or_assign(name, KnownSize{size, "RunSizeConfiguration " + each.metadata.name});
    }
  }
  return table;
}

}  // namespace codeflare::platform
