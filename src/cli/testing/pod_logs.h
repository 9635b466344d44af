#pragma once

#include "apiserver/request/connect.h"
#include "base/async/sleep.h"
#include "net/http.h"

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::cli::testing {

// Pieces of a log, the later ones after a wait.
class SlowBody final : public net::BodyStream {
 public:
  SlowBody(std::vector<std::string> pieces, Duration between)
      : pieces_(std::move(pieces)), between_(between) {}
  Task<Result<Bytes>> read() override {
    if (next_ > 0) {
      CO_TRY(co_await sleep_for(between_));
    }
    co_return next_ < pieces_.size() ? Bytes::from(pieces_[next_++]) : Bytes();
  }

 private:
  std::vector<std::string> pieces_;
  Duration between_;
  std::size_t next_ = 0;
};

// Answers for the node: logs by "pod/container".
struct PodLogs final : apiserver::ConnectHandler {
  Task<Result<net::Response>> connect(apiserver::User /*user*/, apiserver::RequestInfo info,
                                      apiserver::ObjectPtr /*pod*/,
                                      net::Request /*request*/) override {
    const std::string container(info.query.get("container").value_or(""));
    asked.push_back(info.name + "/" + container + (info.query.flag("follow") ? " -f" : "") +
                    (info.query.get("tailLines") ? " tail" : ""));
    net::Response response{.status = 200};
    response.body =
        std::make_unique<SlowBody>(texts[info.name + "/" + container], std::chrono::seconds(1));
    co_return response;
  }
  std::map<std::string, std::vector<std::string>> texts;
  std::vector<std::string> asked;
};

}  // namespace codeflare::cli::testing
