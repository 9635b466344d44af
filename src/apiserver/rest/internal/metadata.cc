#include "apiserver/rest/internal/metadata.h"

#include "apiserver/rest/internal/errors.h"
#include "json/member_index.h"
#include "json/write.h"

#include <algorithm>
#include <array>

namespace codeflare::apiserver::internal {
namespace {

constexpr std::size_t kGeneratedPrefixMax = 58;
// Most objects fit; the others grow from there.
constexpr std::size_t kUsualBytes = 4096;

constexpr auto kMetadataOrder = std::to_array<std::string_view>(
    {"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation",
     "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "labels",
     "annotations", "ownerReferences", "finalizers", "managedFields"});

bool is_type_member(std::string_view key) {
  return key == "apiVersion" || key == "kind" || key == "metadata";
}

// Absent, null and empty containers are the same thing in metadata.
bool is_blank(const json::Value& value) {
  return value.is_null() || ((value.is_object() || value.is_array()) && value.size() == 0);
}

void write_metadata(std::string& out, const json::Value* metadata) {
  json::Writer writer(out);
  writer.begin_object();
  if (metadata != nullptr) {
    for (std::string_view key : kMetadataOrder) {
      if (const json::Value* value = metadata->find(key); value != nullptr && !is_blank(*value)) {
        writer.key(key).value(*value);
      } else if (key == "resourceVersion") {
        writer.key(key).string("");
      }
    }
  }
  writer.end_object();
}

}  // namespace

json::Value& metadata_of(json::Arena& arena, json::Value& object) {
  json::Value* metadata = object.find("metadata");
  if (metadata == nullptr || !metadata->is_object()) {
    return object.set_static(arena, "metadata", json::Value::object());
  }
  return *metadata;
}

std::string_view meta_text(const json::Value& object, std::string_view key) {
  const json::Value* metadata = object.find("metadata");
  return metadata == nullptr ? std::string_view() : metadata->string_or_empty(key);
}

std::string_view asked_revision(const json::Value& object) {
  const std::string_view revision = meta_text(object, "resourceVersion");
  return revision == "0" ? std::string_view() : revision;
}

std::vector<std::string_view> finalizers_of(const json::Value& object) {
  std::vector<std::string_view> out;
  if (const json::Value* list = object.get({"metadata", "finalizers"})) {
    for (const json::Value& item : list->items()) {
      if (item.is_string()) {
        out.push_back(item.as_string());
      }
    }
  }
  return out;
}

void set_finalizers(json::Arena& arena, json::Value& object,
                    const std::vector<std::string_view>& finalizers) {
  json::Value& metadata = metadata_of(arena, object);
  if (finalizers.empty()) {
    metadata.erase("finalizers");
    return;
  }
  json::Value list = json::Value::array();
  for (std::string_view finalizer : finalizers) {
    list.push_back(arena, json::Value::string(arena, finalizer));
  }
  metadata.set_static(arena, "finalizers", list);
}

bool is_being_deleted(const json::Value& object) {
  return !meta_text(object, "deletionTimestamp").empty();
}

Result<void> settle_namespace(const Resource& resource, std::string_view ns, json::Arena& arena,
                              json::Value& object) {
  json::Value& metadata = metadata_of(arena, object);
  const std::string_view given = metadata.string_or_empty("namespace");
  if (!resource.namespaced) {
    metadata.erase("namespace");
    return given.empty() ? Result<void>()
                         : fail(bad_request("the namespace of the provided object does not match "
                                            "the namespace sent on the request"));
  }
  if (given.empty()) {
    metadata.set_static(arena, "namespace", json::Value::string(arena, ns));
  } else if (given != ns) {
    return fail(
        bad_request("the namespace of the provided object does not match the namespace sent on "
                    "the request"));
  }
  return {};
}

void fill_new_metadata(Env& env, const Resource& resource, json::Arena& arena,
                       json::Value& object) {
  json::Value& metadata = metadata_of(arena, object);
  for (std::string_view key :
       {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "resourceVersion"}) {
    metadata.erase(key);
  }
  metadata.set_static(arena, "uid", json::Value::string(arena, env.random.uuid()));
  metadata.set_static(arena, "creationTimestamp",
                      json::Value::string(arena, to_rfc3339(env.clock.wall())));
  if (resource.strategy == nullptr || resource.strategy->generation()) {
    metadata.set_static(arena, "generation", json::Value::number_text("1"));
  } else {
    metadata.erase("generation");
  }
}

std::string generated_name(Random& random, std::string_view prefix) {
  return std::string(prefix.substr(0, kGeneratedPrefixMax)) + random.name_suffix();
}

void keep_server_metadata(json::Arena& arena, json::Value& object, const json::Value& live) {
  json::Value& metadata = metadata_of(arena, object);
  const json::Value* before = live.find("metadata");
  for (std::string_view key :
       {"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation",
        "generateName", "resourceVersion", "selfLink"}) {
    const json::Value* value = before == nullptr ? nullptr : before->find(key);
    if (value != nullptr) {
      metadata.set_static(arena, key, *value);
    } else if (key != "generateName") {
      metadata.erase(key);
    }
  }
}

bool spec_differs(const json::Value& a, const json::Value& b) {
  auto covered = [](const json::Value& left, const json::Value& right) {
    json::MemberIndex in_right(right.members());
    for (const json::Member& member : left.members()) {
      if (is_type_member(member.key) || member.key == "status") {
        continue;
      }
      const json::Value* other = in_right.find(member.key);
      if (other == nullptr ? !is_blank(member.value) : !json::equal(member.value, *other)) {
        return false;
      }
    }
    return true;
  };
  return !covered(a, b) || !covered(b, a);
}

std::string storage_text(const Resource& resource, const json::Value& object) {
  std::string out;
  out.reserve(kUsualBytes);
  const std::string_view first = resource.custom ? "apiVersion" : "kind";
  const std::string_view second = resource.custom ? "kind" : "apiVersion";
  out.append("{\"").append(first).append("\":");
  json::append_quoted(out, object.string_or_empty(first));
  out.append(",\"").append(second).append("\":");
  json::append_quoted(out, object.string_or_empty(second));
  out += ",\"metadata\":";
  write_metadata(out, object.find("metadata"));
  const json::Value* status = nullptr;
  for (const json::Member& member : object.members()) {
    if (member.key == "status") {
      status = &member.value;
    } else if (!is_type_member(member.key)) {
      out += ',';
      json::append_quoted(out, member.key);
      out += ':';
      json::append_text(out, member.value);
    }
  }
  if (status != nullptr) {
    out += ",\"status\":";
    json::append_text(out, *status);
  }
  out += '}';
  return out;
}

}  // namespace codeflare::apiserver::internal
