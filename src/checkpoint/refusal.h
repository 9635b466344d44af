#pragma once

#include "base/error.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::checkpoint {

// A rejected request: HTTP status, reason, and the numbers and words of the answer. Travels as the
// detail of an Error, in the service and out of the client.
struct Refusal final : public ErrorDetail {
  int status = 500;
  std::string reason{};
  std::vector<std::pair<std::string, std::int64_t>> numbers{};
  std::vector<std::pair<std::string, std::string>> words{};

  std::int64_t number_or_zero(std::string_view name) const;
};

using Numbers = std::initializer_list<std::pair<std::string_view, std::uint64_t>>;

// The code follows from the status.
Error refuse(int status, std::string_view reason, std::string message, Numbers numbers = {});

// Null when the error has none.
const Refusal* refusal_of(const Error& error);

// Reads and writes the body of a rejected request. An error without details gets the status of its
// code.
int status_of(const Error& error);
std::string error_text(const Error& error);
Error parse_error(int status, std::string_view body);

}  // namespace codeflare::checkpoint
