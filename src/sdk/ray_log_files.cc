#include "sdk/ray_log_files.h"

#include "kube/remote_command.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

namespace codeflare::sdk {

namespace {

constexpr std::size_t kHeaderBytesMax = 8192;

// A file that grows meanwhile is cut at the size that was announced; one that shrinks is filled up.
constexpr std::string_view kScript = R"sh(
cd "${RAY_TMPDIR:-/tmp/ray}/session_latest/logs" || exit 3
find . -type f | while IFS= read -r file; do
  size=$(wc -c < "$file") || continue
  [ "$size" -le "$0" ] || size=$0
  printf '%s %s\n' "$((size))" "$file"
  { tail -c "$size" < "$file"; head -c "$size" /dev/zero; } | head -c "$size"
done
)sh";

bool stays_below(std::string_view path) {
  if (path.empty() || path.front() == '/') {
    return false;
  }
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    if (path.substr(0, slash) == "..") {
      return false;
    }
    path = slash == std::string_view::npos ? "" : path.substr(slash + 1);
  }
  return true;
}

class Feeding final : public net::ByteStream {
 public:
  explicit Feeding(LogFileReader& reader) : reader_(reader) {}
  Task<Result<std::string>> read() override { co_return std::string(); }
  Task<Result<void>> write(std::string bytes) override { co_return reader_.take(bytes); }

 private:
  LogFileReader& reader_;
};

class Keeping final : public net::ByteStream {
 public:
  Task<Result<std::string>> read() override { co_return std::string(); }
  Task<Result<void>> write(std::string bytes) override {
    constexpr std::size_t kKeptMax = 1000;
    text.append(bytes, 0, kKeptMax - std::min(text.size(), kKeptMax));
    co_return Result<void>();
  }
  std::string text;
};

}  // namespace

std::vector<std::string> log_files_command() {
  return {"sh", "-c", std::string(kScript), std::to_string(kLogFileBytesMax)};
}

// False: more has to come first.
Result<bool> LogFileReader::read_header() {
  const std::size_t end = pending_.find('\n');
  if (end == std::string::npos) {
    return pending_.size() > kHeaderBytesMax
               ? fail(invalid_argument("the list of log files is not readable"))
               : Result<bool>(false);
  }
  const std::size_t blank = pending_.find(' ');
  const char* begin = pending_.data();
  const auto [at, error] = std::from_chars(begin, begin + std::min(blank, end), size_);
  if (blank > end || error != std::errc() || at != begin + blank || size_ > kLogFileBytesMax) {
    return fail(invalid_argument("the list of log files is not readable"));
  }
  path_ = pending_.substr(blank + 1, end - blank - 1);
  if (path_.starts_with("./")) {
    path_.erase(0, 2);
  }
  if (!stays_below(path_)) {
    return fail(invalid_argument("log file '" + path_ + "' is outside of Ray's directory"));
  }
  pending_.erase(0, end + 1);
  return true;
}

Result<void> LogFileReader::take(std::string_view piece) {
  pending_ += piece;
  while (true) {
    if (path_.empty()) {
      TRY_ASSIGN(const bool complete, read_header());
      if (!complete) {
        return {};
      }
    }
    if (pending_.size() < size_) {
      return {};
    }
    TRY(sink_(path_, std::string_view(pending_).substr(0, size_)));
    ++files_;
    pending_.erase(0, size_);
    path_.clear();
  }
}

Result<void> LogFileReader::finish() const {
  if (path_.empty() && pending_.empty()) {
    return {};
  }
  return fail(unavailable("the log files ended early" + (path_.empty() ? "" : " in " + path_)));
}

Task<Result<std::size_t>> download_log_files(Env env, net::HttpService& service, RayNode node,
                                             std::string directory) {
  LogFileReader reader([&](const std::string& path, std::string_view content) -> Result<void> {
    const std::string target = directory + "/" + path;
    TRY(env.files.make_directories(target.substr(0, target.rfind('/'))));
    return env.files.write(target, content);
  });
  Feeding output(reader);
  Keeping words;
  kube::RemoteCommand command{
      .pod = node.pod, .container = node.container, .command = log_files_command()};
  CO_TRY_ASSIGN(const int code,
                co_await kube::run_command(env, service, std::move(command),
                                           {.output = &output, .error_output = &words}));
  CO_TRY(reader.finish());
  if (code != 0) {
    co_return fail(failed_precondition(
        "pod " + node.pod.name + " has no log files of Ray: " +
        (words.text.empty() ? "exit code " + std::to_string(code) : words.text)));
  }
  co_return reader.files();
}

}  // namespace codeflare::sdk
