#pragma once

#include "model/condition.h"
#include "model/extra.h"
#include "model/list.h"
#include "model/meta.h"

#include <string>
#include <vector>

namespace codeflare::model {

struct NamespaceSpec {
  List<std::string> finalizers;
  Extra extra;

  friend bool operator==(const NamespaceSpec&, const NamespaceSpec&) = default;
};

struct NamespaceStatus {
  std::string phase;  // "Active" or "Terminating"
  List<Condition> conditions;
  Extra extra;

  friend bool operator==(const NamespaceStatus&, const NamespaceStatus&) = default;
};

struct Namespace {
  ObjectMeta metadata;
  NamespaceSpec spec;
  NamespaceStatus status;
  Extra extra;

  friend bool operator==(const Namespace&, const Namespace&) = default;
};

}  // namespace codeflare::model
