#pragma once

#include "apiserver/registry/registry.h"
#include "json/value.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {

// The problems of an object before its creation: as a dry run would say, without the rules of
// admission.
struct ObjectCheck {
  std::vector<std::string> problems{};  // "spec.replicas: Invalid value: -1: ...", or a sentence
  std::vector<std::string> unknown{};   // fields that the server would drop, as paths
  std::vector<std::string> warnings{};
};

// `object` is checked as one of this version of the resource, in this namespace; it may be changed.
struct CheckedAs {
  const Resource& resource;
  const ServedVersion& version;
  std::string_view ns;
};
ObjectCheck check_new_object(const CheckedAs& as, WriteContext& context, json::Value object);

}  // namespace codeflare::apiserver
