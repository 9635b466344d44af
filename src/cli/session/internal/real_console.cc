#include "cli/session/internal/real_console.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace codeflare::cli::internal {

namespace {

constexpr char kInterrupt = 3;  // Ctrl-C

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

Result<std::string> RealConsole::ask(std::string_view question, bool hidden) {
  termios before{};
  if (::tcgetattr(STDIN_FILENO, &before) != 0) {
    return Console::ask(question, hidden);
  }
  // Ctrl-C is read as a key: the terminal must not be left without echo.
  termios asking = before;
  asking.c_lflag &= ~static_cast<tcflag_t>(hidden ? ISIG | ECHO : ISIG);
  asking.c_cc[VEOL] = kInterrupt;
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &asking);
  err(question);  // no echo any more: a quick answer must not show
  std::string answer;
  bool given = false;
  for (char c = 0; !given;) {
    const ssize_t n = ::read(STDIN_FILENO, &c, 1);
    if ((n < 0 && errno != EINTR) || n == 0 || (n > 0 && c == kInterrupt)) {
      break;
    }
    if (n > 0) {
      given = c == '\n';
      answer += given ? "" : std::string(1, c);
    }
  }
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
  if (hidden || !given) {
    err("\n");
  }
  return given ? Result<std::string>(std::move(answer)) : fail(cancelled());
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
