#include "cli/console.h"

#include "cli/internal/real_console.h"
#include "cli/table.h"

namespace codeflare::cli {

std::unique_ptr<Console> process_console() {
  return std::make_unique<internal::RealConsole>();
}

int report(Console& console, const Error& error) {
  console.err("error: " + one_line(error.message) + "\n");
  return kFailed;
}

int report_usage(Console& console, std::string_view message) {
  console.err("error: " + one_line(message) + "\n");
  return kUsage;
}

void ProgressLine::show(std::string_view text) {
  if (console_.err_is_terminal()) {
    console_.err("\r" + one_line(text) + "\x1b[K");
    shown_ = true;
  }
}

void ProgressLine::clear() {
  if (shown_) {
    console_.err("\r\x1b[K");
    shown_ = false;
  }
}

}  // namespace codeflare::cli
