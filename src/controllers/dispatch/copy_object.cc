#include "controllers/dispatch/copy_object.h"

#include "controllers/appwrapper/app_wrapper_object.h"
#include "controllers/dispatch/marks.h"
#include "controllers/submitter/submitter.h"
#include "json/parse.h"
#include "json/write.h"
#include "model/codec/training_job.h"
#include "queue/clusters.h"
#include "queue/marks.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

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

void write_run_policy(json::Writer& w, const json::Value* from) {
  w.key("runPolicy").begin_object();
  w.key("suspend").boolean(true);
  write_members(w, from, [](std::string_view key) {
    return key == "suspend" || key == "ttlSecondsAfterFinished";
  });
  w.end_object();
}

void write_training_spec(json::Writer& w, const json::Value& spec) {
  w.key("spec").begin_object();
  write_members(w, &spec, [](std::string_view key) { return key == "runPolicy"; });
  write_run_policy(w, spec.find("runPolicy"));
  w.end_object();
}

void write_version(json::Writer& w, const CopyObject& copy) {
  const model::ObjectMeta& meta = copy.wrapper.metadata;
  w.key("metadata").begin_object();
  w.member("uid", meta.uid).member("resourceVersion", meta.resource_version);
}

void write_number(json::Writer& w, std::string_view key, std::optional<std::int64_t> number) {
  w.key(key);
  if (number) {
    w.integer(*number);
  } else {
    w.null();
  }
}

void write_sizes(json::Writer& w, const RemoteWork& work) {
  const model::TrainingJobSpec& spec = work.job->spec;
  write_number(w, "minSize", spec.min_size);
  write_number(w, "maxSize", spec.max_size);
  write_number(w, "sizeStep", spec.size_step);
  w.key("desiredSize").integer(work.size);
  w.key("sizes");
  if (spec.sizes.empty()) {
    w.null();
    return;
  }
  w.begin_array();
  for (const std::int64_t size : spec.sizes) {
    w.integer(size);
  }
  w.end_array();
}

void write_wanted(json::Writer& w, const RemoteWork& work) {
  w.key("priority").integer(work.wrapper.spec.priority);
  if (work.job != nullptr) {
    write_sizes(w, work);
  }
}

}  // namespace

model::ResourceType copy_type(WorkKind kind) {
  return kind == WorkKind::training_job ? model::resource_type<model::TrainingJob>()
                                        : app_wrapper_type(model::WrapperApi::workload_v1beta1);
}

std::string_view name_of(WorkKind kind) {
  return kind == WorkKind::training_job ? model::ResourceTraits<model::TrainingJob>::kind
                                        : model::ResourceTraits<model::AppWrapper>::kind;
}

WorkKind kind_of(const RemoteWork& work) {
  return work.job != nullptr ? WorkKind::training_job : WorkKind::app_wrapper;
}

Result<CopyObject> read_copy_object(const kube::Object& object, WorkKind kind) {
  CopyObject copy;
  if (kind == WorkKind::training_job) {
    TRY_ASSIGN(copy.job, object.as<model::TrainingJob>());
    copy.wrapper = as_wrapper(*copy.job);
  } else {
    TRY_ASSIGN(copy.wrapper, to_app_wrapper(object));
  }
  return copy;
}

Result<model::AppWrapper> read_without_spec(const kube::Object& object, WorkKind kind) {
  if (kind == WorkKind::app_wrapper) {
    return to_app_wrapper_without_spec(object);
  }
  TRY_ASSIGN(CopyObject copy, read_copy_object(object, kind));
  return std::move(copy.wrapper);
}

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

Result<std::string> copy_body(const kube::Object& object, const std::string& hub, WorkKind kind) {
  TRY_ASSIGN(const json::Document parsed, object.parse());
  const json::Value* spec = parsed.root.find("spec");
  if (spec == nullptr || !spec->is_object()) {
    return fail(invalid_argument(std::string(name_of(kind)) + " " + object.key().to_string() +
                                 " has no spec"));
  }
  const model::ResourceType type = copy_type(kind);
  std::string body;
  json::Writer w(body);
  w.begin_object().member("apiVersion", type.api_version()).member("kind", type.kind);
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
  if (kind == WorkKind::training_job) {
    write_training_spec(w, *spec);
  } else {
    write_spec(w, *spec);
  }
  w.end_object();
  return body;
}

bool is_as_wanted(const CopyObject& copy, const RemoteWork& work) {
  if (copy.wrapper.spec.priority != work.wrapper.spec.priority) {
    return false;
  }
  if (work.job == nullptr || !copy.job) {
    return true;
  }
  const model::TrainingJobSpec& is = copy.job->spec;
  const model::TrainingJobSpec& wanted = work.job->spec;
  return is.min_size == wanted.min_size && is.max_size == wanted.max_size &&
         is.size_step == wanted.size_step && is.sizes == wanted.sizes &&
         is.desired_size == work.size;
}

std::string wanted_patch(const CopyObject& copy, const RemoteWork& work) {
  std::string body;
  json::Writer w(body);
  w.begin_object();
  write_version(w, copy);
  w.end_object().key("spec").begin_object();
  write_wanted(w, work);
  w.end_object().end_object();
  return body;
}

std::string release_patch(const CopyObject& copy, const RemoteWork& work,
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
  w.key("spec").begin_object();
  if (work.job != nullptr) {
    w.key("runPolicy").begin_object().key("suspend").boolean(false).end_object();
  } else {
    w.key("suspend").boolean(false);
  }
  write_wanted(w, work);
  w.end_object().end_object();
  return body;
}

}  // namespace codeflare::controllers::dispatch
