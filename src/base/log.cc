#include "base/log.h"

#include <list>
#include <unistd.h>
#include <utility>
#include <vector>

namespace codeflare {

std::string_view to_string(LogLevel level) {
  switch (level) {
    case LogLevel::error:
      return "error";
    case LogLevel::warn:
      return "warn";
    case LogLevel::info:
      return "info";
    case LogLevel::debug:
      return "debug";
  }
  return "unknown";
}

Result<LogLevel> parse_log_level(std::string_view text) {
  for (LogLevel level : {LogLevel::error, LogLevel::warn, LogLevel::info, LogLevel::debug}) {
    if (text == to_string(level)) {
      return level;
    }
  }
  return fail(invalid_argument("'" + std::string(text) +
                               "' is not a log level: error, warn, info or debug"));
}

struct Logger::Output {
  const Clock& clock;
  LogSink sink;
};

// Owns what its fields refer to; a list, because it never moves its elements.
struct Logger::Context {
  std::list<std::string> texts;
  std::vector<LogField> fields;

  void add(const LogField& field) {
    std::string_view key = texts.emplace_back(field.key);
    bool refers =
        field.value.kind() == LogValue::Kind::text || field.value.kind() == LogValue::Kind::error;
    fields.push_back(
        {key, refers ? LogValue(texts.emplace_back(field.value.to_string())) : field.value});
  }
};

Logger::Logger(const Clock& clock, LogLevel level, LogSink sink)
    : level_(level), output_(std::make_shared<const Output>(clock, std::move(sink))) {}

Logger Logger::with(LogFields fields) const {
  if (output_ == nullptr) {
    return *this;
  }
  auto context = std::make_shared<Context>();
  if (context_ != nullptr) {
    for (const LogField& field : context_->fields) {
      context->add(field);
    }
  }
  for (const LogField& field : fields) {
    context->add(field);
  }
  Logger enriched = *this;
  enriched.context_ = std::move(context);
  return enriched;
}

void Logger::write(LogLevel level, std::string_view message, LogFields fields) const {
  LogRecord record{.time = output_->clock.wall(),
                   .level = level,
                   .message = message,
                   .context = {},
                   .fields = {fields.begin(), fields.size()}};
  if (context_ != nullptr) {
    record.context = context_->fields;
  }
  output_->sink(record);
}

LogSink stderr_log_sink(LogFormat format) {
  return [format](const LogRecord& record) {
    std::string line =
        format == LogFormat::json ? format_log_json(record) : format_log_text(record);
    line += '\n';
    // A log that cannot be written has nowhere to complain.
    [[maybe_unused]] ssize_t n = ::write(STDERR_FILENO, line.data(), line.size());
  };
}

}  // namespace codeflare
