#pragma once

#include "net/http.h"

#include <cstddef>
#include <optional>

// Common parts of services that pass requests on to another server.
namespace codeflare::net {

bool asks_for_upgrade(const Headers& headers);

// Removes the fields of one connection, not of what is sent over it. A connection that is to leave
// HTTP behind keeps its Upgrade.
void remove_hop_by_hop(Headers& headers, bool upgrade);

// The other server's 101 with a body that joins both connections once this answer has been sent.
Response forward_upgrade(Response answer);

// Of an answer to HEAD: the length that a GET would have, as nothing follows the head to count.
std::optional<std::size_t> announced_size(const Headers& headers);

}  // namespace codeflare::net
