#include "apiserver/admission/limit_range_admission.h"

#include "apiserver/admission/amounts.h"
#include "apiserver/kinds/pod_spec.h"
#include "apiserver/registry/edit.h"
#include "apiserver/request/forbidden.h"
#include "base/check.h"
#include "json/parse.h"
#include "model/codec/codec.h"
#include "model/codec/pod.h"
#include "model/pod_requests.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace codeflare::apiserver {

namespace {

using model::Quantity;
using model::ResourceList;
using Complaints = std::vector<std::string>;

struct Usage {
  ResourceList requests;
  ResourceList limits;
};

Usage usage_of(const json::Value& container) {
  return {.requests = amounts_of(object_at(container, {"resources", "requests"})),
          .limits = amounts_of(object_at(container, {"resources", "limits"}))};
}

// Overhead belongs to the runtime, not to who wrote the pod.
Usage usage_of_pod(const json::Value& pod) {
  Result<model::PodSpec> spec = model::from_json<model::PodSpec>(object_at(pod, "spec"));
  if (!spec) {
    return {};
  }
  spec->overhead = {};
  return {.requests = model::pod_requests(*spec), .limits = model::pod_limits(*spec)};
}

// "<which> cpu usage per Container is 2"
std::string bound(std::string_view which, std::string_view resource, std::string_view type,
                  const Quantity& amount) {
  return std::string(which) + " " + std::string(resource) + " usage per " + std::string(type) +
         " is " + amount.to_string();
}

void check_min(const LimitRangeAdmission::Item& item, const Usage& usage, Complaints& complaints) {
  for (const auto& [name, least] : item.min) {
    const Quantity* request = usage.requests.find(name);
    const Quantity* limit = usage.limits.find(name);
    const std::string said = bound("minimum", name, item.type, least);
    if (request == nullptr) {
      complaints.push_back(said + ".  No request is specified");
    } else if (*request < least) {
      complaints.push_back(said + ", but request is " + request->to_string());
    } else if (limit != nullptr && *limit < least) {
      complaints.push_back(said + ", but limit is " + limit->to_string());
    }
  }
}

void check_max(const LimitRangeAdmission::Item& item, const Usage& usage, Complaints& complaints) {
  for (const auto& [name, most] : item.max) {
    const Quantity* request = usage.requests.find(name);
    const Quantity* limit = usage.limits.find(name);
    const std::string said = bound("maximum", name, item.type, most);
    if (limit == nullptr) {
      complaints.push_back(said + ".  No limit is specified");
    } else if (*limit > most) {
      complaints.push_back(said + ", but limit is " + limit->to_string());
    } else if (request != nullptr && *request > most) {
      complaints.push_back(said + ", but request is " + request->to_string());
    }
  }
}

void check_ratio(const LimitRangeAdmission::Item& item, const Usage& usage,
                 Complaints& complaints) {
  for (const auto& [name, most] : item.max_ratio) {
    const Quantity request = usage.requests.get(name);
    const Quantity limit = usage.limits.get(name);
    const std::string said =
        name + " max limit to request ratio per " + item.type + " is " + most.to_string();
    if (request.is_zero()) {
      complaints.push_back(said + ", but no request is specified or request is 0");
      continue;
    }
    if (limit.is_zero()) {
      complaints.push_back(said + ", but no limit is specified or limit is 0");
      continue;
    }
    const double ratio =
        static_cast<double>(limit.milli_value()) / static_cast<double>(request.milli_value());
    if (ratio * 1000 > static_cast<double>(most.milli_value())) {
      complaints.push_back(said + ", but provided ratio is " + std::to_string(ratio));
    }
  }
}

void check(const LimitRangeAdmission::Item& item, const Usage& usage, Complaints& complaints) {
  check_min(item, usage, complaints);
  check_max(item, usage, complaints);
  check_ratio(item, usage, complaints);
}

// A claim is bounded by what it asks for: nobody limits it.
void check_claim(const LimitRangeAdmission::Item& item, const json::Value& claim,
                 Complaints& complaints) {
  const ResourceList requests = amounts_of(object_at(claim, {"spec", "resources", "requests"}));
  check_min(item, {.requests = requests, .limits = {}}, complaints);
  for (const auto& [name, most] : item.max) {
    const Quantity* request = requests.find(name);
    const std::string said = bound("maximum", name, item.type, most);
    if (request == nullptr) {
      complaints.push_back(said + ".  No request is specified");
    } else if (*request > most) {
      complaints.push_back(said + ", but request is " + request->to_string());
    }
  }
}

void check_pod(const LimitRangeAdmission::Item& item, const json::Value& pod,
               Complaints& complaints) {
  if (item.type == "Pod") {
    check(item, usage_of_pod(pod), complaints);
    return;
  }
  if (item.type != "Container") {
    return;
  }
  for (std::string_view list : {"containers", "initContainers"}) {
    for (const json::Value& container : items_at(object_at(pod, "spec"), list)) {
      check(item, usage_of(container), complaints);
    }
  }
}

// One complaint as it is, several in brackets, none twice.
std::string joined(const Complaints& complaints) {
  Complaints once;
  std::set<std::string_view> seen;
  for (const std::string& complaint : complaints) {
    if (seen.insert(complaint).second) {
      once.push_back(complaint);
    }
  }
  if (once.size() == 1) {
    return once.front();
  }
  std::string text = "[";
  for (const std::string& complaint : once) {
    text += (text.size() > 1 ? ", " : "") + complaint;
  }
  return text + "]";
}

// Sets what the container leaves open; returns the names of what it set.
std::string fill_in(json::Arena& arena, json::Value& container, std::string_view part,
                    const ResourceList& defaults) {
  std::string names;
  for (const auto& [name, amount] : defaults) {
    json::Value& amounts = make_object(arena, make_object(arena, container, "resources"), part);
    if (absent(amounts, name)) {
      amounts.set(arena, name, json::Value::string(arena, amount.to_string()));
      names += (names.empty() ? "" : ", ") + name;
    }
  }
  return names;
}

// Notes like "cpu request for container main", separated by "; ".
void set_defaults(json::Arena& arena, json::Value& spec, const ResourceList& requests,
                  const ResourceList& limits, std::string& notes) {
  const auto note = [&](const std::string& names, std::string_view what,
                        const json::Value& container) {
    if (!names.empty()) {
      notes += (notes.empty() ? "" : "; ") + names + std::string(what) +
               std::string(text_at(container, "name"));
    }
  };
  for (json::Value& container : items_at(spec, "containers")) {
    const std::string limited = fill_in(arena, container, "limits", limits);
    note(fill_in(arena, container, "requests", requests), " request for container ", container);
    note(limited, " limit for container ", container);
  }
  for (json::Value& container : items_at(spec, "initContainers")) {
    const std::string limited = fill_in(arena, container, "limits", limits);
    note(fill_in(arena, container, "requests", requests), " request for init container ",
         container);
    note(limited, " limit for init container ", container);
  }
}

// New pods and claims, and pods whose resources are changed in place.
bool concerns(const AdmissionRequest& request) {
  return request.object != nullptr &&
         (request.subresource.empty() ? request.operation == Operation::create
                                      : request.subresource == "resize");
}

}  // namespace

