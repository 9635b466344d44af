#pragma once

#include "apiserver/rest/internal/delete_options.h"
#include "apiserver/rest/internal/server.h"
#include "apiserver/rest/internal/write.h"
#include "base/async/task.h"
#include "base/result.h"

#include <string>

namespace codeflare::apiserver::internal {

// Deletes one object as the options say: gone at once, or marked and held by grace or finalizers.
Task<Result<Written>> delete_object(Call& call, std::string ns, std::string name,
                                    DeleteOptions options);

}  // namespace codeflare::apiserver::internal
