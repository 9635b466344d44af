#pragma once

#include "apiserver/registry/resource.h"
#include "apiserver/request/authorizer.h"
#include "apiserver/request/user.h"
#include "base/error.h"

#include <string>
#include <string_view>

namespace codeflare::apiserver::internal {

// Errors that carry their Status, in the words of kube-apiserver: people and tools compare them.

Error bad_request(std::string message);
Error not_found_error(const Resource& resource, std::string_view name);
Error already_exists_error(const Resource& resource, std::string_view name);
// "Operation cannot be fulfilled on pods "x": <why>"
Error conflict_error(const Resource& resource, std::string_view name, std::string_view why);
// The object has been modified since it was read.
Error modified_error(const Resource& resource, std::string_view name);
Error method_not_supported(const Resource& resource, std::string_view action);
Error method_not_allowed();
// Nothing is served at that path.
Error no_such_path();
Error forbidden_error(const User& user, const Access& access, std::string_view reason);
Error unauthorized();
Error unsupported_media_type(std::string_view accepted);
Error not_acceptable(std::string_view accepted);
Error too_many_requests(std::string_view message, int retry_seconds);
Error expired_error(std::string message);
Error version_too_large(std::uint64_t asked, std::uint64_t current);
// The request took longer than it may.
Error timed_out();
Error body_too_large(std::size_t limit);
Error body_too_large_message(std::string_view message);
// 422 without fields, as failed JSON patches get it.
Error unprocessable();
// 503: nothing is there to answer now.
Error service_unavailable(std::string message);
// 501: the server knows what is meant and has nobody to do it.
Error not_implemented(std::string message);

// The meaning of a store's error for this object: its codes know nothing of resources.
Error store_error(const Error& error, const Resource& resource, std::string_view name);

}  // namespace codeflare::apiserver::internal
