#include "sdk/cluster_explain.h"

#include "sdk/view_api.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace codeflare::sdk {

namespace {

using json::Value;

bool waits(const ClusterInfo& info) {
  return info.objects.wrapper && !info.objects.ray &&
         (info.state.phase == ClusterPhase::queued || info.state.phase == ClusterPhase::held);
}

class Explanation {
 public:
  explicit Explanation(const ClusterInfo& info) {
    document_.root = Value::object();
    set("name", info.key.name);
    set("namespace", info.key.ns);
    set("state", to_string(info.state.phase));
    document_.root.set_static(document_.arena, "waits", Value::boolean(waits(info)));
    set("reason", info.state.reason);
    set("message", info.state.message);
  }

  // The report of the controller knows more than a status that it wrote a while ago.
  void add(const Value& answer) {
    copy(answer, "paused");
    const Value* report = answer.find("report");
    if (report == nullptr) {
      set("problem", answer.string_or_empty("problem"));
      return;
    }
    for (const char* member : {"reason", "message", "position", "estimatedStart", "estimateNote"}) {
      copy(*report, member);
    }
    copy(answer, "report");
  }
  void set(std::string_view key, std::string_view text) {
    document_.root.set(document_.arena, key, Value::string(document_.arena, text));
  }

  json::Document take() { return std::move(document_); }

 private:
  void copy(const Value& from, std::string_view member) {
    if (const Value* value = from.find(member)) {
      document_.root.set(document_.arena, member, value->clone(document_.arena));
    }
  }

  json::Document document_;
};

}  // namespace

Task<Result<json::Document>> explain_cluster(kube::Client& client, Clusters& clusters,
                                             model::ObjectKey key) {
  CO_TRY_ASSIGN(const ClusterInfo info, co_await clusters.get(std::move(key)));
  Explanation explanation(info);
  if (!waits(info) || info.state.phase == ClusterPhase::held) {
    co_return explanation.take();
  }
  model::ObjectMeta about = info.objects.wrapper->metadata;
  const Result<json::Document> answer =
      co_await ask_explanation(client, "appwrappers", std::move(about));
  if (!answer && answer.error().code == ErrorCode::cancelled) {
    co_return fail(answer.error());
  }
  if (answer) {
    explanation.add(answer->root);
  } else {
    explanation.set("problem", answer.error().message);
  }
  co_return explanation.take();
}

}  // namespace codeflare::sdk
