#include "ray/testing/fake_dashboard.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "json/parse.h"
#include "json/value.h"
#include "json/write.h"
#include "net/upgrade.h"
#include "net/url.h"
#include "net/websocket.h"

#include <algorithm>
#include <utility>

namespace codeflare::ray::testing {

namespace {

constexpr std::string_view kJobs = "/api/jobs/";
constexpr std::string_view kPackages = "/api/packages/gcs/";
constexpr std::size_t kBodyMax = std::size_t{128} << 20;

net::Response text(int status, std::string body) {
  return net::make_response(status, "text/plain", Bytes::from(std::move(body)));
}

Task<void> answer_pings(net::WebSocketConnection& socket) {
  for (;;) {
    const auto message = co_await socket.read();
    if (!message || !*message) {
      co_return;
    }
  }
}

net::Response json_text(std::string body) {
  return net::make_response(200, "application/json", Bytes::from(std::move(body)));
}

}  // namespace

int FakeDashboard::lines_written(const Record& record) const {
  if (record.lines_at_stop) {
    return *record.lines_at_stop;
  }
  const auto due = (env_.loop.now() - record.started - options_.pending) / options_.line_interval;
  return static_cast<int>(std::clamp<std::int64_t>(due, 0, options_.lines));
}

std::string FakeDashboard::log_of(const Record& record) const {
  std::string log;
  for (int i = 1; i <= lines_written(record); ++i) {
    log += "line " + std::to_string(i) + " of " + record.entrypoint + "\n";
  }
  return log;
}

std::string FakeDashboard::status_of(const Record& record) const {
  if (record.stopped) {
    return "STOPPED";
  }
  if (env_.loop.now() - record.started < options_.pending) {
    return "PENDING";
  }
  return lines_written(record) < options_.lines ? "RUNNING" : options_.final_status;
}

bool FakeDashboard::is_over(const Record& record) const {
  const std::string status = status_of(record);
  return status != "PENDING" && status != "RUNNING";
}

std::string FakeDashboard::describe(const std::string& id, const Record& record) const {
  std::string out;
  json::Writer writer(out);
  writer.begin_object().member("type", "SUBMISSION").member("submission_id", id);
  writer.member("status", status_of(record)).member("entrypoint", record.entrypoint);
  writer.key("metadata").raw(record.metadata).key("start_time").integer(1'700'000'000'000);
  writer.key("driver_exit_code").null();
  writer.end_object();
  return out;
}

Task<Result<net::Response>> FakeDashboard::send(net::Request request) {
  requests.push_back(request.method + " " + request.target);
  last_headers.clear();
  for (const net::Headers::Field& field : request.headers.fields()) {
    last_headers.emplace(field.name, field.value);
  }
  if (options_.refusals > 0) {
    --options_.refusals;
    co_return text(options_.refusal_status, options_.refusal_text);
  }
  CO_TRY_ASSIGN(const std::string body, co_await net::read_all(std::move(request.body), kBodyMax));
  co_return answer(request, body);
}

net::Response FakeDashboard::answer(const net::Request& request, const std::string& body) {
  std::string_view target = request.target;
  if (target == "/api/version") {
    return json_text(R"({"version":")" + std::to_string(options_.api_version) +
                     R"(","ray_version":"2.60.0"})");
  }
  if (target.starts_with(kPackages)) {
    return package_call(request, body);
  }
  if (!target.starts_with(kJobs)) {
    return text(404, "404: Not Found");
  }
  target.remove_prefix(kJobs.size());
  if (!target.empty()) {
    const std::size_t slash = std::min(target.find('/'), target.size());
    return job_call(request, net::percent_decode(target.substr(0, slash)).value_or(""),
                    target.substr(slash));
  }
  if (request.method == "POST") {
    return submit(body);
  }
  std::string list;
  for (const auto& [id, record] : jobs) {
    list += (list.empty() ? "" : ",") + describe(id, record);
  }
  return json_text("[" + list + "]");
}

