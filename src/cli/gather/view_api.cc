#include "cli/gather/view_api.h"

#include "model/managed_cluster.h"
#include "sdk/view_api.h"

#include <span>
#include <utility>

namespace codeflare::cli {

namespace {

std::int64_t number_at(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value == nullptr ? 0 : value->to_int64().value_or(0);
}

Result<LiveExplanation> read_explanation(const json::Value& root) {
  LiveExplanation live;
  const json::Value* paused = root.find("paused");
  live.paused = paused != nullptr && paused->is_boolean() && paused->as_bool();
  live.planned = number_at(root, "planned");
  live.growth = root.string_or_empty("growth");
  live.shrinks_for = root.string_or_empty("shrinksFor");
  if (const json::Value* report = root.find("report")) {
    TRY_ASSIGN(live.report, queue::report_from_json(*report));
  } else if (live.planned == 0) {
    return fail(unavailable("no report: " + std::string(root.string_or_empty("problem"))));
  }
  const json::Value* grown = root.find("grown");
  for (const json::Value& job :
       grown == nullptr ? std::span<const json::Value>() : grown->items()) {
    live.grown.push_back({.ns = std::string(job.string_or_empty("namespace")),
                          .name = std::string(job.string_or_empty("name")),
                          .size = number_at(job, "size"),
                          .min = number_at(job, "min"),
                          .priority = number_at(job, "priority")});
  }
  return live;
}

}  // namespace

Task<std::optional<LiveExplanation>> ask_explanation(Session& session, std::string plural,
                                                     model::ObjectMeta object) {
  const Result<json::Document> answer =
      co_await sdk::ask_explanation(session.client(), std::move(plural), std::move(object));
  if (!answer) {
    co_return std::nullopt;
  }
  Result<LiveExplanation> live = read_explanation(answer->root);
  co_return live ? std::optional(*std::move(live)) : std::nullopt;
}

std::string worker_of(const model::AppWrapper& wrapper) {
  if (!wrapper.status.plan || wrapper.status.plan->places.empty()) {
    return "";
  }
  const std::string_view cluster =
      model::managed_cluster::cluster_of_node(wrapper.status.plan->places.front().node);
  return cluster == model::managed_cluster::kLocal ? "" : std::string(cluster);
}

Task<Result<net::Response>> WorkPodService::send(net::Request request) {
  const std::size_t mark = request.target.find('?');
  const std::string path = request.target.substr(0, mark);
  const std::string query = mark == std::string::npos ? "" : request.target.substr(mark + 1);
  constexpr std::string_view kPods = "/pods/";
  constexpr std::string_view kLog = "/log";
  std::string target = log_path_ + "?group=" + group_;
  if (const std::size_t pod = path.find(kPods); pod != std::string::npos && path.ends_with(kLog)) {
    const std::size_t name = pod + kPods.size();
    target += "&pod=" + path.substr(name, path.size() - kLog.size() - name) +
              (query.empty() ? "" : "&" + query);
  } else if (!path.ends_with("/pods")) {
    co_return fail(invalid_argument("on another cluster only pods and their logs can be read"));
  }
  request.target = std::move(target);
  co_return co_await server_.send(std::move(request));
}

WorkPodClient::WorkPodClient(Session& session, const GroupedWrapper& wrapper)
    : service_(session.service(),
               sdk::view_path("appwrappers", wrapper.metadata.key(), "log").value_or(""),
               std::string(model::group_of(wrapper.api))),
      client_(session.env(), service_, session.client().options()) {}

}  // namespace codeflare::cli
