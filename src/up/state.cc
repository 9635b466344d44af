#include "up/state.h"

#include "base/split.h"
#include "json/parse.h"
#include "json/write.h"

#include <charconv>
#include <utility>

namespace codeflare::up {

namespace {

// Of /proc/PID/stat, counted from what comes behind the program's name.
constexpr std::size_t kStateField = 0;
constexpr std::size_t kBeganField = 19;
// In what a user's programs keep.
constexpr std::string_view kUsualDirectory = "codeflare/up";

Result<std::int64_t> number_in(std::string_view text, const std::string& where) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return fail(data_loss(where + ": expected a number"));
  }
  return value;
}

std::int64_t integer_or_zero(const json::Value& object, std::string_view key) {
  const json::Value* found = object.find(key);
  return found == nullptr ? 0 : found->to_int64().value_or(0);
}

std::string text_of(const json::Value& object, std::string_view key) {
  return std::string(object.string_or_empty(key));
}

}  // namespace

std::string to_json(const UpState& state) {
  std::string text;
  json::Writer w(text);
  w.begin_object().key("pid").integer(state.process.pid);
  w.key("began").integer(state.process.began);
  w.member("since", to_rfc3339(state.since, 3)).key("readyMilliseconds").integer(state.ready_ms);
  w.member("version", state.version).member("server", state.server);
  w.member("kubeconfig", state.kubeconfig).member_if_set("log", state.log);
  if (!state.context.name.empty()) {
    w.key("context").begin_object().member("file", state.context.file);
    w.member("name", state.context.name).member_if_set("previous", state.context.previous);
    w.end_object();
  }
  w.member_if_set("warning", state.warning).key("about").begin_array();
  for (const std::string& line : state.about) {
    w.string(line);
  }
  w.end_array().end_object();
  return text + "\n";
}

Result<UpState> parse_up_state(std::string_view text) {
  TRY_ASSIGN(const json::Document document, json::parse(text));
  const json::Value& root = document.root;
  UpState state{.process = {integer_or_zero(root, "pid"), integer_or_zero(root, "began")},
                .since = {},
                .ready_ms = integer_or_zero(root, "readyMilliseconds"),
                .version = text_of(root, "version"),
                .server = text_of(root, "server"),
                .kubeconfig = text_of(root, "kubeconfig"),
                .log = text_of(root, "log"),
                .context = {},
                .about = {},
                .warning = text_of(root, "warning")};
  if (state.process.pid <= 0 || state.kubeconfig.empty()) {
    return fail(data_loss("pid or kubeconfig is missing"));
  }
  TRY_ASSIGN(state.since, parse_rfc3339(root.string_or_empty("since")));
  if (const json::Value* context = root.find("context")) {
    state.context = {.file = text_of(*context, "file"),
                     .name = text_of(*context, "name"),
                     .previous = text_of(*context, "previous")};
  }
  if (const json::Value* about = root.find("about")) {
    for (const json::Value& line : about->items()) {
      state.about.emplace_back(line.is_string() ? line.as_string() : "");
    }
  }
  return state;
}

Result<std::string> up_directory(const Variables& variables, const std::string& given) {
  if (!given.empty()) {
    return given;
  }
  if (const auto state = variables.get("XDG_STATE_HOME"); state && state->starts_with('/')) {
    return join_path(*state, kUsualDirectory);
  }
  if (const auto home = variables.get("HOME"); home && !home->empty()) {
    return join_path(*home, ".local/state/" + std::string(kUsualDirectory));
  }
  return fail(invalid_argument("HOME is not set; give --data-dir DIR"));
}

std::vector<std::string> private_places(const Variables& variables,
                                        const std::vector<std::string>& kubeconfigs) {
  std::vector<std::string> places;
  if (const Result<std::string> usual = up_directory(variables, "")) {
    places.push_back(parent_path(*usual));
  }
  for (const std::string& file : kubeconfigs) {
    places.push_back(file);
    // The file is replaced at every change, and who hides it would hide the old one; the directory
    // stays, but only one that has nothing else in it may be hidden.
    if (std::string directory = parent_path(file); directory.ends_with("/.kube")) {
      places.push_back(std::move(directory));
    }
  }
  return places;
}

std::string up_state_path(std::string_view directory) {
  return join_path(directory, "up.json");
}

Result<std::optional<UpState>> read_up_state(FileSystem& files, const std::string& directory) {
  const std::string path = up_state_path(directory);
  const Result<std::string> text = files.read(path);
  if (!text && text.error().code == ErrorCode::not_found) {
    return std::nullopt;
  }
  if (!text) {
    return fail(text.error());
  }
  Result<UpState> state = parse_up_state(*text);
  if (!state) {
    return fail(std::move(state).error().with_context(path));
  }
  return std::optional(*std::move(state));
}

Result<ProcessId> find_process(FileSystem& files, std::string_view pid) {
  const std::string path = "/proc/" + std::string(pid) + "/stat";
  TRY_ASSIGN(const std::string text, files.read(path));
  // "123 (name) S 1 ...": the name may hold anything, brackets too.
  const std::size_t name = text.find(" (");
  const std::size_t behind = text.rfind(") ");
  if (name == std::string::npos || behind == std::string::npos) {
    return fail(data_loss(path + ": not as expected"));
  }
  const std::vector<std::string_view> fields =
      split(std::string_view(text).substr(behind + 2), ' ');
  if (fields.size() <= kBeganField) {
    return fail(data_loss(path + ": not as expected"));
  }
  if (fields[kStateField] == "Z" || fields[kStateField] == "X") {
    return fail(not_found(path + ": the process has ended"));
  }
  ProcessId process;
  TRY_ASSIGN(process.pid, number_in(std::string_view(text).substr(0, name), path));
  TRY_ASSIGN(process.began, number_in(fields[kBeganField], path));
  return process;
}

bool is_running(FileSystem& files, const ProcessId& process) {
  const Result<ProcessId> found = find_process(files, std::to_string(process.pid));
  return found && *found == process;
}

std::string render_ready(const UpState& state) {
  std::string text = "ready " + state.server + " in " + std::to_string(state.ready_ms) +
                     " ms\nkubeconfig " + state.kubeconfig + "\n";
  if (!state.context.name.empty()) {
    text += "context " + state.context.name + " is current in " + state.context.file + "\n";
  }
  for (const std::string& line : state.about) {
    text += line + "\n";
  }
  if (!state.log.empty()) {
    text += "log " + state.log + "\n";
  }
  text += "try:\n";
  if (state.context.name.empty()) {
    text += "  export KUBECONFIG=" + state.kubeconfig + "\n";
  }
  // Only the usual directory is found without a word.
  const std::string directory = parent_path(state.kubeconfig);
  const bool usual = directory.ends_with(kUsualDirectory);
  return text + "  codeflare status" + (usual ? "" : " --data-dir " + directory) +
         "\n"
         "  codeflare create -f FILE   # AppWrappers, Jobs, RayClusters, anything\n"
         "  codeflare queue            # waiting and running work, with reasons\n";
}

}  // namespace codeflare::up
