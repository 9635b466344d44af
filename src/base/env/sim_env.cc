#include "base/env/sim_env.h"

#include "base/env/internal/sim_file_system.h"
#include "base/env/internal/sim_loop.h"

#include <map>
#include <utility>

namespace codeflare {

namespace {

class SimVariables final : public Variables {
 public:
  std::optional<std::string> get(const std::string& name) const override {
    auto it = values.find(name);
    return it == values.end() ? std::nullopt : std::optional(it->second);
  }
  std::map<std::string, std::string> values;
};

class SimLauncher final : public Launcher {
 public:
  Task<Result<CommandResult>> run(Command command) override {
    const TaskContext& context = co_await current_context();
    if (context.stop.stop_requested()) {
      co_return fail(cancelled());
    }
    auto it = programs.find(command.program);
    if (it == programs.end()) {
      co_return fail(not_found("program '" + command.program + "' not found on PATH"));
    }
    // A copy: the program may replace itself while it runs.
    SimEnv::Program program = it->second;
    const std::size_t bytes_max = command.output_bytes_max;
    const std::string name = command.program;
    CO_TRY_ASSIGN(CommandResult result, co_await program(std::move(command)));
    if (result.output.size() > bytes_max || result.error_output.size() > bytes_max) {
      co_return fail(
          too_large(name + " printed more than " + std::to_string(bytes_max) + " bytes"));
    }
    co_return result;
  }
  std::map<std::string, SimEnv::Program> programs;
};

// The work is done at the end of its delay, in one piece.
class SimBlocking final : public Blocking {
 public:
  SimBlocking(Loop& loop, Random& random, Duration delay_max)
      : loop_(loop), random_(random), delay_max_(delay_max) {}

  void submit(Work work, Work done) override {
    Duration delay(random_.below(static_cast<std::uint64_t>(delay_max_.count()) + 1));
    loop_.start_timer(loop_.now() + delay,
                      [work = std::move(work), done = std::move(done)]() mutable {
                        work();
                        work = nullptr;
                        done();
                      });
  }

 private:
  Loop& loop_;
  Random& random_;
  Duration delay_max_;
};

}  // namespace

// The order of work, the delays and what components draw come from streams of their own: drawing
// once more in one place does not change the rest of the run.
struct SimEnv::Parts {
  explicit Parts(const Options& options)
      : order(options.seed ^ 0x6f72646572),
        delays(options.seed ^ 0x64656c617973),
        random(options.seed),
        loop(order, options.shuffle, options.wall_start, options.steps_per_instant_max),
        files(loop),
        blocking(loop, delays, options.blocking_delay_max) {}

  internal::SeededRandom order;
  internal::SeededRandom delays;
  internal::SeededRandom random;
  internal::SimLoop loop;
  internal::SimFileSystem files;
  SimLauncher launcher;
  SimVariables variables;
  SimBlocking blocking;
};

SimEnv::SimEnv() : SimEnv(Options{}) {}

SimEnv::SimEnv(Options options) : parts_(std::make_unique<Parts>(options)) {}

SimEnv::~SimEnv() = default;

Env SimEnv::env() {
  return {parts_->loop,     parts_->loop,      parts_->random,  parts_->files,
          parts_->launcher, parts_->variables, parts_->blocking};
}

void SimEnv::trace(std::string_view what) {
  parts_->loop.trace(what);
}

std::uint64_t SimEnv::trace_hash() const {
  return parts_->loop.trace_hash();
}

std::uint64_t SimEnv::steps() const {
  return parts_->loop.steps();
}

void SimEnv::set_variable(const std::string& name, std::string value) {
  parts_->variables.values.insert_or_assign(name, std::move(value));
}

void SimEnv::set_program(const std::string& name, Program program) {
  parts_->launcher.programs.insert_or_assign(name, std::move(program));
}

void SimEnv::crash_files() {
  parts_->files.crash();
}

}  // namespace codeflare
