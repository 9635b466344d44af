#include "json/write.h"
#include "platform/command_line.h"
#include "platform/pod_parts.h"
#include "platform/sizes.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

namespace codeflare::platform {

namespace {

model::StringMap variables_of(const model::DataSet& data_set) {
  model::StringMap variables;
  const std::string& name = data_set.metadata.name;
  for (const auto& [file, text] : data_set.spec.inline_files) {
    variables.insert_or_assign(variable_name(name, file), text);
  }
  if (data_set.spec.nfs) {
    variables.insert_or_assign(variable_name(name, "server"), data_set.spec.nfs->server);
    variables.insert_or_assign(variable_name(name, "path"), data_set.spec.nfs->path);
  }
  if (data_set.spec.pvc) {
    variables.insert_or_assign(variable_name(name, "claim"), data_set.spec.pvc->claim_name);
  }
  return variables;
}

void mount_data(const model::DataSet& data_set, const std::string& path, PodParts& parts) {
  const model::DataSetSpec& spec = data_set.spec;
  const bool read_only = spec.read_only.value_or(true);
  const std::string index = std::to_string(parts.volumes.size());
  model::Volume volume;
  volume.name = "data-" + index;
  model::VolumeMount mount;
  mount.name = volume.name;
  mount.mount_path = path;
  mount.read_only = read_only;
  if (!spec.inline_files.empty()) {
    model::ConfigMap files;
    files.metadata.name = parts.name + "-" + volume.name;
    files.data = spec.inline_files;
    volume.config_map.emplace();
    volume.config_map->name = files.metadata.name;
    mount.read_only = true;
    parts.config_maps.push_back(std::move(files));
  } else if (spec.pvc) {
    volume.persistent_volume_claim.emplace();
    volume.persistent_volume_claim->claim_name = spec.pvc->claim_name;
    volume.persistent_volume_claim->read_only = read_only;
    mount.sub_path = spec.pvc->sub_path;
  } else if (spec.nfs) {
    std::string text;
    json::Writer w(text);
    w.begin_object().member("server", spec.nfs->server).member("path", spec.nfs->path);
    w.key("readOnly").boolean(read_only).end_object();
    volume.extra.members.push_back({"nfs", {text}});
  }
  parts.volumes.push_back(std::move(volume));
  parts.mounts.push_back(std::move(mount));
}

// The size of the data and the name of the DataSet, or a problem.
std::optional<std::string> choose_size(const model::ApplicationInput& input,
                                       const model::Application& application, const model::Run& run,
                                       const std::string& field, Problems& problems) {
  std::string size = !run.spec.input.empty() ? run.spec.input : input.default_size;
  if (size.empty()) {
    for (const std::string_view each : sizes_in_order()) {
      if (input.sizes.contains(each)) {
        size = each;
        break;
      }
    }
  }
  const auto found = input.sizes.find(size);
  if (found != input.sizes.end()) {
    return found->second;
  }
  std::string known;
  for (const auto& [name, data_set] : input.sizes) {
    known += (known.empty() ? "" : ", ") + name;
  }
  problems.add("spec.input", name_of(application) + " has no data of size '" + size + "' in " +
                                 field + "; sizes: " + known);
  return std::nullopt;
}

}  // namespace

std::string variable_name(std::string_view data_set, std::string_view key) {
  std::string name = std::string(data_set) + "_" + std::string(key);
  for (char& c : name) {
    c = std::isalnum(static_cast<unsigned char>(c)) != 0
            ? static_cast<char>(std::toupper(static_cast<unsigned char>(c)))
            : '_';
  }
  return std::isdigit(static_cast<unsigned char>(name.front())) != 0 ? "_" + name : name;
}

bool allows(const model::List<std::string>& allowed_namespaces, std::string_view owner_ns,
            std::string_view ns) {
  return owner_ns == ns || std::ranges::any_of(allowed_namespaces, [&](const std::string& each) {
           return each == "*" || each == ns;
         });
}

std::vector<InputUse> inputs_of(const model::Application& application, const model::Run& run,
                                Problems& problems) {
  std::vector<InputUse> uses;
  bool sized = false;
  for (std::size_t i = 0; i < application.spec.inputs.size(); ++i) {
    const model::ApplicationInput& input = application.spec.inputs[i];
    const std::string field = "spec.inputs[" + std::to_string(i) + "]";
    std::optional<std::string> name = input.name;
    if (input.name.empty() == input.sizes.empty()) {
      problems.add({.object = name_of(application), .field = field, .text = "set name or sizes"});
      continue;
    }
    if (!input.sizes.empty()) {
      sized = true;
      name = choose_size(input, application, run, field, problems);
    }
    if (name) {
      uses.push_back({{input.ns.empty() ? application.metadata.ns : input.ns, *name}, &input, i});
    }
  }
  if (!run.spec.input.empty() && !sized) {
    problems.add("spec.input", name_of(application) + " has no inputs with sizes; remove input");
  }
  return uses;
}

void add_inputs(const std::vector<InputUse>& uses, const model::Application& application,
                const model::Run& run, const std::vector<model::DataSet>& data_sets,
                PodParts& parts, Problems& problems) {
  std::set<std::string> paths;
  for (const InputUse& use : uses) {
    const auto found = std::ranges::find_if(
        data_sets, [&](const model::DataSet& each) { return each.metadata.key() == use.data_set; });
    const std::string shown = "DataSet " + use.data_set.ns + "/" + use.data_set.name;
    if (found == data_sets.end()) {
      problems.add({.object = name_of(application),
                    .field = use.field(),
                    .text = shown + " does not exist",
                    .missing = true});
      continue;
    }
    if (!allows(found->spec.allowed_namespaces, use.data_set.ns, run.metadata.ns)) {
      problems.add({.object = name_of(application),
                    .field = use.field(),
                    .text = shown + " does not allow namespace " + run.metadata.ns +
                            "; its owner can add it to spec.allowedNamespaces"});
      continue;
    }
    if (use.input->use_as == "env") {
      for (const auto& [name, value] : variables_of(*found)) {
        parts.env.insert_or_assign(name, value);
      }
      if (found->spec.s3) {
        add_s3({*found, use.index, "", run.metadata.ns}, parts);
      }
      continue;
    }
    const std::string path = use.input->mount_path.empty() ? "/mnt/datasets/" + use.data_set.name
                                                           : use.input->mount_path;
    if (!paths.insert(path).second) {
      problems.add({.object = name_of(application),
                    .field = use.field(),
                    .text = "two data sets at " + path + "; set mountPath"});
      continue;
    }
    if (found->spec.s3) {
      add_s3({*found, use.index, path, run.metadata.ns}, parts);
    } else {
      mount_data(*found, path, parts);
    }
  }
}

}  // namespace codeflare::platform
