#pragma once

#include "json/merge_patch.h"
#include "json/write.h"
#include "model/codec/codec.h"

#include <string>

namespace codeflare::controllers {

// The merge patch that makes the status of `before`, as it was read, into `after`; refused when
// somebody has written the object since. Include the kind's codec header.
template <typename Kind, typename Status>
std::string status_patch(const Kind& before, const Status& after) {
  json::Arena arena;
  const json::Value from = model::to_json(arena, before.status);
  const json::Value to = model::to_json(arena, after);
  const json::Document changes = json::merge_diff(from, to);
  std::string body;
  json::Writer w(body);
  w.begin_object().key("metadata").begin_object();
  w.member("resourceVersion", before.metadata.resource_version);
  w.member("uid", before.metadata.uid).end_object();
  w.key("status").value(changes.root).end_object();
  return body;
}

}  // namespace codeflare::controllers
