#pragma once

#include "apiserver/registry/resource.h"
#include "base/error.h"

#include <string>
#include <string_view>

namespace codeflare::apiserver {

// `pods "x" is forbidden: <why>`, with its Status: what an admission rule answers.
Error forbidden(const Resource& resource, std::string_view name, std::string_view why);

}  // namespace codeflare::apiserver
