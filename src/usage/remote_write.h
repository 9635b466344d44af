#pragma once

#include "base/env/env.h"
#include "base/result.h"
#include "base/secret.h"
#include "net/http.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Prometheus remote write 1.0: protobuf and snappy (blocks of literals) by hand.
namespace codeflare::usage {

using Labels = std::map<std::string, std::string>;  // sorted, as the protocol wants them

// The newest value of a counter.
struct Sample {
  Labels labels{};  // with __name__; values are not empty
  double value = 0;
  std::int64_t time_ms = 0;
};

// The body of one request, compressed.
std::string write_request(const std::vector<Sample>& samples);
std::string snappy_literals(std::string_view bytes);

// The next step after an answer (status 0: none arrived).
enum class Verdict : std::uint8_t { sent, retry, drop };
Verdict verdict_of(int status);

struct RemoteWriteOptions {
  std::string target = "/api/v1/write";
  Secret authorization{};  // value of the header; empty: none
  std::string user_agent = "codeflare";
};

struct SendResult {
  std::size_t sent = 0;
  std::size_t dropped = 0;
  bool retry = false;        // send() again later with newer values
  Duration retry_after{};    // what the server asked for; zero: nothing
  std::string last_error{};  // of a drop or a retry
};

// Pushes counters. A value that could not be sent is replaced by a newer one: a gap costs
// resolution, never the total. Times of a series strictly rise and are never ahead of the clock.
class RemoteWriter {
 public:
  RemoteWriter(Env env, net::HttpService& http, RemoteWriteOptions options);

  // `counters` with their labels; the time is now. A request that is rejected for a sample is
  // sent again series by series, so that one bad sample does not hold back others. A server that
  // rejects the login gets one request.
  Task<Result<SendResult>> send(std::map<Labels, double> counters);
  // For requests from now on.
  void set_authorization(Secret authorization) {
    options_.authorization = std::move(authorization);
  }

 private:
  struct Outcome {
    Verdict verdict = Verdict::retry;
    int status = 0;
    Duration retry_after{};
    std::string message{};
  };
  Task<Result<Outcome>> post(std::vector<Sample> samples);
  std::vector<Sample> stamp(const std::map<Labels, double>& counters) const;

  Env env_;
  net::HttpService& http_;
  RemoteWriteOptions options_;
  std::map<Labels, std::int64_t> sent_ms_;  // newest time that the server may have
};

}  // namespace codeflare::usage
