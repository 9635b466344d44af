#include "sdk/read_config.h"

#include "base/close_words.h"
#include "json/write.h"
#include "json/yaml.h"
#include "sdk/cluster_fields.h"
#include "sdk/internal/read_value.h"
#include "sdk/internal/read_worker_group.h"

#include <map>
#include <utility>

namespace codeflare::sdk {

namespace {

constexpr std::string_view kWorkerGroups = "additional_worker_groups";

class ConfigReader {
 public:
  ConfigReader(Names names, ConfigReading& reading) : names_(names), reading_(reading) {}

  void read(const json::Value& object);

 private:
  void read_member(std::string_view name, const json::Value& value);
  void read_alias(const Alias& alias, const json::Value& value);
  // `given` is the name that was used for the field.
  void read_field(const Field& field, std::string_view given, const json::Value& value);
  void read_gpus(const Field& field, std::string_view given, const json::Value& value);
  void read_wrapped(std::string_view given, const json::Value& value);
  void read_groups(const json::Value& value);
  void advise(const Alias& alias);
  void unknown(std::string_view name, const json::Value& value);

  // False, with a fault, when another name gave the field another value.
  bool may_set(std::string_view field, std::string_view given, std::string value);
  // Reads the value with `read` and puts it into the member, unless that contradicts.
  template <typename T>
  void put(const Field& field, std::string_view given, const json::Value& value,
           T ClusterConfig::* member, std::optional<T> read);

