#include "node/keeper/internal/real_keeper.h"

#include "base/env/file_system.h"
#include "node/keeper/internal/real_attached.h"
#include "node/keeper/internal/real_group_view.h"
#include "node/system/descriptors.h"
#include "node/system/host_path.h"
#include "node/system/mounts.h"
#include "node/wire/message.h"
#include "node/wire/stream_protocol.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <span>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace codeflare::node::internal {

namespace {

constexpr std::size_t kMessageBytes = 4096;
constexpr std::size_t kLogTailBytes = 2048;
constexpr std::size_t kLogTailLines = 80;
constexpr std::size_t kClientsMax = 16;
// A client that does not read is not waited for.
constexpr std::size_t kUnsentBytesMax = 8u << 20;
constexpr std::int32_t kStartFailed = 128;
constexpr int kLookAtMemoryMs = 500;
constexpr std::int64_t kAnswerWithinMs = 2000;
constexpr const char* kOomKilled = "OOMKilled";

std::int64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

WallTime wall_now() {
  return WallTime(Duration(now_ns()));
}

// Independent of changes to the machine's clock.
std::int64_t steady_ms() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

std::string read_file(const std::string& path, std::size_t bytes_max) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  std::string text;
  std::array<char, 4096> buffer{};
  while (file && text.size() < bytes_max) {
    const ssize_t got =
        ::read(file.get(), buffer.data(), std::min(buffer.size(), bytes_max - text.size()));
    if (got <= 0) {
      break;
    }
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

// Its end, when it is longer.
std::string read_end(const std::string& path, std::size_t bytes_max) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return {};
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  std::string text(std::min(size, bytes_max), '\0');
  const ssize_t got =
      ::pread(file.get(), text.data(), text.size(), static_cast<off_t>(size - text.size()));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

}  // namespace

struct Keeper::Run {
  Run(const ContainerSpec& spec, StartedContainer started, const std::string& logs)
      : name(spec.name),
        attempt(spec.attempt),
        message_path(spec.message_path),
        message_from_log(spec.message_from_log),
        init(started.init),
        output(std::move(started.output)),
        error_output(std::move(started.error_output)),
        report(std::move(started.report)),
        control(std::move(started.control)),
        input(std::move(started.input)),
        input_once(spec.input_once),
        has_terminal(spec.terminal),
        log(logs, spec.attempt, {}) {}

  std::string name;
  std::int32_t attempt;
  std::string message_path;
  bool message_from_log;
  pid_t init;
  FileDescriptor output;
  FileDescriptor error_output;
  FileDescriptor report;
  FileDescriptor control;
  FileDescriptor input;  // kept open for those who come
  bool input_once;
  bool has_terminal;
  Attached attached{};  // those who look on
  LogLines output_lines{"stdout"};
  LogLines error_lines{"stderr"};
  LogFile log;
  std::int64_t memory_limit = 0;
  std::int64_t oom_kills = 0;  // before it
  FileDescriptor files{};      // the file system in memory that it writes to
  FileDescriptor count{};      // says how much memory it has; closed while nobody counts
  std::string tail;            // of what it wrote
  std::string report_text{};   // not yet a whole line
  int status = -1;             // of the program
  std::int64_t killed_ms = 0;  // when it was ordered to kill everything, by steady_ms()
  bool over = false;
};

struct Keeper::Client {
  FileDescriptor socket;
  FrameReader frames;
  std::string unsent;
  bool gone = false;
};

Keeper::Keeper(KeeperView view, SandboxSpec sandbox, FileDescriptor listener)
    : view_(std::move(view)), sandbox_(std::move(sandbox)), listener_(std::move(listener)) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &child, nullptr);
  signals_ = FileDescriptor(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  ::signal(SIGPIPE, SIG_IGN);
  load_state();
}

Keeper::~Keeper() = default;

// Loads the state of an earlier keeper of the same pod.
void Keeper::load_state() {
  const std::string text = read_file(view_.pod + "/state.json", kFrameBytesMax);
  if (Result<KeeperState> earlier = parse_message<KeeperState>(text); !text.empty() && earlier) {
    state_ = *std::move(earlier);
    state_.lose(now_ns());
  }
  ++state_.sandbox;
  save_state();
}

bool Keeper::save_state() const {
  const std::string path = view_.pod + "/state.json";
  return write_small_file(path + ".new", model::to_json_text(state_)) &&
         ::rename((path + ".new").c_str(), path.c_str()) == 0;
}

