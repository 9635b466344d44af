#include "tests/sim/sim_jobs_world.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/check.h"
#include "base/env/sim_env.h"
#include "sdk/testing/ray_proxy.h"
#include "tests/sim/fault_mix.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kTrouble = minutes(4);
// A log that fell silent is given up a minute later.
constexpr Duration kPatience = minutes(15);
constexpr std::uint64_t kUsers = 3;
constexpr int kLines = 12;

// The dashboards behind the API server, with the answers of both when something behind them breaks.
class TroubledProxy final : public net::HttpService {
 public:
  using Say = std::function<void(const std::string&)>;
  TroubledProxy(net::HttpService& target, Random& random, JobsJudge& judge, Say say)
      : target_(target), random_(random), judge_(judge), say_(std::move(say)) {}

  Task<Result<net::Response>> send(net::Request request) override {
    struct Answer {
      int status;
      const char* text;
    };
    constexpr std::array<Answer, 3> kBefore = {
        Answer{503, "no endpoints available for service"},
        Answer{500, "No available agent to submit job, please try again later."},
        Answer{503, "error trying to reach service: dial tcp: connect: connection refused"}};
    constexpr std::array<Answer, 4> kAfter = {
        Answer{500, "ServerDisconnectedError: Server disconnected"}, Answer{502, "Bad Gateway"},
        Answer{503, "error trying to reach service: EOF"},
        Answer{504, "error trying to reach service: connection closed"}};
    const std::string what = request.method + " " + request.target;
    if (happens()) {
      const Answer& answer = kBefore[random_.below(kBefore.size())];
      say_(what + ": " + std::to_string(answer.status) + " before an effect");
      co_return made(answer.status, answer.text);
    }
    const bool breaks = happens();
    Result<net::Response> response = co_await target_.send(std::move(request));
    judge_.look();
    say_(what + ": " + (response ? std::to_string(response->status) : "error"));
    if (breaks) {
      judge_.count("broke after an effect");
      const Answer& answer = kAfter[random_.below(kAfter.size())];
      say_("  " + std::to_string(answer.status) + " in its place");
      co_return made(answer.status, answer.text);
    }
    co_return response;
  }

  void set_trouble(double chance) { trouble_ = chance; }

 private:
  bool happens() { return random_.fraction() < trouble_; }
  static Result<net::Response> made(int status, const char* text) {
    return net::make_response(status, "text/plain", Bytes::from(std::string(text)));
  }

  net::HttpService& target_;
  Random& random_;
  JobsJudge& judge_;
  Say say_;
  double trouble_ = 0;
};

class World {
 public:
  World(const Run& run, JobsPlan plan)
      : verbose_(run.verbose),
        plan_(plan),
        sim_({.seed = run.seed, .shuffle = run.seed % 2 == 0}),
        env_(sim_.env()),
        proxy_(env_),
        judge_(proxy_, kLines),
        troubled_(proxy_, env_.random, judge_, [this](const std::string& what) { say(what); }),
        group_(env_.loop),
        late_(env_.loop) {}

  Outcome run() {
    add_clusters();
    if (!codeflare::run(env_.loop, story())) {
      judge_.complain("the simulation came to a standstill");
    }
    Outcome outcome{sim_.trace_hash(), judge_.violations(), judge_.counts()};
    for (const auto& user : users_) {
      outcome.counts["faults"] += user->faults();
    }
    for (const char* what :
         {"accepted", "arrived late", "broke after an effect", "died after", "died before",
          "died in time", "ended Failed", "ended Stopped", "ended Succeeded", "found again",
          "name taken", "packages", "removed"}) {
      outcome.counts[what] += 0;
    }
    return outcome;
  }

 private:
  std::uint64_t pick(std::uint64_t bound) { return env_.random.below(bound); }

  void add_clusters() {
    CHECK(env_.files.make_directories("/base/code"));
    CHECK(env_.files.write("/base/code/main.py", "print(1)"));
    ray::testing::FakeDashboard::Options options{.lines = kLines};
    if (!plan_.only && pick(2) == 0) {
      options.tail_messages_max = static_cast<int>(2 + pick(6));
    }
    proxy_.add_cluster("good", true, options);
    options.final_status = "FAILED";
    proxy_.add_cluster("bad", true, options);
  }

  void add_user(const std::string& name) {
    JobsUser::Options options{
        .name = name, .server = &troubled_, .judge = &judge_, .late = &late_, .bug = plan_.bug};
    if (plan_.only) {
      options.wishes_max = 1;
    }
    options.faults = [this] { return network(); };
    options.fate = [this] { return fate(); };
    options.say = [this](const std::string& what) { say(what); };
    users_.push_back(std::make_unique<JobsUser>(env_, std::move(options)));
    group_.spawn(users_.back()->work());
  }

  net::LinkFaults network() {
    if (plan_.only) {
      return {};
    }
    net::LinkFaults faults =
        fault_mix(env_.random, {.lost_request = 0.05, .cut_stream = 0.5, .silent_stream = 0.1});
    faults.conflict = 0;  // Ray has no such answer
    return faults;
  }

  Death fate() {
    if (plan_.only) {
      return std::exchange(only_done_, true) ? Death{} : *plan_.only;
    }
    const auto how = static_cast<Death::How>(pick(5));
    return {.how = how,
            .request = 1 + pick(14),
            .time = milliseconds(200) + up_to(env_.random, seconds(8))};
  }

  bool is_idle() const {
    for (const auto& user : users_) {
      if (!user->idle()) {
        return false;
      }
    }
    return true;
  }

  Task<void> wait(Duration at_most) {
    const Instant end = after(env_.loop.now(), at_most);
    while (judge_.well() && !is_idle() && env_.loop.now() < end) {
      (void)co_await sleep_for(seconds(1));
    }
  }

  Task<void> story() {
    troubled_.set_trouble(plan_.only ? 0 : env_.random.fraction() * 0.1);
    for (std::uint64_t i = 0; i < (plan_.only ? 1 : kUsers); ++i) {
      add_user("u" + std::to_string(i));
    }
    co_await wait(kTrouble);
    say("healed");
    troubled_.set_trouble(0);
    for (const auto& user : users_) {
      user->heal();
    }
    co_await wait(kPatience);
    for (const auto& user : users_) {
      if (judge_.well() && !user->idle()) {
        judge_.complain("'" + user->wish().command + "' is not done long after the faults");
      }
    }
    co_await group_.close();
    co_await late_.close();
    if (judge_.well()) {
      judge_.at_rest();
    }
  }

  void say(const std::string& what) {
    sim_.trace(what);
    if (verbose_) {
      std::fprintf(stderr, "%9.3f %s\n",
                   std::chrono::duration<double>(env_.loop.now().time_since_epoch()).count(),
                   what.c_str());
    }
  }

  bool verbose_;
  JobsPlan plan_;
  bool only_done_ = false;
  SimEnv sim_;
  Env env_;
  sdk::testing::RayProxy proxy_;
  JobsJudge judge_;
  TroubledProxy troubled_;
  TaskGroup group_;
  TaskGroup late_;
  std::vector<std::unique_ptr<JobsUser>> users_;
};

}  // namespace

Outcome run_jobs(const Run& run, const JobsPlan& plan) {
  return World(run, plan).run();
}

}  // namespace codeflare::sim
