#include "node/wire/keeper_protocol.h"

#include "model/codec/describe.h"

#include <algorithm>
#include <map>
#include <ranges>

namespace codeflare::node {

using model::codec::Field;
using model::codec::field;
using model::codec::struct_info;
using model::codec::StructInfo;
using model::codec::Tag;

namespace {

constexpr std::int32_t kLostCode = 137;

}  // namespace

const StructInfo& describe(Tag<MountSpec>) {
  static constexpr Field kFields[] = {
      field<&MountSpec::source>("source"),
      field<&MountSpec::target>("target"),
      field<&MountSpec::read_only>("readOnly"),
  };
  static constexpr StructInfo kInfo = struct_info<MountSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<MemoryVolume>) {
  static constexpr Field kFields[] = {
      field<&MemoryVolume::name>("name"),
      field<&MemoryVolume::size>("size"),
  };
  static constexpr StructInfo kInfo = struct_info<MemoryVolume>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<MachineVolume>) {
  static constexpr Field kFields[] = {
      field<&MachineVolume::name>("name"),
      field<&MachineVolume::source>("source"),
  };
  static constexpr StructInfo kInfo = struct_info<MachineVolume>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<DeviceGrant>) {
  static constexpr Field kFields[] = {
      field<&DeviceGrant::container>("container"),
      field<&DeviceGrant::resource>("resource"),
      field<&DeviceGrant::ids>("ids"),
  };
  static constexpr StructInfo kInfo = struct_info<DeviceGrant>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<SandboxSpec>) {
  static constexpr Field kFields[] = {
      field<&SandboxSpec::protocol>("protocol"),
      field<&SandboxSpec::ns>("namespace"),
      field<&SandboxSpec::name>("name"),
      field<&SandboxSpec::uid>("uid"),
      field<&SandboxSpec::hostname>("hostname"),
      field<&SandboxSpec::isolated>("isolated", model::codec::Presence::always),
      field<&SandboxSpec::network>("network"),
      field<&SandboxSpec::directories>("directories"),
      field<&SandboxSpec::roots>("roots"),
      field<&SandboxSpec::memory_volumes>("memoryVolumes"),
      field<&SandboxSpec::machine_volumes>("machineVolumes"),
      field<&SandboxSpec::hidden>("hidden"),
      field<&SandboxSpec::groups>("groups"),
      field<&SandboxSpec::devices>("devices"),
      field<&SandboxSpec::grace_seconds>("graceSeconds"),
      field<&SandboxSpec::sidecars>("sidecars"),
  };
  static constexpr StructInfo kInfo = struct_info<SandboxSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<ContainerSpec>) {
  static constexpr Field kFields[] = {
      field<&ContainerSpec::name>("name"),
      field<&ContainerSpec::attempt>("attempt"),
      field<&ContainerSpec::command>("command"),
      field<&ContainerSpec::environment>("environment"),
      field<&ContainerSpec::working_directory>("workingDirectory"),
      field<&ContainerSpec::run_as_user>("runAsUser"),
      field<&ContainerSpec::run_as_group>("runAsGroup"),
      field<&ContainerSpec::memory_limit>("memoryLimit"),
      field<&ContainerSpec::cpu_limit_milli>("cpuLimitMilli"),
      field<&ContainerSpec::cpu_request_milli>("cpuRequestMilli"),
      field<&ContainerSpec::oom_score>("oomScore"),
      field<&ContainerSpec::mounts>("mounts"),
      field<&ContainerSpec::root>("root"),
      field<&ContainerSpec::read_only_root>("readOnlyRoot"),
      field<&ContainerSpec::message_path>("messagePath"),
      field<&ContainerSpec::message_from_log>("messageFromLog"),
      field<&ContainerSpec::input>("input"),
      field<&ContainerSpec::input_once>("inputOnce"),
      field<&ContainerSpec::terminal>("terminal"),
      field<&ContainerSpec::backoff_ms>("backoffMs"),
  };
  static constexpr StructInfo kInfo = struct_info<ContainerSpec>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<RunRecord>) {
  static constexpr Field kFields[] = {
      field<&RunRecord::name>("name"),
      field<&RunRecord::attempt>("attempt"),
      field<&RunRecord::sandbox>("sandbox"),
      field<&RunRecord::state>("state"),
      field<&RunRecord::started>("started"),
      field<&RunRecord::finished>("finished"),
      field<&RunRecord::asked_to_end>("askedToEnd"),
      field<&RunRecord::cut_off>("cutOff"),
      field<&RunRecord::backoff_ms>("backoffMs"),
      field<&RunRecord::exit_code>("exitCode"),
      field<&RunRecord::signal>("signal"),
      field<&RunRecord::error>("error"),
      field<&RunRecord::message>("message"),
      field<&RunRecord::reason>("reason"),
  };
  static constexpr StructInfo kInfo = struct_info<RunRecord>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<KeeperState>) {
  static constexpr Field kFields[] = {
      field<&KeeperState::protocol>("protocol"),
      field<&KeeperState::sandbox>("sandbox"),
      field<&KeeperState::runs>("runs"),
  };
  static constexpr StructInfo kInfo = struct_info<KeeperState>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<KeeperRequest>) {
  static constexpr Field kFields[] = {
      field<&KeeperRequest::protocol>("protocol"), field<&KeeperRequest::verb>("verb"),
      field<&KeeperRequest::name>("name"),         field<&KeeperRequest::signal>("signal"),
      field<&KeeperRequest::cut_off>("cutOff"),    field<&KeeperRequest::container>("container"),
  };
  static constexpr StructInfo kInfo = struct_info<KeeperRequest>(kFields);
  return kInfo;
}

const StructInfo& describe(Tag<KeeperAnswer>) {
  static constexpr Field kFields[] = {
      field<&KeeperAnswer::protocol>("protocol"),
      field<&KeeperAnswer::event>("event"),
      field<&KeeperAnswer::error>("error"),
      field<&KeeperAnswer::state>("state"),
  };
  static constexpr StructInfo kInfo = struct_info<KeeperAnswer>(kFields);
  return kInfo;
}

const RunRecord* KeeperState::last(std::string_view name) const {
  auto backwards = std::views::reverse(runs);
  auto found = std::ranges::find(backwards, name, &RunRecord::name);
  return found == backwards.end() ? nullptr : &*found;
}

const RunRecord* KeeperState::previous(std::string_view name) const {
  const RunRecord* newest = last(name);
  for (const RunRecord& run : std::views::reverse(runs)) {
    if (run.name == name && &run != newest) {
      return &run;
    }
  }
  return nullptr;
}

RunRecord* KeeperState::find(std::string_view name, std::int32_t attempt) {
  auto found = std::ranges::find_if(
      runs, [&](const RunRecord& run) { return run.name == name && run.attempt == attempt; });
  return found == runs.end() ? nullptr : &*found;
}

void KeeperState::forget_old() {
  std::map<std::string_view, int> kept;
  std::vector<bool> drop(runs.size());
  for (std::size_t i = runs.size(); i-- > 0;) {
    drop[i] = runs[i].exited() && kept[runs[i].name] >= 2;
    ++kept[runs[i].name];
  }
  std::vector<RunRecord> rest;
  for (std::size_t i = 0; i < drop.size(); ++i) {
    if (!drop[i]) {
      rest.push_back(runs[i]);  // copied: `kept` still looks at the names
    }
  }
  runs = std::move(rest);
}

void KeeperState::lose(std::int64_t now) {
  for (RunRecord& run : runs) {
    if (!run.exited()) {
      run.error = kKeeperLost;
      run.state = "exited";
      run.finished = now;
      run.exit_code = kLostCode;
    }
  }
}

}  // namespace codeflare::node
