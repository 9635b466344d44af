#include "controllers/dispatch/fence.h"

#include "base/go_duration.h"
#include "controllers/dispatch/marks.h"
#include "json/write.h"
#include "model/labels.h"

#include <chrono>

namespace codeflare::controllers::dispatch {

namespace {

// Pods of TrainingJobs with an injected agent get the most: 130 s.
constexpr Duration kTimeToEnd = std::chrono::seconds(150);

void write_version(json::Writer& w, const model::ObjectMeta& copy) {
  w.key("metadata").begin_object();
  w.member("uid", copy.uid).member("resourceVersion", copy.resource_version);
}

}  // namespace

std::string to_text(const Fence& fence) {
  return fence.lease + " " + codeflare::to_text(fence.lost_after);
}

std::optional<Fence> fence_of(const model::ObjectMeta& copy) {
  const std::string_view text = model::find_or_empty(copy.annotations, kFenceAnnotation);
  const std::size_t space = text.find(' ');
  if (space == 0 || space == std::string_view::npos) {
    return std::nullopt;
  }
  const std::optional<Duration> lost_after = go_duration(text.substr(space + 1));
  if (!lost_after || *lost_after <= Duration::zero()) {
    return std::nullopt;
  }
  return Fence{std::string(text.substr(0, space)), *lost_after};
}

bool is_fenced(const model::ObjectMeta& copy) {
  return !model::find_or_empty(copy.annotations, kFencedAnnotation).empty();
}

std::string hub_lease_name(std::string_view cluster) {
  return "codeflare-hub-" + std::string(cluster);
}

Duration fence_grace(Duration lost_after) {
  return lost_after / 4;
}

Duration fence_margin(Duration lost_after) {
  return fence_grace(lost_after) + kTimeToEnd;
}

// A renewal that a look finds happened after the look before, which did not find it. How long after
// nobody knows: a process may be stopped for hours between two looks.
void Renewals::seen(Instant sent, std::string_view renewal) {
  if (looked_ && renewal != renewal_ && !renewal.empty()) {
    not_before_ = looked_;
  }
  renewal_ = renewal;
  looked_ = sent;
}

bool Renewals::expired(Instant now, Duration lost_after) const {
  return not_before_ ? now - *not_before_ >= lost_after : now - begin_ >= fence_grace(lost_after);
}

std::string fence_patch(const model::ObjectMeta& copy, queue::WorkKind kind, WallTime now) {
  std::string body;
  json::Writer w(body);
  w.begin_object();
  write_version(w, copy);
  w.key("annotations").begin_object().member(kFencedAnnotation, to_rfc3339(now)).end_object();
  w.end_object().key("spec").begin_object();
  if (kind == queue::WorkKind::training_job) {
    w.key("runPolicy").begin_object().key("suspend").boolean(true).end_object();
  } else {
    w.key("suspend").boolean(true);
  }
  w.end_object().end_object();
  return body;
}

std::string refence_patch(const model::ObjectMeta& copy, const std::optional<Fence>& fence) {
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
  w.end_object().end_object().end_object();
  return body;
}

}  // namespace codeflare::controllers::dispatch
