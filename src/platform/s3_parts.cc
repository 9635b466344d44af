#include "platform/names.h"
#include "platform/pod_parts.h"
#include "sdk/gang_job.h"

#include <algorithm>
#include <utility>

namespace codeflare::platform {

namespace {

constexpr std::string_view kProgramVolume = "program";
constexpr std::string_view kProgramDirectory = "/codeflare/program";
constexpr std::string_view kStateVolume = "data-state";
constexpr std::string_view kStateDirectory = "/codeflare/state";

model::VolumeMount mount(std::string_view volume, std::string_view path, bool read_only = false) {
  model::VolumeMount mount;
  mount.name = volume;
  mount.mount_path = path;
  mount.read_only = read_only;
  return mount;
}

// Once, whoever asks.
void add_empty_volume(std::string_view name, PodParts& parts) {
  if (std::ranges::find(parts.volumes, name, &model::Volume::name) == parts.volumes.end()) {
    model::Volume volume;
    volume.name = name;
    volume.empty_dir.emplace();
    parts.volumes.push_back(std::move(volume));
  }
}

void add_mount(const model::VolumeMount& mount, PodParts& parts) {
  if (std::ranges::find(parts.mounts, mount) == parts.mounts.end()) {
    parts.mounts.push_back(mount);
  }
}

model::Container own_container(std::string name, const PodParts& parts,
                               const std::vector<std::string>& words) {
  model::Container container;
  container.name = std::move(name);
  container.image = parts.program_image;
  for (const std::string& word : words) {
    container.args.push_back(sdk::literal_word(word));
  }
  return container;
}

// Our program beside that of the Application.
void add_program(PodParts& parts) {
  const bool known =
      std::ranges::find(parts.volumes, kProgramVolume, &model::Volume::name) != parts.volumes.end();
  if (known) {
    return;
  }
  add_empty_volume(kProgramVolume, parts);
  model::Container install =
      own_container("program", parts, {"data", "install", std::string(kProgramDirectory)});
  install.volume_mounts.push_back(mount(kProgramVolume, kProgramDirectory));
  parts.init_containers.push_back(std::move(install));
  add_mount(mount(kProgramVolume, kProgramDirectory, true), parts);
}

// The Secret that pods can mount: the DataSet's own, or its copy in the namespace of the Run.
std::string secret_of(const S3Use& use, const PodParts& parts) {
  return use.data_set.metadata.ns == use.run_namespace ? use.data_set.spec.s3->secret->name
                                                       : data_secret_copy(parts.name, use.index);
}

void add_variables(const S3Use& use, PodParts& parts) {
  const model::DataSetS3& s3 = *use.data_set.spec.s3;
  const std::string& name = use.data_set.metadata.name;
  const auto set = [&](const char* key, const std::string& value) {
    if (!value.empty()) {
      parts.env.insert_or_assign(variable_name(name, key), value);
    }
  };
  set("endpoint", s3.endpoint);
  set("bucket", s3.bucket);
  set("prefix", s3.prefix);
  set("region", s3.region);
  if (!s3.secret) {
    return;
  }
  for (const char* key : {"accessKeyID", "secretAccessKey"}) {
    model::EnvVar variable;
    variable.name = variable_name(name, key);
    model::KeySelector& from = variable.value_from.emplace().secret_key_ref.emplace();
    from.name = secret_of(use, parts);
    from.key = key;
    parts.secret_env.push_back(std::move(variable));
  }
}

// Options of `codeflare data`.
std::vector<std::string> source_words(const model::DataSetS3& s3, const std::string& keys) {
  std::vector<std::string> words = {"--endpoint=" + s3.endpoint, "--bucket=" + s3.bucket};
  if (!s3.prefix.empty()) {
    words.push_back("--prefix=" + s3.prefix);
  }
  if (!s3.region.empty()) {
    words.push_back("--region=" + s3.region);
  }
  if (!keys.empty()) {
    words.push_back("--keys=" + keys);
  }
  return words;
}

}  // namespace

void add_s3(const S3Use& use, PodParts& parts) {
  if (use.path.empty()) {
    add_variables(use, parts);
    return;
  }
  const model::DataSetS3& s3 = *use.data_set.spec.s3;
  const bool writable = !use.data_set.spec.read_only.value_or(true);
  const std::string index = std::to_string(use.index);
  const std::string volume = "s3-" + index;
  const std::string keys = s3.secret ? "/codeflare/keys/" + index : "";
  std::vector<std::string> words = source_words(s3, keys);
  add_empty_volume(volume, parts);
  model::VolumeMount key_mount = mount(volume + "-keys", keys, true);
  if (s3.secret) {
    model::Volume secret;
    secret.name = key_mount.name;
    secret.secret.emplace();
    secret.secret->secret_name = secret_of(use, parts);
    parts.volumes.push_back(std::move(secret));
  }
  if (writable) {
    words.push_back("--state=" + std::string(kStateDirectory) + "/" + index);
    add_empty_volume(kStateVolume, parts);
    add_program(parts);
  }
  words.push_back(use.path);
  std::vector<std::string> get = {"data", "get"};
  get.insert(get.end(), words.begin(), words.end());
  model::Container copy = own_container("data-" + index, parts, get);
  copy.volume_mounts.push_back(mount(volume, use.path));
  if (s3.secret) {
    copy.volume_mounts.push_back(key_mount);
  }
  if (writable) {
    copy.volume_mounts.push_back(mount(kStateVolume, kStateDirectory));
  }
  parts.init_containers.push_back(std::move(copy));
  add_mount(mount(volume, use.path, !writable), parts);
  if (!writable) {
    return;
  }
  add_mount(mount(kStateVolume, kStateDirectory, true), parts);
  if (s3.secret) {
    add_mount(key_mount, parts);
  }
  std::vector<std::string>& wrapper = parts.wrapper_command;
  wrapper.insert(wrapper.end(), {std::string(kProgramDirectory) + "/codeflare", "data", "put"});
  wrapper.insert(wrapper.end(), words.begin(), words.end());
  wrapper.push_back("--");
}

}  // namespace codeflare::platform
