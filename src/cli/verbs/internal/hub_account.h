#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "kube/client.h"
#include "kube/config.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

// The hub's account on a worker cluster. All of it belongs to one ClusterRole by owner references,
// which the account itself may delete: so the hub alone can take it away again.
namespace codeflare::cli::internal {

// "codeflare-hub-NAME": the ClusterRole, its binding, the ServiceAccount and the Secret of its
// token in codeflare-system.
std::string hub_account_name(std::string_view cluster);

struct HubToken {
  Secret token;
  std::optional<WallTime> expires{};  // nothing: with the account
};

// Gets a line for each object: "clusterrole codeflare-hub-east created".
using Progress = std::function<void(const std::string&)>;

// Makes the account what it should be and returns a token of it.
Task<Result<HubToken>> make_hub_account(kube::Client& worker, std::string cluster,
                                        bool create_namespaces, Progress progress);
// A kubeconfig for the account, as text.
Secret hub_kubeconfig(const kube::Config& worker, const std::string& cluster,
                      const HubToken& token);
// False: there was none.
Task<Result<bool>> remove_hub_account(kube::Client& worker, std::string cluster);

// Server-side apply; reports whether the object was created, configured or unchanged.
Task<Result<kube::ObjectRef>> apply_and_tell(kube::Client& client, model::ResourceType type,
                                             model::ObjectKey key, std::string body,
                                             Progress progress);

}  // namespace codeflare::cli::internal
