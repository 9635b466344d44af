#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "kube/client.h"
#include "kube/config.h"

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// People of a cluster: a role in a namespace, and a client certificate that proves the name.
namespace codeflare::sdk {

// viewer, user, owner, admin: ClusterRole codeflare-ROLE and the Kubernetes role that it is part
// of.
std::span<const std::string_view> user_role_names();

struct NewUser {
  std::string name;
  std::string ns;
  std::string role = "user";
  std::vector<std::string> groups{};
  std::chrono::hours lifetime{24 * 365};  // of the certificate
};

struct BoundUser {
  std::string name;
  std::string ns;
  std::string role;
  WallTime since{};
};

// Checks names and role; nothing is sent.
Result<void> check_user(const NewUser& user);
// RoleBindings of the namespace. An earlier role of the user there is taken away.
Task<Result<void>> bind_user(kube::Client& client, NewUser user);
// All that bind_user() made; in all namespaces when `ns` is empty.
Task<Result<std::vector<BoundUser>>> list_users(kube::Client& client, std::string ns);
// Takes the roles of the user away: those of `ns`, or of all namespaces when it is empty. Returns
// what is gone.
Task<Result<std::vector<BoundUser>>> remove_user(kube::Client& client, std::string name,
                                                 std::string ns);

struct UserCredentials {
  Secret key_pem;
  std::string certificate_pem;
};
// A fresh key and a certificate for it by the CertificateSigningRequest API: requested, approved
// and fetched in the caller's name, and cleaned up. Fails when the signer does not answer in time.
Task<Result<UserCredentials>> issue_credentials(Env env, kube::Client& client, NewUser user);

// Puts cluster, user and context "NAME@NAMESPACE" into the file (0600) and makes the context
// current.
Task<Result<void>> write_user_kubeconfig(Env env, std::string file, kube::Config server,
                                         NewUser user, UserCredentials credentials);

}  // namespace codeflare::sdk
