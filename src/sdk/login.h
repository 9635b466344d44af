#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "base/secret.h"
#include "kube/client.h"
#include "kube/kubeconfig.h"

#include <string>
#include <vector>

// Logging in: proves to a server who the user is, then keeps cluster, user and context in the
// kubeconfig, where kubectl and every other client find them.
namespace codeflare::sdk {

struct Identity {
  std::string user;  // empty: the server accepts the credentials but does not say whose they are
  std::vector<std::string> groups;
};

// Asks the server (SelfSubjectReview, else SelfSubjectAccessReview). Errors: unauthenticated when
// it does not accept the credentials.
Task<Result<Identity>> who_am_i(kube::Client& client);

struct TokenLogin {
  std::string server;  // "https://host:6443"; without a scheme https
  Secret token;
  std::string ca_file;   // PEM; empty: the system's authorities
  std::string ca_pem{};  // the same as text
  bool insecure = false;
  std::string ns;  // empty: the service account's own, else "default"
};

struct LoggedIn {
  std::string server;
  std::string user;
  std::string ns;
  std::string context;
  std::string file;
};

// Writes nothing unless the server accepts the token. `kubeconfig` as in kubeconfig_to_edit().
Task<Result<LoggedIn>> log_in(Env env, TokenLogin login, std::string kubeconfig);
// The current context of another file, copied into the kubeconfig and made current.
Task<Result<LoggedIn>> log_in_with_file(Env env, std::string config_file, std::string kubeconfig);
// Proves the connection that the kubeconfig means and changes nothing.
Task<Result<LoggedIn>> check_login(Env env, std::string kubeconfig, std::string context);

// A login to the server that the kubeconfig means, without its token.
Result<TokenLogin> login_of(Env env, const std::string& kubeconfig, const std::string& context);

struct LoggedOut {
  std::string context;
  std::string server;
  std::string current;  // the context that is current now; empty: none
  std::string file;
};

// Removes what log_in() put there and makes the context current again that was before. The current
// context, if a login made it: failed_precondition otherwise, and nothing is changed.
Task<Result<LoggedOut>> log_out(Env env, std::string kubeconfig);

// Parts of the above, pure.
struct LoginEntries {
  kube::ClusterEntry cluster;
  kube::UserEntry user;
  kube::ContextEntry context;
};
void add_login(kube::KubeconfigEditor& editor, const LoginEntries& entries);
Result<LoggedOut> remove_login(kube::KubeconfigEditor& editor);

}  // namespace codeflare::sdk
