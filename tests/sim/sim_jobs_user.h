#pragma once

#include "base/async/task.h"
#include "base/async/task_group.h"
#include "base/env/env.h"
#include "net/http.h"
#include "net/sim_link.h"
#include "sdk/jobs.h"
#include "tests/sim/sim_jobs_judge.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace codeflare::sim {

// Wrong clients, to see that the judge notices them.
enum class JobsBug : std::uint8_t {
  none,
  second_job,  // each attempt of a submission has a name of its own
  lost_job,    // any end of a submission counts as success
  line_twice,  // a piece of the log is shown again
  line_lost,   // a piece of the log is left out
  wrong_end,   // a log that breaks off counts as the job's end
};

// The death of a program: at its nth request, or when its time is up.
struct Death {
  enum class How : std::uint8_t {
    never,
    before,   // the request is not sent
    after,    // the request has its effect, nobody reads the answer
    late,     // the request arrives when the program is dead
    by_time,  // wherever it is
  };
  How how = How::never;
  std::uint64_t request = 0;
  Duration time{};
};

// A user at a shell: types a command, and types it again after an error or when the program died.
// Each program has a network of its own.
class JobsUser {
 public:
  struct Options {
    std::string name;
    net::HttpService* server = nullptr;
    JobsJudge* judge = nullptr;
    TaskGroup* late = nullptr;  // for requests that outlive their sender
    JobsBug bug = JobsBug::none;
    std::optional<std::uint64_t> wishes_max{};
    std::function<net::LinkFaults()> faults{};
    std::function<Death()> fate{};
    std::function<void(const std::string&)> say{};
  };
  JobsUser(Env env, Options options) : env_(env), options_(std::move(options)) {}

  // Until all is healed and the last wish has come true.
  Task<void> work();
  void heal();
  bool idle() const { return idle_; }
  const JobWish& wish() const { return wish_; }
  std::uint64_t faults() const { return faults_; }

 private:
  struct Life;
  enum class Step : std::uint8_t { submit, remove, over };

  JobWish next_wish();
  Task<void> live();
  Task<Result<void>> run_program(Life& life);
  Task<Result<void>> submit(Life& life);
  Task<Result<void>> already_there(Life& life, bool first);
  Task<Result<void>> stop(Life& life);
  Task<Result<void>> follow(Life& life);
  Task<Result<void>> remove(Life& life);
  Task<Result<void>> show(std::string* log, std::string text);
  sdk::JobTarget target() const { return {.cluster = {"team", wish_.cluster}}; }
  std::uint64_t pick(std::uint64_t bound) { return env_.random.below(bound); }

  Env env_;
  Options options_;
  net::SimLink* link_ = nullptr;  // of the program that runs
  bool healed_ = false;
  bool idle_ = false;
  std::uint64_t wishes_ = 0;
  std::uint64_t faults_ = 0;
  JobWish wish_;
  // The memory of the user about the wish.
  Step step_ = Step::submit;
  bool tried_ = false;     // to submit it
  bool accepted_ = false;  // its job is there
  bool removing_ = false;
};

}  // namespace codeflare::sim
