#include "elastic/agent_access.h"

#include "elastic/kubernetes_store.h"
#include "json/write.h"

#include <initializer_list>
#include <string_view>

namespace codeflare::elastic {

namespace {

void add_owner(json::Writer& writer, const std::string& job, const model::OwnerReference& owner) {
  writer.key("labels").begin_object().member(kJobLabel, job).end_object();
  writer.key("ownerReferences").begin_array().begin_object();
  writer.member("apiVersion", owner.api_version).member("kind", owner.kind);
  writer.member("name", owner.name).member("uid", owner.uid);
  writer.key("controller").boolean(owner.controller.value_or(false));
  writer.key("blockOwnerDeletion").boolean(owner.block_owner_deletion.value_or(false));
  writer.end_object().end_array();
}

std::string object_of(std::string_view api_version, std::string_view kind,
                      const AgentAccess& access, const std::string& name, auto add) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object().member("apiVersion", api_version).member("kind", kind);
  writer.key("metadata").begin_object().member("name", name).member("namespace", access.ns);
  if (access.owner) {
    add_owner(writer, access.job, *access.owner);
  }
  writer.end_object();
  add(writer);
  writer.end_object();
  return text;
}

void add_list(json::Writer& writer, std::string_view name,
              std::initializer_list<std::string_view> items) {
  writer.key(name).begin_array();
  for (std::string_view item : items) {
    writer.string(item);
  }
  writer.end_array();
}

}  // namespace

std::string agent_access_name(const std::string& job) {
  return job + "-agent";
}

std::string agent_role(const AgentAccess& access) {
  return object_of("rbac.authorization.k8s.io/v1", "Role", access, agent_access_name(access.job),
                   [&](json::Writer& writer) {
                     writer.key("rules").begin_array().begin_object();
                     add_list(writer, "apiGroups", {training_jobs().group});
                     add_list(writer, "resources", {training_jobs().plural});
                     add_list(writer, "resourceNames", {access.job});
                     add_list(writer, "verbs", {"get", "watch"});
                     writer.end_object().begin_object();
                     add_list(writer, "apiGroups", {leases().group});
                     add_list(writer, "resources", {leases().plural});
                     writer.key("resourceNames").begin_array().string(round_name(access.job));
                     for (std::int32_t index = 0; index < access.size_max; ++index) {
                       writer.string(member_name(access.job, index));
                     }
                     writer.end_array();
                     add_list(writer, "verbs", {"get", "watch", "patch"});
                     writer.end_object().end_array();
                   });
}

std::string agent_role_binding(const AgentAccess& access) {
  const std::string name = agent_access_name(access.job);
  return object_of("rbac.authorization.k8s.io/v1", "RoleBinding", access, name,
                   [&](json::Writer& writer) {
                     writer.key("roleRef").begin_object();
                     writer.member("apiGroup", "rbac.authorization.k8s.io").member("kind", "Role");
                     writer.member("name", name).end_object();
                     writer.key("subjects").begin_array().begin_object();
                     writer.member("kind", "ServiceAccount").member("name", access.service_account);
                     writer.member("namespace", access.ns).end_object().end_array();
                   });
}

std::string agent_service_account(const AgentAccess& access) {
  return object_of("v1", "ServiceAccount", access, agent_access_name(access.job),
                   [](json::Writer&) {});
}

std::string lease_without_holder(const std::string& ns, const std::string& name) {
  return lease_without_holder(AgentAccess{.ns = ns, .job = {}}, name);
}

std::string lease_without_holder(const AgentAccess& access, const std::string& name) {
  return object_of("coordination.k8s.io/v1", "Lease", access, name,
                   [](json::Writer& writer) { writer.key("spec").begin_object().end_object(); });
}

}  // namespace codeflare::elastic
