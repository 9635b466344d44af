#include "controllers/access/user_roles.h"

#include "controllers/access/access_table.h"
#include "json/write.h"

namespace codeflare::controllers {

namespace {

using runtime::Right;

constexpr std::string_view kLook = "get list watch";
constexpr std::string_view kWork = "get list watch create update patch delete deletecollection";

constexpr Right kViewer[] = {
    {kLook, "workload.codeflare.dev", "appwrappers", "work in the queue"},
    {kLook, "mcad.ibm.com", "appwrappers", "work in the queue"},
    {kLook, "quota.codeflare.dev", "quotasubtrees", "quota trees"},
    {kLook, "ray.io", "rayclusters rayjobs", "Ray"},
    {kLook, "breezeml.ai", "trainingjobs", "elastic training"},
    {kLook, "scale.codeflare.dev", "machinetypes machinerequests", "machines on demand"},
    {kLook, "usage.codeflare.dev", "usageledgers", "what work has used"},
    {"get", "view.codeflare.dev", "appwrappers/explain appwrappers/log trainingjobs/explain",
     "explanations and logs through the controller"},
    {kLook, "codeflare.dev", "applications datasets images runs", "the platform"},
};

constexpr Right kUser[] = {
    {kWork, "workload.codeflare.dev", "appwrappers", "work in the queue"},
    {kWork, "mcad.ibm.com", "appwrappers", "work in the queue"},
    {kWork, "ray.io", "rayclusters rayjobs", "Ray"},
    {kWork, "breezeml.ai", "trainingjobs", "elastic training"},
    {kWork, "codeflare.dev", "runs", "runs of applications"},
};

constexpr Right kOwner[] = {
    {kWork, "codeflare.dev", "applications datasets", "applications and their data"},
};

constexpr Right kAdmin[] = {
    {kWork, "codeflare.dev", "images", "images fetched ahead"},
};

// Sizes belong to no namespace and hold no secret. A ClusterRoleBinding gives them to every user: a
// RoleBinding could not.
constexpr Right kSizes[] = {
    {kLook, "codeflare.dev", "runsizeconfigurations", "sizes of runs"},
};

// Quotas, sizes and policies decide about the work of others: no role of one namespace has them.
constexpr Right kPlatformAdmin[] = {
    {kWork, "quota.codeflare.dev", "quotasubtrees", "quota trees"},
    {kWork, "scale.codeflare.dev", "machinetypes", "machines that may be asked for"},
    {kWork, "codeflare.dev", "platformreposecrets runpolicies runsizeconfigurations",
     "sizes, policies, and credentials of repositories"},
};

constexpr UserRole kRoles[] = {
    {"codeflare-viewer", "view", "see work, quotas and applications", kViewer},
    {"codeflare-user", "edit", "submit, change and delete work", kUser},
    {"codeflare-owner", "edit", "register applications and data sets", kOwner},
    {"codeflare-admin", "admin", "administer a namespace", kAdmin},
    {kSizesRole, "", "see the sizes of runs; every user has it", kSizes},
    {"codeflare-platform-admin", "", "set quotas, sizes and policies of the cluster",
     kPlatformAdmin},
};

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

void write_metadata(json::Writer& writer, std::string_view name, std::string_view managed_by,
                    std::string_view aggregate_to) {
  writer.key("metadata").begin_object().member("name", name).key("labels").begin_object();
  if (!managed_by.empty()) {
    writer.member("app.kubernetes.io/managed-by", managed_by);
  }
  if (!aggregate_to.empty()) {
    writer.member("rbac.authorization.k8s.io/aggregate-to-" + std::string(aggregate_to), "true");
  }
  writer.end_object().end_object();
}

}  // namespace

std::span<const UserRole> user_roles() {
  return kRoles;
}

std::string role_json(const UserRole& role, std::string_view managed_by) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object()
      .member("apiVersion", std::string(kRbac) + "/v1")
      .member("kind", "ClusterRole");
  write_metadata(writer, role.name, managed_by, role.aggregate_to);
  writer.key("rules").raw(rules_json(rules_of(role.rights))).end_object();
  return text;
}

std::string sizes_binding_json(std::string_view managed_by) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object().member("apiVersion", std::string(kRbac) + "/v1");
  writer.member("kind", "ClusterRoleBinding");
  write_metadata(writer, kSizesRole, managed_by, "");
  writer.key("roleRef").begin_object().member("apiGroup", kRbac).member("kind", "ClusterRole");
  writer.member("name", kSizesRole).end_object();
  writer.key("subjects").begin_array().begin_object().member("apiGroup", kRbac);
  writer.member("kind", "Group").member("name", "system:authenticated");
  writer.end_object().end_array().end_object();
  return text;
}

}  // namespace codeflare::controllers
