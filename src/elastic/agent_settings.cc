#include "elastic/agent_settings.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

namespace codeflare::elastic {

namespace {

using std::chrono::seconds;

struct Flag {
  std::string_view name;
  std::string_view help;
};

constexpr Flag kFlags[] = {
    {"nnodes", "least and greatest number of pods, MIN:MAX"},
    {"nproc-per-node", "workers of this pod (default 1)"},
    {"framework", "pytorch, tensorflow or generic (default pytorch)"},
    {"rdzv-backend", "kubernetes or etcd (default kubernetes)"},
    {"rdzv-client-service-host", "host of etcd"},
    {"rdzv-client-service-port", "port of etcd (default 2379)"},
    {"rdzv-id", "UID of the TrainingJob"},
    {"rdzv-conf", "protocol=https,cacert=FILE,cert=FILE,key=FILE for etcd"},
    {"job-name", "name of the TrainingJob"},
    {"job-namespace", "namespace of the TrainingJob (default default)"},
    {"index", "number of this worker pod"},
    {"pod-uid", "UID of this pod"},
    {"pod-ip", "address of this pod (default 127.0.0.1)"},
    {"grace-seconds", "time from notice to SIGKILL (default 30)"},
    {"stall-seconds", "least time without a step that is a stall, 0 for never (default 120)"},
    {"max-restarts", "shown to workers as TORCHELASTIC_MAX_RESTARTS (default 0)"},
    {"state-dir", "directory that outlives workers (default /dev/shm/lattice-UID)"},
};

std::string variable_of(std::string_view flag, std::string_view prefix) {
  std::string name(prefix);
  for (char c : flag) {
    name += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  return name;
}

// Flags, then variables.
class Source {
 public:
  explicit Source(const codeflare::Variables& variables) : variables_(variables) {}

  // Takes flags off the front; the rest is the command.
  Result<void> take_flags(std::vector<std::string>& arguments, AgentSettings& settings) {
    std::size_t at = 0;
    while (at < arguments.size() && arguments[at].starts_with("-")) {
      std::string flag = arguments[at++];
      if (flag == "--") {
        break;
      }
      if (flag == "--help" || flag == "-h") {
        settings.help = true;
        continue;
      }
      std::optional<std::string> value;
      if (const auto equals = flag.find('='); equals != std::string::npos) {
        value = flag.substr(equals + 1);
        flag.erase(equals);
      } else if (at < arguments.size()) {
        value = arguments[at++];
      }
      if (!value) {
        return fail(invalid_argument(flag + " needs a value"));
      }
      std::string name = flag.substr(std::min(flag.size(), flag.find_first_not_of('-')));
      std::ranges::replace(name, '_', '-');
      if (name == "install") {
        settings.install_directory = *value;
      } else if (std::ranges::find(kFlags, name, &Flag::name) == std::end(kFlags)) {
        return fail(invalid_argument("unknown flag " + flag + "; put -- before the command"));
      } else {
        flags_.insert_or_assign(std::move(name), *std::move(value));
      }
    }
    arguments.erase(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(at));
    return {};
  }

  std::string text(const std::string& flag, std::string otherwise = {}) const {
    if (auto at = flags_.find(flag); at != flags_.end()) {
      return at->second;
    }
    for (std::string_view prefix : {"LATTICE_", "PET_"}) {
      if (std::optional<std::string> value = variables_.get(variable_of(flag, prefix));
          value && !value->empty()) {
        return *value;
      }
    }
    return otherwise;
  }

  Result<std::int64_t> number(const std::string& flag, std::int64_t otherwise,
                              std::int64_t min) const {
    const std::string given = text(flag);
    if (given.empty()) {
      return otherwise;
    }
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
    if (error != std::errc() || end != given.data() + given.size() || value < min ||
        value > 1'000'000) {
      return fail(invalid_argument("--" + flag + " (" + variable_of(flag, "LATTICE_") + ") is '" +
                                   given + "', not a whole number of at least " +
                                   std::to_string(min)));
    }
    return value;
  }

  Result<std::string> required(const std::string& flag) const {
    std::string value = text(flag);
    if (value.empty()) {
      return fail(
          invalid_argument("--" + flag + " (" + variable_of(flag, "LATTICE_") + ") is missing"));
    }
    return value;
  }

 private:
  const codeflare::Variables& variables_;
  std::map<std::string, std::string> flags_;
};

Result<void> read_backend(const Source& source, AgentSettings& settings) {
  const std::string backend = source.text("rdzv-backend", "kubernetes");
  if (backend == "kubernetes") {
    TRY_ASSIGN(settings.job, source.required("job-name"));
    settings.ns = source.text("job-namespace", "default");
    return {};
  }
  if (backend != "etcd") {
    return fail(invalid_argument("--rdzv-backend (LATTICE_RDZV_BACKEND) is '" + backend +
                                 "'; use kubernetes or etcd (for c10d run torchrun itself)"));
  }
  settings.backend = Backend::etcd;
  settings.etcd.port = source.text("rdzv-client-service-port", "2379");
  settings.etcd.conf = parse_rdzv_conf(source.text("rdzv-conf"));
  TRY_ASSIGN(settings.etcd.host, source.required("rdzv-client-service-host"));
  return {};
}

}  // namespace

Result<AgentSettings> read_agent_settings(const codeflare::Variables& variables,
                                          std::vector<std::string> arguments) {
  AgentSettings settings;
  Source source(variables);
  TRY(source.take_flags(arguments, settings));
  if (settings.help || !settings.install_directory.empty()) {
    return settings;
  }
  AgentOptions& agent = settings.agent;
  agent.command = std::move(arguments);
  if (agent.command.empty()) {
    return fail(invalid_argument("no command; give it after --"));
  }
  TRY(read_backend(source, settings));
  TRY_ASSIGN(agent.run_id, source.required("rdzv-id"));
  TRY_ASSIGN(agent.identity.pod, source.required("pod-uid"));
  TRY(source.required("index"));
  TRY_ASSIGN(const std::int64_t index, source.number("index", 0, 0));
  TRY_ASSIGN(const std::int64_t nproc, source.number("nproc-per-node", 1, 1));
  TRY_ASSIGN(const std::int64_t grace, source.number("grace-seconds", 30, 0));
  TRY_ASSIGN(const std::int64_t stall, source.number("stall-seconds", 120, 0));
  TRY_ASSIGN(agent.restarts_max, source.number("max-restarts", 0, 0));
  TRY_ASSIGN(agent.framework, parse_framework(source.text("framework")));
  agent.identity.index = static_cast<std::int32_t>(index);
  agent.identity.nproc = static_cast<std::int32_t>(nproc);
  agent.identity.address = source.text("pod-ip", "127.0.0.1");
  agent.identity.grace = seconds(grace);
  agent.identity.stall_min = seconds(stall);
  agent.state_directory = source.text("state-dir", "/dev/shm/lattice-" + agent.run_id);
  agent.socket = join_path(agent.state_directory, "agent-" + std::to_string(index) + ".sock");
  agent.threads_given = variables.get("OMP_NUM_THREADS").has_value();
  return settings;
}

std::string agent_usage(std::string_view program) {
  std::string text = "Usage: " + std::string(program) +
                     " [FLAGS] -- COMMAND [ARGUMENTS]\n"
                     "       " +
                     std::string(program) +
                     " --install DIR\n\n"
                     "Run COMMAND as a member of a TrainingJob: process 1 of its pod.\n"
                     "Every flag is also a variable, LATTICE_ before its name.\n\n";
  for (const Flag& flag : kFlags) {
    std::string line = "  --" + std::string(flag.name);
    line.resize(std::max<std::size_t>(line.size() + 2, 30), ' ');
    text += line + std::string(flag.help) + "\n";
  }
  return text + "  --install                   directory to copy the agent and the library to\n";
}

}  // namespace codeflare::elastic
