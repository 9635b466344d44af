#include "sdk/internal/read_worker_group.h"

#include "base/close_words.h"
#include "json/write.h"
#include "sdk/internal/read_value.h"

#include <array>
#include <utility>

namespace codeflare::sdk {

namespace {

template <typename T>
void put(T& target, std::optional<T> value) {
  if (value) {
    target = *std::move(value);
  }
}

constexpr std::array<std::string_view, 16> kNames = {
    "group_name",   "replicas",   "min_replicas",    "max_replicas",
    "cpu_requests", "cpu_limits", "memory_requests", "memory_limits",
    "gpu_type",     "gpu_count",  "image",           "extended_resource_requests",
    "envs",         "labels",     "tolerations",     "node_selector"};

// gpu_type and gpu_count: a device and its number, only together.
void read_gpus(const json::Value& object, const std::string& where, WorkerGroup& group,
               std::vector<Fault>& faults) {
  const auto given = [&](std::string_view key) {
    const json::Value* value = object.find(key);
    return value == nullptr || value->is_null() ? nullptr : value;
  };
  const json::Value* type = given("gpu_type");
  const json::Value* count = given("gpu_count");
  if (type == nullptr && count == nullptr) {
    return;
  }
  if (type == nullptr || count == nullptr) {
    faults.push_back({where, "", "has gpu_type or gpu_count alone", "give both or neither"});
    return;
  }
  const auto name = ValueReader(where + ".gpu_type", faults).text(*type);
  const auto number = ValueReader(where + ".gpu_count", faults).integer(*count);
  if (name && number && *number > 0) {
    group.extended_resource_requests.insert_or_assign(*name, std::to_string(*number));
  }
}

void read_member(std::string_view name, const json::Value& value, ValueReader& reader,
                 WorkerGroup& group) {
  if (name == "group_name") {
    put(group.group_name, reader.text(value));
  } else if (name == "replicas") {
    put(group.replicas, reader.integer(value));
  } else if (name == "min_replicas") {
    group.min_replicas = reader.integer(value);
  } else if (name == "max_replicas") {
    group.max_replicas = reader.integer(value);
  } else if (name == "cpu_requests") {
    put(group.cpu_requests, reader.cpu(value));
  } else if (name == "cpu_limits") {
    put(group.cpu_limits, reader.cpu(value));
  } else if (name == "memory_requests") {
    put(group.memory_requests, reader.memory(value));
  } else if (name == "memory_limits") {
    put(group.memory_limits, reader.memory(value));
  } else if (name == "extended_resource_requests") {
    put(group.extended_resource_requests, reader.amount_map(value));
  } else if (name == "image") {
    put(group.image, reader.text(value));
  } else if (name == "envs") {
    put(group.envs, reader.text_map(value));
  } else if (name == "labels") {
    put(group.labels, reader.text_map(value));
  } else if (name == "tolerations") {
    group.tolerations = reader.object_list(value);
  } else if (name == "node_selector") {
    put(group.node_selector, reader.text_map(value));
  }
}

}  // namespace

WorkerGroup read_worker_group(const json::Value& value, const std::string& where,
                              std::vector<Fault>& faults) {
  WorkerGroup group;
  if (!value.is_object()) {
    faults.push_back({where, json::to_text(value), "is not a worker group",
                      "give an object with the field group_name"});
    return group;
  }
  for (const json::Member& member : value.members()) {
    if (member.value.is_null()) {
      continue;
    }
    const std::string field = where + "." + std::string(member.key);
    ValueReader reader(field, faults);
    if (std::ranges::find(kNames, member.key) == kNames.end()) {
      const auto near = nearest_name(member.key, kNames);
      reader.wrong(member.value, "is given for an unknown field",
                   near ? "did you mean " + std::string(*near) + "?" : "remove it");
      continue;
    }
    read_member(member.key, member.value, reader, group);
  }
  read_gpus(value, where, group, faults);
  return group;
}

}  // namespace codeflare::sdk
