#pragma once

#include "model/binary.h"
#include "model/extra.h"
#include "model/meta.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace codeflare::model {

struct ConfigMap {
  ObjectMeta metadata;
  std::optional<bool> immutable;
  StringMap data;
  std::map<std::string, Binary, std::less<>> binary_data;
  Extra extra;

  friend bool operator==(const ConfigMap&, const ConfigMap&) = default;
};

}  // namespace codeflare::model
