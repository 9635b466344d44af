#pragma once

#include "base/clock.h"
#include "base/error.h"
#include "base/result.h"
#include "base/time.h"

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace codeflare {

class Secret;

// error: a human must act; info: state has changed. `cancelled` is never logged above debug.
enum class LogLevel : std::uint8_t { error, warn, info, debug };

std::string_view to_string(LogLevel level);
Result<LogLevel> parse_log_level(std::string_view text);

// One typed value. Refers to what it was made from: it lives as long as the call.
class LogValue {
 public:
  enum class Kind : std::uint8_t {
    text,
    integer,
    unsigned_integer,
    real,
    boolean,
    duration,
    error
  };

  LogValue(std::string_view text) : kind_(Kind::text), text_(text) {}
  LogValue(const std::string& text) : LogValue(std::string_view(text)) {}
  LogValue(const char* text) : LogValue(std::string_view(text)) {}
  LogValue(std::same_as<bool> auto value) : kind_(Kind::boolean), integer_(value) {}
  LogValue(std::signed_integral auto value) : kind_(Kind::integer), integer_(value) {}
  template <std::unsigned_integral U>
    requires(!std::same_as<U, bool>)
  LogValue(U value) : kind_(Kind::unsigned_integer), unsigned_(value) {}
  LogValue(std::floating_point auto value) : kind_(Kind::real), real_(value) {}
  template <typename Rep, typename Period>
  LogValue(std::chrono::duration<Rep, Period> value)
      : kind_(Kind::duration), integer_(std::chrono::duration_cast<Duration>(value).count()) {}
  LogValue(const Error& error) : kind_(Kind::error), error_(&error) {}
  // Only that there is one.
  LogValue(const Secret&) : LogValue("<redacted>") {}

  Kind kind() const { return kind_; }
  std::string_view text() const { return text_; }
  std::int64_t integer() const { return integer_; }
  std::uint64_t unsigned_integer() const { return unsigned_; }
  double real() const { return real_; }
  bool boolean() const { return integer_ != 0; }
  Duration duration() const { return Duration(integer_); }
  const Error& error() const { return *error_; }

  // "a b", "17", "true", "1.5s", "not_found: no such pod": unquoted.
  std::string to_string() const;

 private:
  Kind kind_;
  union {
    std::string_view text_;
    std::int64_t integer_;
    std::uint64_t unsigned_;
    double real_;
    const Error* error_;
  };
};

struct LogField {
  std::string_view key;
  LogValue value;
};
using LogFields = std::initializer_list<LogField>;

struct LogRecord {
  WallTime time;
  LogLevel level;
  std::string_view message;
  std::span<const LogField> context;  // of the logger
  std::span<const LogField> fields;   // of the call
};

using LogSink = std::function<void(const LogRecord&)>;

// One line, without its end.
// 2026-11-16T00:14:39.123Z INFO  leader elected lease=a/b holder=x
std::string format_log_text(const LogRecord& record);
// {"time":"2026-11-16T00:14:39.123Z","level":"info","msg":"leader elected","lease":"a/b",...}
// Durations are numbers of seconds.
std::string format_log_json(const LogRecord& record);

// Each record is one line and one write, so that lines of several threads do not mix.
enum class LogFormat : std::uint8_t { text, json };
LogSink stderr_log_sink(LogFormat format);

// Says what happens, as a constant message with keys and values. A small value: copies share the
// sink. A default one says nothing. Any thread may log where the sink allows it.
//   log.info("leader elected", {{"lease", name}, {"holder", id}, {"took", elapsed}});
class Logger {
 public:
  Logger() = default;
  Logger(const Clock& clock, LogLevel level, LogSink sink);

  // A copy that adds the fields to every record.
  Logger with(LogFields fields) const;

  bool enabled(LogLevel level) const { return output_ != nullptr && level <= level_; }

  // Nothing is formatted when the level is off.
  void error(std::string_view message, LogFields fields = {}) const {
    log(LogLevel::error, message, fields);
  }
  void warn(std::string_view message, LogFields fields = {}) const {
    log(LogLevel::warn, message, fields);
  }
  void info(std::string_view message, LogFields fields = {}) const {
    log(LogLevel::info, message, fields);
  }
  void debug(std::string_view message, LogFields fields = {}) const {
    log(LogLevel::debug, message, fields);
  }
  void log(LogLevel level, std::string_view message, LogFields fields = {}) const {
    if (enabled(level)) {
      write(level, message, fields);
    }
  }

 private:
  struct Output;
  struct Context;
  void write(LogLevel level, std::string_view message, LogFields fields) const;

  LogLevel level_ = LogLevel::error;
  std::shared_ptr<const Output> output_;
  std::shared_ptr<const Context> context_;
};

}  // namespace codeflare
