#include "tests/sim/event_filter.h"

#include <utility>

namespace codeflare::sim {

namespace {

constexpr std::string_view kBegin = R"({"type":")";
constexpr std::string_view kEnd = "}\n";

// {"type":"ADDED","object":
std::string_view type_of(std::string_view begin) {
  begin.remove_prefix(kBegin.size());
  return begin.substr(0, begin.find('"'));
}

}  // namespace

EventFilter::EventFilter(net::Body inner, Judge judge)
    : inner_(std::move(inner)), judge_(std::move(judge)) {}

Task<Result<Bytes>> EventFilter::read() {
  while (true) {
    Result<Bytes> piece = co_await inner_->read();
    if (!piece || piece->empty()) {
      co_return piece;
    }
    const std::string_view text = piece->view();
    if (begin_.empty()) {
      if (!text.starts_with(kBegin) || text.contains('\n')) {
        co_return piece;
      }
      begin_ = text;
      object_.clear();
    } else if (text != kEnd) {
      object_ += text;
    } else {
      const std::string begin = std::exchange(begin_, {});
      if (judge_(type_of(begin), object_)) {
        co_return Bytes::from(begin + object_ + std::string(kEnd));
      }
    }
  }
}

}  // namespace codeflare::sim
