#pragma once

#include "apiserver/registry/registry.h"
#include "apiserver/registry/resource.h"
#include "apiserver/schema/compile.h"
#include "apiserver/store/store.h"
#include "base/async/task.h"
#include "base/env/env.h"
#include "base/log.h"

#include <memory>

namespace codeflare::apiserver {

// Makes CustomResourceDefinitions real. Its strategy decides names and conditions when a definition
// is written, so a definition is established with the very write that creates it; the commit hook
// registers the resource in the same turn in which the definition becomes visible. Deleting one
// first deletes all that it defined, then the definition goes.
//   CrdController crds({env, store, registry, schema::object_meta(), rules, logger});
//   add_builtin_resources(registry, ..., [&](Resource& r) { crds.customize(r); ... });
//   crds.start();  ...  co_await crds.close();
class CrdController {
 public:
  struct Parts {
    Env env;
    Store& store;
    Registry& registry;
    const schema::Node& object_meta;
    const schema::RuleCompiler* rules = nullptr;  // null: schemas with rules are rejected
    Logger logger;
  };
  explicit CrdController(Parts parts);
  ~CrdController();

  // Gives customresourcedefinitions.apiextensions.k8s.io its strategy; leaves others alone.
  void customize(Resource& resource) const;
  // Registers what the store holds and follows its commits; once, before requests are served.
  void start();
  // Ends what is under way: a deletion goes on at the next start.
  Task<void> close();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace codeflare::apiserver
