#pragma once

#include "base/check.h"
#include "json/parse.h"
#include "model/codec/app_wrapper.h"
#include "queue/demand.h"

#include <algorithm>
#include <string>
#include <string_view>

// AppWrappers for tests, from JSON.
namespace codeflare::queue::testing {

inline model::AppWrapper wrapper_of(const std::string& text) {
  Result<json::Document> document = json::parse(text);
  CHECK(document.has_value());
  Result<model::AppWrapper> wrapper = model::from_json<model::AppWrapper>(document->root);
  CHECK(wrapper.has_value());
  return *std::move(wrapper);
}

// `items` are the GenericItems, separated by commas; `more` is the rest of the spec.
inline model::AppWrapper wrapper(std::string_view items, std::string_view more = "") {
  return wrapper_of(R"({"metadata":{"name":"aw","namespace":"ml","uid":"u-1"},"spec":{)" +
                    std::string(more) + R"("resources":{"GenericItems":[)" + std::string(items) +
                    "]}}}");
}

// One item without custompodresources.
inline model::AppWrapper wrapping(std::string_view object, std::string_view more = "") {
  return wrapper(R"({"generictemplate":)" + std::string(object) + "}", more);
}

// A pod template with one container.
inline std::string pod_template(std::string_view requests, std::string_view more = "") {
  return R"({"spec":{)" + std::string(more) +
         R"("containers":[{"name":"c","image":"i","resources":{"requests":)" +
         std::string(requests) + "}}]}}";
}

// "cpu=1000 pods=1", sorted by name.
inline std::string text(sched::Resources resources) {
  std::ranges::sort(resources, {}, &sched::Resource::name);
  std::string out;
  for (const sched::Resource& each : resources) {
    out += (out.empty() ? "" : " ") + each.name + "=" + std::to_string(each.amount);
  }
  return out;
}

// "/spec/template x2 of 4 cpu=1000 pods=1", one line per pod set; or what is wrong.
inline std::string text(const Result<Demand>& demand) {
  if (!demand) {
    return demand.error().message;
  }
  std::string out;
  for (const PodSetDemand& set : demand->pod_sets) {
    out += out.empty() ? "" : "\n";
    out += set.template_path ? "'" + *set.template_path + "'" : "-";
    out += " x" + std::to_string(set.pods.count);
    out += set.total ? " of " + std::to_string(*set.total) : "";
    out += " " + text(set.pods.requests);
  }
  return out;
}

}  // namespace codeflare::queue::testing
