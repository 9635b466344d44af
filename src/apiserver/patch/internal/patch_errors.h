#pragma once

#include "base/error.h"
#include "json/value.h"

#include <string>
#include <string_view>

// How kube-apiserver answers a strategic merge patch that it cannot use.
namespace codeflare::apiserver::internal {

// 400: a directive is malformed; `what` is "setElementOrder list", "retainKeys", "primitive list".
Error bad_format(std::string_view what);
// 400: the patch is not an object.
Error bad_document(const json::Value& patch);
// 422 whose message says nothing of the cause.
Error list_of_lists();
// Everything else is a 500 without a reason.
Error unexpected(std::string message);
Error no_merge_key(const json::Value& map, std::string_view merge_key);
Error bad_type(std::string_view expected, const json::Value& actual);
Error bad_patch_type(const json::Value& directive, const json::Value& map);

}  // namespace codeflare::apiserver::internal