int Keeper::run() {
  while (!ending_ || !runs_.empty()) {
    std::vector<pollfd> waits;
    waits.push_back({.fd = listener_.get(), .events = POLLIN, .revents = 0});
    waits.push_back({.fd = signals_.get(), .events = POLLIN, .revents = 0});
    for (const auto& client : clients_) {
      const auto wanted = static_cast<short>(client->unsent.empty() ? POLLIN : POLLIN | POLLOUT);
      waits.push_back({.fd = client->socket.get(), .events = wanted, .revents = 0});
    }
    for (const auto& run : runs_) {
      // A closed one is -1, which poll() passes over.
      for (int fd : {run->output.get(), run->error_output.get(), run->report.get(),
                     run->control.get(), run->count.get()}) {
        waits.push_back({.fd = fd, .events = POLLIN, .revents = 0});
      }
    }
    if (::poll(waits.data(), waits.size(), patience()) < 0 && errno != EINTR) {
      return 1;
    }
    keep_limits();
    kill_silent_inits();
    std::size_t at = 2;
    for (const auto& client : clients_) {
      const short ready = waits[at++].revents;
      if ((ready & POLLOUT) != 0) {
        send_to(*client, {});
      }
      if ((ready & (POLLIN | POLLHUP | POLLERR)) != 0) {
        read_client(*client);
      }
    }
    for (std::size_t i = 0; at < waits.size(); ++i) {
      // Runs that a request has started just now come next time.
      Run& run = *runs_[i];
      if (waits[at++].revents != 0) {
        read_output(run, run.output, run.output_lines);
      }
      if (waits[at++].revents != 0) {
        read_output(run, run.error_output, run.error_lines);
      }
      if (waits[at++].revents != 0) {
        read_report(run);
      }
      if (waits[at++].revents != 0) {
        read_control(run);
      }
      if (waits[at++].revents != 0) {
        judge_count(run);
      }
    }
    if (waits[1].revents != 0) {
      reap();
    }
    std::erase_if(runs_, [](const auto& run) { return run->over; });
    if (waits[0].revents != 0) {
      accept_client();
    }
    if (changed_) {
      changed_ = false;
      save_state();
      tell_all();
    }
    std::erase_if(clients_, [](const auto& client) { return client->gone; });
  }
  kill_orphans();
  return 0;
}

void Keeper::accept_client() {
  FileDescriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket || clients_.size() >= kClientsMax) {
    return;
  }
  auto client = std::make_unique<Client>();
  client->socket = std::move(socket);
  clients_.push_back(std::move(client));
}

void Keeper::read_client(Client& client) {
  std::array<char, 16384> buffer{};
  for (;;) {
    const ssize_t size = ::read(client.socket.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size < 0 && errno == EAGAIN) {
      break;
    }
    if (size <= 0) {
      client.gone = true;
      return;
    }
    client.frames.add({buffer.data(), static_cast<std::size_t>(size)});
  }
  for (;;) {
    Result<std::optional<std::string>> next = client.frames.next();
    if (!next) {
      client.gone = true;
      return;
    }
    if (!*next) {
      return;
    }
    answer(client, **next);
  }
}

void Keeper::answer(Client& client, std::string_view text) {
  KeeperAnswer answer;
  const Result<KeeperRequest> request = parse_message<KeeperRequest>(text);
  if (request && is_stream_verb(request->verb)) {
    give(client, text);
    return;
  }
  answer.error = request ? carry_out(*request) : request.error().message;
  answer.state = state_;
  send_to(client, framed(answer));
}

void Keeper::give(Client& client, std::string_view text) {
  if (const Result<void> given = try_give(client, text); !given) {
    const Error& error = given.error();
    const StreamAnswer refusal{.error = error.message, .ended = error.code == ErrorCode::not_found};
    send_to(client, framed(refusal));
  }
}

