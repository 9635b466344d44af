#include "controllers/dispatch/copy_object.h"

#include "controllers/dispatch/marks.h"
#include "controllers/submitter/submitter.h"
#include "json/parse.h"
#include "json/write.h"
#include "queue/clusters.h"
#include "queue/marks.h"

#include <algorithm>
#include <array>

namespace codeflare::controllers::dispatch {

namespace {

// Written by the hub's own admission, or read by its queue.
bool is_of_the_hub(std::string_view annotation) {
  constexpr std::array<std::string_view, 7> kLeftOut = {
      queue::kUserAnnotation,
      queue::kTimeAnnotation,
      kSealAnnotation,
      queue::kClustersAnnotation,
      queue::kClusterSelectorAnnotation,
      queue::kPreferAnnotation,
      "kubectl.kubernetes.io/last-applied-configuration",
  };
  return std::ranges::find(kLeftOut, annotation) != kLeftOut.end() ||
         annotation == kHubAnnotation || annotation == kHubUidAnnotation ||
         annotation == kFenceAnnotation || annotation == kFencedAnnotation;
}

void write_members(json::Writer& w, const json::Value* from, bool (*left_out)(std::string_view)) {
  if (from == nullptr) {
    return;
  }
  for (const json::Member& each : from->members()) {
    if (!left_out(each.key)) {
      w.key(each.key).value(each.value);
    }
  }
}

void write_scheduling(json::Writer& w, const json::Value& from) {
  w.key("schedulingSpec").begin_object();
  write_members(w, &from, [](std::string_view key) { return key == "clusterScheduling"; });
  w.end_object();
}

void write_spec(json::Writer& w, const json::Value& spec) {
  w.key("spec").begin_object();
  w.key("suspend").boolean(true);
  for (const json::Member& each : spec.members()) {
    if (each.key == "suspend" || each.key == "ttlSecondsAfterFinished") {
      continue;
    }
    if (each.key == "schedulingSpec" && each.value.is_object()) {
      write_scheduling(w, each.value);
    } else {
      w.key(each.key).value(each.value);
    }
  }
  w.end_object();
}

void write_version(json::Writer& w, const model::AppWrapper& copy) {
  w.key("metadata").begin_object();
  w.member("uid", copy.metadata.uid).member("resourceVersion", copy.metadata.resource_version);
}

}  // namespace

CopyMark mark_of(const model::ObjectMeta& copy) {
  return {std::string(model::find_or_empty(copy.annotations, kHubAnnotation)),
          std::string(model::find_or_empty(copy.annotations, kHubUidAnnotation))};
}

CopyMark mark_of(const kube::Object& copy) {
  const Result<json::Document> parsed = copy.parse();
  const json::Value* annotations = parsed ? parsed->root.get({"metadata", "annotations"}) : nullptr;
  if (annotations == nullptr) {
    return {};
  }
  return {std::string(annotations->string_or_empty(kHubAnnotation)),
          std::string(annotations->string_or_empty(kHubUidAnnotation))};
}

Result<std::string> copy_body(const kube::Object& object, const std::string& hub) {
  TRY_ASSIGN(const json::Document parsed, object.parse());
  const json::Value* spec = parsed.root.find("spec");
  if (spec == nullptr || !spec->is_object()) {
    return fail(invalid_argument("AppWrapper " + object.key().to_string() + " has no spec"));
  }
  using Traits = model::ResourceTraits<model::AppWrapper>;
  std::string body;
  json::Writer w(body);
  w.begin_object().member("apiVersion", Traits::api_version).member("kind", Traits::kind);
  w.key("metadata").begin_object();
  w.member("namespace", object.ns()).member("name", object.name());
  w.key("labels").begin_object();
  write_members(w, parsed.root.get({"metadata", "labels"}),
                [](std::string_view key) { return key == kCopyLabel; });
  w.member(kCopyLabel, hub).end_object();
  w.key("annotations").begin_object();
  write_members(w, parsed.root.get({"metadata", "annotations"}), is_of_the_hub);
  w.member(kHubAnnotation, hub).member(kHubUidAnnotation, object.uid()).end_object();
  w.end_object();
  write_spec(w, *spec);
  w.end_object();
  return body;
}

std::string release_patch(const model::AppWrapper& copy, std::int32_t priority,
                          const std::optional<Fence>& fence) {
  std::string body;
  json::Writer w(body);
  w.begin_object();
  write_version(w, copy);
  w.key("annotations").begin_object().key(kFenceAnnotation);
  if (fence) {
    w.string(to_text(*fence));
  } else {
    w.null();
  }
  w.end_object().end_object();
  w.key("spec").begin_object().key("suspend").boolean(false).key("priority").integer(priority);
  w.end_object().end_object();
  return body;
}

std::string priority_patch(const model::AppWrapper& copy, std::int32_t priority) {
  std::string body;
  json::Writer w(body);
  w.begin_object();
  write_version(w, copy);
  w.end_object().key("spec").begin_object().key("priority").integer(priority);
  w.end_object().end_object();
  return body;
}

}  // namespace codeflare::controllers::dispatch
