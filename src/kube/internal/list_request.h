#pragma once

#include "base/result.h"
#include "kube/client.h"
#include "kube/path.h"

#include <string>
#include <string_view>

namespace codeflare::kube::internal {

Query list_query(const ListOptions& options);

// The Accept header for metadata alone, as `as`, or for whole objects. Plain JSON stays acceptable:
// a server that cannot narrow sends the whole object.
std::string accept_of(bool metadata_only, std::string_view as);

// The request for one page of a list.
Result<Client::RawRequest> list_request(const ResourceType& type, const ListOptions& options);

}  // namespace codeflare::kube::internal
