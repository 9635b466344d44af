#include "kube/internal/config_text.h"
#include "kube/kubeconfig.h"

#include <cstddef>
#include <utility>

namespace codeflare::kube {

namespace {

using json::Arena;
using json::Value;

// An empty text means that the field is not there.
void set_text(Arena& arena, Value& object, std::string_view key, std::string_view text) {
  if (text.empty()) {
    object.erase(key);
  } else {
    object.set(arena, key, Value::string(arena, text));
  }
}

void set_flag(Arena& arena, Value& object, std::string_view key, bool flag) {
  if (flag) {
    object.set(arena, key, Value::boolean(true));
  } else {
    object.erase(key);
  }
}

Value list_of(Arena& arena, const std::vector<std::string>& texts) {
  Value list = Value::array();
  for (const std::string& text : texts) {
    list.push_back(arena, Value::string(arena, text));
  }
  return list;
}

void set_list(Arena& arena, Value& object, std::string_view key,
              const std::vector<std::string>& texts) {
  if (texts.empty()) {
    object.erase(key);
  } else {
    object.set(arena, key, list_of(arena, texts));
  }
}

void set_extra(Arena& arena, Value& user, const UserEntry& entry) {
  if (entry.impersonate_extra.empty()) {
    user.erase("as-user-extra");
    return;
  }
  Value extra = Value::object();
  for (const auto& [key, values] : entry.impersonate_extra) {
    extra.set(arena, key, list_of(arena, values));
  }
  user.set(arena, "as-user-extra", extra);
}

void set_exec(Arena& arena, Value& user, const ExecPlugin& plugin) {
  Value exec = Value::object();
  set_text(arena, exec, "apiVersion", plugin.api_version);
  set_text(arena, exec, "command", plugin.command);
  set_list(arena, exec, "args", plugin.args);
  if (!plugin.env.empty()) {
    Value variables = Value::array();
    for (const auto& [name, value] : plugin.env) {
      Value variable = Value::object();
      variable.set(arena, "name", Value::string(arena, name));
      variable.set(arena, "value", Value::string(arena, value));
      variables.push_back(arena, variable);
    }
    exec.set(arena, "env", variables);
  }
  set_text(arena, exec, "installHint", plugin.install_hint);
  exec.set(arena, "provideClusterInfo", Value::boolean(plugin.provide_cluster_info));
  set_text(arena, exec, "interactiveMode", plugin.interactive_mode);
  user.set(arena, "exec", exec);
}

const Value* item_of(const Value* list, std::string_view name) {
  if (list != nullptr) {
    for (const Value& item : list->items()) {
      if (item.string_or_empty("name") == name) {
        return &item;
      }
    }
  }
  return nullptr;
}

Value* item_of(Value* list, std::string_view name) {
  if (list != nullptr) {
    for (Value& item : list->items()) {
      if (item.string_or_empty("name") == name) {
        return &item;
      }
    }
  }
  return nullptr;
}

// The member as a mapping or list, made empty when it is absent or null.
Value& ensure(Arena& arena, Value& object, std::string_view key, Value empty) {
  Value* found = object.find(key);
  return found != nullptr && !found->is_null() ? *found : object.set(arena, key, empty);
}

}  // namespace

Result<KubeconfigEditor> KubeconfigEditor::parse(std::string_view text, const std::string& path) {
  // The editor never writes a file that it cannot read: a typing mistake must not cost the file.
  TRY(parse_kubeconfig(text, path));
  TRY_ASSIGN(json::Document document, internal::parse_config_text(text, path, nullptr));
  if (document.root.is_null()) {
    document.root = Value::object();
  }
  ensure(document.arena, document.root, "apiVersion", Value::string_view_of("v1"));
  ensure(document.arena, document.root, "kind", Value::string_view_of("Config"));
  return KubeconfigEditor(std::move(document));
}

Value& KubeconfigEditor::entry_body(std::string_view list, std::string_view name,
                                    std::string_view body) {
  Arena& arena = document_.arena;
  Value& items = ensure(arena, document_.root, list, Value::array());
  Value* item = item_of(&items, name);
  if (item == nullptr) {
    item = &items.push_back(arena, Value::object());
    item->set(arena, "name", Value::string(arena, name));
  }
  return ensure(arena, *item, body, Value::object());
}

void KubeconfigEditor::set_cluster(const ClusterEntry& cluster) {
  Arena& arena = document_.arena;
  Value& body = entry_body("clusters", cluster.name, "cluster");
  set_text(arena, body, "server", cluster.server);
  set_text(arena, body, "certificate-authority", cluster.certificate_authority);
  set_text(arena, body, "certificate-authority-data", cluster.certificate_authority_data);
  set_flag(arena, body, "insecure-skip-tls-verify", cluster.insecure_skip_tls_verify);
  set_text(arena, body, "tls-server-name", cluster.tls_server_name);
  set_text(arena, body, "proxy-url", cluster.proxy_url.reveal());
  set_flag(arena, body, "disable-compression", cluster.disable_compression);
}

void KubeconfigEditor::set_user(const UserEntry& user) {
  Arena& arena = document_.arena;
  Value& body = entry_body("users", user.name, "user");
  set_text(arena, body, "client-certificate", user.client_certificate);
  set_text(arena, body, "client-certificate-data", user.client_certificate_data);
  set_text(arena, body, "client-key", user.client_key);
  set_text(arena, body, "client-key-data", user.client_key_data.reveal());
  set_text(arena, body, "token", user.token.reveal());
  set_text(arena, body, "tokenFile", user.token_file);
  set_text(arena, body, "username", user.username);
  set_text(arena, body, "password", user.password.reveal());
  set_text(arena, body, "as", user.impersonate_user);
  set_text(arena, body, "as-uid", user.impersonate_uid);
  set_list(arena, body, "as-groups", user.impersonate_groups);
  set_extra(arena, body, user);
  // Credentials of the old entry that would win over, or forbid, the new ones.
  body.erase("auth-provider");
  body.erase("exec");
  if (user.exec) {
    set_exec(arena, body, *user.exec);
  }
}

void KubeconfigEditor::set_context(const ContextEntry& context) {
  Arena& arena = document_.arena;
  Value& body = entry_body("contexts", context.name, "context");
  set_text(arena, body, "cluster", context.cluster);
  set_text(arena, body, "user", context.user);
  set_text(arena, body, "namespace", context.ns);
}

void KubeconfigEditor::set_current_context(std::string_view name) {
  document_.root.set(document_.arena, "current-context", Value::string(document_.arena, name));
}

void KubeconfigEditor::set_note(std::string_view context, std::string_view name, const Note& note) {
  Arena& arena = document_.arena;
  Value& notes =
      ensure(arena, entry_body("contexts", context, "context"), "extensions", Value::array());
  Value* item = item_of(&notes, name);
  if (item == nullptr) {
    item = &notes.push_back(arena, Value::object());
    item->set(arena, "name", Value::string(arena, name));
  }
  Value body = Value::object();
  for (const auto& [key, text] : note) {
    body.set(arena, key, Value::string(arena, text));
  }
  item->set(arena, "extension", body);
}

std::optional<KubeconfigEditor::Note> KubeconfigEditor::note(std::string_view context,
                                                             std::string_view name) const {
  const Value* entry = item_of(document_.root.find("contexts"), context);
  const Value* notes = entry == nullptr ? nullptr : entry->get({"context", "extensions"});
  const Value* item = item_of(notes, name);
  const Value* body = item == nullptr ? nullptr : item->find("extension");
  if (body == nullptr || !body->is_object()) {
    return std::nullopt;
  }
  Note note;
  for (const json::Member& member : body->members()) {
    if (member.value.is_string()) {
      note.emplace(member.key, member.value.as_string());
    }
  }
  return note;
}

std::string KubeconfigEditor::current_context() const {
  return std::string(document_.root.string_or_empty("current-context"));
}

bool KubeconfigEditor::remove_entry(std::string_view list, std::string_view name) {
  Value* items = document_.root.find(list);
  Value* item = item_of(items, name);
  if (item == nullptr) {
    return false;
  }
  items->erase_at(static_cast<std::size_t>(item - items->items().data()));
  return true;
}

bool KubeconfigEditor::remove_cluster(std::string_view name) {
  return remove_entry("clusters", name);
}

bool KubeconfigEditor::remove_user(std::string_view name) {
  return remove_entry("users", name);
}

bool KubeconfigEditor::remove_context(std::string_view name) {
  if (!remove_entry("contexts", name)) {
    return false;
  }
  if (current_context() == name) {
    set_current_context("");
  }
  return true;
}

bool KubeconfigEditor::any_context_uses(std::string_view field, std::string_view name) const {
  const Value* contexts = document_.root.find("contexts");
  if (contexts == nullptr) {
    return false;
  }
  for (const Value& item : contexts->items()) {
    const Value* context = item.find("context");
    if (context != nullptr && context->string_or_empty(field) == name) {
      return true;
    }
  }
  return false;
}

bool KubeconfigEditor::remove_context_and_parts(std::string_view name) {
  Value* item = item_of(document_.root.find("contexts"), name);
  if (item == nullptr) {
    return false;
  }
  const Value* context = item->find("context");
  std::string cluster(context == nullptr ? "" : context->string_or_empty("cluster"));
  std::string user(context == nullptr ? "" : context->string_or_empty("user"));
  remove_context(name);
  if (!any_context_uses("cluster", cluster)) {
    remove_cluster(cluster);
  }
  if (!any_context_uses("user", user)) {
    remove_user(user);
  }
  return true;
}

std::string KubeconfigEditor::text() const {
  return internal::write_config_text(document_.root);
}

}  // namespace codeflare::kube
