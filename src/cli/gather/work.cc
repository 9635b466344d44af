#include "cli/gather/work.h"

#include "kube/object.h"
#include "model/codec/pod.h"
#include "model/resources.h"
#include "queue/demand.h"
#include "queue/item_end.h"
#include "queue/status_words.h"

#include <string>
#include <utility>

namespace codeflare::cli {

namespace {

constexpr std::int64_t kLogLines = 5;
constexpr std::int64_t kLogBytesMax = 8192;

// From the container's status, else from its log as far as the user may read it.
Task<std::vector<std::string>> log_of(Session& session, std::string ns, queue::PodTrouble trouble) {
  std::vector<std::string> lines = last_lines(trouble.log);
  const bool has_run = trouble.exit_code && trouble.kind != queue::PodTrouble::Kind::cannot_start;
  if (!lines.empty() || !has_run || trouble.container.empty()) {
    co_return lines;
  }
  constexpr std::string_view kInit = "init container ";
  const std::string container = trouble.container.starts_with(kInit)
                                    ? trouble.container.substr(kInit.size())
                                    : trouble.container;
  kube::LogOptions options{.container = container,
                           .previous = trouble.kind == queue::PodTrouble::Kind::crash_loop,
                           .tail_lines = kLogLines,
                           .limit_bytes = kLogBytesMax};
  Result<net::Body> body =
      co_await session.client().logs({std::move(ns), trouble.pod}, std::move(options));
  if (!body || *body == nullptr) {
    co_return lines;
  }
  const Result<std::string> text =
      co_await net::read_all(*std::move(body), static_cast<std::size_t>(2 * kLogBytesMax));
  co_return text ? last_lines(*text) : lines;
}

}  // namespace

Task<Result<std::vector<model::Pod>>> list_pods(Session& session, GroupedWrapper wrapper) {
  kube::ListOptions options{.ns = wrapper.metadata.ns,
                            .label_selector = queue::pod_selector(wrapper)};
  auto listing = session.client().list_all(model::resource_type<model::Pod>(), std::move(options));
  CO_TRY_ASSIGN(const kube::ObjectList list, co_await std::move(listing));
  std::vector<model::Pod> pods;
  for (const kube::ObjectRef& object : list.items) {
    if (Result<model::Pod> pod = object->as<model::Pod>()) {
      pods.push_back(*std::move(pod));
    }
  }
  co_return pods;
}

Task<Result<Work>> gather_work(Session& session, GroupedWrapper wrapper) {
  Work work;
  if (const Result<queue::Demand> demand = queue::demand_of(wrapper)) {
    work.stays = queue::why_it_stays(wrapper, demand->items);
  }
  const std::string ns = wrapper.metadata.ns;
  CO_TRY_ASSIGN(work.pods, co_await list_pods(session, std::move(wrapper)));
  if (std::optional<queue::PodTrouble> trouble = work.trouble()) {
    work.log = co_await log_of(session, ns, *std::move(trouble));
  }
  co_return work;
}

}  // namespace codeflare::cli
