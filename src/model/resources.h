#pragma once

#include "model/gvk.h"

#include <string>
#include <string_view>

namespace codeflare::model {

// Facts about a kind for typed clients: where it is served and what it is called. Specialised
// below for the kinds of the model, and beside their structs for kinds of other folders.
template <typename T>
struct ResourceTraits;

// The same as values, for the calls that take a ResourceType.
template <typename T>
ResourceType resource_type() {
  using Traits = ResourceTraits<T>;
  return {std::string(Traits::group), std::string(Traits::version), std::string(Traits::kind),
          std::string(Traits::plural), Traits::namespaced};
}

struct ConfigMap;
struct CustomResourceDefinition;
struct Deployment;
struct EndpointSlice;
struct Event;
struct EventsV1Event;
struct Job;
struct Lease;
struct Namespace;
struct Node;
struct PersistentVolumeClaim;
struct Pod;
struct ReplicaSet;
struct Secret;
struct Service;
struct ServiceAccount;
struct StatefulSet;

template <>
struct ResourceTraits<Pod> {
  static constexpr std::string_view group = "";
  static constexpr std::string_view version = "v1";
  static constexpr std::string_view api_version = "v1";
  static constexpr std::string_view kind = "Pod";
  static constexpr std::string_view plural = "pods";
  static constexpr bool namespaced = true;
};

template <>
struct ResourceTraits<Node> {
  static constexpr std::string_view group = "";
  static constexpr std::string_view version = "v1";
  static constexpr std::string_view api_version = "v1";
  static constexpr std::string_view kind = "Node";
  static constexpr std::string_view plural = "nodes";
  static constexpr bool namespaced = false;
};

template <>
struct ResourceTraits<Service> {
  static constexpr std::string_view group = "";
  static constexpr std::string_view version = "v1";
  static constexpr std::string_view api_version = "v1";
  static constexpr std::string_view kind = "Service";
  static constexpr std::string_view plural = "services";
  static constexpr bool namespaced = true;
};

template <>
struct ResourceTraits<Event> {
  static constexpr std::string_view group = "";
  static constexpr std::string_view version = "v1";
  static constexpr std::string_view api_version = "v1";
  static constexpr std::string_view kind = "Event";
  static constexpr std::string_view plural = "events";
  static constexpr bool namespaced = true;
};

template <>
struct ResourceTraits<Namespace> {
  static constexpr std::string_view group = "";
  static constexpr std::string_view version = "v1";
  static constexpr std::string_view api_version = "v1";
  static constexpr std::string_view kind = "Namespace";
  static constexpr std::string_view plural = "namespaces";
  static constexpr bool namespaced = false;
};

template <>
struct ResourceTraits<Secret> {
  static constexpr std::string_view group = "";
  static constexpr std::string_view version = "v1";
  static constexpr std::string_view api_version = "v1";
  static constexpr std::string_view kind = "Secret";
  static constexpr std::string_view plural = "secrets";
  static constexpr bool namespaced = true;
};

template <>
struct ResourceTraits<ConfigMap> {
  static constexpr std::string_view group = "";
  static constexpr std::string_view version = "v1";
  static constexpr std::string_view api_version = "v1";
  static constexpr std::string_view kind = "ConfigMap";
  static constexpr std::string_view plural = "configmaps";
  static constexpr bool namespaced = true;
};

template <>
struct ResourceTraits<ServiceAccount> {
  static constexpr std::string_view group = "";
  static constexpr std::string_view version = "v1";
  static constexpr std::string_view api_version = "v1";
  static constexpr std::string_view kind = "ServiceAccount";
  static constexpr std::string_view plural = "serviceaccounts";
  static constexpr bool namespaced = true;
};

template <>
struct ResourceTraits<PersistentVolumeClaim> {
  static constexpr std::string_view group = "";
  static constexpr std::string_view version = "v1";
  static constexpr std::string_view api_version = "v1";
  static constexpr std::string_view kind = "PersistentVolumeClaim";
  static constexpr std::string_view plural = "persistentvolumeclaims";
  static constexpr bool namespaced = true;
};

template <>
struct ResourceTraits<Job> {
  static constexpr std::string_view group = "batch";
  static constexpr std::string_view version = "v1";
  static constexpr std::string_view api_version = "batch/v1";
  static constexpr std::string_view kind = "Job";
  static constexpr std::string_view plural = "jobs";
  static constexpr bool namespaced = true;
};

template <>
struct ResourceTraits<EventsV1Event> {
  static constexpr std::string_view group = "events.k8s.io";
  static constexpr std::string_view version = "v1";
  static constexpr std::string_view api_version = "events.k8s.io/v1";
  static constexpr std::string_view kind = "Event";
  static constexpr std::string_view plural = "events";
  static constexpr bool namespaced = true;
};

template <>
struct ResourceTraits<Lease> {
  static constexpr std::string_view group = "coordination.k8s.io";
  static constexpr std::string_view version = "v1";
  static constexpr std::string_view api_version = "coordination.k8s.io/v1";
  static constexpr std::string_view kind = "Lease";
  static constexpr std::string_view plural = "leases";
  static constexpr bool namespaced = true;
};

template <>
struct ResourceTraits<Deployment> {
  static constexpr std::string_view group = "apps";
  static constexpr std::string_view version = "v1";
  static constexpr std::string_view api_version = "apps/v1";
  static constexpr std::string_view kind = "Deployment";
  static constexpr std::string_view plural = "deployments";
  static constexpr bool namespaced = true;
};

template <>
struct ResourceTraits<ReplicaSet> {
  static constexpr std::string_view group = "apps";
  static constexpr std::string_view version = "v1";
  static constexpr std::string_view api_version = "apps/v1";
  static constexpr std::string_view kind = "ReplicaSet";
  static constexpr std::string_view plural = "replicasets";
  static constexpr bool namespaced = true;
};

template <>
struct ResourceTraits<StatefulSet> {
  static constexpr std::string_view group = "apps";
  static constexpr std::string_view version = "v1";
  static constexpr std::string_view api_version = "apps/v1";
  static constexpr std::string_view kind = "StatefulSet";
  static constexpr std::string_view plural = "statefulsets";
  static constexpr bool namespaced = true;
};

template <>
struct ResourceTraits<EndpointSlice> {
  static constexpr std::string_view group = "discovery.k8s.io";
  static constexpr std::string_view version = "v1";
  static constexpr std::string_view api_version = "discovery.k8s.io/v1";
  static constexpr std::string_view kind = "EndpointSlice";
  static constexpr std::string_view plural = "endpointslices";
  static constexpr bool namespaced = true;
};

template <>
struct ResourceTraits<CustomResourceDefinition> {
  static constexpr std::string_view group = "apiextensions.k8s.io";
  static constexpr std::string_view version = "v1";
  static constexpr std::string_view api_version = "apiextensions.k8s.io/v1";
  static constexpr std::string_view kind = "CustomResourceDefinition";
  static constexpr std::string_view plural = "customresourcedefinitions";
  static constexpr bool namespaced = false;
};

}  // namespace codeflare::model
