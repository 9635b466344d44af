#pragma once

#include "base/async/task.h"
#include "base/bytes.h"
#include "base/result.h"

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::net {

// Header fields in order; names compare without regard to case.
class Headers {
 public:
  struct Field {
    std::string name;
    std::string value;
  };

  Headers() = default;
  Headers(std::initializer_list<Field> fields) : fields_(fields) {}

  // Value of the first field of that name, or nothing.
  std::optional<std::string_view> get(std::string_view name) const;
  bool has(std::string_view name) const { return get(name).has_value(); }
  void add(std::string name, std::string value);
  // Replaces all fields of that name.
  void set(std::string name, std::string value);
  void remove(std::string_view name);

  const std::vector<Field>& fields() const { return fields_; }

 private:
  std::vector<Field> fields_;
};

bool equal_ignoring_case(std::string_view a, std::string_view b);

// Hears that a body has more.
class BodyListener {
 public:
  // ready() may have something. Called on the loop: it may note that, nothing else.
  virtual void on_ready() = 0;

 protected:
  ~BodyListener() = default;
};

// Bytes that arrive over time. One reader; dropping the stream before its end closes what is
// behind it, so that the producer stops.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  // The next piece; an empty one is the end. An error means that the rest is lost.
  virtual Task<Result<Bytes>> read() = 0;
  // A piece that is there already, without waiting: lets a writer join many pieces into one write.
  // Nothing when read() would have to wait (or would fail); an empty piece is the end.
  virtual std::optional<Bytes> ready() { return std::nullopt; }
  // For bodies that many receive at the same moment: once ready() has returned nothing, the
  // listener hears when to ask again, and nobody need wait in read(). Until null is passed. False
  // when this body does not tell.
  virtual bool tell(BodyListener*) { return false; }
};

using Body = std::unique_ptr<BodyStream>;

// A body that is there already; no stream is made for an empty one.
Body body_of(Bytes bytes);
inline Body body_of(std::string text) {
  return body_of(Bytes::from(std::move(text)));
}

// Reads to the end; fails with too_large beyond the limit.
Task<Result<std::string>> read_all(Body body, std::size_t bytes_max);

// The other side of a connection, as far as the transport knows.
struct Peer {
  std::string address;  // "127.0.0.1:40312", or a word for a call in the same process
  // Subject of a client certificate that the server's CA bundle verified.
  struct Certificate {
    std::string common_name;
    std::vector<std::string> organizations;
    std::string sha256;  // of the DER form, in hex
  };
  std::optional<Certificate> certificate{};
  // A certificate was shown that the CA bundle does not verify: the caller is not anonymous but
  // wrong, and is to be rejected as unauthenticated.
  bool foreign_certificate = false;
};

struct Request {
  std::string method = "GET";
  std::string target = "/";  // path and query, percent-encoded
  Headers headers{};
  Body body{};  // null: none
  // When known, the body is sent with Content-Length, else chunked.
  std::optional<std::size_t> body_size{};
  std::shared_ptr<const Peer> peer{};  // set by servers
};

struct Response {
  int status = 200;
  Headers headers{};
  Body body{};  // null: none
  std::optional<std::size_t> body_size{};
};

Response make_response(int status, std::string_view content_type, Bytes body);

// The one seam of all traffic: a remote server over sockets, a service in the same process, and a
// simulated link are all of this type; a server is an HttpService that is put behind a socket.
// An error means that no response head arrived: `unavailable` when the request surely had no
// effect, `deadline_exceeded` when the effect is unknown.
class HttpService {
 public:
  virtual ~HttpService() = default;
  virtual Task<Result<Response>> send(Request request) = 0;
};

}  // namespace codeflare::net
