#include "sdk/program_image.h"

namespace codeflare::sdk {

std::string_view version() {
  return CODEFLARE_VERSION;
}

std::string program_image(const Variables& variables) {
  const std::string given = variables.get("CODEFLARE_PROGRAM_IMAGE").value_or("");
  return given.empty() ? "codeflare:" + std::string(version()) : given;
}

}  // namespace codeflare::sdk
