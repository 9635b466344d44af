#include "kube/config.h"

#include "kube/in_cluster.h"

#include <utility>

namespace codeflare::kube {

namespace {

Result<Config> load_files(Env env, const std::vector<std::string>& paths, bool must_exist,
                          const ConfigOptions& options) {
  TRY_ASSIGN(Kubeconfig kubeconfig, load_kubeconfig(env.files, paths, must_exist));
  if (kubeconfig.files.empty()) {
    return fail(not_found("no such file"));
  }
  return resolve_config(env.files, kubeconfig, options);
}

// Sources that were tried and why each failed, for the one message when all fail.
class Attempts {
 public:
  void add(std::string_view place, std::string_view why) {
    text_ += (text_.empty() ? "" : "; ") + std::string(place) + ": " + std::string(why);
  }
  Error error() const {
    return not_found(
        "no Kubernetes configuration found (" + text_ +
        "); give --kubeconfig, set KUBECONFIG, or run 'codeflare up' for a local cluster");
  }

 private:
  std::string text_;
};

void apply_overrides(const ConfigOptions& options, Config& config) {
  if (!options.ns.empty()) {
    config.ns = options.ns;
  }
  if (!options.impersonation.empty()) {
    config.impersonation = options.impersonation;
    config.origin.impersonation = "--as";
  }
}

}  // namespace

Result<Config> load_config(Env env, const ConfigOptions& options) {
  if (!options.explicit_path.empty()) {
    return load_files(env, {options.explicit_path}, true, options);
  }
  Attempts attempts;
  attempts.add("--kubeconfig", "not given");
  std::string list = env.variables.get("KUBECONFIG").value_or("");
  if (std::vector<std::string> paths = split_kubeconfig_list(list); !paths.empty()) {
    Result<Config> config = load_files(env, paths, false, options);
    if (config || config.error().code != ErrorCode::not_found) {
      return config;
    }
    attempts.add("KUBECONFIG=" + list, config.error().message);
    return fail(attempts.error());
  }
  attempts.add("KUBECONFIG", "not set");
  if (options.context.empty()) {
    Result<Config> config = in_cluster_config(env);
    if (config) {
      apply_overrides(options, *config);
      return config;
    }
    attempts.add("in-cluster service account", config.error().message);
  } else {
    attempts.add("in-cluster service account", "not used with --context");
  }
  std::string home = env.variables.get("HOME").value_or("");
  if (home.empty()) {
    attempts.add("~/.kube/config", "HOME is not set");
    return fail(attempts.error());
  }
  std::string path = join_path(home, ".kube/config");
  Result<Config> config = load_files(env, {path}, false, options);
  if (config || config.error().code != ErrorCode::not_found) {
    return config;
  }
  attempts.add(path, config.error().message);
  return fail(attempts.error());
}

}  // namespace codeflare::kube
