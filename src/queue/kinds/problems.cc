#include "queue/kinds/problems.h"

#include "json/pointer.h"

namespace codeflare::queue {
namespace {

constexpr std::size_t kProblemsMax = 100;

}  // namespace

void Problems::add(std::string_view field, std::string_view what) {
  add_line(std::string(field).append(": ").append(what));
}

void Problems::add_line(std::string line) {
  if (found_.size() == kProblemsMax) {
    ++left_out_;
    return;
  }
  found_.push_back(std::move(line));
}

std::string Problems::summary() const {
  if (found_.empty()) {
    return {};
  }
  const std::size_t more = found_.size() - 1 + left_out_;
  return more == 0 ? found_.front() : found_.front() + " (and " + std::to_string(more) + " more)";
}

std::string dotted(std::string_view json_pointer) {
  const Result<json::Pointer> pointer = json::Pointer::parse(json_pointer);
  if (!pointer) {
    return std::string(json_pointer);
  }
  std::string out;
  for (const std::string& token : pointer->tokens()) {
    if (json::array_index(token)) {
      out.append("[").append(token).append("]");
    } else {
      out.append(".").append(token);
    }
  }
  return out;
}

void ItemProblems::add_decoding(std::string_view pointer, std::string_view message) {
  // Without a path the message is about the value itself: "expected an object, got a string".
  const std::string_view between = message.starts_with("expected ") ? ": "
                                   : message.starts_with("[")       ? ""
                                                                    : ".";
  problems_.add_line(prefix_ + dotted(pointer) + std::string(between) + std::string(message));
}

}  // namespace codeflare::queue