Result<void> Keeper::try_give(Client& client, std::string_view text) {
  TRY_ASSIGN(const StreamRequest request, parse_message<StreamRequest>(text));
  if (!client.unsent.empty()) {
    return fail(failed_precondition("the connection is in use"));
  }
  if (request.verb == "dial") {
    TRY_ASSIGN(const FileDescriptor socket, begin_to_connect(request.address, request.port));
    const StreamAnswer answer{.descriptors = {"socket"}};
    const int descriptor = socket.get();
    return send_with_descriptors(client.socket.get(), framed(answer), std::span(&descriptor, 1));
  }
  const auto found =
      std::ranges::find(runs_, request.name, [](const auto& run) { return run->name; });
  if (found == runs_.end() || text.size() > kStreamRequestBytesMax) {
    return fail(not_found("container not found (\"" + request.name + "\")"));
  }
  if (request.verb == "attach") {
    Run& run = **found;
    const Attached::Input input{.pipe = run.input.get(),
                                .terminal = run.has_terminal ? run.output.get() : -1};
    TRY(run.attached.add(client.socket, input));
    if (run.input_once) {
      run.input.close();  // ends with whoever has it now
    }
  } else {
    const int descriptor = client.socket.get();
    TRY(send_with_descriptors((*found)->control.get(), text, std::span(&descriptor, 1)));
  }
  // It is somebody else's connection now.
  client.gone = true;
  return {};
}

void Keeper::tell_all() {
  const KeeperAnswer news{.event = true, .error = {}, .state = state_};
  const std::string bytes = framed(news);
  for (const auto& client : clients_) {
    send_to(*client, bytes);
  }
}

void Keeper::send_to(Client& client, const std::string& bytes) {
  client.unsent += bytes;
  while (!client.unsent.empty() && !client.gone) {
    const ssize_t size =
        ::send(client.socket.get(), client.unsent.data(), client.unsent.size(), MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size < 0 && errno == EAGAIN && client.unsent.size() <= kUnsentBytesMax) {
      return;
    }
    if (size <= 0) {
      client.gone = true;
      return;
    }
    client.unsent.erase(0, static_cast<std::size_t>(size));
  }
}

// An empty text is success.
std::string Keeper::carry_out(const KeeperRequest& request) {
  if (request.verb == "state") {
    return {};
  }
  if (request.verb == "start") {
    return request.container ? start(*request.container) : "nothing to start";
  }
  if (request.verb == "signal") {
    return send_signal(request);
  }
  if (request.verb == "kill") {
    for (const auto& run : runs_) {
      if (run->name == request.name) {
        kill_run(*run);
      }
    }
    return {};  // one that has ended is what was asked for
  }
  if (request.verb == "shutdown") {
    ending_ = true;
    for (const auto& run : runs_) {
      kill_run(*run);
    }
    return {};
  }
  return "unknown request \"" + request.verb + "\"";
}

std::string Keeper::start(const ContainerSpec& spec) {
  if (ending_) {
    return "the pod is being ended";
  }
  if (!is_plain_name(spec.name) || spec.command.empty()) {
    return "a container needs a name and a command";
  }
  const RunRecord* last = state_.last(spec.name);
  if (last != nullptr && last->attempt >= spec.attempt) {
    return "container " + spec.name + " was started as run " + std::to_string(last->attempt) +
           " already";
  }
  if (last != nullptr && !last->exited()) {
    return "container " + spec.name + " runs already";
  }
  const std::string logs = view_.pod + "/logs/" + spec.name;
  remove_old_logs(logs, spec.attempt - 1);
  if (!spec.message_path.empty()) {
    const Result<void> made =
        make_file(view_.pod + "/messages/" + spec.name + "." + std::to_string(spec.attempt));
    if (!made) {
      return made.error().message;
    }
  }
  state_.runs.push_back({.name = spec.name,
                         .attempt = spec.attempt,
                         .sandbox = state_.sandbox,
                         .state = "starting",
                         .backoff_ms = spec.backoff_ms});
  // Written down before it begins: whoever comes after a keeper that was killed starts no run
  // twice.
  if (!save_state()) {
    state_.runs.pop_back();
    return "the start of container " + spec.name + " cannot be written down";
  }
  const std::int64_t oom_kills = view_.groups == nullptr ? 0 : view_.groups->oom_kills(spec.name);
  Result<StartedContainer> started = start_container(view_, sandbox_, spec);
  changed_ = true;
  if (!started) {
    RunRecord& record = state_.runs.back();
    record.state = "exited";
    record.started = record.finished = now_ns();
    record.exit_code = kStartFailed;
    record.error = started.error().message;
  } else {
    runs_.push_back(std::make_unique<Run>(spec, *std::move(started), logs));
    runs_.back()->memory_limit = spec.memory_limit;
    runs_.back()->oom_kills = oom_kills;
  }
  state_.forget_old();
  return {};
}

