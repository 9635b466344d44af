#pragma once

#include "model/extra.h"

#include <string>

namespace codeflare::model {

// Points at another object; which members are set depends on who points.
struct ObjectReference {
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;
  std::string api_version;
  std::string resource_version;
  std::string field_path;  // "spec.containers{web}"
  Extra extra;

  friend bool operator==(const ObjectReference&, const ObjectReference&) = default;
};

// An object in the same namespace.
struct LocalObjectReference {
  std::string name;
  Extra extra;

  friend bool operator==(const LocalObjectReference&, const LocalObjectReference&) = default;
};

}  // namespace codeflare::model
