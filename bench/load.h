#pragma once

#include "base/env/env.h"
#include "base/result.h"
#include "net/client.h"

#include <memory>

// The common parts of the load programs.
namespace codeflare::bench {

// Of this process, in user and kernel mode.
double cpu_seconds();

// To the server of KUBECONFIG, with as many idle connections as any load opens.
Result<std::unique_ptr<net::HttpClient>> connect(Env env);

}  // namespace codeflare::bench
