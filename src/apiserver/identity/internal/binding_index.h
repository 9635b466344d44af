#pragma once

#include "apiserver/identity/internal/rule_index.h"
#include "apiserver/request/user.h"
#include "json/value.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver::internal {

struct RbacSubject {
  std::string kind{};  // User, Group, ServiceAccount
  std::string name{};
  std::string ns{};
};

struct RbacBinding {
  std::string ns{};  // empty: a ClusterRoleBinding
  std::string name{};
  std::string role_kind{};
  std::string role_name{};
  std::vector<RbacSubject> subjects{};

  // The first subject that the user is; null when there is none.
  const RbacSubject* subject_of(const User& user) const;
  // ClusterRoleBinding "x" of ClusterRole "y" to User "z"
  std::string describe(const RbacSubject& subject) const;
};

// The bindings of one namespace, or those of the cluster, found by who they are for.
class BindingIndex {
 public:
  void put(RbacBinding binding);
  void remove(std::string_view name);
  bool empty() const { return by_name_.empty(); }
  // Each binding once, in order of name.
  std::vector<const RbacBinding*> find(const User& user) const;

 private:
  using Entries = TextMap<std::vector<const RbacBinding*>>;
  Entries& entries_of(const RbacSubject& subject) {
    return subject.kind == "Group" ? groups_ : users_;
  }

  std::map<std::string, std::unique_ptr<RbacBinding>, std::less<>> by_name_;
  Entries users_;  // service accounts under the user names they have
  Entries groups_;
};

RbacBinding read_binding(const json::Value& object, std::string_view ns, std::string_view name);

}  // namespace codeflare::apiserver::internal
