#pragma once

#include "base/env/env.h"
#include "controllers/trainingjob/agent_word.h"
#include "elastic/etcd_store.h"
#include "model/gvk.h"
#include "net/http.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace codeflare::controllers::trainingjob {

// Words of agents that meet in etcd, which is read every half second. status.membership stays the
// truth; etcd has a copy of it.
class EtcdWords {
 public:
  // `etcd` outlives this. `changed` gets a job whose documents are others.
  EtcdWords(Env env, net::HttpService& etcd, std::function<void(const model::ObjectKey&)> changed)
      : env_(env), etcd_(etcd), changed_(std::move(changed)) {}

  // As etcd was read last; the job is followed from the first call on.
  AgentWord of(const model::TrainingJob& job, const std::vector<WorkerPod>& pods, Instant now);
  // Why the documents of the job are not known (any more); empty when they are.
  std::string problem(const std::string& job_uid) const;
  void progress_written(const std::string& job_uid, Instant now);
  // Writes the membership, unless etcd has it.
  Task<Result<void>> publish(std::string job_uid, elastic::Membership membership);
  // Removes the documents of the job and follows it no more.
  Task<Result<void>> end(model::ObjectKey job);

  // Reads etcd until stopped.
  Task<void> run();

 private:
  struct Known {
    model::ObjectKey key;
    std::shared_ptr<elastic::EtcdStore> store;
    std::map<std::string, elastic::StoreEntry> documents;
    bool read = false;
    std::string problem;
    std::set<std::string> registered;  // UIDs of pods that have had a document
    std::optional<Instant> progress_at;
  };
  Task<Result<void>> read(std::string job_uid);

  Env env_;
  net::HttpService& etcd_;
  std::function<void(const model::ObjectKey&)> changed_;
  std::map<std::string, Known> known_;  // by UID of the job
};

}  // namespace codeflare::controllers::trainingjob
