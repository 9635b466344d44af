#pragma once

#include "net/http.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::net::testing {

// A service made of one function. For tests only.
class ScriptedService final : public HttpService {
 public:
  using Handler = std::function<Task<Result<Response>>(Request)>;
  explicit ScriptedService(Handler handler) : handler_(std::move(handler)) {}
  Task<Result<Response>> send(Request request) override { return handler_(std::move(request)); }

 private:
  Handler handler_;
};

// Pieces that are there from the start, delivered one per read.
class ListBody final : public BodyStream {
 public:
  explicit ListBody(std::vector<std::string> pieces) : pieces_(std::move(pieces)) {}
  Task<Result<Bytes>> read() override { co_return take(); }
  std::optional<Bytes> ready() override { return take(); }

 private:
  Bytes take() {
    return next_ < pieces_.size() ? Bytes::from(std::move(pieces_[next_++])) : Bytes();
  }
  std::vector<std::string> pieces_;
  std::size_t next_ = 0;
};

}  // namespace codeflare::net::testing
