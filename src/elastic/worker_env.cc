#include "elastic/worker_env.h"

#include "json/write.h"

#include <utility>

namespace codeflare::elastic {

namespace {

std::string tf_config(const Round& round, std::int32_t index) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object().key("cluster").begin_object().key("worker").begin_array();
  std::int64_t task = 0;
  std::int64_t position = 0;
  for (const RoundRank& rank : round.ranks) {
    if (rank.index == index) {
      task = position;
    }
    writer.string(rank.address + ":" + std::to_string(rank.port));
    ++position;
  }
  writer.end_array().end_object().key("task").begin_object().member("type", "worker");
  writer.key("index").integer(task).end_object().end_object();
  return text;
}

void add_group(WorkerVariables& variables, const WorkerSetting& setting, const Round& round) {
  const RoundRank* own = round.find(setting.index);
  const std::int32_t rank = (own == nullptr ? 0 : own->rank) + setting.local_rank;
  const auto group_rank = own == nullptr ? 0 : own - round.ranks.data();
  const std::string world = std::to_string(round.world_size);
  variables["RANK"] = std::to_string(rank);
  variables["ROLE_RANK"] = std::to_string(rank);
  variables["GROUP_RANK"] = std::to_string(group_rank);
  variables["WORLD_SIZE"] = world;
  variables["ROLE_WORLD_SIZE"] = world;
  variables["GROUP_WORLD_SIZE"] = std::to_string(round.ranks.size());
  variables["MASTER_ADDR"] = round.address;
  variables["MASTER_PORT"] = std::to_string(round.port);
  variables["TORCHELASTIC_USE_AGENT_STORE"] = "False";
}

void add_torch(WorkerVariables& variables, const WorkerSetting& setting) {
  variables["LOCAL_RANK"] = std::to_string(setting.local_rank);
  variables["LOCAL_WORLD_SIZE"] = std::to_string(setting.nproc);
  variables["ROLE_NAME"] = "default";
  variables["TORCHELASTIC_RESTART_COUNT"] = std::to_string(setting.restarts);
  variables["TORCHELASTIC_MAX_RESTARTS"] = std::to_string(setting.restarts_max);
  variables["TORCHELASTIC_RUN_ID"] = setting.run_id;
  variables["TORCHELASTIC_ERROR_FILE"] = setting.error_file;
  variables["TORCH_NCCL_ASYNC_ERROR_HANDLING"] = "1";
  variables["NCCL_ASYNC_ERROR_HANDLING"] = "1";
  if (setting.nproc > 1 && !setting.threads_given) {
    variables["OMP_NUM_THREADS"] = "1";
  }
}

}  // namespace

Result<Framework> parse_framework(std::string_view text) {
  if (text.empty() || text == "pytorch" || text == "torch") {
    return Framework::pytorch;
  }
  if (text == "tensorflow") {
    return Framework::tensorflow;
  }
  if (text == "generic") {
    return Framework::generic;
  }
  return fail(invalid_argument("framework '" + std::string(text) +
                               "' is unknown; use pytorch, tensorflow or generic"));
}

WorkerVariables worker_variables(const WorkerSetting& setting) {
  WorkerVariables variables;
  variables["LATTICE_RUN_ID"] = setting.run_id;
  variables["LATTICE_AGENT_SOCKET"] = setting.socket;
  variables["LATTICE_STATE_DIR"] = setting.state_directory;
  variables["LATTICE_LOCAL_RANK"] = std::to_string(setting.local_rank);
  if (setting.round) {
    variables["LATTICE_GENERATION"] = std::to_string(setting.round->generation);
  }
  if (setting.framework == Framework::pytorch) {
    add_torch(variables, setting);
    if (setting.round) {
      add_group(variables, setting, *setting.round);
    }
  } else if (setting.framework == Framework::tensorflow && setting.round) {
    variables["TF_CONFIG"] = tf_config(*setting.round, setting.index);
  }
  return variables;
}

}  // namespace codeflare::elastic
