#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/result.h"
#include "model/node.h"
#include "model/node_extras.h"
#include "model/quantity.h"
#include "up/cluster.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::up {

struct RealNodeOptions {
  std::string name;
  std::vector<std::string> more_names{};  // of nodes that share the machine, each of the same size
  bool grows = false;                     // more nodes may come while it runs
  std::string directory;
  std::string version;
  // Of a cluster that others run: it has the machine's address there, and its pods' addresses mean
  // nothing elsewhere.
  bool joins = false;
  bool egress = false;                    // pods have a way out of their network
  std::optional<model::Quantity> cpus{};  // absent: the machine's
  std::optional<model::Quantity> memory{};
  model::Quantity gpus{};
  model::NodeExtras extras{};
  std::vector<std::string> host_paths{};  // directories that hostPath may name
  // What pods never see, whatever holds it, beside all that is around `directory`.
  std::vector<std::string> private_places{};
  bool allow_host_network = false;  // where pods have their own
  bool allow_plain = false;         // pods may have less isolation than at the last start
  std::vector<model::Taint> taints{};
  Logger logger{};
};

// Directories that are to be offered to hostPath volumes, as they were typed. Blocks.
Result<void> check_host_paths(FileSystem& files, const std::vector<std::string>& paths);

// The parts of nodes that run real processes, on a real loop: probes what the machine allows,
// reads DIR/images.json. Pods are plain processes only where the kernel forbids better, and not
// where they had it before (DIR/mode).
class RealNode {
 public:
  static Task<Result<std::unique_ptr<RealNode>>> make(Env env, RealNodeOptions options);
  ~RealNode();

  // For run_up(); refers to this.
  ProcessNode parts();
  // Afterwards: lets go of the keepers, and of the network or, when nobody needs it, ends it.
  Task<void> stop();

 private:
  struct Parts;
  explicit RealNode(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace codeflare::up
