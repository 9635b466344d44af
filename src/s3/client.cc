#include "s3/client.h"

#include "base/async/sleep.h"
#include "base/async/when.h"
#include "base/env/backoff.h"
#include "net/body_idle.h"
#include "net/url.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>
#include <vector>

namespace codeflare::s3 {

namespace {

constexpr std::size_t kListingBytesMax = 16u << 20;
constexpr std::size_t kErrorBytesMax = 64u << 10;
constexpr std::string_view kPageSize = "1000";

// The path of a key: slashes stay.
std::string encode_path(std::string_view key) {
  std::string path;
  for (;;) {
    const std::size_t slash = key.find('/');
    path += net::percent_encode(key.substr(0, slash));
    if (slash == std::string_view::npos) {
      return path;
    }
    path += '/';
    key.remove_prefix(slash + 1);
  }
}

ErrorCode code_of(int status, std::string_view code) {
  if (code == "RequestTimeout" || code == "SlowDown" || status == 429 || status >= 500) {
    return ErrorCode::unavailable;
  }
  if (code == "RequestTimeTooSkewed") {
    return ErrorCode::failed_precondition;
  }
  switch (status) {
    case 401:
    case 403:
      return ErrorCode::permission_denied;
    case 404:
      return ErrorCode::not_found;
    case 412:
      return ErrorCode::conflict;
    case 416:
      return ErrorCode::conflict;
    default:
      return status < 400 ? ErrorCode::failed_precondition : ErrorCode::invalid_argument;
  }
}

Error error_of(int status, std::string_view text) {
  const ServerError found = parse_error(text);
  std::string message = found.code.empty() ? "status " + std::to_string(status) : found.code;
  if (!found.message.empty()) {
    message += ": " + found.message;
  }
  if (status >= 300 && status < 400) {
    message += "; check endpoint and region";
  }
  return {code_of(status, found.code), std::move(message)};
}

bool may_pass(const Error& error) {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::deadline_exceeded;
}

// Notes when a piece was taken last.
class WatchedBody final : public net::BodyStream {
 public:
  WatchedBody(Loop& loop, net::Body inner, std::shared_ptr<Instant> taken)
      : loop_(loop), inner_(std::move(inner)), taken_(std::move(taken)) {}

  Task<Result<Bytes>> read() override {
    Result<Bytes> piece = co_await inner_->read();
    *taken_ = loop_.now();
    co_return piece;
  }
  std::optional<Bytes> ready() override {
    *taken_ = loop_.now();
    return inner_->ready();
  }