LimitRangeAdmission::LimitRangeAdmission(Store& store)
    : pods_(store.collection("pods")),
      claims_(store.collection("persistentvolumeclaims")),
      ranges_collection_(store.collection("limitranges")) {
  CHECK(store
            .visit(ranges_collection_, {},
                   [&](const ObjectPtr& object) {
                     remember({.op = Write::Op::create, .object = object});
                     return true;
                   })
            .has_value());
  store.on_commit([this](CollectionId collection, const Event& event) {
    if (collection == ranges_collection_) {
      remember(event);
    }
  });
}

void LimitRangeAdmission::remember(const Event& event) {
  const std::string ns(event.object->ns());
  const std::string name(event.object->name());
  Ranges& ranges = by_namespace_[ns];
  if (event.op == Write::Op::remove) {
    ranges.erase(name);
    if (ranges.empty()) {
      by_namespace_.erase(ns);
    }
    return;
  }
  const Result<json::Document> parsed = json::parse(event.object->text().view());
  CHECK(parsed.has_value());
  Items items;
  for (const json::Value& limit : items_at(object_at(parsed->root, "spec"), "limits")) {
    items.push_back({.type = std::string(text_at(limit, "type")),
                     .min = amounts_of(object_at(limit, "min")),
                     .max = amounts_of(object_at(limit, "max")),
                     .default_limit = amounts_of(object_at(limit, "default")),
                     .default_request = amounts_of(object_at(limit, "defaultRequest")),
                     .max_ratio = amounts_of(object_at(limit, "maxLimitRequestRatio"))});
  }
  ranges[name] = std::move(items);
}

const LimitRangeAdmission::Ranges* LimitRangeAdmission::ranges_for(
    const AdmissionRequest& request) const {
  const auto found = by_namespace_.find(request.ns);
  return found == by_namespace_.end() || !concerns(request) ? nullptr : &found->second;
}

Result<void> LimitRangeAdmission::mutate(AdmissionRequest& request) {
  const Ranges* ranges = ranges_for(request);
  if (ranges == nullptr || request.resource.collection != pods_) {
    return {};
  }
  json::Arena& arena = request.context.arena;
  json::Value& spec = make_object(arena, *request.object, "spec");
  std::string notes;
  for (const auto& [name, items] : *ranges) {
    for (const Item& item : items) {
      if (item.type == "Container") {
        set_defaults(arena, spec, item.default_request, item.default_limit, notes);
      }
    }
  }
  if (!notes.empty()) {
    json::Value& metadata = make_object(arena, *request.object, "metadata");
    make_object(arena, metadata, "annotations")
        .set(arena, "kubernetes.io/limit-ranger",
             json::Value::string(arena, "LimitRanger plugin set: " + notes));
    if (request.operation == Operation::create) {
      make_object(arena, *request.object, "status")
          .set(arena, "qosClass", json::Value::string_view_of(qos_class(spec)));
    }
  }
  return {};
}

Result<void> LimitRangeAdmission::validate(AdmissionRequest& request) {
  const Ranges* ranges = ranges_for(request);
  if (ranges == nullptr) {
    return {};
  }
  for (const auto& [name, items] : *ranges) {
    Complaints complaints;
    for (const Item& item : items) {
      if (request.resource.collection == pods_) {
        check_pod(item, *request.object, complaints);
      } else if (request.resource.collection == claims_ && item.type == "PersistentVolumeClaim") {
        check_claim(item, *request.object, complaints);
      }
    }
    if (!complaints.empty()) {
      return std::unexpected(forbidden(request.resource, request.name, joined(complaints)));
    }
  }
  return {};
}

}  // namespace codeflare::apiserver
