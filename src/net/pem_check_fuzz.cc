#include "base/base64.h"
#include "base/check.h"
#include "net/pem_check.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using namespace codeflare;
using namespace codeflare::net;

namespace {

std::string block(std::string_view kind, std::string_view bytes) {
  const std::string mark = std::string(kind) + "-----\n";
  return "-----BEGIN " + mark + to_base64(bytes) + "\n-----END " + mark;
}

// Certificates and keys are often in one text, and error messages must not quote them.
void check(std::string_view pem) {
  constexpr std::size_t kLongEnough = 40;
  const Result<void> certificates = check_certificates(pem);
  const Result<void> key = check_private_key(pem);
  if (pem.size() >= kLongEnough) {
    CHECK(certificates || !certificates.error().message.contains(pem));
    CHECK(key || !key.error().message.contains(pem));
  }
  if (certificates && key) {
    static_cast<void>(key_belongs_to(pem, pem));
  }
}

}  // namespace

// As text, and as what is within its lines: few random texts are base64.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check(bytes);
  check(block("CERTIFICATE", bytes));
  check(block("PRIVATE KEY", bytes));
  return 0;
}
