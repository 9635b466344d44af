// Definitions of clusters and jobs as people write them: whatever is accepted becomes objects that
// can be read back, and a fault has a sentence.

#include "base/check.h"
#include "json/parse.h"
#include "json/yaml.h"
#include "sdk/cluster_json.h"
#include "sdk/cluster_manifest.h"
#include "sdk/clusters.h"
#include "sdk/ddp_gang.h"
#include "sdk/ddp_job.h"
#include "sdk/own_cluster_job.h"
#include "sdk/read_config.h"
#include "sdk/submit_gang.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace codeflare;

namespace {

void read_cluster(std::string_view text) {
  const Result<sdk::ConfigReading> reading = sdk::read_config_file(text, "f.yaml");
  if (!reading) {
    CHECK(!reading.error().message.empty());
    return;
  }
  for (const sdk::Fault& fault : reading->faults) {
    CHECK(!fault.sentence().empty());
  }
  if (!reading->faults.empty()) {
    return;
  }
  json::Document again;
  again.root = sdk::to_json(again.arena, reading->config);
  const sdk::ConfigReading second = sdk::read_config(again.root);
  CHECK(second.faults.empty() && second.config == reading->config);
  const auto manifest = json::parse_yaml(sdk::cluster_yaml(reading->config));
  CHECK(manifest && manifest->size() == 1 && sdk::info_of_manifest(manifest->front()));
  const sdk::OwnClusterJob own{.job = {.name = "job", .command = "true"},
                               .cluster = reading->config};
  if (sdk::check(own)) {
    CHECK(sdk::own_cluster_manifest(own));
  }
}

void read_job(std::string_view text) {
  static const Result<sdk::ClusterInfo> cluster =
      sdk::info_of_manifest(sdk::cluster_manifest({.name = "demo"}));
  const auto documents = json::parse_yaml(text);
  if (!documents || documents->size() != 1 || !documents->front().root.is_object()) {
    return;
  }
  Result<sdk::DdpDefinition> definition = sdk::read_ddp(documents->front().root);
  if (!definition) {
    CHECK(!definition.error().message.empty());
    return;
  }
  definition->name = sdk::ddp_name(*definition);
  static_cast<void>(sdk::ddp_on_ray(*definition, *cluster).has_value());
  const Result<sdk::GangSubmission> gang =
      sdk::ddp_gang(*definition, {.ns = "team", .image = "ray:any"});
  if (gang) {
    CHECK(sdk::gang_manifest(*gang));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_cluster(text);
  read_job(text);
  return 0;
}
