#include "queue/field_hint.h"

#include "base/close_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

namespace codeflare::queue {
namespace {

constexpr auto kFields = std::to_array<std::string_view>({
    // AppWrapper
    "GenericItems",
    "completionstatus",
    "custompodresources",
    "dispatchDuration",
    "expected",
    "forceDeletionTimeInSeconds",
    "generictemplate",
    "growthType",
    "limit",
    "limits",
    "maxNumRequeuings",
    "maxTimeInSeconds",
    "minAvailable",
    "nodeSelector",
    "numRequeuings",
    "overrun",
    "priority",
    "priorityslope",
    "replicas",
    "requests",
    "requeuing",
    "resources",
    "schedulingSpec",
    "service",
    "suspend",
    "timeInSeconds",
    "ttlSecondsAfterFinished",
    // objects and pods
    "activeDeadlineSeconds",
    "affinity",
    "annotations",
    "apiVersion",
    "args",
    "automountServiceAccountToken",
    "command",
    "configMap",
    "containers",
    "data",
    "dnsPolicy",
    "emptyDir",
    "enableServiceLinks",
    "env",
    "envFrom",
    "generateName",
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "hostPath",
    "hostname",
    "image",
    "imagePullPolicy",
    "imagePullSecrets",
    "initContainers",
    "kind",
    "labels",
    "lifecycle",
    "livenessProbe",
    "matchLabels",
    "metadata",
    "mountPath",
    "name",
    "namespace",
    "nodeName",
    "persistentVolumeClaim",
    "ports",
    "priorityClassName",
    "readOnly",
    "readinessProbe",
    "restartPolicy",
    "runtimeClassName",
    "schedulerName",
    "secret",
    "securityContext",
    "selector",
    "serviceAccountName",
    "shareProcessNamespace",
    "spec",
    "startupProbe",
    "subPath",
    "template",
    "terminationGracePeriodSeconds",
    "terminationMessagePolicy",
    "tolerations",
    "topologySpreadConstraints",
    "type",
    "value",
    "valueFrom",
    "volumeMounts",
    "volumes",
    "workingDir",
    // Jobs and Ray
    "backoffLimit",
    "backoffLimitPerIndex",
    "completionMode",
    "completions",
    "entrypoint",
    "groupName",
    "headGroupSpec",
    "maxReplicas",
    "minReplicas",
    "numOfHosts",
    "parallelism",
    "podFailurePolicy",
    "rayClusterSpec",
    "rayStartParams",
    "rayVersion",
    "runtimeEnvYAML",
    "shutdownAfterJobFinishes",
    "submissionMode",
    "workerGroupSpecs",
});

constexpr auto kResources = std::to_array<std::string_view>(
    {"amd.com/gpu", "cpu", "ephemeral-storage", "memory", "nvidia.com/gpu"});

constexpr auto kOtherWords = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"core", "cpu"},
    {"cores", "cpu"},
    {"disk", "ephemeral-storage"},
    {"gpu", "nvidia.com/gpu"},
    {"gpus", "nvidia.com/gpu"},
    {"mem", "memory"},
    {"ram", "memory"},
    {"vcpu", "cpu"},
});

constexpr std::string_view kUnknown = "unknown field \"";

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// "restart_policy" is "restartpolicy".
std::string plain(std::string_view text) {
  std::string out = lower(text);
  std::erase_if(out, [](char c) { return c == '_' || c == '-'; });
  return out;
}

}  // namespace

std::string_view meant_field(std::string_view word) {
  const std::string wanted = plain(word);
  for (const std::string_view field : kFields) {
    if (field != word && plain(field) == wanted) {
      return field;
    }
  }
  const std::optional<std::string_view> near = nearest_name(word, kFields);
  // A valid name in the wrong position is not a misspelling.
  return near && *near != word ? *near : std::string_view();
}

std::string_view meant_resource(std::string_view word) {
  const std::string wanted = lower(word);
  for (const auto& [other, meant] : kOtherWords) {
    if (other == wanted) {
      return meant;
    }
  }
  return nearest_name(wanted, kResources).value_or(std::string_view());
}

std::string did_you_mean(std::string_view meant) {
  return meant.empty() ? "" : "; did you mean " + std::string(meant) + "?";
}

std::string unknown_field_text(std::string_view path) {
  std::string_view word = path.substr(path.find_last_of('.') + 1);
  word = word.substr(0, word.find('['));
  return std::string(kUnknown) + std::string(path) + "\"" + did_you_mean(meant_field(word));
}

std::string with_field_hints(std::string_view message) {
  std::string text;
  while (true) {
    const std::size_t at = message.find(kUnknown);
    const std::size_t begin = at == std::string_view::npos ? at : at + kUnknown.size();
    const std::size_t end = begin == std::string_view::npos ? begin : message.find('"', begin);
    if (end == std::string_view::npos) {
      return text + std::string(message);
    }
    text +=
        std::string(message.substr(0, at)) + unknown_field_text(message.substr(begin, end - begin));
    message.remove_prefix(end + 1);
  }
}

}  // namespace codeflare::queue
