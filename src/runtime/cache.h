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

  // The informer of the kind; made with these options when it is the first to ask.
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
