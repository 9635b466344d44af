#include "sdk/submit_gang.h"

#include "json/parse.h"
#include "json/write.h"
#include "sdk/job_info.h"
#include "sdk/job_marks.h"

#include <utility>

namespace codeflare::sdk {

namespace {

bool has_code(const GangSubmission& submission) {
  return submission.code && !submission.code->empty();
}

// `more` behind the items of `list`.
model::RawJson joined(const model::RawJson& list, const model::RawJson& more) {
  if (list.empty()) {
    return more;
  }
  const Result<json::Document> first = json::parse(list.text);
  const Result<json::Document> second = json::parse(more.text);
  CHECK(first && second);  // check() has seen the first
  std::string text;
  json::Writer writer(text);
  writer.begin_array();
  for (const json::Document* document : {&*first, &*second}) {
    for (const json::Value& item : document->root.items()) {
      writer.value(item);
    }
  }
  writer.end_array();
  return {text};
}

GangJob with_code(const GangSubmission& submission) {
  GangJob gang = submission.gang;
  gang.labels.insert_or_assign(std::string(kJobLabel), gang.name);
  if (has_code(submission)) {
    CodeMounts mounts =
        code_mounts(gang.name, submission.code->parts(), submission.program_image, gang.resources);
    gang.volumes = joined(gang.volumes, mounts.volumes);
    gang.volume_mounts = joined(gang.volume_mounts, mounts.volume_mounts);
    gang.init_containers =
        joined(mounts.init_containers,
               gang.init_containers.empty() ? model::RawJson{"[]"} : gang.init_containers);
    if (gang.workdir.empty()) {
      gang.workdir = kCodeDirectory;
    }
  }
  return gang;
}

}  // namespace

Result<json::Document> gang_manifest(const GangSubmission& submission) {
  TRY(check(submission.gang));
  const GangJob gang = with_code(submission);
  Wrapping wrapping = submission.queueing;
  wrapping.name = gang.name;
  wrapping.ns = gang.ns;
  wrapping.labels.insert_or_assign(std::string(kJobLabel), gang.name);
  wrapping.labels.insert_or_assign(std::string(kBackendLabel),
                                   std::string(to_string(JobBackend::kubernetes)));
  wrapping.annotations.insert_or_assign(std::string(kCommandAnnotation), submission.command);
  const json::Document objects = gang_objects(gang);
  return wrap_with_code(std::move(wrapping), objects.root, submission.code);
}

Task<Result<Submitted>> submit_gang(kube::Client& client, GangSubmission submission) {
  CO_TRY_ASSIGN(json::Document manifest, gang_manifest(submission));
  model::ObjectKey key{submission.gang.ns, submission.gang.name};
  co_return co_await submit_wrapper(client, std::move(key), std::move(manifest),
                                    std::move(submission.code));
}

}  // namespace codeflare::sdk