std::string Keeper::send_signal(const KeeperRequest& request) {
  auto found = std::ranges::find(runs_, request.name, [](const auto& run) { return run->name; });
  if (found == runs_.end()) {
    return {};  // it has ended: what was asked for
  }
  Run& run = **found;
  RunRecord* record = record_of(run);
  if (record != nullptr && request.cut_off) {
    // That it has ended by itself may be on its way to us.
    while (run.report && read_report(run)) {
    }
    record->cut_off = record->cut_off || run.status < 0;
    changed_ = true;
  }
  if (request.signal == 0) {
    return {};
  }
  if (record != nullptr && record->asked_to_end == 0) {
    record->asked_to_end = now_ns();
    changed_ = true;
  }
  ::kill(run.init, request.signal);
  return {};
}

void Keeper::kill_run(Run& run) {
  const RunRecord* record = record_of(run);
  // While it builds the container it looks at nothing.
  ::kill(run.init, record != nullptr && record->starting() ? SIGKILL : kill_all_signal());
  if (run.killed_ms == 0) {
    run.killed_ms = steady_ms();
  }
}

void Keeper::kill_silent_inits() {
  const std::int64_t now = steady_ms();
  for (const auto& run : runs_) {
    if (run->killed_ms > 0 && now - run->killed_ms >= kAnswerWithinMs) {
      ::kill(run->init, SIGKILL);  // in a namespace of its own, all it holds goes along
      run->killed_ms = now;
    }
  }
}

void Keeper::kill_orphans() {
  if (view_.isolated) {
    return;
  }
  std::vector<pid_t> inits;
  for (const auto& run : runs_) {
    if (!run->over) {
      inits.push_back(run->init);
    }
  }
  kill_descendants(inits);
}

RunRecord* Keeper::record_of(const Run& run) {
  return state_.find(run.name, run.attempt);
}

bool Keeper::looks_at_memory() const {
  return view_.groups == nullptr &&
         std::ranges::any_of(runs_, [](const auto& run) { return run->memory_limit > 0; });
}

int Keeper::patience() const {
  std::int64_t wait = looks_at_memory() ? kLookAtMemoryMs : -1;
  for (const auto& run : runs_) {
    if (run->killed_ms > 0) {
      const std::int64_t left =
          std::max<std::int64_t>(run->killed_ms + kAnswerWithinMs - steady_ms(), 0);
      wait = wait < 0 ? left : std::min(wait, left);
    }
  }
  return static_cast<int>(wait);
}

// Where the kernel does not do it: who uses too much memory is killed, as the kernel would.
void Keeper::keep_limits() {
  const std::int64_t now = now_ns();
  if (!looks_at_memory() || now - looked_at_memory_ < kLookAtMemoryMs * std::int64_t{1'000'000}) {
    return;
  }
  const ProcessTable processes;
  for (const auto& run : runs_) {
    // One that is to end anyway is not looked at any more.
    if (run->memory_limit <= 0 || run->count || run->killed_ms > 0) {
      continue;
    }
    const std::int64_t files = bytes_in_memory(run->files.get());
    const std::int64_t most = processes.most_memory_of(run->init) + files;
    show_memory(run->files.get(), most);
    if (most > run->memory_limit) {
      begin_to_count(*run, processes, files);
    }
  }
  looked_at_memory_ = now_ns();
}

void Keeper::begin_to_count(Run& run, const ProcessTable& processes, std::int64_t files) {
  Result<Pipe> answer = make_pipe(O_CLOEXEC);
  const pid_t child = answer ? ::fork() : -1;
  if (child == 0) {
    // Nothing of the keeper's stays open here, such as connections that it closes meanwhile.
    const int fd = ::dup2(answer->writing.get(), STDERR_FILENO + 1);
    ::close_range(STDERR_FILENO + 2, ~0u, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    const std::int64_t bytes = processes.memory_of(run.init, run.memory_limit, files);
    static_cast<void>(!::write(fd, &bytes, sizeof bytes));
    ::_exit(0);
  }
  if (child > 0) {
    run.count = std::move(answer->reading);
  }
}

void Keeper::judge_count(Run& run) {
  std::int64_t bytes = 0;
  const ssize_t size = ::read(run.count.get(), &bytes, sizeof bytes);
  run.count.close();
  if (size != static_cast<ssize_t>(sizeof bytes) || bytes <= run.memory_limit) {
    return;
  }
  if (RunRecord* record = record_of(run)) {
    record->reason = kOomKilled;
  }
  kill_run(run);
}

bool Keeper::read_output(Run& run, FileDescriptor& pipe, LogLines& lines) {
  std::array<char, 65536> buffer;
  const ssize_t size = ::read(pipe.get(), buffer.data(), buffer.size());
  if (size < 0 && (errno == EINTR || errno == EAGAIN)) {
    return errno == EINTR;
  }
  std::string text;
  if (size > 0) {
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(size));
    lines.add(bytes, wall_now(), text);
    run.attached.show(bytes, &pipe == &run.error_output);
    if (run.message_from_log) {
      run.tail += bytes;
      run.tail.erase(0, run.tail.size() - std::min(run.tail.size(), kLogTailBytes));
    }
  } else {
    lines.finish(wall_now(), text);
    pipe.close();
  }
  run.log.write(text);
  return size > 0;
}

