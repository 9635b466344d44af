#include "app/flags/mcad_flags.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <array>
#include <cstddef>
#include <utility>

namespace codeflare {

namespace {

struct McadOption {
  const char* name;
  const char* env;  // may be empty
  const char* why;
};

constexpr std::array kOptions{
    McadOption{"--dispatchingMode", "", "the queue places work on the cluster that fits"},
    McadOption{"--backofftime", "BACKOFFTIME",
               "waiting work is evaluated on changes, not on a timer"},
    McadOption{"--quotaURL", "QUOTA_REST_URL", "quota trees are QuotaSubtree objects"},
    McadOption{"--dispatchResourceReservationTimeout", "DISPATCH_RESOURCE_RESERVATION_TIMEOUT",
               "reserved resources are kept until pods use them or the work is withdrawn"},
    McadOption{"--secure-port", "", "metrics are served at --health-address"},
    // The operator of TrainingJobs had these.
    McadOption{"--metrics-bind-address", "", "metrics are served at --health-address"},
    McadOption{"--monitoring-port", "", "metrics are served at --health-address"},
    McadOption{"--debug-world-size", "DEBUG_WORLD_SIZE", "the capacity is that of the nodes"},
};

// Flags that mean the same here.
constexpr std::array kKept{
    std::pair{"--dispatcher", "DISPATCHER_MODE"},
    std::pair{"--agentconfigs", "DISPATCHER_AGENT_CONFIGS"},
    std::pair{"--preemption", "PREEMPTION"},
    std::pair{"--dynamicpriority", "DYNAMICPRIORITY"},
    std::pair{"--headoflineholdingtime", "HEADOFLINEHOLDINGTIME"},
    std::pair{"--quotaEnabled", "QUOTA_ENABLED"},
};

}  // namespace

void add_mcad_flags(CLI::App& role, McadFlags& flags) {
  flags.values.resize(kOptions.size());
  for (std::size_t i = 0; i < kOptions.size(); ++i) {
    role.add_option(kOptions[i].name, flags.values[i], kOptions[i].why)
        ->expected(0, 1)
        ->default_str("true")
        ->group("");  // not in the help: they have no effect
  }
  // Only when this role was chosen: the variables have names that others may use too.
  role.preparse_callback([&role](std::size_t) {
    for (const auto& [name, env] : kKept) {
      role.get_option(name)->envname(env);
    }
    for (const McadOption& each : kOptions) {
      role.get_option(each.name)->envname(each.env);
    }
  });
}

void tell_mcad_flags(const McadFlags& flags, Logger logger) {
  for (std::size_t i = 0; i < kOptions.size(); ++i) {
    if (!flags.values[i].empty()) {
      logger.warn("option has no effect", {{"option", kOptions[i].name}, {"why", kOptions[i].why}});
    }
  }
}

}  // namespace codeflare
