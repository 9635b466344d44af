#include "node/agent/volume_plan.h"

#include "node/agent/pod_fields.h"
#include "node/system/host_path.h"

#include <algorithm>

namespace codeflare::node {

namespace {

constexpr std::int32_t kDefaultMode = 0644;
// Upstream's limit: what is projected may not leave the volume.
bool is_inside(const std::string& path) {
  return !path.empty() && path.front() != '/' && path != ".." && !path.starts_with("../") &&
         path.find("/../") == std::string::npos && !path.ends_with("/..");
}

using Keys = std::map<std::string, std::string, std::less<>>;

struct Projection {
  std::string what;  // "configmap \"a\""
  const std::vector<model::KeyToPath>& items;
  bool optional = false;
  std::int32_t mode = kDefaultMode;
};

Result<void> add_keys(std::vector<VolumeFile>& files, const std::optional<Keys>& keys,
                      const Projection& projection) {
  if (!keys) {
    return projection.optional ? Result<void>() : fail(not_found(projection.what + " not found"));
  }
  const auto mode = static_cast<std::uint32_t>(projection.mode);
  if (projection.items.empty()) {
    for (const auto& [key, value] : *keys) {
      files.push_back({.path = key, .content = value, .mode = mode});
    }
  }
  for (const model::KeyToPath& item : projection.items) {
    const auto found = keys->find(item.key);
    if (found == keys->end()) {
      if (projection.optional) {
        continue;
      }
      return fail(not_found("references non-existent " + projection.what + " key: " + item.key));
    }
    files.push_back({.path = item.path,
                     .content = found->second,
                     .mode = item.mode ? static_cast<std::uint32_t>(*item.mode) : mode});
  }
  return {};
}

std::optional<Keys> config_map_keys(const PodInputs& inputs, const std::string& name) {
  const auto found = inputs.config_maps.find(name);
  if (found == inputs.config_maps.end()) {
    return std::nullopt;
  }
  Keys keys(found->second.data.begin(), found->second.data.end());
  for (const auto& [key, value] : found->second.binary_data) {
    keys[key] = value.bytes;
  }
  return keys;
}

std::optional<Keys> secret_keys(const PodInputs& inputs, const std::string& name) {
  const auto found = inputs.secrets.find(name);
  if (found == inputs.secrets.end()) {
    return std::nullopt;
  }
  Keys keys;
  for (const auto& [key, value] : found->second.data) {
    keys[key] = value.bytes;
  }
  return keys;
}

std::string named(std::string_view kind, const std::string& name) {
  return std::string(kind) + " \"" + name + "\"";
}

Result<void> add_fields(std::vector<VolumeFile>& files, const model::Pod& pod,
                        const std::vector<model::DownwardApiFile>& items, std::int32_t mode,
                        const PodInputs& inputs) {
  for (const model::DownwardApiFile& item : items) {
    VolumeFile file{.path = item.path,
                    .content = {},
                    .mode = static_cast<std::uint32_t>(item.mode.value_or(mode))};
    if (item.field_ref) {
      TRY_ASSIGN(file.content, pod_field(pod, item.field_ref->field_path));
    } else if (item.resource_field_ref) {
      const model::Container none;
      TRY_ASSIGN(file.content,
                 resource_field(pod, none, *item.resource_field_ref, inputs.allocatable));
    }
    files.push_back(std::move(file));
  }
  return {};
}

Result<void> add_projected(std::vector<VolumeFile>& files, const model::Pod& pod,
                           const model::ProjectedVolumeSource& projected, const PodInputs& inputs) {
  const std::int32_t mode = projected.default_mode.value_or(kDefaultMode);
  for (const model::VolumeProjection& source : projected.sources) {
    if (source.config_map) {
      const model::KeyProjection& from = *source.config_map;
      TRY(add_keys(
          files, config_map_keys(inputs, from.name),
          {named("configmap", from.name), from.items, from.optional.value_or(false), mode}));
    } else if (source.secret) {
      const model::KeyProjection& from = *source.secret;
      TRY(add_keys(files, secret_keys(inputs, from.name),
                   {named("secret", from.name), from.items, from.optional.value_or(false), mode}));
    } else if (source.downward_api) {
      TRY(add_fields(files, pod, source.downward_api->items, mode, inputs));
    } else if (source.service_account_token) {
      const model::ServiceAccountTokenProjection& from = *source.service_account_token;
      const auto token =
          inputs.tokens.find({from.audience, from.expiration_seconds.value_or(3600)});
      if (token == inputs.tokens.end()) {
        return fail(unavailable("no token for service account \"" + pod.spec.service_account_name +
                                "\" yet"));
      }
      files.push_back(
          {.path = from.path, .content = token->second, .mode = static_cast<std::uint32_t>(mode)});
    } else {
      return fail(unsupported("it projects a source that is not offered here"));
    }
  }
  return {};
}

Result<void> must_not_be_private(const std::string& path, const PodInputs& inputs) {
  const bool is_private = std::ranges::any_of(
      inputs.private_places, [&](const std::string& place) { return is_within(path, place); });
  if (is_private) {
    return fail(permission_denied("hostPath \"" + path +
                                  "\" is where codeflare keeps its own data: no pod sees that"));
  }
  return {};
}

VolumePlan machine_volume(VolumePlan plan, std::string source, std::string type) {
  plan.kind = VolumePlan::Kind::machine;
  plan.source = std::move(source);
  plan.type = std::move(type);
  return plan;
}

Result<VolumePlan> claimed_volume(VolumePlan plan, const std::string& claim,
                                  const PodInputs& inputs) {
  const std::string what = named("persistentvolumeclaim", claim);
  const auto found = inputs.claims.find(claim);
  if (found == inputs.claims.end()) {
    return fail(not_found(what + " not found"));
  }
  if (!found->second.foreign.empty()) {
    return fail(permission_denied(what + " names volume \"" + found->second.foreign +
                                  "\", whose claimRef is not this claim"));
  }
  if (!found->second.bound) {
    return fail(unavailable(what + " is not bound yet"));
  }
  if (found->second.directory.empty()) {
    return fail(
        unsupported(what + " is bound to a volume that is not a directory of this machine"));
  }
  // Volumes that somebody made by hand are places of the machine like any other.
  std::vector<std::string> allowed = inputs.host_paths;
  if (!inputs.claims_directory.empty()) {
    allowed.push_back(inputs.claims_directory);
  }
  TRY(host_path_allowed(found->second.directory, allowed));
  if (!is_within(found->second.directory, inputs.claims_directory)) {
    TRY(must_not_be_private(found->second.directory, inputs));
  }
  return machine_volume(std::move(plan), found->second.directory, "DirectoryOrCreate");
}

Result<VolumePlan> plan_volume(const model::Pod& pod, const model::Volume& volume,
                               const PodInputs& inputs) {
  VolumePlan plan{.name = volume.name};
  if (volume.empty_dir) {
    const bool memory = volume.empty_dir->medium == "Memory";
    plan.kind = memory ? VolumePlan::Kind::memory : VolumePlan::Kind::empty;
    if (memory && volume.empty_dir->size_limit) {
      plan.size = volume.empty_dir->size_limit->value();
    }
    return plan;
  }
  plan.kind = VolumePlan::Kind::files;
  if (volume.config_map) {
    const model::ConfigMapVolumeSource& from = *volume.config_map;
    TRY(add_keys(plan.files, config_map_keys(inputs, from.name),
                 {named("configmap", from.name), from.items, from.optional.value_or(false),
                  from.default_mode.value_or(kDefaultMode)}));
  } else if (volume.secret) {
    const model::SecretVolumeSource& from = *volume.secret;
    TRY(add_keys(plan.files, secret_keys(inputs, from.secret_name),
                 {named("secret", from.secret_name), from.items, from.optional.value_or(false),
                  from.default_mode.value_or(kDefaultMode)}));
  } else if (volume.downward_api) {
    TRY(add_fields(plan.files, pod, volume.downward_api->items,
                   volume.downward_api->default_mode.value_or(kDefaultMode), inputs));
  } else if (volume.projected) {
    TRY(add_projected(plan.files, pod, *volume.projected, inputs));
  } else if (volume.host_path) {
    TRY(host_path_allowed(volume.host_path->path, inputs.host_paths));
    TRY(must_not_be_private(volume.host_path->path, inputs));
    return machine_volume(std::move(plan), volume.host_path->path,
                          volume.host_path->type.value_or(""));
  } else if (volume.persistent_volume_claim) {
    return claimed_volume(std::move(plan), volume.persistent_volume_claim->claim_name, inputs);
  } else if (!volume.extra.empty()) {
    return fail(
        unsupported(volume.extra.members.front().key + " volumes are not offered by this node"));
  } else {
    plan.kind = VolumePlan::Kind::empty;  // the API's default
  }
  for (const VolumeFile& file : plan.files) {
    if (!is_inside(file.path)) {
      return fail(invalid_argument("path \"" + file.path + "\" leaves the volume"));
    }
  }
  return plan;
}

constexpr std::uint64_t kHashStart = 0xcbf29ce484222325;
constexpr std::uint64_t kHashFactor = 0x100000001b3;

std::uint64_t mix(std::uint64_t hash, std::string_view bytes) {
  for (const char one : bytes) {
    hash = (hash ^ static_cast<unsigned char>(one)) * kHashFactor;
  }
  return (hash ^ bytes.size()) * kHashFactor;  // where one ends and the next begins
}

}  // namespace

bool follows_objects(const model::Volume& volume) {
  return volume.config_map || volume.secret || volume.downward_api || volume.projected;
}

std::uint64_t fingerprint(const VolumePlan& plan) {
  std::uint64_t hash = kHashStart;
  for (const VolumeFile& file : plan.files) {
    hash = mix(hash, file.path);
    hash = mix(hash, std::to_string(file.mode));
    hash = mix(hash, file.content);
  }
  return hash;
}

Result<std::vector<VolumePlan>> plan_volumes(const model::Pod& pod, const PodInputs& inputs) {
  std::vector<VolumePlan> plans;
  for (const model::Volume& volume : pod.spec.volumes) {
    Result<VolumePlan> plan = plan_volume(pod, volume, inputs);
    if (!plan) {
      return fail(std::move(plan).error().with_context("MountVolume.SetUp failed for volume \"" +
                                                       volume.name + "\" "));
    }
    plans.push_back(*std::move(plan));
  }
  return plans;
}

}  // namespace codeflare::node