  struct Given {
    std::string name;
    std::string value;
  };
  Names names_;
  ConfigReading& reading_;
  std::map<std::string, Given, std::less<>> given_;  // by field
};

bool ConfigReader::may_set(std::string_view field, std::string_view given, std::string value) {
  const auto [at, fresh] = given_.try_emplace(std::string(field), std::string(given), value);
  if (fresh || at->second.value == value) {
    return true;
  }
  reading_.faults.push_back({std::string(given), value,
                             "contradicts " + at->second.name + " = " + at->second.value,
                             "give " + std::string(field) + " alone"});
  return false;
}

template <typename T>
void ConfigReader::put(const Field& field, std::string_view given, const json::Value& value,
                       T ClusterConfig::* member, std::optional<T> read) {
  if (read && may_set(field.name, given, json::to_text(value))) {
    reading_.config.*member = *std::move(read);
  }
}

// A quantity and a duration are compared as they are kept: 3 and "3G" do not contradict.
void ConfigReader::read_field(const Field& field, std::string_view given,
                              const json::Value& value) {
  ValueReader reader{std::string(given), reading_.faults};
  if (const auto* text = std::get_if<std::string ClusterConfig::*>(&field.member)) {
    std::optional<std::string> read = field.type == FieldType::cpu      ? reader.cpu(value)
                                      : field.type == FieldType::memory ? reader.memory(value)
                                                                        : reader.text(value);
    if (read && may_set(field.name, given, *read)) {
      reading_.config.*(*text) = *std::move(read);
    }
  } else if (const auto* count = std::get_if<std::int64_t ClusterConfig::*>(&field.member)) {
    put(field, given, value, *count,
        field.type == FieldType::duration ? reader.seconds(value) : reader.integer(value));
  } else if (const auto* maybe =
                 std::get_if<std::optional<std::int64_t> ClusterConfig::*>(&field.member)) {
    std::optional<std::optional<std::int64_t>> read;
    if (const std::optional<std::int64_t> number = reader.integer(value)) {
      read.emplace(number);
    }
    put(field, given, value, *maybe, read);
  } else if (const auto* truth = std::get_if<bool ClusterConfig::*>(&field.member)) {
    put(field, given, value, *truth, reader.boolean(value));
  } else if (const auto* map = std::get_if<model::StringMap ClusterConfig::*>(&field.member)) {
    put(field, given, value, *map,
        field.type == FieldType::amount_map ? reader.amount_map(value) : reader.text_map(value));
  } else if (const auto* list =
                 std::get_if<std::vector<std::string> ClusterConfig::*>(&field.member)) {
    put(field, given, value, *list, reader.text_list(value));
  } else if (const auto* raw = std::get_if<model::RawJson ClusterConfig::*>(&field.member)) {
    put(field, given, value, *raw,
        field.type == FieldType::object ? reader.object(value) : reader.object_list(value));
  } else {
    put(field, given, value, std::get<Queueing ClusterConfig::*>(field.member),
        reader.queueing(value));
  }
}

void ConfigReader::read_gpus(const Field& field, std::string_view given, const json::Value& value) {
  ValueReader reader{std::string(given), reading_.faults};
  const std::optional<std::int64_t> count = reader.integer(value);
  if (!count) {
    return;
  }
  if (*count < 0) {
    reader.wrong(value, "is negative", "give 0 or more GPUs");
    return;
  }
  auto& resources = reading_.config.*std::get<model::StringMap ClusterConfig::*>(field.member);
  const std::string amount = std::to_string(*count);
  const std::string key = std::string(field.name) + "[" + std::string(kGpu) + "]";
  if (!may_set(key, given, amount)) {
    return;
  }
  const auto at = resources.find(kGpu);
  if (at != resources.end() && at->second != amount) {
    reader.wrong(value, "contradicts " + key + " = " + at->second,
                 "give " + std::string(field.name) + " alone");
  } else if (*count > 0) {
    resources.insert_or_assign(std::string(kGpu), amount);
  }
}

void ConfigReader::read_wrapped(std::string_view given, const json::Value& value) {
  ValueReader reader{std::string(given), reading_.faults};
  const std::optional<bool> wrapped = reader.boolean(value);
  if (!wrapped) {
    return;
  }
  const Queueing queueing = *wrapped ? Queueing::appwrapper : Queueing::none;
  if (may_set("queueing", given, "\"" + std::string(to_string(queueing)) + "\"")) {
    reading_.config.queueing = queueing;
  }
}

void ConfigReader::advise(const Alias& alias) {
  if (names_ == Names::options) {
    return;
  }
  std::string line(alias.name);
  if (alias.rule == Alias::Rule::no_effect) {
    line += " has no effect: " + std::string(alias.help);
  } else if (alias.name.starts_with("worker_")) {
    return;  // a short form that no earlier version had
  } else {
    line += " is an older name: use " + std::string(alias.field);
    if (!alias.second.empty()) {
      line += " and " + std::string(alias.second);
    }
    if (alias.rule == Alias::Rule::gpus) {
      line += " = {\"" + std::string(kGpu) + "\": N}";
    }
  }
  reading_.advice.push_back(std::move(line));
}

void ConfigReader::read_alias(const Alias& alias, const json::Value& value) {
  advise(alias);
  const std::size_t faults = reading_.faults.size();  // a value is wrong once
  switch (alias.rule) {
    case Alias::Rule::same:
      for (const std::string_view name : {alias.field, alias.second}) {
        const bool first_is_good = name != alias.second || reading_.faults.size() == faults;
        if (!name.empty() && first_is_good) {
          read_field(*find_field(name), alias.name, value);
        }
      }
      break;
    case Alias::Rule::gpus:
      read_gpus(*find_field(alias.field), alias.name, value);
      break;
    case Alias::Rule::wrapped:
      read_wrapped(alias.name, value);
      break;
    case Alias::Rule::no_effect:
      break;
  }
}

void ConfigReader::read_groups(const json::Value& value) {
  if (!value.is_array()) {
    ValueReader(std::string(kWorkerGroups), reading_.faults)
        .wrong(value, "is not a list", "give a list of worker groups");
    return;
  }
  for (std::size_t i = 0; i < value.size(); ++i) {
    reading_.config.additional_worker_groups.push_back(read_worker_group(
        value.items()[i], std::string(kWorkerGroups) + "[" + std::to_string(i) + "]",
        reading_.faults));
  }
}

void ConfigReader::unknown(std::string_view name, const json::Value& value) {
  std::vector<std::string_view> known{kWorkerGroups};
  for (const Field& field : cluster_fields()) {
    known.push_back(field.name);
  }
  const std::optional<std::string_view> near = nearest_name(name, known);
  ValueReader(std::string(name), reading_.faults)
      .wrong(value, "is given for an unknown field",
             near ? "did you mean " + std::string(*near) + "?" : "remove it");
}

void ConfigReader::read_member(std::string_view name, const json::Value& value) {
  if (value.is_null()) {
    return;
  }
  if (name == kWorkerGroups) {
    read_groups(value);
  } else if (const Field* field = find_field(name)) {
    read_field(*field, name, value);
  } else if (const Alias* alias = find_alias(name)) {
    read_alias(*alias, value);
  } else {
    unknown(name, value);
  }
}

void ConfigReader::read(const json::Value& object) {
  if (!object.is_object()) {
    reading_.faults.push_back({"", json::to_text(object), "is not a cluster configuration",
                               "give an object with the field name"});
    return;
  }
  // Fields first, so that a contradicting alias is the one that is named.
  for (const bool fields : {true, false}) {
    for (const json::Member& member : object.members()) {
      if ((find_alias(member.key) == nullptr) == fields) {
        read_member(member.key, member.value);
      }
    }
  }
}

}  // namespace

ConfigReading read_config(const json::Value& object, Names names) {
  ConfigReading reading;
  ConfigReader(names, reading).read(object);
  // A field that could not be read has its default now: one fault for each field is enough.
  if (reading.faults.empty()) {
    reading.faults = faults_of(reading.config);
  } else {
    for (Fault& fault : faults_of(reading.config)) {
      const bool known = std::ranges::any_of(
          reading.faults, [&](const Fault& other) { return other.field == fault.field; });
      if (!known) {
        reading.faults.push_back(std::move(fault));
      }
    }
  }
  return reading;
}

Result<ConfigReading> read_config_file(std::string_view text, const std::string& file) {
  Result<std::vector<json::Document>> documents = json::parse_yaml(text);
  if (!documents) {
    return fail(std::move(documents).error().with_context(file));
  }
  if (documents->size() != 1) {
    return fail(invalid_argument(file + ": has " + std::to_string(documents->size()) +
                                 " documents; a cluster configuration is one"));
  }
  return read_config(documents->front().root);
}

}  // namespace codeflare::sdk
