#include "cli/gather/work.h"

#include "cli/gather/events.h"
#include "kube/object.h"
#include "model/codec/pod.h"
#include "model/resources.h"
#include "queue/demand.h"
#include "queue/item_end.h"
#include "queue/status_words.h"

#include <optional>
#include <string>
#include <utility>

namespace codeflare::cli {

namespace {

constexpr std::int64_t kLogLines = 5;
constexpr std::int64_t kLogBytesMax = 8192;

// From the container's status, else from its log as far as the user may read it.
Task<std::vector<std::string>> log_of(kube::Client& client, std::string ns,
                                      queue::PodTrouble trouble) {
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
  Result<net::Body> body = co_await client.logs({std::move(ns), trouble.pod}, std::move(options));
  if (!body || *body == nullptr) {
    co_return lines;
  }
  const Result<std::string> text =
      co_await net::read_all(*std::move(body), static_cast<std::size_t>(2 * kLogBytesMax));
  co_return text ? last_lines(*text) : lines;
}

Task<Result<std::vector<model::Pod>>> list_from(kube::Client& client, GroupedWrapper wrapper) {
  kube::ListOptions options{.ns = wrapper.metadata.ns,
                            .label_selector = queue::pod_selector(wrapper)};
  auto listing = client.list_all(model::resource_type<model::Pod>(), std::move(options));
  CO_TRY_ASSIGN(const kube::ObjectList list, co_await std::move(listing));
  std::vector<model::Pod> pods;
  for (const kube::ObjectRef& object : list.items) {
    if (Result<model::Pod> pod = object->as<model::Pod>()) {
      pods.push_back(*std::move(pod));
    }
  }
  co_return pods;
}

}  // namespace

Task<Result<FoundPods>> find_pods(Session& session, GroupedWrapper wrapper) {
  const std::string worker = worker_of(wrapper);
  FoundPods found;
  if (worker.empty()) {
    GroupedWrapper of = wrapper;
    CO_TRY_ASSIGN(found.pods, co_await list_from(session.client(), std::move(of)));
  }
  // Finished work has no plan any more, but its pods may still be on a worker.
  const bool finished = !wrapper.status.plan && model::is_terminal(wrapper.status);
  if (worker.empty() && (!finished || !found.pods.empty())) {
    co_return found;
  }
  auto elsewhere = std::make_shared<WorkPodClient>(session, wrapper);
  Result<std::vector<model::Pod>> pods =
      co_await list_from(elsewhere->client(), std::move(wrapper));
  if (!pods && !worker.empty()) {
    co_return fail(std::move(pods).error().with_context("pods on cluster " + worker));
  }
  if (pods && !pods->empty()) {
    found = {.pods = *std::move(pods), .elsewhere = std::move(elsewhere)};
  }
  co_return found;
}

Task<Result<std::vector<model::Pod>>> list_pods(Session& session, GroupedWrapper wrapper) {
  CO_TRY_ASSIGN(FoundPods found, co_await find_pods(session, std::move(wrapper)));
  co_return std::move(found.pods);
}

Task<std::string> find_warning(Session& session, GroupedWrapper wrapper,
                               std::vector<model::Pod> pods) {
  std::string ns = wrapper.metadata.ns;
  const auto events = co_await list_warnings(session.client(), std::move(ns));
  const std::optional<Cause> cause = newest_warning(events, wrapper, pods);
  co_return cause ? cause->text : std::string();
}

Task<Result<Work>> gather_work(Session& session, GroupedWrapper wrapper) {
  Work work;
  if (const Result<queue::Demand> demand = queue::demand_of(wrapper)) {
    work.stays = queue::why_it_stays(wrapper, demand->items);
    for (const queue::ItemInfo& item : demand->items) {
      work.items.push_back(item.kind + " " + item.key.name);
    }
  }
  const bool over = model::is_terminal(wrapper.status);
  const std::string ns = wrapper.metadata.ns;
  GroupedWrapper of = wrapper;
  CO_TRY_ASSIGN(FoundPods found, co_await find_pods(session, std::move(of)));
  work.pods = std::move(found.pods);
  if (std::optional<queue::PodTrouble> trouble = work.trouble()) {
    work.log = co_await log_of(found.client(session), ns, *std::move(trouble));
  } else if (!over && found.elsewhere == nullptr &&
             (work.pods.empty() || !queue::unready_pods(work.pods).empty())) {
    std::vector<model::Pod> pods = work.pods;
    work.warning = co_await find_warning(session, std::move(wrapper), std::move(pods));
  }
  co_return work;
}

}  // namespace codeflare::cli