bool Keeper::read_report(Run& run) {
  std::array<char, 4096> buffer{};
  const ssize_t size = ::read(run.report.get(), buffer.data(), buffer.size());
  if (size < 0 && (errno == EINTR || errno == EAGAIN)) {
    return errno == EINTR;
  }
  if (size <= 0) {
    run.report.close();
    return false;
  }
  run.report_text.append(buffer.data(), static_cast<std::size_t>(size));
  for (std::size_t end = 0; (end = run.report_text.find('\n')) != std::string::npos;) {
    const std::string line = run.report_text.substr(0, end);
    run.report_text.erase(0, end + 1);
    RunRecord* record = record_of(run);
    if (record == nullptr) {
      continue;
    }
    if (line == "R") {
      record->state = "running";
      record->started = now_ns();
    } else if (line.starts_with("E ")) {
      record->error = line.substr(2);
    } else if (line.starts_with("S ")) {
      run.status = std::atoi(line.c_str() + 2);
    }
    changed_ = true;
  }
  return true;
}

void Keeper::read_control(Run& run) {
  for (bool first = true;; first = false) {
    Packet packet = receive_packet(run.control.get(), 64);
    if (packet.bytes.empty()) {
      if (first) {
        run.control.close();  // something was there: its end
      }
      return;
    }
    if (packet.descriptors.empty()) {
      continue;
    }
    if (packet.bytes == kFilesPacket) {
      run.files = std::move(packet.descriptors.front());
    } else if (packet.bytes == kTerminalPacket) {
      // A program with a terminal writes to that terminal.
      run.output = std::move(packet.descriptors.front());
      ::fcntl(run.output.get(), F_SETFL, ::fcntl(run.output.get(), F_GETFL) | O_NONBLOCK);
    }
  }
}

void Keeper::reap() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) > 0) {
  }
  int status = 0;
  // Orphans that came to us are reaped on the way.
  for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    auto found = std::ranges::find(runs_, ended, [](const auto& run) { return run->init; });
    if (found != runs_.end()) {
      finish(**found, status);
    }
  }
}

// The init has ended and everything of the container with it: what is in the pipes is all there is.
void Keeper::finish(Run& run, int init_status) {
  if (run.control) {
    read_control(run);
  }
  while (run.output && read_output(run, run.output, run.output_lines)) {
  }
  while (run.error_output && read_output(run, run.error_output, run.error_lines)) {
  }
  while (run.report && read_report(run)) {
  }
  std::string rest;
  run.output_lines.finish(wall_now(), rest);
  run.error_lines.finish(wall_now(), rest);
  run.log.write(rest);
  run.over = true;
  changed_ = true;
  std::string message;
  if (!run.message_path.empty()) {
    const std::string path =
        view_.pod + "/messages/" + run.name + "." + std::to_string(run.attempt);
    message = read_end(path, kMessageBytes);
    ::unlink(path.c_str());  // it may be as big as the container liked
  }
  if (WIFSIGNALED(init_status)) {
    kill_orphans();
  }
  RunRecord* record = record_of(run);
  if (record == nullptr) {
    return;
  }
  const int status = run.status >= 0 ? run.status : init_status;
  run.attached.end(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
  record->state = "exited";
  record->finished = now_ns();
  if (record->started == 0) {
    record->started = record->finished;
  }
  if (!record->error.empty()) {
    record->exit_code = kStartFailed;
    return;
  }
  record->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  record->exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  if (view_.groups != nullptr && view_.groups->oom_kills(run.name) > run.oom_kills) {
    record->reason = kOomKilled;
  }
  if (record->exit_code == 0) {
    record->reason.clear();  // it had done what it was there for
  }
  record->message = message;
  if (record->message.empty() && run.message_from_log && record->exit_code != 0) {
    record->message = last_lines(run.tail, kLogTailLines);
  }
}

}  // namespace codeflare::node::internal
