#pragma once

#include "base/result.h"
#include "base/time.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace codeflare::cli {

// The exit codes that scripts may rely on.
enum ExitCode : int {
  kDone = 0,
  kFailed = 1,      // also: the work failed
  kUsage = 2,       // the command line or a file is wrong
  kNotFound = 3,    // an object does not exist
  kNotAllowed = 4,  // not logged in, or without the right
  kExists = 5,      // the name is taken
  kTimeUp = 6,      // the time of a wait is up; nothing was undone
  kInterrupted = 130,
};

// The exit code for a failure, for scripts.
int exit_code(const Error& error);

// Where a verb reads and writes: the process's own streams, or strings in tests.
class Console {
 public:
  virtual ~Console() = default;
  virtual void out(std::string_view text) = 0;
  virtual void err(std::string_view text) = 0;
  // All of standard input.
  virtual Result<std::string> read_input(std::size_t bytes_max) = 0;

  // The answer to a question on a terminal, without the end of its line; a hidden one is not shown
  // while it is typed. cancelled after Ctrl-C or Ctrl-D, failed_precondition without a terminal.
  virtual Result<std::string> ask(std::string_view question, bool hidden);

  virtual bool out_is_terminal() const = 0;
  virtual bool err_is_terminal() const = 0;
  virtual bool in_is_terminal() const = 0;
  // How wide the terminal of standard error is; 0: not known.
  virtual std::size_t err_columns() const { return 0; }
};

std::unique_ptr<Console> process_console();

// "error: ..." and the exit code for it. An error after retries says how to wait longer.
int report(Console& console, const Error& error);
// With the name of this object, which a server that asks to wait does not name.
Error about(const Error& error, std::string_view object);
int report(Console& console, const Error& error, std::string_view object);
// The same, with the object's name where there is one.
inline int report_coded(Console& console, const Error& error, std::string_view object = {}) {
  return object.empty() ? report(console, error) : report(console, error, object);
}
// A file that is missing, unreadable or invalid counts as a wrong command line.
int report_file(Console& console, const Error& error);
// The exit code of two parts of one command: that of the failure, and 1 where two differ.
int both(int code, int other);
int report_usage(Console& console, std::string_view message);

// One line on standard error that is written over while somebody waits, and gone afterwards. Where
// standard error is not a terminal nothing is shown.
class ProgressLine {
 public:
  explicit ProgressLine(Console& console) : console_(console) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(std::string_view text);
  void clear();

 private:
  Console& console_;
  bool shown_ = false;
};

}  // namespace codeflare::cli
