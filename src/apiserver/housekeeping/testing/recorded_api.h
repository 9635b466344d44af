#pragma once

#include "net/http.h"

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::apiserver {

// An API that writes down what it is asked and answers what the test says.
class RecordedApi final : public net::HttpService {
 public:
  struct Call {
    std::string method;
    std::string path;
    std::string body;
  };
  struct Answer {
    int status = 200;
    std::string body = "{}";
  };

  Task<Result<net::Response>> send(net::Request request) override {
    std::string body;
    if (request.body != nullptr) {
      CO_TRY_ASSIGN(body, co_await net::read_all(std::move(request.body), 1u << 20));
    }
    calls.push_back({request.method, request.target, std::move(body)});
    Answer given = answer ? answer(calls.back()) : Answer();
    co_return net::make_response(given.status, "application/json",
                                 Bytes::from(std::move(given.body)));
  }

  static Answer failure(int code, std::string_view reason) {
    return {code, R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":")" +
                      std::string(reason) + R"(","message":"no","code":)" + std::to_string(code) +
                      "}"};
  }

  std::vector<Call> calls;
  std::function<Answer(const Call&)> answer;  // empty: 200 for everything
};

}  // namespace codeflare::apiserver
