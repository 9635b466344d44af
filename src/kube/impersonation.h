#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "kube/client.h"
#include "kube/config.h"
#include "net/http.h"

#include <string>
#include <vector>

namespace codeflare::kube {

// The Impersonate-* headers, unless there are some already; none for an empty impersonation. Whose
// credentials the request carries needs the verb impersonate for each of its parts.
void add_impersonation(const Impersonation& impersonation, net::Headers& headers);

// Client::create() in somebody else's name: the server judges the write by their rights, and its
// audit log tells of both.
Task<Result<ObjectRef>> create_as(Client& client, Impersonation who, ResourceType type,
                                  std::string ns, std::string body);

// The answer that the server would give, without creating anything: the texts of its Warning
// headers, or the error.
Task<Result<std::vector<std::string>>> try_create_as(Client& client, Impersonation who,
                                                     ResourceType type, std::string ns,
                                                     std::string body);

}  // namespace codeflare::kube
