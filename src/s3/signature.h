#pragma once

#include "base/secret.h"
#include "base/time.h"
#include "net/http.h"

#include <memory>
#include <string>
#include <string_view>

namespace codeflare::s3 {

struct Credentials {
  std::string key_id;  // empty: requests are not signed, for public buckets
  Secret secret;
  Secret session_token;  // empty: none
};

// Of bytes, in hex.
std::string sha256_hex(std::string_view bytes);

// The same of bytes that come piece by piece.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::string_view bytes);
  std::string hex();  // once, at the end

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct Signing {
  std::string host;            // as the Host header has it
  std::string region;          // "us-east-1"
  std::string payload_sha256;  // in hex
  WallTime now;
};

// Adds the headers of AWS Signature Version 4. The target must be percent-encoded, its query in the
// order of names.
void sign(net::Request& request, const Credentials& credentials, const Signing& signing);

}  // namespace codeflare::s3
