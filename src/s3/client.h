#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "net/http.h"
#include "s3/listing.h"
#include "s3/signature.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::s3 {

struct ClientOptions {
  std::string host;    // as the Host header has it
  std::string prefix;  // path of the endpoint without a slash at its end; usually empty
  std::string bucket;
  std::string region = "us-east-1";
  Credentials credentials;

  int attempts_max = 6;
  Duration retry_wait = std::chrono::milliseconds(300);  // doubles with each attempt
  Duration retry_wait_max = std::chrono::seconds(10);
  Duration head_timeout = std::chrono::seconds(60);
  Duration write_timeout = std::chrono::minutes(30);
  // No further byte of a body is taken, or no answer follows the last one.
  Duration write_idle_timeout = std::chrono::minutes(2);
  // A body that does not move for this long is given up.
  Duration idle_timeout = std::chrono::seconds(60);
};

// The word for an error in the status of a Run: AccessDenied, NotFound, Network, or
// DataFailed.
std::string_view reason_of(const Error& error);

// An object that arrives in parts.
struct Upload {
  std::string key;
  std::string id;
};

// The calls of one bucket over any HttpService, which outlives this. Each call repeats itself when
// the server is not reachable, busy or broken. Errors name the bucket and carry the server's own
// code:
//   permission_denied  the keys are wrong or not enough
//   not_found          no such bucket or object
//   conflict           the object has changed
class Client {
 public:
  Client(Env env, net::HttpService& service, ClientOptions options)
      : env_(env), service_(service), options_(std::move(options)) {}

  // A page of the objects whose keys begin with `prefix`; `next` is that of the page before.
  Task<Result<Listing>> list(std::string prefix, std::string next = {});

  // The object from `offset` on, as it arrives.
  struct Part {
    net::Body body;
    std::uint64_t begin = 0;  // 0 when the server does not know ranges
    std::optional<std::uint64_t> object_size{};
  };
  Task<Result<Part>> get(ObjectInfo object, std::uint64_t offset = 0);

  struct Content {
    std::uint64_t size = 0;
    std::string sha256;
    std::function<net::Body()> body;  // called for each attempt
  };
  Task<Result<void>> put(std::string key, Content content);

  // Also fine when there is no such object.
  Task<Result<void>> remove(std::string key);

  // An object in parts, which become visible together when the upload is finished. Parts of an
  // upload that is neither finished nor dropped stay in the store and cost space.
  Task<Result<Upload>> begin_upload(std::string key);
  // Numbers begin with 1. The tag belongs into finish_upload().
  Task<Result<std::string>> put_part(Upload upload, int number, Content content);
  Task<Result<void>> finish_upload(Upload upload, std::vector<std::string> tags,
                                   std::uint64_t object_size);
  Task<Result<void>> drop_upload(Upload upload);

  Env env() const { return env_; }
  const ClientOptions& options() const { return options_; }

 private:
  struct Call;
  Task<Result<net::Response>> send(Call call);
  Task<Result<net::Response>> send_once(const Call& call);
  Task<Result<net::Response>> send_body(net::Request request);
  Task<Result<std::string>> send_for_text(Call call);
  Task<Result<bool>> is_complete(std::string key, std::uint64_t size);
  std::string target_of(const Call& call) const;
  Error named(const Error& error) const;

  Env env_;
  net::HttpService& service_;
  ClientOptions options_;
};

}  // namespace codeflare::s3
