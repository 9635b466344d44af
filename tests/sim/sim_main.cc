#include "tests/sim/sim_main.h"

#include <charconv>
#include <cstdio>
#include <optional>

namespace codeflare::sim {

namespace {

constexpr std::uint64_t kSeedsThatShowAll = 20;
constexpr std::size_t kViolationsShown = 5;

struct Arguments {
  std::uint64_t first = 1;
  std::uint64_t count = 100;
  bool verbose = false;
};

std::optional<std::uint64_t> to_number(std::string_view text) {
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::optional<std::uint64_t> value = i + 1 < argc ? to_number(argv[i + 1]) : std::nullopt;
    if (!value) {
      return std::nullopt;
    }
    if (name == "--seeds") {
      arguments.count = *value;
    } else if (name == "--from") {
      arguments.first = *value;
    } else if (name == "--seed") {
      arguments = {*value, 1, true};
    } else {
      return std::nullopt;
    }
  }
  return arguments;
}

// Runs one seed twice and says what is wrong with it.
std::vector<std::string> judge(const Scenario& scenario, const Run& run, Outcome& outcome) {
  outcome = scenario(run);
  std::vector<std::string> faults = outcome.violations;
  const Outcome again = scenario({.seed = run.seed});
  if (again.trace_hash != outcome.trace_hash) {
    faults.push_back("two runs left different traces");
  }
  return faults;
}

}  // namespace

int sim_main(int argc, char** argv, std::string_view name, const Scenario& scenario) {
  const std::optional<Arguments> arguments = parse(argc, argv);
  const std::string program(name);
  if (!arguments) {
    std::fprintf(stderr, "usage: %s [--seeds N [--from S] | --seed S]\n", program.c_str());
    return 2;
  }
  std::uint64_t failed = 0;
  std::map<std::string, std::uint64_t> totals;
  for (std::uint64_t i = 0; i < arguments->count; ++i) {
    const Run run{.seed = arguments->first + i, .verbose = arguments->verbose};
    Outcome outcome;
    const std::vector<std::string> faults = judge(scenario, run, outcome);
    for (const auto& [what, count] : outcome.counts) {
      totals[what] += count;
    }
    if (faults.empty()) {
      continue;
    }
    ++failed;
    std::printf("%s: seed %llu failed; see it with: %s --seed %llu\n", program.c_str(),
                static_cast<unsigned long long>(run.seed), program.c_str(),
                static_cast<unsigned long long>(run.seed));
    for (std::size_t k = 0; k < faults.size() && k < kViolationsShown; ++k) {
      std::printf("  %s\n", faults[k].c_str());
    }
  }
  std::printf("%s: %llu seeds, %llu failed;", program.c_str(),
              static_cast<unsigned long long>(arguments->count),
              static_cast<unsigned long long>(failed));
  bool vacuous = false;
  for (const auto& [what, count] : totals) {
    std::printf(" %s %llu", what.c_str(), static_cast<unsigned long long>(count));
    vacuous = vacuous || (count == 0 && arguments->count >= kSeedsThatShowAll);
  }
  std::printf("\n%s", vacuous ? "something never happened: the scenario tests too little\n" : "");
  return failed == 0 && !vacuous ? 0 : 1;
}

}  // namespace codeflare::sim
