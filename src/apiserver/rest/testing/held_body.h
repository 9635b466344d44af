#pragma once

#include "base/async/wait_list.h"
#include "net/http.h"

#include <string>
#include <utility>

namespace codeflare::apiserver {

struct Gate {
  bool open = false;
  WaitList opened;

  void let_go() {
    open = true;
    opened.notify_all();
  }
};

// Keeps a request on its way until it is let go.
class HeldBody final : public net::BodyStream {
 public:
  HeldBody(Gate& gate, std::string text) : gate_(gate), text_(std::move(text)) {}
  Task<Result<Bytes>> read() override {
    while (!gate_.open) {
      co_await gate_.opened.wait_uncancellable();
    }
    co_return Bytes::from(std::exchange(text_, ""));
  }

 private:
  Gate& gate_;
  std::string text_;
};

}  // namespace codeflare::apiserver
