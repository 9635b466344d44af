#include "node/stream/run_program.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/async/wait_list.h"

#include <utility>

namespace codeflare::node {

namespace {

// Its remaining children may keep the output open: that is not waited for longer than this.
constexpr Duration kQuietAfterEnd = std::chrono::milliseconds(300);

struct Kept {
  std::size_t bytes_max;
  std::string text{};
  int open = 2;  // outputs that have not ended
  WaitList changed{};
};

Task<void> keep_output(net::ByteStream* from, Kept& kept) {
  while (from != nullptr) {
    const Result<std::string> bytes = co_await from->read();
    if (!bytes || bytes->empty()) {
      break;
    }
    kept.text.append(*bytes, 0, kept.bytes_max - kept.text.size());
  }
  --kept.open;
  kept.changed.notify_all();
}

Task<Result<void>> all_read(Kept& kept) {
  while (kept.open > 0) {
    CO_TRY(co_await kept.changed.wait());
  }
  co_return Result<void>();
}

}  // namespace

Task<Result<ProgramOutcome>> run_program(PodStreams& pods, std::string uid, ExecOptions options,
                                         std::size_t output_bytes_max) {
  const TaskContext& context = co_await current_context();
  options.kill_when_left = true;
  CO_TRY_ASSIGN(std::unique_ptr<StreamedProcess> process,
                co_await pods.exec(std::move(uid), std::move(options)));
  Kept kept{.bytes_max = output_bytes_max};
  TaskGroup reading(*context.loop, context.stop);
  reading.spawn(keep_output(process->output(), kept));
  reading.spawn(keep_output(process->error_output(), kept));
  Result<int> code = co_await process->wait();
  static_cast<void>(co_await with_timeout(kQuietAfterEnd, "its output", all_read(kept)));
  co_await reading.close();
  CO_TRY_ASSIGN(const int exit_code, std::move(code));
  co_return ProgramOutcome{.exit_code = exit_code, .output = std::move(kept.text)};
}

}  // namespace codeflare::node
