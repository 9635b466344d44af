#include "cli/session/console.h"

#include "cli/session/internal/real_console.h"
#include "cli/views/table.h"

namespace codeflare::cli {

std::unique_ptr<Console> process_console() {
  return std::make_unique<internal::RealConsole>();
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

int report_coded(Console& console, const Error& error, std::string_view object) {
  report(console, object.empty() ? error : about(error, object));
  return exit_code(error);
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
