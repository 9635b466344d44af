#pragma once

#include "sched/core.h"
#include "sched/machines.h"
#include "tests/sched/scenario_text.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace codeflare::sched::scenario {

struct Line {
  int number = 0;
  std::string text;
};

// One case of a scenario file.
struct Case {
  std::string file;
  std::string name;
  std::vector<Line> lines;
};

// All cases of a file: "case NAME" begins one.
std::vector<Case> read_cases(const std::string& path);

// Runs the lines of one case against a core of its own. Invariants are checked after every step.
class Runner {
 public:
  void run(const Case& test);

 private:
  void obey(const Words& words);
  void change_world(const std::string& verb, const Words& rest);
  void change_elastic(const std::string& verb, const Words& rest);
  void change_work(const std::string& verb, const Words& rest);
  void expect(Words words);
  void expect_state(const std::string& verb, const Words& words);
  void expect_resized(Words words);
  void expect_number(const std::string& verb, Words words);
  void offer_machine(const std::string& verb, Words words);
  void expect_machines(const Words& words);

  void configure(Words words);
  void set_quota(Words words);
  void adopt(const Words& words);
  void step();
  GangId gang(const std::string& name);
  NodeId node(const std::string& name);
  std::vector<std::string> places(const Placement& placement);
  std::string explanation(const std::string& name);
  Time at(long long seconds) const { return Time(std::chrono::seconds(1'700'000'000 + seconds)); }
  template <typename T>
  void note(const Result<T>& result) {
    error_ = result ? "" : result.error().message;
  }

  std::unique_ptr<Core> core_ = std::make_unique<Core>();
  Time now_ = at(0);
  bool changed_ = false;
  StepResult last_;
  std::map<std::string, GangId> evicted_;  // by name, in the last step
  std::string error_;                      // of the last command
  std::map<std::string, std::vector<QuotaNode>> trees_;
  std::vector<std::string> problems_;
  MachineQuestion machines_;
  std::map<std::string, MachineWish> wishes_;  // by gang
};

}  // namespace codeflare::sched::scenario
