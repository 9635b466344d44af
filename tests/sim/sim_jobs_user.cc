#include "tests/sim/sim_jobs_user.h"

#include "base/async/sleep.h"
#include "base/async/stop_token.h"
#include "kube/client.h"
#include "kube/discovery.h"
#include "tests/sim/fault_mix.h"

#include <array>
#include <chrono>
#include <utility>
#include <vector>

namespace codeflare::sim {

using std::chrono::seconds;

namespace {

Task<void> arrive(net::HttpService& server, net::Request request, Duration delay) {
  (void)co_await sleep_for(delay);
  (void)co_await server.send(std::move(request));
}

// The requests of a program that dies at one of them.
class MortalService final : public net::HttpService {
 public:
  struct Parts {
    Env env;
    net::HttpService& link;
    net::HttpService& server;
    TaskGroup& late;
    Death death;
    StopSource& end;
  };
  explicit MortalService(Parts parts) : parts_(std::move(parts)) {}

  Task<Result<net::Response>> send(net::Request request) override {
    ++requests_;
    const Death::How how = parts_.death.how;
    if (how == Death::How::never || how == Death::How::by_time ||
        requests_ != parts_.death.request) {
      co_return co_await parts_.link.send(std::move(request));
    }
    if (how == Death::How::after) {
      (void)co_await parts_.link.send(std::move(request));
    } else if (how == Death::How::late) {
      const Duration delay = up_to(parts_.env.random, seconds(2));
      parts_.late.spawn(arrive(parts_.server, std::move(request), delay));
    }
    parts_.end.request_stop();
    co_return fail(cancelled("the program is dead"));
  }

 private:
  Parts parts_;
  std::uint64_t requests_ = 0;
};

}  // namespace

// One program.
struct JobsUser::Life {
  Life(Env env, const Options& options, Death death_in)
      : death(death_in),
        link(*options.server, env.random, options.faults()),
        mortal({env, link, *options.server, *options.late, death, end}),
        client(env, mortal),
        discovery(client),
        jobs(env, mortal, client, discovery, {.base_directory = "/base"}) {}

