#include "model/resource_name.h"

#include "model/validation.h"

#include <string>

namespace codeflare::model {

bool is_native_resource(std::string_view name) {
  return !name.contains('/') || name.contains("kubernetes.io/");
}

bool is_extended_resource(std::string_view name) {
  return !is_native_resource(name) && !name.starts_with("requests.") &&
         check_qualified_name("requests." + std::string(name)).empty();
}

bool may_overcommit(std::string_view name) {
  return is_native_resource(name) && !name.starts_with("hugepages-");
}

}  // namespace codeflare::model
