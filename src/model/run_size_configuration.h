#pragma once

#include "model/extra.h"
#include "model/list.h"
#include "model/meta.h"
#include "model/quantity.h"
#include "model/resources.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

// RunSizeConfiguration (codeflare.dev/v1alpha1): what the sizes of Runs mean on this cluster.
namespace codeflare::model {

// Of one worker; `auto` has neither cpu nor memory.
struct RunSize {
  std::int32_t workers = 1;
  std::optional<Quantity> cpu;
  std::optional<Quantity> memory;
  std::int32_t gpu = 0;
  Extra extra;

  friend bool operator==(const RunSize&, const RunSize&) = default;
};

struct RunSizeConfigurationSpec {
  std::optional<std::int32_t> priority;                // the lowest number wins; 1 when absent
  std::map<std::string, RunSize, std::less<>> config;  // by size: "xs"
  Extra extra;

  friend bool operator==(const RunSizeConfigurationSpec&,
                         const RunSizeConfigurationSpec&) = default;
};

struct RunSizeConfiguration {
  ObjectMeta metadata;
  RunSizeConfigurationSpec spec;
  Extra extra;

  friend bool operator==(const RunSizeConfiguration&, const RunSizeConfiguration&) = default;
};

template <>
struct ResourceTraits<RunSizeConfiguration> {
  static constexpr std::string_view group = "codeflare.dev";
  static constexpr std::string_view version = "v1alpha1";
  static constexpr std::string_view api_version = "codeflare.dev/v1alpha1";
  static constexpr std::string_view kind = "RunSizeConfiguration";
  static constexpr std::string_view plural = "runsizeconfigurations";
  static constexpr bool namespaced = false;
};

}  // namespace codeflare::model