  Death death;
  StopSource end;
  net::SimLink link;
  MortalService mortal;
  kube::Client client;
  kube::Discovery discovery;
  sdk::Jobs jobs;
};

JobWish JobsUser::next_wish() {
  const std::string number = std::to_string(wishes_++);
  JobWish wish{.cluster = pick(3) == 0 ? "bad" : "good",
               .name = options_.name + "-" + number,
               .command = "python main.py " + options_.name + " " + number,
               .with_code = pick(3) == 0 || options_.wishes_max,
               .stopped = pick(4) == 0 && !options_.wishes_max};
  switch (options_.wishes_max ? std::uint64_t{2} : pick(3)) {
    case 0:
      wish.shared = true;
      wish.cluster = "good";
      wish.name = "shared-" + std::to_string(wishes_ / 2);
      break;
    case 1:
      // Runs longer than a late submission takes, which would else find the name free again.
      wish.stopped = false;
      wish.removed = true;
      wish.name = options_.name;
      break;
    default:
      break;
  }
  return wish;
}

void JobsUser::heal() {
  healed_ = true;
  if (link_ != nullptr) {
    link_->heal();
  }
}

Task<void> JobsUser::work() {
  while (!healed_ && wishes_ != options_.wishes_max) {
    wish_ = next_wish();
    step_ = Step::submit;
    tried_ = accepted_ = removing_ = false;
    options_.judge->wanted(wish_);
    while (step_ != Step::over) {
      co_await live();
      if (!co_await sleep_for(up_to(env_.random, seconds(3)))) {
        co_return;
      }
    }
  }
  idle_ = true;
}

Task<void> JobsUser::live() {
  const Death death = healed_ ? Death{} : options_.fate();
  Life life(env_, options_, death);
  link_ = &life.link;
  if (healed_) {
    life.link.heal();
  }
  Task<Result<void>> program = with_stop(life.end.token(), run_program(life));
  const Result<void> end = death.how == Death::How::by_time
                               ? co_await with_timeout(death.time, "life", std::move(program))
                               : co_await std::move(program);
  link_ = nullptr;
  faults_ += life.link.counts().faults;
  const bool timed_out =
      death.how == Death::How::by_time && !end && end.error().code == ErrorCode::deadline_exceeded;
  if (timed_out || life.end.token().stop_requested()) {
    constexpr std::array kDeaths = {"", "died before", "died after", "arrived late",
                                    "died in time"};
    options_.judge->count(kDeaths[static_cast<std::size_t>(death.how)]);
  }
  options_.say(wish_.command + ": " + (end ? "done" : end.error().to_string()));
}

Task<Result<void>> JobsUser::run_program(Life& life) {
  if (step_ == Step::remove) {
    co_return co_await remove(life);
  }
  // The same command again, or only the log of what is there.
  if (!accepted_ || pick(2) == 0) {
    CO_TRY(co_await submit(life));
  }
  if (step_ == Step::over) {
    co_return Result<void>();
  }
  if (wish_.stopped) {
    CO_TRY(co_await stop(life));
  }
  co_return co_await follow(life);
}

Task<Result<void>> JobsUser::submit(Life& life) {
  const bool first = !std::exchange(tried_, true);
  sdk::JobSpec spec{.name = wish_.name, .command = wish_.command};
  spec.working_dir = wish_.with_code ? "code" : "";
  const Result<std::vector<std::string>> notes =
      co_await life.jobs.submit(target(), std::move(spec));
  if (notes) {
    options_.judge->accepted(wish_);
    accepted_ = true;
    co_return Result<void>();
  }
  if (notes.error().code == ErrorCode::already_exists) {
    co_return co_await already_there(life, first);
  }
  if (options_.bug == JobsBug::second_job) {
    wish_.name += "x";
  } else if (options_.bug == JobsBug::lost_job && !wish_.removed && !wish_.shared) {
    step_ = Step::over;
    co_return Result<void>();
  }
  co_return fail(notes.error());
}

// Our own job of an earlier attempt, or somebody else's.
Task<Result<void>> JobsUser::already_there(Life& life, bool first) {
  if (first && !wish_.shared) {
    options_.judge->complain("'" + wish_.command +
                             "': the first submission was told that its job exists already");
  }
  CO_TRY_ASSIGN(const sdk::JobInfo job, co_await life.jobs.get(target(), wish_.name));
  if (job.command == wish_.command) {
    options_.judge->count("found again");
    accepted_ = true;
  } else {
    options_.judge->taken(wish_);
    step_ = Step::over;
  }
  co_return Result<void>();
}

Task<Result<void>> JobsUser::stop(Life& life) {
  CO_TRY(co_await sleep_for(up_to(env_.random, seconds(4))));
  CO_TRY_ASSIGN(const sdk::JobStop stop, co_await life.jobs.stop(target(), wish_.name));
  options_.judge->ended(wish_, stop.job, "", false);
  co_return Result<void>();
}

Task<Result<void>> JobsUser::show(std::string* log, std::string text) {
  if (options_.bug == JobsBug::line_lost && pick(4) == 0) {
    co_return Result<void>();
  }
  if (options_.bug == JobsBug::line_twice && pick(4) == 0) {
    text += text;
  }
  *log += text;
  options_.judge->shown(wish_, *log);
  co_return Result<void>();
}

Task<Result<void>> JobsUser::follow(Life& life) {
  std::string log;
  const Result<sdk::JobEnd> end = co_await life.jobs.follow(
      target(), wish_.name, [&](std::string text) { return show(&log, std::move(text)); });
  if (!end && options_.bug == JobsBug::wrong_end && end.error().code != ErrorCode::cancelled) {
    sdk::JobInfo job{.name = wish_.name, .command = wish_.command};
    job.phase = sdk::JobPhase::succeeded;
    options_.judge->ended(wish_, job, log, true);
  }
  CO_TRY(end);
  options_.judge->ended(wish_, end->job, log, !end->log_error);
  if (end->log_error) {
    co_return fail(*end->log_error);  // once more
  }
  step_ = wish_.removed ? Step::remove : Step::over;
  co_return Result<void>();
}

Task<Result<void>> JobsUser::remove(Life& life) {
  const bool first = !std::exchange(removing_, true);
  const Result<void> gone = co_await life.jobs.remove(target(), wish_.name);
  const bool missing = !gone && gone.error().code == ErrorCode::not_found;
  if (missing && first) {
    options_.judge->complain("'" + wish_.command + "' was reported as missing, but it is there");
  }
  if (gone || missing) {
    options_.judge->removed(wish_);
    step_ = Step::over;
    co_return Result<void>();
  }
  co_return gone;
}

}  // namespace codeflare::sim
