#include "cli/verbs/internal/cluster_flags.h"

#include "base/split.h"
#include "json/yaml.h"
#include "sdk/cluster_fields.h"
#include "sdk/cluster_json.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::cli::internal {

namespace {

using json::Value;
using sdk::Alias;
using sdk::Field;
using sdk::FieldType;

constexpr std::size_t kFileBytesMax = std::size_t{1} << 20;

bool is_map(FieldType type) {
  return type == FieldType::text_map || type == FieldType::amount_map;
}
bool is_object(FieldType type) {
  return type == FieldType::object || type == FieldType::object_list;
}

std::string type_name(FieldType type) {
  switch (type) {
    case FieldType::integer:
      return "N";
    case FieldType::cpu:
      return "CPUS";
    case FieldType::memory:
      return "AMOUNT";
    case FieldType::duration:
      return "TIME";
    case FieldType::text_map:
    case FieldType::amount_map:
      return "KEY=VALUE";
    case FieldType::object:
    case FieldType::object_list:
      return "YAML|@FILE";
    default:
      return "TEXT";
  }
}

struct Row {
  std::string name;
  FieldType type = FieldType::text;
  std::string flags;
  std::string help;
  bool hidden = false;
};

// Those of "--cpu,--cpus" that no other option of the verb has.
std::string free_flags(CLI::App& verb, const std::string& flags) {
  std::string left;
  for (const std::string_view flag : split(flags, ',')) {
    if (verb.get_option_no_throw(std::string(flag)) == nullptr) {
      left += (left.empty() ? "" : ",") + std::string(flag);
    }
  }
  return left;
}

void add_row(CLI::App& verb, const std::shared_ptr<ClusterFlags>& flags, Row row) {
  row.flags = free_flags(verb, row.flags);
  if (row.flags.empty()) {
    return;
  }
  const auto take = [flags, name = row.name](const std::string& text) {
    flags->fields[name].push_back(text);
  };
  CLI::Option* option = nullptr;
  if (row.type == FieldType::boolean) {
    option = verb.add_flag_callback(row.flags, [take] { take("true"); }, row.help);
  } else {
    option = verb.add_option_function<std::vector<std::string>>(
        row.flags,
        [take](const std::vector<std::string>& texts) {
          for (const std::string& text : texts) {
            take(text);
          }
        },
        row.help);
    option->type_name(type_name(row.type))->expected(1);
    if (is_map(row.type) || row.type == FieldType::text_list) {
      option->take_all()->allow_extra_args(false);
    }
  }
  option->group(row.hidden ? "" : "Cluster");
}

Row row_of(const Field& field) {
  std::string help(field.help);
  const std::string fallback = sdk::default_text(field);
  if (!fallback.empty() && field.type != FieldType::boolean) {
    help += " (default " + fallback + ")";
  }
  return {std::string(field.name), field.type, std::string(field.flags), std::move(help)};
}

Row row_of(const Alias& alias) {
  const FieldType type =
      alias.rule == Alias::Rule::same ? sdk::find_field(alias.field)->type : FieldType::integer;
  return {std::string(alias.name), type, std::string(alias.flags), std::string(alias.help),
          alias.help == "older name"};
}

FieldType type_of(const std::string& name) {
  if (const Field* field = sdk::find_field(name)) {
    return field->type;
  }
  return row_of(*sdk::find_alias(name)).type;
}

Result<Value> map_value(json::Arena& arena, const std::string& name,
                        const std::vector<std::string>& texts) {
  Value map = Value::object();
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(invalid_argument(name + ": " + text + " is not KEY=VALUE"));
    }
    map.set(arena, text.substr(0, equals), Value::string(arena, text.substr(equals + 1)));
  }
  return map;
}

Result<Value> yaml_value(FileSystem& files, json::Arena& arena, const std::string& name,
                         std::string text) {
  if (text.starts_with("@")) {
    TRY_ASSIGN(text, files.read(text.substr(1), kFileBytesMax));
  }
  Result<std::vector<json::Document>> documents = json::parse_yaml(text);
  if (!documents) {
    return fail(std::move(documents).error().with_context(name));
  }
  if (documents->size() != 1) {
    return fail(invalid_argument(name + ": expected one YAML document"));
  }
  return documents->front().root.clone(arena);
}

Result<Value> value_of(FileSystem& files, json::Arena& arena, const std::string& name,
                       const std::vector<std::string>& texts) {
  const FieldType type = type_of(name);
  if (is_map(type)) {
    return map_value(arena, name, texts);
  }
  if (type == FieldType::text_list) {
    Value list = Value::array();
    for (const std::string& text : texts) {
      list.push_back(arena, Value::string(arena, text));
    }
    return list;
  }
  if (texts.size() > 1 && type != FieldType::boolean) {
    return fail(invalid_argument(name + ": given twice, as " + texts[0] + " and " + texts[1]));
  }
  if (is_object(type)) {
    return yaml_value(files, arena, name, texts.front());
  }
  return Value::string(arena, texts.front());
}

