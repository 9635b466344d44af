#include "cli/session/console.h"

#include "cli/session/internal/real_console.h"
#include "cli/views/table.h"

namespace codeflare::cli {

std::unique_ptr<Console> process_console() {
  return std::make_unique<internal::RealConsole>();
}

int report(Console& console, const Error& error) {
  const std::string_view advice =
      error.retry_after
          ? "; mend that and run this again, or let it wait longer with --timeout SECONDS"
          : "";
  console.err("error: " + one_line(error.message) + std::string(advice) + "\n");
  return kFailed;
}

Error about(const Error& error, std::string_view object) {
  return error.retry_after ? error.with_context(object) : error;
}

int report(Console& console, const Error& error, std::string_view object) {
  return report(console, about(error, object));
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
