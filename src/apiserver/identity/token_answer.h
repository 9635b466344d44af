#pragma once

#include "apiserver/request/user.h"

#include <string>
#include <vector>

namespace codeflare::apiserver {

// Whom a bearer token stands for, and for which of the wanted audiences.
struct TokenAnswer {
  User user{};
  std::vector<std::string> audiences{};
};

}  // namespace codeflare::apiserver
