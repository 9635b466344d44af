#pragma once

#include "model/binary.h"
#include "model/extra.h"
#include "model/meta.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace codeflare::model {

// Never log or print one: not its data and not its text.
struct Secret {
  ObjectMeta metadata;
  std::optional<bool> immutable;
  std::map<std::string, Binary, std::less<>> data;
  StringMap string_data;  // write-only on the server
  std::string type;
  Extra extra;

  friend bool operator==(const Secret&, const Secret&) = default;
};

}  // namespace codeflare::model
