#pragma once

#include "model/app_wrapper.h"
#include "model/run.h"
#include "model/secret.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace codeflare::sim {

// An administrator's view of one moment.
struct RunView {
  std::vector<model::Run> runs;
  std::vector<model::AppWrapper> wrappers;
  std::vector<model::Secret> secrets;
};

// Holds what must be true at every moment, and at rest.
class RunJudge {
 public:
  void look(const RunView& view);
  // Long after the faults: every Run has ended or waits for its user, and nothing outlives its Run.
  void look_at_rest(const RunView& view);
  // Versions of everything: the same text means that nobody wrote.
  static std::string versions_of(const RunView& view);

  bool well() const { return violations_.empty(); }
  const std::vector<std::string>& violations() const { return violations_; }
  const std::map<std::string, std::uint64_t>& counts() const { return counts_; }

 private:
  void complain(std::string what);

  std::map<std::string, std::set<std::string>> wrappers_;  // UID of a Run to UIDs
  std::map<std::string, std::string> phases_;              // UID of a Run to its last phase
  std::vector<std::string> violations_;
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace codeflare::sim
