#include "elastic/memory_events.h"

#include "json/parse.h"

#include <charconv>

namespace codeflare::elastic {

std::int64_t oom_kills_in(std::string_view memory_events) {
  constexpr std::string_view kKey = "oom_kill ";
  for (std::size_t at = 0; at < memory_events.size();) {
    const std::size_t end = std::min(memory_events.find('\n', at), memory_events.size());
    const std::string_view line = memory_events.substr(at, end - at);
    if (line.starts_with(kKey)) {
      std::int64_t count = 0;
      std::from_chars(line.data() + kKey.size(), line.data() + line.size(), count);
      return count;
    }
    at = end + 1;
  }
  return 0;
}

std::string error_file_message(std::string_view text) {
  const Result<json::Document> document = json::parse(text);
  if (!document) {
    return {};
  }
  const json::Value* message = document->root.find("message");
  if (message != nullptr && message->is_object()) {
    message = message->find("message");
  }
  return message != nullptr && message->is_string() ? std::string(message->as_string())
                                                    : std::string();
}

}  // namespace codeflare::elastic
