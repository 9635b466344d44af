#include "cli/verbs/detach.h"

#include "cli/views/table.h"

#include <string>
#include <utility>

namespace codeflare::cli {

Task<int> run_detached(Env env, Console& console, up::DetachOptions options) {
  ProgressLine line(console);
  up::Progress progress = [&line](const std::string& text) { line.show(text); };
  const up::Detached detached =
      co_await up::run_in_background(env, std::move(options), std::move(progress));
  line.clear();
  if (!detached.ready) {
    console.err(detached.written);
    co_return report(console, detached.ready.error());
  }
  if (!detached.ready->warning.empty()) {
    console.err("warning: " + one_line(detached.ready->warning) + "\n");
  }
  console.out(up::render_ready(*detached.ready));
  co_return kDone;
}

}  // namespace codeflare::cli
