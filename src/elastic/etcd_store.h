#pragma once

#include "base/env/env.h"
#include "elastic/store.h"
#include "json/value.h"
#include "net/http.h"

#include <cstdint>
#include <map>
#include <string>

namespace codeflare::elastic {

// The documents in etcd 3.4 or newer, under /lattice/UID/, by the JSON gateway: HTTP/1.1 on the
// client port. Members are on leases of their own.
class EtcdStore final : public Store {
 public:
  // `service` reaches one endpoint of etcd and outlives this.
  EtcdStore(Env env, net::HttpService& service, std::string job_uid);

  Task<Result<StoreEntry>> get(StoreKey key) override;
  std::unique_ptr<StoreWatch> watch(StoreKey key) override;
  Task<Result<void>> put(StoreKey key, std::string value, Duration ttl) override;
  Task<Result<void>> swap(StoreKey key, std::string value, std::string version) override;

  // All documents of the job, by key ("membership", "member/3", "round").
  Task<Result<std::map<std::string, StoreEntry>>> list();
  // Removes all of them: the job has ended.
  Task<Result<void>> clear();

 private:
  class Watch;
  Task<Result<json::Document>> call(std::string path, std::string body);
  // Opens a call whose answer is a stream of lines.
  Task<Result<net::Body>> open(std::string path, std::string body);
  Task<Result<bool>> keep_alive();
  std::string encoded(const StoreKey& key) const;
  std::string whole_range() const;  // the request for all keys of the job

  Env env_;
  net::HttpService& service_;
  std::string prefix_;
  std::int64_t lease_ = 0;  // 0: none yet
  std::string put_;         // what lies on the lease
};

}  // namespace codeflare::elastic
