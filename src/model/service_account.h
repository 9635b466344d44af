#pragma once

#include "model/extra.h"
#include "model/list.h"
#include "model/meta.h"
#include "model/reference.h"

#include <optional>
#include <vector>

namespace codeflare::model {

struct ServiceAccount {
  ObjectMeta metadata;
  List<ObjectReference> secrets;
  List<LocalObjectReference> image_pull_secrets;
  std::optional<bool> automount_service_account_token;
  Extra extra;

  friend bool operator==(const ServiceAccount&, const ServiceAccount&) = default;
};

}  // namespace codeflare::model
