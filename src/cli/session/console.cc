#include "cli/session/console.h"

#include "cli/session/internal/real_console.h"
#include "cli/views/table.h"

namespace codeflare::cli {

std::unique_ptr<Console> process_console() {
  return std::make_unique<internal::RealConsole>();
}

Result<std::string> Console::ask(std::string_view, bool) {
  return fail(failed_precondition("standard input is not a terminal"));
}

int exit_code(const Error& error) {
  switch (error.code) {
    case ErrorCode::invalid_argument:
      return kUsage;
    case ErrorCode::not_found:
      return kNotFound;
    case ErrorCode::unauthenticated:
    case ErrorCode::permission_denied:
      return kNotAllowed;
    case ErrorCode::already_exists:
      return kExists;
    case ErrorCode::deadline_exceeded:
      return kTimeUp;
    case ErrorCode::cancelled:
      return kInterrupted;
    default:
      return kFailed;
  }
}

int report(Console& console, const Error& error) {
  const std::string_view advice =
      error.retry_after
          ? "; fix this and run the command again, or wait longer with --timeout SECONDS"
          : "";
  console.err("error: " + one_line(error.message) + std::string(advice) + "\n");
  return exit_code(error);
}

int both(int code, int other) {
  if (code == kDone || code == other) {
    return other;
  }
  return other == kDone ? code : int{kFailed};
}

Error about(const Error& error, std::string_view object) {
  return error.retry_after ? error.with_context(object) : error;
}

int report(Console& console, const Error& error, std::string_view object) {
  return report(console, about(error, object));
}

int report_file(Console& console, const Error& error) {
  report(console, error);
  return kUsage;
}

int report_usage(Console& console, std::string_view message) {
  console.err("error: " + one_line(message) + "\n");
  return kUsage;
}

void ProgressLine::show(std::string_view text) {
  if (console_.err_is_terminal()) {
    // A line that wraps cannot be written over.
    const std::size_t columns = console_.err_columns();
    const std::string line = one_line(text);
    console_.err("\r" + (columns > 1 ? cut_to_width(line, columns - 1) : line) + "\x1b[K");
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
