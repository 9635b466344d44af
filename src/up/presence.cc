#include "up/presence.h"

#include "up/context.h"

#include <optional>
#include <utility>

namespace codeflare::up {

std::string describe_running(const UpState& state, const std::string& directory) {
  return "codeflare up (process " + std::to_string(state.process.pid) + ") runs in " + directory +
         " since " + to_rfc3339(state.since);
}

Task<Result<void>> UpPresence::check_free() {
  struct Seen {
    Result<std::optional<UpState>> state;
    bool running = false;
  };
  const Seen seen = co_await run_blocking(env_, [&] {
    Seen found{.state = read_up_state(env_.files, options_.directory)};
    found.running = found.state && *found.state && is_running(env_.files, (*found.state)->process);
    return found;
  });
  if (seen.running) {
    co_return fail(failed_precondition(describe_running(**seen.state, options_.directory) +
                                       "; run 'codeflare down --data-dir " + options_.directory +
                                       "' to stop it"));
  }
  if (seen.state && *seen.state) {
    earlier_ = (*seen.state)->context;
  }
  co_return Result<void>();
}

Task<Result<UpState>> UpPresence::announce(UpState state) {
  CO_TRY_ASSIGN(state.process,
                co_await run_blocking(env_, [&] { return find_process(env_.files, "self"); }));
  if (options_.edit_kubeconfig) {
    NewContext context{.name = context_name(env_.variables, options_.directory),
                       .kubeconfig = state.kubeconfig,
                       .earlier = earlier_};
    Result<AddedContext> added = co_await add_context(env_, std::move(context));
    if (added) {
      state.context = *std::move(added);
    } else {
      state.warning = "the kubeconfig is unchanged: " + added.error().message;
    }
  }
  announced_ = state;
  CO_TRY(co_await run_blocking(
      env_, [&] { return env_.files.write(up_state_path(options_.directory), to_json(state)); }));
  co_return state;
}

Task<Result<void>> UpPresence::withdraw() {
  if (!announced_) {
    co_return Result<void>();
  }
  UpState state = *std::exchange(announced_, std::nullopt);
  co_return co_await forget_up(env_, options_.directory, std::move(state));
}

Task<Result<void>> forget_up(Env env, std::string directory, UpState state) {
  const Result<void> out =
      co_await take_out_context(env, state.context, std::move(state.kubeconfig));
  const Result<void> removed =
      co_await run_blocking(env, [&] { return env.files.remove(up_state_path(directory)); });
  co_return out ? removed : out;
}

}  // namespace codeflare::up
