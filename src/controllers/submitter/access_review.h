#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "kube/client.h"

#include <map>
#include <string>
#include <vector>

namespace codeflare::controllers {

// A question to the cluster's authorizer about somebody else.
struct AccessQuestion {
  std::string user;
  std::string uid{};
  std::vector<std::string> groups{};
  std::map<std::string, std::vector<std::string>> extra{};
  std::string verb;
  std::string group;
  std::string version{};
  std::string resource;
  std::string subresource{};
  std::string ns{};
  std::string name{};
};

// By a SubjectAccessReview.
Task<Result<bool>> may(kube::Client& client, AccessQuestion question);

}  // namespace codeflare::controllers
