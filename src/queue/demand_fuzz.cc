#include "base/check.h"
#include "json/parse.h"
#include "model/codec/app_wrapper.h"
#include "queue/demand.h"
#include "sched/core.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace json = codeflare::json;
namespace model = codeflare::model;
namespace queue = codeflare::queue;
namespace sched = codeflare::sched;
using codeflare::Result;

// Every accepted AppWrapper can be created item by item, keeps its demand then, and the core
// accepts it; a rejected one has a problem.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<json::Document> document = json::parse(text);
  if (!document) {
    return 0;
  }
  Result<model::AppWrapper> wrapper = model::from_json<model::AppWrapper>(document->root);
  if (!wrapper) {
    return 0;
  }
  const bool problems = !queue::problems_of(*wrapper).empty();
  const Result<queue::Demand> demand = queue::demand_of(*wrapper);
  if (!demand) {
    CHECK(problems);
    CHECK(demand.error().message.contains(": "));
    return 0;
  }
  CHECK(demand->items.size() == wrapper->spec.resources.generic_items.size());
  sched::Core core;
  sched::GangSpec gang{.name = "g"};
  for (const queue::PodSetDemand& set : demand->pod_sets) {
    CHECK(set.item < demand->items.size());
    gang.pod_sets.push_back(set.pods);
  }
  CHECK(core.submit(gang).has_value());
  for (std::size_t i = 0; i < demand->items.size(); ++i) {
    Result<std::string> made =
        queue::instrumented_item(*wrapper, *demand, i, {.scheduler_name = "codeflare"});
    CHECK(made.has_value());
    CHECK(json::parse(*made).has_value());
  }
  return 0;
}