// The fields that a name sets.
std::vector<std::string_view> targets(std::string_view name) {
  const Alias* alias = sdk::find_alias(name);
  return alias == nullptr ? std::vector{name} : std::vector{alias->field, alias->second};
}

bool is_among(std::string_view text, const std::vector<std::string_view>& list) {
  return std::ranges::find(list, text) != list.end();
}

// An option takes the place of what the file says of the same fields, under whichever name.
void override_fields(Value& file, const ClusterFlags& flags) {
  std::vector<std::string> replaced;
  for (const json::Member& member : file.members()) {
    for (const auto& [name, texts] : flags.fields) {
      const bool same = std::ranges::any_of(targets(name), [&](std::string_view target) {
        return !target.empty() && is_among(target, targets(member.key));
      });
      if (same) {
        replaced.emplace_back(member.key);
        break;
      }
    }
  }
  for (const std::string& key : replaced) {
    file.erase(key);
  }
}

// Members of `file` take the place of what `base` says of the same fields.
void put_over(Value& base, json::Arena& arena, const Value& file) {
  ClusterFlags given;
  for (const json::Member& member : file.members()) {
    given.fields.try_emplace(std::string(member.key));
  }
  override_fields(base, given);
  for (const json::Member& member : file.members()) {
    base.set(arena, std::string(member.key), member.value.clone(arena));
  }
}

Result<json::Document> merged(Session& session, const ClusterFlags& flags,
                              const sdk::ClusterConfig* base) {
  FileSystem& files = session.env().files;
  json::Document document;
  document.root = base == nullptr ? Value::object() : sdk::to_json(document.arena, *base);
  if (!flags.from.empty()) {
    TRY_ASSIGN(const std::string text, files.read(flags.from, kFileBytesMax));
    Result<std::vector<json::Document>> read = json::parse_yaml(text);
    if (!read) {
      return fail(std::move(read).error().with_context(flags.from));
    }
    if (read->size() != 1 || !read->front().root.is_object()) {
      return fail(invalid_argument(flags.from + ": is not one object with fields of a cluster"));
    }
    put_over(document.root, document.arena, read->front().root);
  }
  override_fields(document.root, flags);
  for (const auto& [name, texts] : flags.fields) {
    TRY_ASSIGN(const Value value, value_of(files, document.arena, name, texts));
    document.root.set(document.arena, name, value);
  }
  if (!flags.name.empty()) {
    document.root.set(document.arena, "name", Value::string(document.arena, flags.name));
  }
  if (session.ns_given()) {
    document.root.set(document.arena, "namespace", Value::string(document.arena, session.ns()));
  }
  return document;
}

}  // namespace

void add_cluster_name(CLI::App& verb, std::string& name) {
  CLI::Option* positional = verb.add_option("NAME", name, "name of the cluster");
  verb.add_option("--name", name, "name of the cluster, instead of NAME")
      ->type_name("NAME")
      ->excludes(positional);
}

void add_cluster_flags(CLI::App& verb, const std::shared_ptr<ClusterFlags>& flags) {
  add_cluster_name(verb, flags->name);
  add_cluster_fields(verb, flags);
}

void add_cluster_fields(CLI::App& verb, const std::shared_ptr<ClusterFlags>& flags) {
  verb.add_option("--from", flags->from, "file with fields of the cluster, as YAML")
      ->type_name("FILE");
  for (const Alias& alias : sdk::cluster_aliases()) {
    if (!alias.flags.empty()) {
      add_row(verb, flags, row_of(alias));
    }
  }
  for (const Field& field : sdk::cluster_fields()) {
    if (!field.flags.empty() && field.name != "name") {
      add_row(verb, flags, row_of(field));
    }
  }
}

std::optional<sdk::ClusterConfig> read_cluster_flags(Session& session, const ClusterFlags& flags,
                                                     const sdk::ClusterConfig* base) {
  const Result<json::Document> document = merged(session, flags, base);
  if (!document) {
    report_usage(session.console(), document.error().message);
    return std::nullopt;
  }
  sdk::ConfigReading reading = sdk::read_config(
      document->root, flags.from.empty() ? sdk::Names::options : sdk::Names::fields);
  for (const std::string& line : reading.advice) {
    session.console().err("note: " + line + "\n");
  }
  for (const sdk::Fault& fault : reading.faults) {
    report_usage(session.console(), fault.sentence());
  }
  return reading.faults.empty() ? std::optional(std::move(reading.config)) : std::nullopt;
}

}  // namespace codeflare::cli::internal
