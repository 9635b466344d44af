#pragma once

#include "apiserver/rest/internal/server.h"
#include "base/async/task.h"
#include "base/result.h"
#include "net/http.h"

namespace codeflare::apiserver::internal {

// The verbs on a resource, after authorization. The call outlives the task.
Task<Result<net::Response>> handle_create(Call& call);
Task<Result<net::Response>> handle_get(Call& call);
Task<Result<net::Response>> handle_list(Call& call);
Task<Result<net::Response>> handle_watch(Call& call);
Task<Result<net::Response>> handle_update(Call& call);
Task<Result<net::Response>> handle_patch(Call& call);
Task<Result<net::Response>> handle_delete(Call& call);
Task<Result<net::Response>> handle_delete_collection(Call& call);
Task<Result<net::Response>> handle_scale(Call& call);
// Subresources that are calls rather than parts: bindings, evictions, tokens, reviews.
Task<Result<net::Response>> handle_virtual(Call& call, VirtualResource& handler);
// log, exec, attach, portforward.
Task<Result<net::Response>> handle_connect(Call& call);
// HTTP to a port of a pod, or of a pod behind a service.
Task<Result<net::Response>> handle_proxy(Call& call);

// Until the revision is committed; 504 when it does not come.
Task<Result<void>> wait_for_revision(Server& server, Revision revision);

// Answered also when the server is full or shuts down.
bool is_health_path(std::string_view path);
// Paths outside the API groups.
Task<Result<net::Response>> handle_path(Call& call);

}  // namespace codeflare::apiserver::internal
