#include "queue/kinds/kinds.h"
#include "queue/kinds/replicas.h"

namespace codeflare::queue {

// It has no end.
constinit const WrappedKind kDeployment{
    .group = "apps",
    .kind = "Deployment",
    .read_templates = read_replicas,
    .count_pods = count_replicas,
    .count_fields = {.names = kReplicaFields},
};

}  // namespace codeflare::queue
