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

// Quotas, sizes and policies decide about the work of others: no role of one namespace has them.
constexpr Right kPlatformAdmin[] = {
    {kWork, "quota.codeflare.dev", "quotasubtrees", "quota trees"},
    {kWork, "codeflare.dev", "platformreposecrets runpolicies runsizeconfigurations",
     "sizes, policies, and credentials of repositories"},
};

constexpr UserRole kRoles[] = {
    {"codeflare-viewer", "view", "see work, quotas and applications", kViewer},
    {"codeflare-user", "edit", "submit, change and delete work", kUser},
    {"codeflare-owner", "edit", "register applications and data sets", kOwner},
    {"codeflare-admin", "admin", "administer a namespace", kAdmin},
    {"codeflare-platform-admin", "", "set quotas, sizes and policies of the cluster",
     kPlatformAdmin},
};

}  // namespace

std::span<const UserRole> user_roles() {
  return kRoles;
}

std::string role_json(const UserRole& role, std::string_view managed_by) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object()
      .member("apiVersion", "rbac.authorization.k8s.io/v1")
      .member("kind", "ClusterRole")
      .key("metadata")
      .begin_object()
      .member("name", role.name)
      .key("labels")
      .begin_object();
  if (!managed_by.empty()) {
    writer.member("app.kubernetes.io/managed-by", managed_by);
  }
  if (!role.aggregate_to.empty()) {
    writer.member("rbac.authorization.k8s.io/aggregate-to-" + std::string(role.aggregate_to),
                  "true");
  }
  writer.end_object().end_object().key("rules").raw(rules_json(rules_of(role.rights)));
  writer.end_object();
  return text;
}

}  // namespace codeflare::controllers
