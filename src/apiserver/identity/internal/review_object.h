#pragma once

#include "apiserver/request/user.h"
#include "apiserver/request/virtual_resource.h"
#include "json/value.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver::internal {

// Pieces that several reviews have in common.

// The member when it is an object, else null.
const json::Value* object_at(const json::Value& parent, std::string_view key);
std::vector<std::string> strings_at(const json::Value& parent, std::string_view key);
json::Value to_strings(json::Arena& arena, const std::vector<std::string>& texts);

// username, uid, groups and extra, each left out when empty.
json::Value to_user_info(json::Arena& arena, const User& user);

// The review that was sent under a new status, its members in the usual order.
json::Value answered(VirtualResource::Call& call, json::Value status);

}  // namespace codeflare::apiserver::internal
