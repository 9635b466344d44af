#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "kube/client.h"
#include "model/gvk.h"

#include <string>

namespace codeflare::controllers::view {

// Where the API server finds the view API.
struct ViewService {
  model::ObjectKey service;
  int port = 443;
  std::string ca_pem{};
};

// NAMESPACE/NAME[:PORT], the value of that option.
Result<ViewService> parse_view_service(const std::string& option, const std::string& text);

// Makes the APIService v1alpha1.view.codeflare.dev what it should be.
Task<Result<void>> register_view(kube::Client& client, ViewService at);

}  // namespace codeflare::controllers::view
