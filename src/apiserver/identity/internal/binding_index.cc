#include "apiserver/identity/internal/binding_index.h"

#include "apiserver/identity/service_account_name.h"
#include "apiserver/schema/field_errors.h"

#include <algorithm>
#include <utility>

namespace codeflare::apiserver::internal {

namespace {

// The key of a subject in the index; empty for subjects that nobody can be.
std::string key_of(const RbacSubject& subject, std::string_view binding_ns) {
  if (subject.kind == "User" || subject.kind == "Group") {
    return subject.name;
  }
  if (subject.kind != "ServiceAccount") {
    return {};
  }
  std::string_view ns = subject.ns.empty() ? binding_ns : std::string_view(subject.ns);
  return ns.empty() ? std::string() : service_account_user_name(ns, subject.name);
}

}  // namespace

const RbacSubject* RbacBinding::subject_of(const User& user) const {
  for (const RbacSubject& subject : subjects) {
    std::string key = key_of(subject, ns);
    bool is = subject.kind == "Group" ? std::ranges::find(user.groups, key) != user.groups.end()
                                      : !key.empty() && key == user.name;
    if (is) {
      return &subject;
    }
  }
  return nullptr;
}

std::string RbacBinding::describe(const RbacSubject& subject) const {
  std::string whom = subject.name;
  if (subject.kind == "ServiceAccount") {
    whom += '/' + (subject.ns.empty() ? ns : subject.ns);
  }
  return (ns.empty() ? "ClusterRoleBinding " + quote(name)
                     : "RoleBinding " + quote(name + '/' + ns)) +
         " of " + role_kind + ' ' + quote(role_name) + " to " + subject.kind + ' ' + quote(whom);
}

void BindingIndex::put(RbacBinding binding) {
  remove(binding.name);
  auto owned = std::make_unique<RbacBinding>(std::move(binding));
  for (const RbacSubject& subject : owned->subjects) {
    std::string key = key_of(subject, owned->ns);
    if (!key.empty()) {
      std::vector<const RbacBinding*>& list = entries_of(subject)[key];
      if (std::ranges::find(list, owned.get()) == list.end()) {
        list.push_back(owned.get());
      }
    }
  }
  std::string name = owned->name;
  by_name_.emplace(std::move(name), std::move(owned));
}

void BindingIndex::remove(std::string_view name) {
  auto found = by_name_.find(name);
  if (found == by_name_.end()) {
    return;
  }
  const RbacBinding* binding = found->second.get();
  for (const RbacSubject& subject : binding->subjects) {
    Entries& entries = entries_of(subject);
    auto list = entries.find(key_of(subject, binding->ns));
    if (list == entries.end()) {
      continue;
    }
    std::erase(list->second, binding);
    if (list->second.empty()) {
      entries.erase(list);
    }
  }
  by_name_.erase(found);
}

std::vector<const RbacBinding*> BindingIndex::find(const User& user) const {
  std::vector<const RbacBinding*> found;
  auto add = [&](const Entries& entries, const std::string& key) {
    if (auto list = entries.find(key); list != entries.end()) {
      found.insert(found.end(), list->second.begin(), list->second.end());
    }
  };
  add(users_, user.name);
  for (const std::string& group : user.groups) {
    add(groups_, group);
  }
  std::ranges::sort(found, {}, [](const RbacBinding* one) { return std::string_view(one->name); });
  auto repeated = std::ranges::unique(found);
  found.erase(repeated.begin(), repeated.end());
  return found;
}

RbacBinding read_binding(const json::Value& object, std::string_view ns, std::string_view name) {
  RbacBinding binding{.ns = std::string(ns), .name = std::string(name)};
  if (const json::Value* ref = object.find("roleRef")) {
    binding.role_kind = ref->string_or_empty("kind");
    binding.role_name = ref->string_or_empty("name");
  }
  if (const json::Value* subjects = object.find("subjects")) {
    for (const json::Value& subject : subjects->items()) {
      binding.subjects.push_back({.kind = std::string(subject.string_or_empty("kind")),
                                  .name = std::string(subject.string_or_empty("name")),
                                  .ns = std::string(subject.string_or_empty("namespace"))});
    }
  }
  return binding;
}

}  // namespace codeflare::apiserver::internal
