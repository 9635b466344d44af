#include "apiserver/crd/names.h"

#include "apiserver/schema/checks.h"
#include "apiserver/schema/field_errors.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

namespace codeflare::apiserver {
namespace {

constexpr std::string_view kApproved = "api-approved.kubernetes.io";

const json::Value& part(const json::Value& value, std::initializer_list<std::string_view> path) {
  static const json::Value kEmpty = json::Value::object();
  const json::Value* found = value.get(path);
  return found != nullptr && found->is_object() ? *found : kEmpty;
}

json::Value& make_object(json::Arena& arena, json::Value& parent, std::string_view key) {
  json::Value* child = parent.find(key);
  return child != nullptr && child->is_object() ? *child
                                                : parent.set(arena, key, json::Value::object());
}

// Works out which of the names asked for may be used.
class NameSettlement {
 public:
  NameSettlement(const json::Value& wanted, const json::Value& accepted,
                 const ClaimedNames& claimed)
      : wanted_(wanted), accepted_(accepted), claimed_(claimed) {}

  json::Value run(json::Arena& arena) {
    json::Value result = json::Value::object();
    if (const json::Value* categories = wanted_.find("categories")) {
      result.set_static(arena, "categories", categories->clone(arena));
    }
    settle(arena, result, "kind", "KindConflict", claimed_.kinds);
    settle(arena, result, "listKind", "ListKindConflict", claimed_.kinds);
    settle(arena, result, "plural", "PluralConflict", claimed_.resources);
    settle_short_names(arena, result);
    settle(arena, result, "singular", "SingularConflict", claimed_.resources);
    return result;
  }

  bool conflict() const { return !reason_.empty(); }
  const std::string& reason() const { return reason_; }
  const std::string& message() const { return message_; }

 private:
  void settle(json::Arena& arena, json::Value& result, std::string_view key,
              std::string_view reason, const std::set<std::string, std::less<>>& used) {
    std::string_view name = wanted_.string_or_empty(key);
    std::string_view before = accepted_.string_or_empty(key);
    if (name != before && used.contains(name)) {
      reason_ = reason;
      message_ = quote(name) + " is already in use";
      name = before;
    }
    result.set_static(arena, key, json::Value::string(arena, name));
  }

  void settle_short_names(json::Arena& arena, json::Value& result) {
    const json::Value* names = wanted_.find("shortNames");
    const json::Value* before = accepted_.find("shortNames");
    std::set<std::string_view> ours;
    for (const json::Value& old :
         before == nullptr ? std::span<const json::Value>() : before->items()) {
      if (old.is_string()) {
        ours.insert(old.as_string());
      }
    }
    std::vector<std::string> used;
    for (const json::Value& name :
         names == nullptr ? std::span<const json::Value>() : names->items()) {
      if (name.is_string() && !ours.contains(name.as_string()) &&
          claimed_.resources.contains(name.as_string())) {
        used.push_back(quote(name.as_string()) + " is already in use");
      }
    }
    if (!used.empty()) {
      reason_ = "ShortNamesConflict";
      message_ = used.size() == 1 ? used[0] : "[" + joined(used) + "]";
      names = before;
    }
    if (names != nullptr) {
      result.set_static(arena, "shortNames", names->clone(arena));
    }
  }

  static std::string joined(const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& text : texts) {
      all += (all.empty() ? "" : ", ") + text;
    }
    return all;
  }

  const json::Value& wanted_;
  const json::Value& accepted_;
  const ClaimedNames& claimed_;
  std::string reason_;
  std::string message_;
};

void add_stored_version(json::Arena& arena, const json::Value& definition, json::Value& status) {
  json::Value* stored = status.find("storedVersions");
  if (stored == nullptr || !stored->is_array()) {
    stored = &status.set_static(arena, "storedVersions", json::Value::array());
  }
  const json::Value* versions = definition.get({"spec", "versions"});
  for (const json::Value& version :
       versions == nullptr ? std::span<const json::Value>() : versions->items()) {
    const json::Value* storage = version.find("storage");
    const json::Value* name = version.find("name");
    if (storage == nullptr || name == nullptr || !storage->is_boolean() || !storage->as_bool()) {
      continue;
    }
    if (std::ranges::none_of(stored->items(),
                             [&](const json::Value& known) { return json::equal(known, *name); })) {
      stored->push_back(arena, name->clone(arena));
    }
    return;
  }
}

void set_approval(json::Arena& arena, json::Value& definition, WallTime now) {
  if (!is_protected_group(part(definition, {"spec"}).string_or_empty("group"))) {
    return;
  }
  ApprovalState state = approval_of(definition);
  static constexpr std::array<std::string_view, 4> kReasons = {
      "MissingAnnotation", "InvalidAnnotation", "UnapprovedAnnotation", "ApprovedAnnotation"};
  set_condition(arena, definition,
                {"KubernetesAPIApprovalPolicyConformant", state.approval == Approval::approved,
                 kReasons[static_cast<std::size_t>(state.approval)], state.reason},
                now);
}

}  // namespace

