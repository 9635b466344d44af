#include "base/env/internal/real_launcher.h"

#include "base/async/wait_list.h"
#include "base/env/internal/real_spawn.h"
#include "base/env/real_env.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace codeflare::internal {

namespace {

using boost::asio::posix::stream_descriptor;
using boost::system::error_code;

// One end of a pipe whose content is collected. After the limit the rest is thrown away.
struct Collector {
  stream_descriptor pipe;
  std::string text;
  std::array<char, 16384> buffer;
  bool overflow = false;

  explicit Collector(boost::asio::io_context& context) : pipe(context) {}

  void add(std::size_t n, std::size_t bytes_max) {
    overflow = overflow || n > bytes_max - text.size();
    if (!overflow) {
      text.append(buffer.data(), n);
    }
  }
};

// A running child and the Asio operations on it. Shared by the waiting coroutine and the pending
// operations, which end when the coroutine closes the descriptors.
class Child : public std::enable_shared_from_this<Child> {
 public:
  Child(boost::asio::io_context& context, Command command)
      : command_(std::move(command)),
        exited_(context),
        input_(context),
        output_(context),
        error_output_(context) {}

  void begin(Spawned spawned) {
    pid_ = spawned.pid;
    own_group_ = spawned.own_group;
    exited_.assign(spawned.exited.release());
    exited_.async_wait(stream_descriptor::wait_read,
                       [self = shared_from_this()](const error_code&) {
                         self->ended_ = true;
                         self->changed_.notify_all();
                       });
    read_from(output_, std::move(spawned.output));
    read_from(error_output_, std::move(spawned.error_output));
    if (spawned.input) {
      input_.assign(spawned.input.release());
      // A child may leave its input unread without an error.
      boost::asio::async_write(input_, boost::asio::buffer(command_.input),
                               [self = shared_from_this()](const error_code&, std::size_t) {
                                 error_code ignored;
                                 self->input_.close(ignored);
                               });
    }
  }

  Task<Result<CommandResult>> finish() {
    Result<void> waited;
    while (!ended_ && waited && !overflow()) {
      waited = co_await changed_.wait();
    }
    if (!ended_) {
      ::kill(own_group_ ? -pid_ : pid_, SIGKILL);
    }
    while (!ended_) {
      co_await changed_.wait_uncancellable();
    }
    int status = reap();
    drain(output_);
    drain(error_output_);
    close();
    CO_TRY(std::move(waited));
    if (overflow()) {
      co_return fail(too_large(command_.program + " printed more than " +
                               std::to_string(command_.output_bytes_max) + " bytes"));
    }
    CommandResult result;
    result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    result.output = std::move(output_.text);
    result.error_output = std::move(error_output_.text);
    co_return result;
  }

 private:
  void read_from(Collector& from, FileDescriptor fd) {
    if (fd) {
      from.pipe.assign(fd.release());
      read_more(from);
    }
  }

  void read_more(Collector& from) {
    from.pipe.async_read_some(
        boost::asio::buffer(from.buffer),
        [self = shared_from_this(), &from](const error_code& error, std::size_t n) {
          if (error) {
            return;
          }
          from.add(n, self->command_.output_bytes_max);
          if (from.overflow) {
            self->changed_.notify_all();
          } else if (from.pipe.is_open()) {
            self->read_more(from);
          }
        });
  }

  // Output that the program wrote before its end is still in the pipe; output that its remaining
  // children may write later is not waited for.
  void drain(Collector& from) {
    while (from.pipe.is_open() && !from.overflow) {
      ssize_t n = ::read(from.pipe.native_handle(), from.buffer.data(), from.buffer.size());
      if (n < 0 && errno == EINTR) {
        continue;
      }
      if (n <= 0) {
        return;
      }
      from.add(static_cast<std::size_t>(n), command_.output_bytes_max);
    }
  }

  int reap() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

  void close() {
    error_code ignored;
    exited_.close(ignored);
    input_.close(ignored);
    output_.pipe.close(ignored);
    error_output_.pipe.close(ignored);
  }

  bool overflow() const { return output_.overflow || error_output_.overflow; }

  Command command_;
  pid_t pid_ = -1;
  bool own_group_ = false;
  bool ended_ = false;
  stream_descriptor exited_;
  stream_descriptor input_;
  Collector output_;
  Collector error_output_;
  WaitList changed_;
};

}  // namespace

Task<Result<CommandResult>> RealLauncher::run(Command command) {
  const TaskContext& context = co_await current_context();
  if (context.stop.stop_requested()) {
    co_return fail(cancelled());
  }
  CO_TRY_ASSIGN(Spawned spawned, spawn(command));
  auto child = std::make_shared<Child>(io_context_of(loop_), std::move(command));
  child->begin(std::move(spawned));
  co_return co_await child->finish();
}

}  // namespace codeflare::internal
