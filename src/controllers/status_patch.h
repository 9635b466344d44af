#pragma once

#include "json/merge_patch.h"
#include "json/write.h"
#include "model/codec/codec.h"

#include <string>

namespace codeflare::controllers {

// The changes from `before` to `after`, as a merge patch. Include the kind's codec header.
template <typename Status>
json::Document status_changes(const Status& before, const Status& after) {
  json::Arena arena;
  return json::merge_diff(model::to_json(arena, before), model::to_json(arena, after));
}

// The merge patch that makes the status of `before`, as it was read, into `after`; rejected when
// somebody has written the object since.
template <typename Kind, typename Status>
std::string status_patch(const Kind& before, const Status& after) {
  std::string body;
  json::Writer w(body);
  w.begin_object().key("metadata").begin_object();
  w.member("resourceVersion", before.metadata.resource_version);
  w.member("uid", before.metadata.uid).end_object();
  w.key("status").value(status_changes(before.status, after).root).end_object();
  return body;
}

}  // namespace codeflare::controllers