net::Response FakeDashboard::submit(const std::string& body) {
  const Result<json::Document> parsed = json::parse(body);
  if (!parsed) {
    return text(400, "Traceback (most recent call last):\nValueError: no JSON");
  }
  const json::Value& root = parsed->root;
  if (options_.api_version < 3 && root.find("entrypoint_num_cpus") != nullptr) {
    return text(400,
                "Traceback (most recent call last):\n  File \"x\"\nTypeError: __init__() got an "
                "unexpected keyword argument 'entrypoint_num_cpus'\n");
  }
  const std::string id(root.string_or_empty("submission_id"));
  if (jobs.contains(id)) {
    return text(400,
                "Traceback (most recent call last):\n  File \"x\"\nValueError: Job with "
                "submission_id " +
                    id + " already exists. Please use a different submission_id.\n");
  }
  Record record{.body = body,
                .entrypoint = std::string(root.string_or_empty("entrypoint")),
                .metadata = "{}",
                .started = env_.loop.now()};
  if (const json::Value* metadata = root.find("metadata")) {
    record.metadata = json::to_text(*metadata);
  }
  jobs.emplace(id, std::move(record));
  ++accepted;
  return json_text(R"({"job_id":"","submission_id":"x"})");
}

net::Response FakeDashboard::job_call(const net::Request& request, std::string_view id,
                                      std::string_view verb) {
  const auto found = jobs.find(std::string(id));
  if (found == jobs.end()) {
    return text(404, "Job " + std::string(id) + " does not exist");
  }
  Record& record = found->second;
  const bool running = !is_over(record);
  if (verb == "/logs/tail") {
    return open_tail(request, found->first);
  }
  if (verb == "/logs") {
    std::string out;
    json::Writer(out).begin_object().member("logs", log_of(record)).end_object();
    return json_text(std::move(out));
  }
  if (verb == "/stop") {
    if (running) {
      record.lines_at_stop = lines_written(record);
      record.stopped = true;
    }
    return json_text(running ? R"({"stopped":true})" : R"({"stopped":false})");
  }
  if (request.method == "GET") {
    return json_text(describe(found->first, record));
  }
  if (options_.api_version < 4) {
    return text(405, "405: Method Not Allowed");
  }
  if (running) {
    return text(500, "RuntimeError: Attempted to delete job, but it is in a non-terminal state");
  }
  jobs.erase(found);
  return json_text(R"({"deleted":true})");
}

net::Response FakeDashboard::package_call(const net::Request& request, const std::string& body) {
  const std::string name = request.target.substr(kPackages.size());
  if (request.method == "PUT") {
    packages.insert_or_assign(name, body);
    return text(200, "");
  }
  return packages.contains(name) ? text(200, "") : text(404, "Package does not exist");
}

net::Response FakeDashboard::open_tail(const net::Request& request, const std::string& id) {
  if (options_.api_version < 1) {
    return text(404, "404: Not Found");
  }
  if (!net::websocket_protocols(request)) {
    return text(400, "no WebSocket");
  }
  net::Response response = net::websocket_response(request, "");
  response.body = std::make_unique<net::Upgrade>(
      [this, id](net::ByteStream& connection) { return tail(id, connection); });
  return response;
}

Task<void> FakeDashboard::tail(std::string id, net::ByteStream& connection) {
  const TaskContext& context = co_await current_context();
  net::WebSocketConnection socket(connection);
  TaskGroup group(*context.loop, context.stop);
  group.spawn(answer_pings(socket));
  co_await send_log(std::move(id), socket);
  co_await group.close();
}

Task<void> FakeDashboard::send_log(std::string id, net::WebSocketConnection& socket) {
  std::size_t sent = 0;
  for (int messages = 0; messages != options_.tail_messages_max.value_or(-1);) {
    const auto found = jobs.find(id);
    if (found == jobs.end()) {
      break;
    }
    const bool running = !is_over(found->second);
    std::string fresh = log_of(found->second).substr(sent);
    if (!fresh.empty()) {
      sent += fresh.size();
      ++messages;
      if (!co_await socket.write(net::WebSocketOpcode::text, std::move(fresh))) {
        co_return;
      }
    } else if (!running) {
      break;
    }
    if (!co_await sleep_for(options_.line_interval / 2)) {
      co_return;
    }
  }
  co_await socket.close(net::kWebSocketNormal, {});
}

}  // namespace codeflare::ray::testing
