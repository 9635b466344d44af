#pragma once

#include "base/result.h"
#include "base/secret.h"

#include <memory>
#include <string>
#include <string_view>

namespace codeflare::apiserver {

// The key pair (ECDSA P-256) behind service-account tokens. Copies share it.
class SigningKey {
 public:
  static Result<SigningKey> generate();
  static Result<SigningKey> from_pem(const Secret& pem);
  Secret to_pem() const;

  // ES256: the two numbers of the signature, 64 bytes.
  std::string sign(std::string_view data) const;
  bool verify(std::string_view data, std::string_view signature) const;

  // Names the key in tokens: a digest of its public half.
  const std::string& id() const;
  // Coordinates of the public point, 32 bytes each.
  struct Point {
    std::string x;
    std::string y;
  };
  const Point& point() const;

 private:
  struct Parts;
  explicit SigningKey(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  static Result<SigningKey> from(std::shared_ptr<Parts> parts);

  std::shared_ptr<const Parts> parts_;
};

}  // namespace codeflare::apiserver
