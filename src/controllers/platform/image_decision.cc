#include "controllers/platform/image_decision.h"

#include "json/write.h"
#include "model/condition.h"
#include "model/node_extras.h"
#include "platform/names.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace codeflare::controllers::platform_kinds {

namespace {

constexpr std::size_t kNameMax = 50;
constexpr std::size_t kLetters = 10;

// The problem, for the condition.
struct Trouble {
  std::string reason;
  std::string message;
  std::size_t nodes = 0;
};

bool is_of(const FetchPod& pod, const model::Image& image) {
  return pod.image == image.spec.image && !pod.deleting;
}

std::set<std::string> ready_nodes(const ImageObserved& observed) {
  const model::ImageStatus& status = observed.image.status;
  std::set<std::string> ready;
  for (const FetchNode& node : observed.nodes) {
    const bool known = status.image == observed.image.spec.image &&
                       std::ranges::find(status.ready_nodes, node.name) != status.ready_nodes.end();
    if (known || std::ranges::any_of(observed.pods, [&](const FetchPod& pod) {
          return pod.node == node.name && pod.phase == "Succeeded" &&
                 pod.image == observed.image.spec.image;
        })) {
      ready.insert(node.name);
    }
  }
  return ready;
}

Trouble trouble_of(const ImageObserved& observed, const std::set<std::string>& ready) {
  Trouble trouble;
  for (const FetchNode& node : observed.nodes) {
    if (ready.contains(node.name)) {
      continue;
    }
    const auto pod = std::ranges::find_if(observed.pods, [&](const FetchPod& each) {
      return each.node == node.name && is_of(each, observed.image) && !each.trouble.empty();
    });
    if (pod == observed.pods.end() && node.ready) {
      continue;
    }
    if (++trouble.nodes > 1) {
      continue;
    }
    trouble.reason = pod == observed.pods.end() ? "NodeNotReady" : pod->trouble;
    trouble.message = "node " + node.name + ": " +
                      (pod == observed.pods.end() ? std::string("not ready") : pod->message);
  }
  if (trouble.nodes > 1) {
    trouble.message += "; and " + std::to_string(trouble.nodes - 1) + " more nodes";
  }
  return trouble;
}

void set_ready(const ImageObserved& observed, const std::set<std::string>& ready, WallTime now,
               model::ImageStatus& status) {
  model::Condition condition;
  condition.type = "Ready";
  condition.observed_generation = observed.image.metadata.generation;
  const bool all = !observed.nodes.empty() && ready.size() == observed.nodes.size();
  condition.status = all ? "True" : "False";
  if (all) {
    condition.reason = "Fetched";
  } else if (observed.nodes.empty()) {
    condition.reason = "NoNodes";
    condition.message = "no node matches nodeSelector";
  } else if (Trouble trouble = trouble_of(observed, ready); trouble.nodes > 0) {
    condition.reason = std::move(trouble.reason);
    condition.message = std::move(trouble.message);
  } else {
    condition.reason = "Fetching";
  }
  model::set_condition(status.conditions, condition, now);
}

}  // namespace

ImageDesired decide_image(const ImageObserved& observed, WallTime now) {
  const model::Image& image = observed.image;
  const std::set<std::string> ready = ready_nodes(observed);
  ImageDesired desired{.status = image.status};
  desired.status.image = image.spec.image;
  desired.status.ready_nodes = std::vector<std::string>(ready.begin(), ready.end());
  desired.status.nodes = static_cast<std::int32_t>(observed.nodes.size());
  desired.status.ready = std::to_string(ready.size()) + "/" + std::to_string(observed.nodes.size());
  desired.status.observed_generation = image.metadata.generation;
  set_ready(observed, ready, now, desired.status);

  std::set<std::string> taken;  // nodes with a pod
  std::size_t fetching = 0;
  for (const FetchPod& pod : observed.pods) {
    taken.insert(pod.node);
    if (pod.deleting) {
      continue;
    }
    const bool selected =
        std::ranges::find(observed.nodes, pod.node, &FetchNode::name) != observed.nodes.end();
    const Duration left = pod.created + kFetchAgain - now;
    const bool failed = pod.phase == "Failed";
    if (!is_of(pod, image) || !selected || pod.phase == "Succeeded" ||
        (failed && left <= Duration::zero())) {
      desired.remove.push_back(pod);
    } else if (failed) {
      desired.again = std::min(desired.again.value_or(left), left);
    } else {
      ++fetching;
    }
  }
  for (const FetchNode& node : observed.nodes) {
    if (fetching < kFetchingMax && node.ready && !ready.contains(node.name) &&
        !taken.contains(node.name)) {
      desired.create.push_back(node.name);
      ++fetching;
    }
  }
  return desired;
}

