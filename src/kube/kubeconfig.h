#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "base/secret.h"
#include "json/value.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::kube {

// Where an entry stands. Errors about one of its fields read
// "<file>: <path>.<field>: what is wrong and what was expected", one line, never with a secret.
struct ConfigPlace {
  std::string file;
  std::string path;  // "clusters[0].cluster"

  Error error(std::string_view field, std::string_view what) const;
};

// The entries of a kubeconfig as they are written, with the type of every field checked but not
// its meaning: only the entries of the chosen context have to make sense (config.h). Paths of files
// are resolved against the directory of the file they stand in. Data fields stay in base64.
struct ClusterEntry {
  std::string name;
  ConfigPlace place{};
  std::string server{};
  std::string certificate_authority{};
  std::string certificate_authority_data{};
  bool insecure_skip_tls_verify = false;
  std::string tls_server_name{};
  Secret proxy_url{};  // may carry a password
  bool disable_compression = false;
  // The extension that exec plugins receive as spec.cluster.config, as JSON; empty when absent.
  std::string exec_config{};
};

struct ExecPlugin {
  std::string api_version;
  std::string command;
  std::vector<std::string> args{};
  std::vector<std::pair<std::string, std::string>> env{};
  std::string install_hint{};
  bool provide_cluster_info = false;
  std::string interactive_mode{};  // "Never", "IfAvailable" or "Always"; empty when not given
};

struct UserEntry {
  std::string name;
  ConfigPlace place{};
  std::string client_certificate{};
  std::string client_certificate_data{};
  std::string client_key{};
  Secret client_key_data{};
  Secret token{};
  std::string token_file{};
  std::string username{};
  Secret password{};
  std::optional<ExecPlugin> exec{};
  bool has_auth_provider = false;
  std::string impersonate_user{};
  std::string impersonate_uid{};
  std::vector<std::string> impersonate_groups{};
  std::map<std::string, std::vector<std::string>> impersonate_extra{};
};

struct ContextEntry {
  std::string name;
  ConfigPlace place{};
  std::string cluster{};
  std::string user{};
  std::string ns{};
};

struct Kubeconfig {
  std::vector<ClusterEntry> clusters;
  std::vector<UserEntry> users;
  std::vector<ContextEntry> contexts;
  std::string current_context;
  std::string current_context_file;  // the one that sets it
  std::vector<std::string> files;    // those that were read, in order
  std::vector<std::string> warnings;

  const ClusterEntry* cluster(std::string_view name) const;
  const UserEntry* user(std::string_view name) const;
  const ContextEntry* context(std::string_view name) const;
};

// One file's text, YAML or JSON. An empty text is a kubeconfig without entries.
Result<Kubeconfig> parse_kubeconfig(std::string_view text, const std::string& path);

// Adds what `into` does not have: per name the first file wins, likewise the first current-context.
void merge_kubeconfig(Kubeconfig& into, Kubeconfig from);

// Reads and merges. Files that do not exist are skipped unless they must. Blocks on files.
Result<Kubeconfig> load_kubeconfig(FileSystem& files, const std::vector<std::string>& paths,
                                   bool must_exist);

// The value of KUBECONFIG as paths: empty parts and repetitions are dropped.
std::vector<std::string> split_kubeconfig_list(std::string_view list);

// The file that a change belongs into, as kubectl chooses: the explicit one, else the first of
// KUBECONFIG that exists, else the last of KUBECONFIG, else ~/.kube/config. Blocks on files.
Result<std::string> kubeconfig_to_edit(Env env, const std::string& explicit_path);

// A kubeconfig file being changed: everything that is not named in a change stays, also fields we
// do not know. Setting an entry replaces its known fields and keeps the others.
class KubeconfigEditor {
 public:
  static Result<KubeconfigEditor> parse(std::string_view text, const std::string& path);

  void set_cluster(const ClusterEntry& cluster);
  void set_user(const UserEntry& user);
  void set_context(const ContextEntry& context);
  void set_current_context(std::string_view name);
  // A note of a program about a context, one of its `extensions`; replaces the one of that name.
  using Note = std::map<std::string, std::string>;
  void set_note(std::string_view context, std::string_view name, const Note& note);
  std::optional<Note> note(std::string_view context, std::string_view name) const;

  // True when there was one. Removing the current context leaves none.
  bool remove_cluster(std::string_view name);
  bool remove_user(std::string_view name);
  bool remove_context(std::string_view name);
  // The context with its cluster and user, unless another context uses them.
  bool remove_context_and_parts(std::string_view name);

  std::string current_context() const;
  std::string text() const;

 private:
  explicit KubeconfigEditor(json::Document document) : document_(std::move(document)) {}
  json::Value& entry_body(std::string_view list, std::string_view name, std::string_view body);
  bool remove_entry(std::string_view list, std::string_view name);
  bool any_context_uses(std::string_view field, std::string_view name) const;

  json::Document document_;
};

using KubeconfigChange = std::function<Result<void>(KubeconfigEditor&)>;

// Reads the file (a missing one is empty), applies the change and replaces the file atomically,
// readable by its owner only. Holds "<file>.lock" meanwhile, as kubectl does; waits a few seconds
// for another holder, then fails with a message that names the lock. Nothing is written when the
// change fails or changes nothing.
Task<Result<void>> edit_kubeconfig(Env env, std::string path, KubeconfigChange change);

}  // namespace codeflare::kube
