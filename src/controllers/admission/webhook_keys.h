#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/result.h"
#include "kube/client.h"
#include "model/meta.h"

#include <string>

namespace codeflare::admission {

// Puts the keys of a Secret into the directory of a webhook before apiserver::Pki opens it: the
// authority, and the key that seals records. Without a Secret the keys of the directory (made if
// there are none) become one. So all replicas have the same keys, and they survive every pod.
// The Secret is never changed: other keys would invalidate every sealed record.
Task<Result<void>> share_webhook_keys(Env env, kube::Client& client, std::string directory,
                                      model::ObjectKey secret, Logger logger);

}  // namespace codeflare::admission