std::string fetch_pod_name(const model::Image& image, const std::string& node) {
  std::string name = image.metadata.name.substr(0, kNameMax);
  while (name.ends_with('-') || name.ends_with('.')) {
    name.pop_back();
  }
  return name + "-" + platform::letters_of(node, kLetters);
}

std::string fetch_pod(const model::Image& image, const std::string& node,
                      const std::string& program_image) {
  // As Pod Security `restricted` wants them.
  constexpr std::string_view kHarmless =
      R"({"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}})";
  constexpr std::string_view kAmounts =
      R"({"requests":{"cpu":"10m","memory":"32Mi"},"limits":{"cpu":"1","memory":"256Mi"}})";
  std::string body;
  json::Writer w(body);
  w.begin_object().member("apiVersion", "v1").member("kind", "Pod").key("metadata").begin_object();
  w.member("name", fetch_pod_name(image, node));
  w.key("labels").begin_object().member(kImageLabel, image.metadata.name).end_object();
  w.key("annotations").begin_object().member(kFetchesAnnotation, image.spec.image);
  // The fetch has a command: without this, a node of `codeflare up` would run it without the image.
  w.member(model::kImageRequiredAnnotation, "true").end_object();
  w.key("ownerReferences").begin_array().begin_object();
  w.member("apiVersion", model::ResourceTraits<model::Image>::api_version);
  w.member("kind", model::ResourceTraits<model::Image>::kind);
  w.member("name", image.metadata.name).member("uid", image.metadata.uid);
  w.key("controller").boolean(true).end_object().end_array().end_object();
  w.key("spec").begin_object().member("nodeName", node).member("restartPolicy", "Never");
  w.key("tolerations").raw(R"([{"operator":"Exists"}])");
  w.key("automountServiceAccountToken").boolean(false);
  w.key("securityContext")
      .raw(R"({"runAsNonRoot":true,"runAsUser":65532,"seccompProfile":{"type":"RuntimeDefault"}})");
  if (!image.spec.image_pull_secret.empty()) {
    w.key("imagePullSecrets").begin_array().begin_object();
    w.member("name", image.spec.image_pull_secret).end_object().end_array();
  }
  w.key("volumes").raw(R"([{"name":"program","emptyDir":{}}])");
  const auto container = [&](std::string_view name, const std::string& from,
                             std::string_view words_key, std::string_view words) {
    w.begin_object().member("name", name).member("image", from);
    w.member("imagePullPolicy", "IfNotPresent").key(words_key).raw(words);
    w.key("volumeMounts").raw(R"([{"name":"program","mountPath":"/codeflare/program"}])");
    w.key("securityContext").raw(kHarmless).key("resources").raw(kAmounts);
    w.member("terminationMessagePolicy", "FallbackToLogsOnError").end_object();
  };
  w.key("initContainers").begin_array();
  container("program", program_image, "args", R"(["data","install","/codeflare/program"])");
  w.end_array().key("containers").begin_array();
  container("fetch", image.spec.image, "command", R"(["/codeflare/program/codeflare","version"])");
  w.end_array().end_object().end_object();
  return body;
}

}  // namespace codeflare::controllers::platform_kinds
