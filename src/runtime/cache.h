#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "kube/client.h"
#include "runtime/informer.h"

#include <map>
#include <memory>
#include <string>

namespace codeflare::runtime {

// The informers of a process, one per kind. All are asked for while the program is wired; a read
// never starts an informer behind one's back.
class Cache {
 public:
  Cache(Env env, kube::Client& client, Logger* logger = nullptr);

  // The informer of the kind. The first caller may narrow what it holds; later callers get it as it
  // is and say nothing of it, or the same namespace, selectors and metadata_only (checked: another
  // view of the kind would be a silent lie). Transforms cannot be compared: only the first may
  // bring one.
  Informer& informer(const ResourceType& type, InformerOptions options = {});

  // Runs every informer until stopped.
  Task<void> run();
  bool synced() const;
  // "pods: forbidden..., jobs.batch: not found", for health checks; empty when all is well.
  std::string why_not_synced() const;

 private:
  Env env_;
  kube::Client& client_;
  Logger* logger_;
  std::map<ResourceType, std::unique_ptr<Informer>> informers_;
};

}  // namespace codeflare::runtime
