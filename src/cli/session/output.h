#pragma once

#include "base/result.h"
#include "json/value.h"
#include "kube/object.h"
#include "model/gvk.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::cli {

enum class Output : std::uint8_t { table, wide, json, yaml, name };

// "", "wide", "json", "yaml", "name".
Result<Output> parse_output(std::string_view text);

inline bool is_table(Output output) {
  return output == Output::table || output == Output::wide;
}

// An object with the kind that it is of; items of lists need not say it themselves.
struct TypedObject {
  model::ResourceType type;
  std::string singular;  // "appwrapper"
  kube::ObjectRef object;

  // "appwrapper.workload.codeflare.dev/NAME", "configmap/NAME".
  std::string qualified_name() const;
};

// Objects as JSON, YAML or names, as kubectl prints them: one by itself, several as a List
// (`as_list` makes one of any number); without managedFields. `output` must not be a table.
std::string render_objects(const std::vector<TypedObject>& objects, Output output, bool as_list);

// A value as JSON, or as YAML on request.
std::string machine_text(const std::function<json::Value(json::Arena&)>& make, Output output);

}  // namespace codeflare::cli
