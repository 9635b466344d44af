#pragma once

#include "apiserver/request/user.h"

#include <string>
#include <string_view>

namespace codeflare::apiserver {

// One requested access.
struct Access {
  std::string verb;
  // A resource...
  std::string group{};
  std::string resource{};
  std::string subresource{};
  std::string ns{};
  std::string name{};
  // ...or, when `resource` is empty, a path.
  std::string path{};
};

class Authorizer {
 public:
  virtual ~Authorizer() = default;
  struct Decision {
    bool allowed = false;
    std::string reason{};
  };
  virtual Decision authorize(const User& user, const Access& access) const = 0;
};

}  // namespace codeflare::apiserver
