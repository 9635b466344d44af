#include "sdk/users.h"

#include "base/base64.h"
#include "json/write.h"
#include "kube/kubeconfig.h"

#include <algorithm>
#include <array>
#include <utility>

namespace codeflare::sdk {

namespace {

const model::ResourceType kBindings{"rbac.authorization.k8s.io", "v1", "RoleBinding",
                                    "rolebindings", true};
constexpr std::string_view kManagerLabel = "app.kubernetes.io/managed-by";
constexpr std::string_view kManager = "codeflare-user";
constexpr std::string_view kOwnRole = "codeflare-";

struct RolePair {
  std::string_view name;
  std::string_view kubernetes;  // the role of Kubernetes that has pods, logs and Secrets
};
constexpr std::array kRoles = {RolePair{"viewer", "view"}, RolePair{"user", "edit"},
                               RolePair{"owner", "edit"}, RolePair{"admin", "admin"}};
constexpr std::array<std::string_view, kRoles.size()> kRoleNames = {"viewer", "user", "owner",
                                                                    "admin"};

// Any name is good for a RoleBinding that is a part of a path.
std::string binding_name(const std::string& user, std::string_view role) {
  return "codeflare:" + user + ":" + std::string(role);
}

std::string binding_text(const NewUser& user, const std::string& role) {
  std::string text;
  json::Writer w(text);
  w.begin_object().member("apiVersion", "rbac.authorization.k8s.io/v1");
  w.member("kind", "RoleBinding").key("metadata").begin_object();
  w.member("name", binding_name(user.name, role)).member("namespace", user.ns);
  w.key("labels").begin_object().member(kManagerLabel, kManager).end_object().end_object();
  w.key("roleRef").begin_object().member("apiGroup", "rbac.authorization.k8s.io");
  w.member("kind", "ClusterRole").member("name", role).end_object();
  w.key("subjects").begin_array().begin_object();
  w.member("apiGroup", "rbac.authorization.k8s.io").member("kind", "User");
  w.member("name", user.name).end_object().end_array().end_object();
  return text;
}

// The user that a binding of ours is for; empty: somebody changed it.
std::string user_of(const kube::Object& binding) {
  std::string_view name = binding.name();
  const std::string role(binding.string_at({"roleRef", "name"}));
  const std::string before = "codeflare:";
  const std::string after = ":" + role;
  return name.starts_with(before) && name.ends_with(after) &&
                 name.size() > before.size() + after.size()
             ? std::string(name.substr(before.size(), name.size() - before.size() - after.size()))
             : std::string();
}

Task<Result<std::vector<kube::ObjectRef>>> bindings_of(kube::Client& client, std::string ns) {
  CO_TRY_ASSIGN(
      kube::ObjectList list,
      co_await client.list_all(
          kBindings, {.ns = std::move(ns),
                      .label_selector = std::string(kManagerLabel) + "=" + std::string(kManager)}));
  co_return std::move(list.items);
}

// "user" of the binding to codeflare-user; empty for the others.
std::string own_role_of(const kube::Object& binding) {
  const std::string role = binding.string_at({"roleRef", "name"});
  return role.starts_with(kOwnRole) ? role.substr(kOwnRole.size()) : std::string();
}

BoundUser bound_user(const kube::Object& binding) {
  const Result<WallTime> since =
      parse_rfc3339(binding.string_at({"metadata", "creationTimestamp"}));
  return {.name = user_of(binding),
          .ns = std::string(binding.ns()),
          .role = own_role_of(binding),
          .since = since.value_or(WallTime())};
}

}  // namespace

std::span<const std::string_view> user_role_names() {
  return kRoleNames;
}

Result<void> check_user(const NewUser& user) {
  const auto is_bad = [](char c) {
    return c == '/' || c == '%' || static_cast<unsigned char>(c) < 0x21 || c == 0x7f;
  };
  if (user.name.empty() || user.name.size() > 200 || std::ranges::any_of(user.name, is_bad)) {
    return fail(invalid_argument("user name \"" + user.name +
                                 "\": expected 1 to 200 characters without blanks, / and %"));
  }
  for (const std::string& name : user.groups) {
    if (name.starts_with("system:") || name.empty()) {
      return fail(invalid_argument("group \"" + name + "\": names of system: are Kubernetes' own"));
    }
  }
  if (user.name.starts_with("system:")) {
    return fail(
        invalid_argument("user name \"" + user.name + "\": names of system: are Kubernetes' own"));
  }
  if (std::ranges::find(kRoleNames, user.role) == kRoleNames.end()) {
    return fail(
        invalid_argument("role \"" + user.role + "\": expected viewer, user, owner or admin"));
  }
  return {};
}

Task<Result<void>> bind_user(kube::Client& client, NewUser user) {
  CO_TRY(check_user(user));
  const auto role = std::ranges::find(kRoles, user.role, &RolePair::name);
  const std::array<std::string, 2> wanted = {std::string(role->kubernetes),
                                             std::string(kOwnRole) + user.role};
  const kube::WriteOptions ours{.field_manager = std::string(kManager), .force = true};
  for (const std::string& each : wanted) {
    std::string text = binding_text(user, each);
    CO_TRY(co_await client.apply(kBindings, {user.ns, binding_name(user.name, each)},
                                 std::move(text), ours));
  }
  std::string ns = user.ns;
  CO_TRY_ASSIGN(const std::vector<kube::ObjectRef> all,
                co_await bindings_of(client, std::move(ns)));
  for (const kube::ObjectRef& each : all) {
    const std::string bound(each->string_at({"roleRef", "name"}));
    if (user_of(*each) == user.name && std::ranges::find(wanted, bound) == wanted.end()) {
      const Result<kube::ObjectRef> gone = co_await client.remove(kBindings, each->key());
      if (!gone && gone.error().code != ErrorCode::not_found) {
        co_return fail(Error(gone.error()));
      }
    }
  }
  co_return Result<void>();
}

Task<Result<std::vector<BoundUser>>> list_users(kube::Client& client, std::string ns) {
  CO_TRY_ASSIGN(const std::vector<kube::ObjectRef> all,
                co_await bindings_of(client, std::move(ns)));
  std::vector<BoundUser> users;
  for (const kube::ObjectRef& each : all) {
    if (BoundUser user = bound_user(*each); !user.name.empty() && !user.role.empty()) {
      users.push_back(std::move(user));
    }
  }
  std::ranges::sort(users, {}, [](const BoundUser& user) { return std::pair(user.name, user.ns); });
  co_return users;
}

Task<Result<std::vector<BoundUser>>> remove_user(kube::Client& client, std::string name,
                                                 std::string ns) {
  CO_TRY_ASSIGN(const std::vector<kube::ObjectRef> all,
                co_await bindings_of(client, std::move(ns)));
  std::vector<BoundUser> gone;
  for (const kube::ObjectRef& each : all) {
    BoundUser user = bound_user(*each);
    if (user.name != name) {
      continue;
    }
    const Result<kube::ObjectRef> removed = co_await client.remove(kBindings, each->key());
    if (!removed && removed.error().code != ErrorCode::not_found) {
      co_return fail(Error(removed.error()));
    }
    if (!user.role.empty()) {
      gone.push_back(std::move(user));
    }
  }
  co_return gone;
}

Task<Result<void>> write_user_kubeconfig(Env env, std::string file, kube::Config server,
                                         NewUser user, UserCredentials credentials) {
  const std::string context = user.name + "@" + user.ns;
  kube::ClusterEntry cluster{.name = "codeflare", .server = server.server};
  cluster.certificate_authority_data = to_base64(server.tls.ca_pem);
  cluster.insecure_skip_tls_verify = server.tls.insecure;
  cluster.tls_server_name = server.tls.server_name;
  kube::UserEntry entry{.name = user.name};
  entry.client_certificate_data = to_base64(credentials.certificate_pem);
  entry.client_key_data = Secret(to_base64(credentials.key_pem.reveal()));
  const kube::ContextEntry now{
      .name = context, .cluster = cluster.name, .user = user.name, .ns = user.ns};
  co_return co_await kube::edit_kubeconfig(env, std::move(file),
                                           [&](kube::KubeconfigEditor& editor) -> Result<void> {
                                             editor.set_cluster(cluster);
                                             editor.set_user(entry);
                                             editor.set_context(now);
                                             editor.set_current_context(context);
                                             return {};
                                           });
}

}  // namespace codeflare::sdk
