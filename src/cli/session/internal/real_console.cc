#include "cli/session/internal/real_console.h"

#include <array>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

namespace codeflare::cli::internal {

namespace {

// At once: what is asked for is seen before the next wait.
void write(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

}  // namespace

void RealConsole::out(std::string_view text) {
  write(stdout, text);
}

void RealConsole::err(std::string_view text) {
  write(stderr, text);
}

Result<std::string> RealConsole::read_input(std::size_t bytes_max) {
  std::string content;
  std::array<char, 1 << 16> buffer;
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), stdin)) {
    content.append(buffer.data(), n);
    if (content.size() > bytes_max) {
      return fail(too_large("standard input: larger than the limit of " +
                            std::to_string(bytes_max) + " bytes"));
    }
  }
  if (std::ferror(stdin) != 0) {
    return fail(unavailable("standard input could not be read"));
  }
  return content;
}

bool RealConsole::out_is_terminal() const {
  return ::isatty(STDOUT_FILENO) == 1;
}

bool RealConsole::err_is_terminal() const {
  return ::isatty(STDERR_FILENO) == 1;
}

bool RealConsole::in_is_terminal() const {
  return ::isatty(STDIN_FILENO) == 1;
}

std::size_t RealConsole::err_columns() const {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace codeflare::cli::internal
