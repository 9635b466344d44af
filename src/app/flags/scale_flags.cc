#include "app/flags/scale_flags.h"

#include "controllers/fakenode/go_duration.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

namespace codeflare {

namespace {

constexpr std::int64_t kMachinesMax = 100'000;

Result<Duration> duration(const char* flag, const std::string& text) {
  const Result<Duration> parsed = controllers::fakenode::parse_go_duration(text);
  if (!parsed) {
    return fail(invalid_argument(std::string(flag) + " " + text +
                                 ": expected a duration such as 15m or 90s"));
  }
  return parsed;
}

}  // namespace

void add_scale_limits(CLI::App& role, ScaleFlags& flags) {
  role.add_option("--max-scaleout", flags.max_scaleout,
                  "number of machines at a time, of all types (default: unlimited)")
      ->check(CLI::Range(std::int64_t{0}, kMachinesMax))
      ->type_name("N");
  role.add_option("--scale-budget", flags.budget,
                  "cost per hour of all machines (default: unlimited)")
      ->check(CLI::NonNegativeNumber)
      ->type_name("COST");
  role.add_option("--scale-namespace-budget", flags.namespace_budget,
                  "cost per hour of the machines for one namespace (default: unlimited)")
      ->check(CLI::NonNegativeNumber)
      ->type_name("COST");
  role.add_option("--scale-timeout", flags.timeout,
                  "time until all machines of a request must be ready")
      ->type_name("DURATION")
      ->capture_default_str();
  role.add_option("--scale-down-after", flags.down_after, "idle time until a machine is removed")
      ->type_name("DURATION")
      ->capture_default_str();
}

Result<controllers::scale::ScaleOptions> parse_scale(const ScaleFlags& flags) {
  controllers::scale::ScaleOptions options;
  options.planner.max_scaleout = flags.max_scaleout;
  options.planner.budget = flags.budget;
  options.planner.namespace_budget = flags.namespace_budget;
  TRY_ASSIGN(options.patience.timeout, duration("--scale-timeout", flags.timeout));
  TRY_ASSIGN(options.patience.down_after, duration("--scale-down-after", flags.down_after));
  return options;
}

}  // namespace codeflare