void ClaimedNames::add(const json::Value& accepted_names) {
  for (std::string_view key : {"plural", "singular"}) {
    resources.emplace(accepted_names.string_or_empty(key));
  }
  if (const json::Value* names = accepted_names.find("shortNames")) {
    for (const json::Value& name : names->items()) {
      resources.emplace(name.is_string() ? name.as_string() : std::string_view());
    }
  }
  for (std::string_view key : {"kind", "listKind"}) {
    kinds.emplace(accepted_names.string_or_empty(key));
  }
}

void set_condition(json::Arena& arena, json::Value& definition,
                   const DefinitionCondition& condition, WallTime now) {
  json::Value& status = make_object(arena, definition, "status");
  json::Value* conditions = status.find("conditions");
  if (conditions == nullptr || !conditions->is_array()) {
    conditions = &status.set_static(arena, "conditions", json::Value::array());
  }
  json::Value* entry = nullptr;
  for (json::Value& known : conditions->items()) {
    entry = known.string_or_empty("type") == condition.type ? &known : entry;
  }
  if (entry == nullptr) {
    entry = &conditions->push_back(arena, json::Value::object());
  }
  std::string_view text = condition.status ? "True" : "False";
  if (entry->string_or_empty("status") != text ||
      entry->string_or_empty("lastTransitionTime").empty()) {
    entry->set_static(arena, "lastTransitionTime", json::Value::string(arena, to_rfc3339(now)));
  }
  entry->set_static(arena, "message", json::Value::string(arena, condition.message));
  entry->set_static(arena, "reason", json::Value::string(arena, condition.reason));
  entry->set_static(arena, "status", json::Value::string_view_of(text));
  entry->set_static(arena, "type", json::Value::string(arena, condition.type));
}

bool is_condition_true(const json::Value& definition, std::string_view type) {
  const json::Value* conditions = definition.get({"status", "conditions"});
  return conditions != nullptr &&
         std::ranges::any_of(conditions->items(), [&](const json::Value& entry) {
           return entry.string_or_empty("type") == type &&
                  entry.string_or_empty("status") == "True";
         });
}

void settle_status(json::Arena& arena, json::Value& definition, const ClaimedNames& claimed,
                   WallTime now) {
  json::Value& status = make_object(arena, definition, "status");
  NameSettlement names(part(definition, {"spec", "names"}), part(status, {"acceptedNames"}),
                       claimed);
  json::Value accepted = names.run(arena);
  status.set_static(arena, "acceptedNames", accepted);
  add_stored_version(arena, definition, status);
  if (names.conflict()) {
    set_condition(arena, definition, {"NamesAccepted", false, names.reason(), names.message()},
                  now);
    if (!is_condition_true(definition, "Established")) {
      set_condition(arena, definition,
                    {"Established", false, "NotAccepted", "not all names are accepted"}, now);
    }
  } else {
    set_condition(arena, definition, {"NamesAccepted", true, "NoConflicts", "no conflicts found"},
                  now);
    if (!is_condition_true(definition, "Established")) {
      set_condition(
          arena, definition,
          {"Established", true, "InitialNamesAccepted", "the initial names have been accepted"},
          now);
    }
  }
  set_approval(arena, definition, now);
}

bool is_protected_group(std::string_view group) {
  return group == "k8s.io" || group.ends_with(".k8s.io") || group == "kubernetes.io" ||
         group.ends_with(".kubernetes.io");
}

ApprovalState approval_of(const json::Value& definition) {
  std::string_view text = part(definition, {"metadata", "annotations"}).string_or_empty(kApproved);
  const std::string must = "protected groups must have approval annotation " + quote(kApproved);
  constexpr std::string_view kSee = ", see https://github.com/kubernetes/enhancements/pull/1111";
  if (text.empty()) {
    return {Approval::missing, must + std::string(kSee)};
  }
  if (text.starts_with("unapproved")) {
    return {Approval::bypassed, "not approved: " + quote(text)};
  }
  std::size_t host = text.find("://");
  if (host != std::string_view::npos && host > 0 && text.size() > host + 3 &&
      text[host + 3] != '/' && schema::format_accepts("uri", text)) {
    return {Approval::approved, "approved in " + std::string(text)};
  }
  return {Approval::invalid,
          must + " with either a URL or a reason starting with \"unapproved\"" + std::string(kSee)};
}

}  // namespace codeflare::apiserver
