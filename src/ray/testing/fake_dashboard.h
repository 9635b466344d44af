#pragma once

#include "base/env/env.h"
#include "base/time.h"
#include "net/byte_stream.h"
#include "net/http.h"
#include "net/websocket_connection.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::ray::testing {

// Ray's jobs API in memory, as far as clients see it. A job writes one line to its log per
// interval and then ends. For tests.
class FakeDashboard final : public net::HttpService {
 public:
  struct Options {
    int lines = 20;
    Duration line_interval = std::chrono::milliseconds(300);
    std::string final_status = "SUCCEEDED";
    Duration pending{};  // before it runs
    int api_version = 4;
    // The first requests get this status and text.
    int refusals = 0;
    int refusal_status = 503;
    std::string refusal_text = "starting";
    // A tail closes normally after this many messages, whether the job runs or not (ray#57002).
    std::optional<int> tail_messages_max{};
  };
  struct Record {
    std::string body;  // of the submission
    std::string entrypoint;
    std::string metadata;  // JSON
    Instant started;
    bool stopped = false;
    std::optional<int> lines_at_stop{};  // the log has no more than these
  };

  FakeDashboard(Env env, Options options) : env_(env), options_(std::move(options)) {}
  Task<Result<net::Response>> send(net::Request request) override;

  std::string log_of(const Record& record) const;

  std::map<std::string, Record> jobs{};
  std::map<std::string, std::string> packages{};
  std::vector<std::string> requests{};  // "GET /api/jobs/"
  int accepted = 0;                     // submissions
  std::map<std::string, std::string> last_headers{};

 private:
  net::Response answer(const net::Request& request, const std::string& body);
  net::Response submit(const std::string& body);
  net::Response job_call(const net::Request& request, std::string_view id, std::string_view verb);
  net::Response package_call(const net::Request& request, const std::string& body);
  net::Response open_tail(const net::Request& request, const std::string& id);
  std::string describe(const std::string& id, const Record& record) const;
  int lines_written(const Record& record) const;
  std::string status_of(const Record& record) const;
  bool is_over(const Record& record) const;
  Task<void> tail(std::string id, net::ByteStream& connection);
  Task<void> send_log(std::string id, net::WebSocketConnection& socket);

  Env env_;
  Options options_;
};

}  // namespace codeflare::ray::testing
