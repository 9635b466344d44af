#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::sim {

// The result of one run of a scenario.
struct Outcome {
  std::uint64_t trace_hash = 0;
  std::vector<std::string> violations;  // broken promises; none in a good run
  // How often things happened, so that a scenario that tests nothing is noticed: what is counted
  // must not stay zero over many seeds.
  std::map<std::string, std::uint64_t> counts;
};

struct Run {
  std::uint64_t seed = 1;
  bool verbose = false;  // print the story
};

using Scenario = std::function<Outcome(const Run&)>;

// The main function of a simulation; see CMakeLists.txt for its arguments.
int sim_main(int argc, char** argv, std::string_view name, const Scenario& scenario);

}  // namespace codeflare::sim
