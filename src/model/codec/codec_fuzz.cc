#include "base/check.h"
#include "json/parse.h"
#include "json/write.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/apps.h"
#include "model/codec/core.h"
#include "model/codec/event.h"
#include "model/codec/job.h"
#include "model/codec/managed_cluster.h"
#include "model/codec/meta.h"
#include "model/codec/node.h"
#include "model/codec/pod.h"
#include "model/codec/quota_subtree.h"
#include "model/codec/ray_job.h"
#include "model/codec/service.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

using codeflare::Result;
namespace json = codeflare::json;
namespace model = codeflare::model;

namespace {

// Every accepted object reads back from its written text as an equal object.
template <typename T>
void check(const json::Value& value) {
  const Result<T> object = model::from_json<T>(value);
  if (!object) {
    CHECK(!object.error().message.empty());
    return;
  }
  json::Arena arena;
  const json::Value written = model::to_json(arena, *object);
  const Result<T> again = model::from_json<T>(written);
  CHECK(again.has_value());
  CHECK(json::equal(model::to_json(arena, *again), written));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<json::Document> document = json::parse(text);
  if (!document) {
    return 0;
  }
  check<model::Pod>(document->root);
  check<model::Node>(document->root);
  check<model::Service>(document->root);
  check<model::Job>(document->root);
  check<model::Event>(document->root);
  check<model::Lease>(document->root);
  check<model::Secret>(document->root);
  check<model::StatefulSet>(document->root);
  check<model::Status>(document->root);
  check<model::AppWrapper>(document->root);
  check<model::ManagedCluster>(document->root);
  check<model::QuotaSubtree>(document->root);
  check<model::RayCluster>(document->root);
  check<model::RayJob>(document->root);
  return 0;
}