 private:
  Loop& loop_;
  net::Body inner_;
  std::shared_ptr<Instant> taken_;
};

Task<Result<net::Response>> wait_for_idle(Loop& loop, std::shared_ptr<Instant> taken,
                                          Duration limit) {
  while (loop.now() < after(*taken, limit)) {
    CO_TRY(co_await sleep_until(after(*taken, limit)));
  }
  co_return fail(
      deadline_exceeded("the object store took and answered nothing for " + to_text(limit)));
}

// Of "bytes 5-9/10".
std::optional<std::uint64_t> number_behind(std::string_view text, char mark) {
  const std::size_t at = text.find(mark);
  std::uint64_t number = 0;
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const auto [end, error] =
      std::from_chars(text.data() + at + 1, text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace

struct Client::Call {
  std::string method = "GET";
  std::string key{};
  std::vector<net::QueryItem> query{};  // in the order of names
  net::Headers headers{};
  const Content* content = nullptr;
};

std::string_view reason_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::permission_denied:
      return "AccessDenied";
    case ErrorCode::not_found:
      return "NotFound";
    case ErrorCode::unavailable:
    case ErrorCode::deadline_exceeded:
      return "Network";
    default:
      return "DataFailed";
  }
}

Error Client::named(const Error& error) const {
  return error.with_context("bucket " + options_.bucket + " at " + options_.host);
}

std::string Client::target_of(const Call& call) const {
  std::string target = options_.prefix + "/" + net::percent_encode(options_.bucket);
  if (!call.key.empty()) {
    target += "/" + encode_path(call.key);
  }
  return call.query.empty() ? target : target + "?" + net::build_query(call.query);
}

Task<Result<net::Response>> Client::send_body(net::Request request) {
  auto taken = std::make_shared<Instant>(env_.loop.now());
  request.body = std::make_unique<WatchedBody>(env_.loop, std::move(request.body), taken);
  std::vector<Task<Result<net::Response>>> tasks;
  tasks.push_back(service_.send(std::move(request)));
  tasks.push_back(wait_for_idle(env_.loop, std::move(taken), options_.write_idle_timeout));
  FirstOf<Result<net::Response>> first = co_await when_any(std::move(tasks));
  co_return std::move(first.value);
}

Task<Result<net::Response>> Client::send_once(const Call& call) {
  net::Request request{.method = call.method, .target = target_of(call), .headers = call.headers};
  if (call.content != nullptr) {
    request.body = call.content->body();
    request.body_size = call.content->size;
  }
  sign(request, options_.credentials,
       {.host = options_.host,
        .region = options_.region,
        .payload_sha256 = call.content == nullptr ? sha256_hex("") : call.content->sha256,
        .now = env_.clock.wall()});
  const Duration timeout = call.content == nullptr ? options_.head_timeout : options_.write_timeout;
  Task<Result<net::Response>> sent =
      call.content == nullptr ? service_.send(std::move(request)) : send_body(std::move(request));
  CO_TRY_ASSIGN(net::Response response,
                co_await with_timeout(timeout, "answer of the object store", std::move(sent)));
  if (response.status / 100 == 2) {
    co_return response;
  }
  Task<Result<std::string>> reading = net::read_all(
      net::limit_idle(std::move(response.body), options_.idle_timeout), kErrorBytesMax);
  const Result<std::string> text = co_await std::move(reading);
  co_return fail(error_of(response.status, text.value_or("")));
}

Task<Result<net::Response>> Client::send(Call call) {
  for (int attempt = 1;; ++attempt) {
    Result<net::Response> response = co_await send_once(call);
    if (response) {
      co_return response;
    }
    if (!may_pass(response.error()) || attempt >= options_.attempts_max) {
      co_return fail(named(response.error()));
    }
    CO_TRY(co_await sleep_for(options_.retry_wait / 2 + full_jitter(options_.retry_wait,
                                                                    options_.retry_wait_max,
                                                                    attempt, env_.random)));
  }
}

Task<Result<Listing>> Client::list(std::string prefix, std::string next) {
  Call call;
  if (!next.empty()) {
    call.query.push_back({"continuation-token", std::move(next)});
  }
  call.query.push_back({"encoding-type", "url"});
  call.query.push_back({"list-type", "2"});
  call.query.push_back({"max-keys", std::string(kPageSize)});
  if (!prefix.empty()) {
    call.query.push_back({"prefix", std::move(prefix)});
  }
  for (int attempt = 1;; ++attempt) {
    CO_TRY_ASSIGN(net::Response response, co_await send(call));
    Task<Result<std::string>> reading = net::read_all(
        net::limit_idle(std::move(response.body), options_.idle_timeout), kListingBytesMax);
    const Result<std::string> text = co_await std::move(reading);
    if (text) {
      Result<Listing> listing = parse_listing(*text);
      co_return listing ? std::move(listing) : Result<Listing>(fail(named(listing.error())));
    }
    if (text.error().code == ErrorCode::cancelled || attempt >= options_.attempts_max) {
      co_return fail(named(text.error()));
    }
  }
}

Task<Result<Client::Part>> Client::get(ObjectInfo object, std::uint64_t offset) {
  Call call{.key = std::move(object.key)};
  // The listing counts bytes as they are stored, so nothing must decode them on the way.
  call.headers.add("Accept-Encoding", "identity");
  if (offset > 0) {
    call.headers.add("Range", "bytes=" + std::to_string(offset) + "-");
  }
  if (!object.etag.empty()) {
    call.headers.add("If-Match", object.etag);
  }
  CO_TRY_ASSIGN(net::Response response, co_await send(std::move(call)));
  Part part{.body = net::limit_idle(std::move(response.body), options_.idle_timeout)};
  if (response.status == 206) {
    const std::string range(response.headers.get("Content-Range").value_or(""));
    part.begin = number_behind(range, ' ').value_or(0);
    part.object_size = number_behind(range, '/');
  } else if (response.body_size) {
    part.object_size = *response.body_size;
  }
  co_return part;
}

Task<Result<void>> Client::put(std::string key, Content content) {
  Call call{.method = "PUT", .key = std::move(key), .content = &content};
  CO_TRY_ASSIGN(net::Response response, co_await send(std::move(call)));
  Task<Result<std::string>> reading = net::read_all(
      net::limit_idle(std::move(response.body), options_.idle_timeout), kErrorBytesMax);
  static_cast<void>(co_await std::move(reading));  // so that the connection can be used again
  co_return Result<void>();
}

Task<Result<void>> Client::remove(std::string key) {
  Call call{.method = "DELETE", .key = std::move(key)};
  const Result<std::string> removed = co_await send_for_text(std::move(call));
  if (!removed && removed.error().code != ErrorCode::not_found) {
    co_return fail(removed.error());
  }
  co_return Result<void>();
}

Task<Result<std::string>> Client::send_for_text(Call call) {
  CO_TRY_ASSIGN(net::Response response, co_await send(std::move(call)));
  Task<Result<std::string>> reading = net::read_all(
      net::limit_idle(std::move(response.body), options_.idle_timeout), kErrorBytesMax);
  Result<std::string> text = co_await std::move(reading);
  if (!text) {
    co_return fail(named(text.error()));
  }
  co_return text;
}

Task<Result<Upload>> Client::begin_upload(std::string key) {
  // A lost answer leaves an upload behind that nobody knows: the store's own rules remove it.
  Call call{.method = "POST", .key = key, .query = {{"uploads", ""}}};
  CO_TRY_ASSIGN(const std::string text, co_await send_for_text(std::move(call)));
  Result<std::string> id = parse_upload_id(text);
  if (!id) {
    co_return fail(named(id.error()));
  }
  co_return Upload{.key = std::move(key), .id = *std::move(id)};
}

Task<Result<std::string>> Client::put_part(Upload upload, int number, Content content) {
  Call call{.method = "PUT",
            .key = std::move(upload.key),
            .query = {{"partNumber", std::to_string(number)}, {"uploadId", std::move(upload.id)}},
            .content = &content};
  CO_TRY_ASSIGN(net::Response response, co_await send(std::move(call)));
  const std::string tag(response.headers.get("ETag").value_or(""));
  Task<Result<std::string>> reading = net::read_all(
      net::limit_idle(std::move(response.body), options_.idle_timeout), kErrorBytesMax);
  static_cast<void>(co_await std::move(reading));
  if (tag.empty()) {
    co_return fail(named(
        data_loss("the answer to part " + std::to_string(number) + " of an object has no ETag")));
  }
  co_return tag;
}

Task<Result<void>> Client::finish_upload(Upload upload, std::vector<std::string> tags,
                                         std::uint64_t object_size) {
  const std::string body = finish_upload_xml(tags);
  const Content content{.size = body.size(), .sha256 = sha256_hex(body), .body = [&body] {
                          return net::body_of(body);
                        }};
  for (int attempt = 1;; ++attempt) {
    Call call{.method = "POST",
              .key = upload.key,
              .query = {{"uploadId", upload.id}},
              .content = &content};
    Result<std::string> text = co_await send_for_text(std::move(call));
    if (!text && text.error().code == ErrorCode::not_found) {
      // An attempt whose answer was lost may have finished it.
      CO_TRY_ASSIGN(const bool complete, co_await is_complete(upload.key, object_size));
      co_return complete ? Result<void>() : fail(text.error());
    }
    CO_TRY(text);
    // The status was sent before the store knew how it ends.
    const ServerError failed = parse_error(*text);
    if (failed.code.empty()) {
      co_return Result<void>();
    }
    const bool broken = failed.code == "InternalError";
    if (!broken || attempt >= options_.attempts_max) {
      co_return fail(named(error_of(broken ? 500 : 400, *text)));
    }
  }
}

Task<Result<void>> Client::drop_upload(Upload upload) {
  Call call{.method = "DELETE",
            .key = std::move(upload.key),
            .query = {{"uploadId", std::move(upload.id)}}};
  CO_TRY(co_await send_for_text(std::move(call)));
  co_return Result<void>();
}

Task<Result<bool>> Client::is_complete(std::string key, std::uint64_t size) {
  CO_TRY_ASSIGN(const Listing found, co_await list(key));
  co_return std::ranges::any_of(
      found.objects, [&](const ObjectInfo& each) { return each.key == key && each.size == size; });
}

}  // namespace codeflare::s3
