#include "net/body_budget.h"

namespace codeflare::net {

bool BodyBudget::Charge::grow_to(std::size_t bytes) {
  if (bytes <= bytes_) {
    return true;
  }
  if (bytes - bytes_ > budget_.bytes_max_ - budget_.held_) {
    return false;
  }
  budget_.held_ += bytes - bytes_;
  bytes_ = bytes;
  return true;
}

Task<Result<std::string>> read_all(Body body, std::size_t bytes_max, BodyBudget& budget) {
  BodyBudget::Charge charge(budget);
  std::string text;
  while (body != nullptr) {
    CO_TRY_ASSIGN(Bytes piece, co_await body->read());
    if (piece.empty()) {
      break;
    }
    if (piece.size() > bytes_max - text.size()) {
      co_return fail(too_large("body exceeds " + std::to_string(bytes_max) + " bytes"));
    }
    text.append(piece.view());
    // The capacity is what it takes: up to twice what has arrived.
    if (text.size() > BodyBudget::kFreeBytes && !charge.grow_to(text.capacity())) {
      co_return fail(resource_exhausted("bodies under way hold " + std::to_string(budget.held()) +
                                        " of at most " + std::to_string(budget.bytes_max()) +
                                        " bytes"));
    }
  }
  co_return text;
}

}  // namespace codeflare::net
