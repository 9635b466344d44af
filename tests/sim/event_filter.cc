#include "tests/sim/event_filter.h"

#include <utility>

namespace codeflare::sim {

namespace {

constexpr std::string_view kBegin = R"({"type":")";
constexpr std::string_view kObject = R"(","object":)";
constexpr std::string_view kEnd = "}\n";

}  // namespace

EventFilter::EventFilter(net::Body inner, Judge judge)
    : inner_(std::move(inner)), judge_(std::move(judge)) {}

Task<Result<Bytes>> EventFilter::read() {
  while (true) {
    const std::size_t end = text_.find('\n');
    if (end == std::string::npos) {
      Result<Bytes> piece = co_await inner_->read();
      if (!piece || piece->empty()) {
        co_return piece;
      }
      text_ += piece->view();
      continue;
    }
    std::string line = text_.substr(0, end + 1);
    text_.erase(0, end + 1);
    if (passes(line)) {
      co_return Bytes::from(std::move(line));
    }
  }
}

// {"type":"ADDED","object":{...}}
bool EventFilter::passes(std::string& line) {
  const std::size_t object_key = line.find(kObject);
  if (!line.starts_with(kBegin) || object_key == std::string::npos || !line.ends_with(kEnd)) {
    return true;
  }
  const std::string type = line.substr(kBegin.size(), object_key - kBegin.size());
  if (type == "BOOKMARK" || type == "ERROR") {
    return true;
  }
  const std::size_t begin = object_key + kObject.size();
  std::string object = line.substr(begin, line.size() - begin - kEnd.size());
  const bool heard = judge_(type, object);
  line = line.substr(0, begin) + object + std::string(kEnd);
  return heard;
}

}  // namespace codeflare::sim
