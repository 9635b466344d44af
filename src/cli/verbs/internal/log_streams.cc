#include "cli/verbs/internal/log_streams.h"

#include "cli/verbs/logs.h"

#include <utility>

namespace codeflare::cli {

namespace {

// A line that never ends is cut: it must not grow without bound.
constexpr std::size_t kLineBytesMax = std::size_t{1} << 20;

bool has_started(const model::ContainerStatus& status) {
  return status.state.running || status.state.terminated || status.restart_count > 0;
}

}  // namespace

std::string LinePrefix::take(std::string_view piece) {
  std::string out;
  begun_ += piece;
  std::size_t at = 0;
  for (std::size_t end = begun_.find('\n'); end != std::string::npos; end = begun_.find('\n', at)) {
    out += prefix_;
    out.append(begun_, at, end + 1 - at);
    at = end + 1;
  }
  begun_.erase(0, at);
  return begun_.size() > kLineBytesMax ? out + rest() : out;
}

std::string LinePrefix::rest() {
  return begun_.empty() ? "" : prefix_ + std::exchange(begun_, {}) + "\n";
}

namespace internal {

// Containers that have started, by pod, init containers first.
std::vector<LogStreams::Source> LogStreams::sources_of(const std::vector<model::Pod>& pods) const {
  std::vector<Source> sources;
  for (const model::Pod& pod : pods) {
    const bool alone = pod.spec.init_containers.size() + pod.spec.containers.size() == 1;
    for (const auto* list : {&pod.status.init_container_statuses, &pod.status.container_statuses}) {
      for (const model::ContainerStatus& status : *list) {
        if (has_started(status) &&
            (choice_.container.empty() || status.name == choice_.container)) {
          sources.push_back({.pod = pod.metadata.key(),
                             .uid = pod.metadata.uid,
                             .container = status.name,
                             .run = status.restart_count,
                             .alone = alone});
        }
      }
    }
  }
  return sources;
}

Task<bool> LogStreams::read(std::vector<model::Pod> pods) {
  const std::vector<Source> sources = sources_of(pods);
  for (const Source& source : sources) {
    Source copy = source;
    co_await stream(std::move(copy), choice_.tail);
  }
  co_return !sources.empty();
}

bool LogStreams::begin(const std::vector<model::Pod>& pods) {
  bool any = false;
  for (Source& source : sources_of(pods)) {
    if (begun_.insert(source.id()).second) {
      any = true;
      streams_.spawn(stream(std::move(source), choice_.tail));
    }
  }
  choice_.tail.reset();
  return any;
}

Task<void> LogStreams::join() {
  co_await streams_.join();
}

Task<void> LogStreams::close() {
  co_await streams_.close();
}

Task<void> LogStreams::stream(Source source, std::optional<std::int64_t> tail) {
  kube::LogOptions options{.container = source.container,
                           .follow = choice_.follow,
                           .timestamps = choice_.timestamps,
                           .tail_lines = tail};
  const std::shared_ptr<WorkPodClient> elsewhere = elsewhere_;
  kube::Client& client = elsewhere == nullptr ? session_.client() : elsewhere->client();
  Result<net::Body> body = co_await client.logs(source.pod, std::move(options));
  LinePrefix lines(source.prefix());
  Result<void> end = body ? Result<void>() : fail(std::move(body).error());
  while (end && *body != nullptr) {
    const Result<Bytes> piece = co_await (*body)->read();
    if (!piece) {
      end = fail(piece.error());
    } else if (piece->empty()) {
      break;
    } else {
      show(lines.take(piece->view()));
    }
  }
  show(lines.rest());
  if (!end && end.error().code != ErrorCode::cancelled) {
    code_ =
        report(session_.console(), std::move(end).error().with_context("pod " + source.pod.name));
  }
}

void LogStreams::show(const std::string& lines) {
  if (!lines.empty()) {
    session_.console().out(lines);
  }
}

}  // namespace internal

}  // namespace codeflare::cli
