#include "base/posix.h"
#include "cli/session/terminal.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <utility>

namespace codeflare::cli {

namespace {

// A file description of our own: the shell that started us shares that of standard input, and must
// not find it non-blocking.
Result<FileDescriptor> open_again() {
  FileDescriptor own(::open("/proc/self/fd/0", O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!own) {
    return fail(failed_precondition(posix_error(errno, "open the terminal again").message));
  }
  return own;
}

class RealTerminal final : public Terminal {
 public:
  RealTerminal(const termios& before, std::unique_ptr<net::ByteStream> input,
               std::unique_ptr<net::ByteStream> output)
      : before_(before), input_(std::move(input)), output_(std::move(output)) {}
  ~RealTerminal() override { ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_); }

  net::ByteStream& input() override { return *input_; }
  net::ByteStream& output() override { return *output_; }
  net::TerminalSize size() const override {
    winsize window{};
    static_cast<void>(::ioctl(STDIN_FILENO, TIOCGWINSZ, &window));
    return {.columns = window.ws_col, .rows = window.ws_row};
  }

 private:
  termios before_;
  std::unique_ptr<net::ByteStream> input_;
  std::unique_ptr<net::ByteStream> output_;
};

}  // namespace

Result<std::unique_ptr<Terminal>> take_terminal(Loop& loop) {
  termios before{};
  if (::tcgetattr(STDIN_FILENO, &before) != 0) {
    return fail(failed_precondition("standard input is not a terminal"));
  }
  TRY_ASSIGN(FileDescriptor reading, open_again());
  TRY_ASSIGN(FileDescriptor writing, open_again());
  termios raw = before;
  ::cfmakeraw(&raw);
  if (::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) != 0) {
    return fail(failed_precondition(posix_error(errno, "set the mode of the terminal").message));
  }
  return std::make_unique<RealTerminal>(before,
                                        net::make_descriptor_stream(loop, std::move(reading)),
                                        net::make_descriptor_stream(loop, std::move(writing)));
}

}  // namespace codeflare::cli
