#include "node/agent/service_feed.h"

#include "json/parse.h"
#include "model/codec/endpoint_slice.h"
#include "model/codec/service.h"
#include "model/resources.h"
#include "node/agent/service_record.h"

#include <string>
#include <utility>
#include <vector>

namespace codeflare::node {

namespace {

using runtime::Next;
using runtime::ObjectKey;

const runtime::ResourceType kServices = model::resource_type<model::Service>();
const runtime::ResourceType kSlices = model::resource_type<model::EndpointSlice>();

constexpr std::string_view kServiceLabel = "kubernetes.io/service-name";
constexpr const char* kByService = "node-service";
constexpr int kWorkers = 2;

// The name of the service that a slice belongs to; empty: none.
std::string service_of(const kube::Object& slice) {
  const Result<json::Document> labels = json::parse(slice.labels_json());
  const json::Value* name = labels ? labels->root.find(kServiceLabel) : nullptr;
  return name == nullptr || !name->is_string() ? std::string() : std::string(name->as_string());
}

}  // namespace

ServiceFeed::ServiceFeed(const runtime::ControllerContext& context, PodNetwork& network,
                         std::string node)
    : services_(context.subject),
      slices_(context.cache.informer(kSlices)),
      network_(network),
      node_(std::move(node)) {}

Task<Result<Next>> ServiceFeed::reconcile(ObjectKey key) {
  const runtime::ObjectRef object = services_.store().get(key);
  if (object == nullptr) {
    CO_TRY(co_await network_.forget_service(key.ns + "/" + key.name));
    co_return Next::await_change();
  }
  CO_TRY_ASSIGN(const model::Service service, object->as<model::Service>());
  std::vector<model::EndpointSlice> slices;
  for (const runtime::ObjectRef& slice :
       slices_.store().by_index(kByService, key.ns + "/" + key.name)) {
    if (Result<model::EndpointSlice> read = slice->as<model::EndpointSlice>()) {
      std::erase_if(read->endpoints, [&](const model::Endpoint& endpoint) {
        return !node_.empty() && endpoint.node_name.value_or("") != node_;
      });
      slices.push_back(*std::move(read));
    }
  }
  ServiceRecord record = service_record(service, slices);
  // The API server listens there itself.
  record.elsewhere = key == ObjectKey{"default", "kubernetes"};
  CO_TRY(co_await network_.set_service(std::move(record)));
  co_return Next::await_change();
}

Task<void> ServiceFeed::forget_old() {
  if (!co_await services_.wait_synced()) {
    co_return;
  }
  std::vector<std::string> keys;
  for (const runtime::ObjectRef& service : services_.store().list()) {
    keys.push_back(std::string(service->ns()) + "/" + std::string(service->name()));
  }
  static_cast<void>(co_await network_.keep_services(std::move(keys)));
}

ServiceFeed& add_service_feed(runtime::Manager& manager, PodNetwork& network, std::string node) {
  manager.cache().informer(kSlices).add_index(
      kByService, [](const kube::Object& slice, std::vector<std::string>& keys) {
        if (std::string name = service_of(slice); !name.empty()) {
          keys.push_back(std::string(slice.ns()) + "/" + name);
        }
      });
  runtime::MapFunction service_of_slice = [](const kube::Object& slice,
                                             std::vector<model::ObjectKey>& keys) {
    if (std::string name = service_of(slice); !name.empty()) {
      keys.push_back({std::string(slice.ns()), std::move(name)});
    }
  };
  ServiceFeed& feed = manager.controller("pod-network")
                          .reconciles(kServices)
                          .watches(kSlices, std::move(service_of_slice))
                          .workers(kWorkers)
                          .with<ServiceFeed>(network, std::move(node));
  manager.add_work([&feed] { return feed.forget_old(); });
  return feed;
}

}  // namespace codeflare::node
