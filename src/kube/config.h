#pragma once

#include "base/env/env.h"
#include "base/result.h"
#include "base/secret.h"
#include "kube/kubeconfig.h"

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace codeflare::kube {

struct BearerToken {
  Secret token;
};

// Read again every minute and after a rejection; the last content that could be read counts, before
// there is one `fallback` (which may be empty).
struct BearerTokenFile {
  std::string path;
  Secret fallback{};
};

struct BasicAuth {
  std::string username;
  Secret password;
};

// A program that prints the credentials (exec_credential.h).
struct ExecAuth {
  ExecPlugin plugin;
  // spec.cluster.config for the plugin, as JSON; empty when there is none.
  std::string cluster_config{};
  // For messages: "<file>: users[0].user.exec".
  std::string place{};
};

// Without any, only a client certificate (or nothing) says who we are.
using Auth = std::variant<std::monostate, BearerToken, BearerTokenFile, BasicAuth, ExecAuth>;

struct TlsConfig {
  // PEM. Empty: the system's roots, or no client certificate.
  std::string ca_pem{};
  std::string certificate_pem{};
  Secret key_pem{};
  // Where the PEM came from when it was a file: looked at again from time to time.
  std::string ca_file{};
  std::string certificate_file{};
  std::string key_file{};
  bool insecure = false;
  std::string server_name{};  // empty: the host of the server
};

struct Impersonation {
  std::string user{};
  std::string uid{};
  std::vector<std::string> groups{};
  std::map<std::string, std::vector<std::string>> extra{};

  bool empty() const { return user.empty(); }
};

// Where each setting came from, for messages about values that turn out wrong only when they are
// used: `server of cluster "dev" in /home/me/.kube/config`. Empty when built by hand.
struct ConfigOrigin {
  std::string server{};
  std::string ca{};           // also when there is none: where it would be
  std::string server_name{};  // what says which name the server's certificate must have
  std::string proxy{};
  std::string certificate{};
  std::string key{};
  std::string auth{};  // what says who we are; empty: nothing does
  std::string impersonation{};
};

// All that is needed to talk to one API server; a plain value that may also be built by hand.
// Print `source` and `server`.
struct Config {
  std::string server;  // "https://host:port/prefix", no slash at the end
  TlsConfig tls{};
  Auth auth{};
  Impersonation impersonation{};
  Secret proxy_url{};  // may carry a password; empty: HTTPS_PROXY and NO_PROXY decide
  bool disable_compression = false;
  std::string ns = "default";
  // Where it came from: `context "dev" of /home/me/.kube/config` or `in-cluster service account`.
  std::string source{};
  ConfigOrigin origin{};
  // One line each, with file and field; to be shown once.
  std::vector<std::string> warnings{};
};

struct ConfigOptions {
  std::string explicit_path{};    // --kubeconfig: must exist, nothing else is looked at
  std::string context{};          // --context: instead of current-context
  std::string ns{};               // --namespace: instead of the context's
  Impersonation impersonation{};  // --as, --as-group, --as-uid: instead of the user's
};

// The connection that a program run here means: the explicit file, else the files of KUBECONFIG,
// else the service account of the pod we run in (not when a context is asked for), else
// ~/.kube/config. When there is none the error names every place and what to do. Blocks on files.
Result<Config> load_config(Env env, const ConfigOptions& options = {});

// The chosen context of a kubeconfig, checked in full but for what is inside its PEM blocks, which
// connect() looks at. Every error is one line that names file, field and what was expected, and
// holds no secret. Blocks on files.
Result<Config> resolve_config(FileSystem& files, const Kubeconfig& kubeconfig,
                              const ConfigOptions& options = {});

}  // namespace codeflare::kube
