#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "json/value.h"
#include "kube/client.h"
#include "model/meta.h"

#include <string>
#include <string_view>

// view.codeflare.dev: the answers of the controller's own process (docs/view-api.md).
namespace codeflare::sdk {

// "/apis/view.codeflare.dev/v1alpha1/namespaces/NS/appwrappers/NAME/explain".
Result<std::string> view_path(std::string_view plural, const model::ObjectKey& key,
                              std::string_view subresource);

// The controller's explanation of an object; `plural` is "appwrappers" or "trainingjobs". Fails
// when no controller answers, the caller has no right to it, or the server is older.
Task<Result<json::Document>> ask_explanation(kube::Client& client, std::string plural,
                                             model::ObjectMeta object);

}  // namespace codeflare::sdk
