#pragma once

#include "base/result.h"
#include "elastic/etcd_endpoint.h"
#include "model/meta.h"

#include <map>
#include <string>
#include <string_view>

// Settings of the operator of TrainingJobs.
namespace codeflare::controllers::trainingjob {

// Settings that agents and addons in the pods read.
struct LatticeSettings {
  elastic::EtcdEndpoint etcd() const;

  std::string checkpoint_type = "remote";
  std::string checkpoint_endpoint = "lattice-checkpoint-svc.lattice";
  int checkpoint_port = 5555;
  std::string checkpoint_key_file{};       // of tokens; empty: pods get no token
  bool starts_checkpoint_service = false;  // in the namespace lattice, where no chart does
  std::string rdzv_backend = "kubernetes";
  std::string rdzv_endpoint = "lattice-rdzv-client.lattice";
  int rdzv_port = 2379;
  std::map<std::string, std::string> rdzv_conf{};  // see elastic::EtcdEndpoint
  std::string jfrog_path{};                        // folder with username and password
};

struct TrainingSettings {
  std::string unit{};           // see queue::TrainingOptions
  std::string selector_path{};  // empty: any node
  LatticeSettings lattice{};
};

// Values other than the default, by the name of the flag. Paths belong to a pod and are left out.
std::map<std::string, std::string> setting_texts(const TrainingSettings& settings);

// "key=value" a line; a value may hold "=". Empty lines and lines that begin with # do not count.
Result<model::StringMap> parse_selector(std::string_view text);

}  // namespace codeflare::controllers::trainingjob
