#pragma once

#include "base/time.h"
#include "model/condition.h"
#include "model/extra.h"
#include "model/list.h"
#include "model/meta.h"
#include "model/resource_list.h"
#include "model/resources.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// ManagedCluster v1alpha1 (dispatch.codeflare.dev), cluster-scoped: a worker cluster behind the
// queue of this one, the hub (docs/decisions/0016-many-clusters.md). Its labels are what
// AppWrappers select clusters by.
namespace codeflare::model {

struct ManagedClusterSpec {
  // Secret in the namespace codeflare-system with the worker's kubeconfig under the key
  // `kubeconfig`. Empty: managed_cluster::secret_name() of the ManagedCluster's name.
  std::string kubeconfig_secret;
  double cost = 0;         // cheaper clusters first, where an AppWrapper prefers none
  bool paused = false;     // no new work; what runs there continues
  bool evict = false;      // with paused: what runs there is queued again
  std::string on_lost;     // Wait (default) | Redispatch
  std::string lost_after;  // with Redispatch; "15m" is the default
  std::string namespaces;  // Existing (default) | Create
  std::string submitter;   // Same (default) | Fixed
  // With Fixed: whom copies are created as; empty: the account of the kubeconfig.
  std::string fixed_user;
  // An administrator's word that the cluster will not come back: its work is queued again without
  // an answer of its server. Written by `codeflare cluster remove --lost`.
  bool lost = false;
  Extra extra;

  friend bool operator==(const ManagedClusterSpec&, const ManagedClusterSpec&) = default;
};

struct ManagedClusterStatus {
  List<Condition> conditions;     // Connected
  std::int64_t nodes = 0;         // ready ones
  ResourceList capacity;          // allocatable of the nodes that new work may use
  ResourceList free;              // of these, what neither pods nor plans take
  std::int64_t dispatched = 0;    // AppWrappers of the hub with a plan there
  std::int64_t waiting = 0;       // of these, copies that the worker's queue has not started
  std::optional<Time> last_seen;  // the server's last answer
  std::string server;             // "https://10.0.0.1:6443"
  std::string version;            // "v1.34.4"
  std::string cluster_id;         // UID of its namespace kube-system
  // Every copy there that may run carries a fence of this length or a shorter one ("15m0s"); empty:
  // not every copy does, so silence concludes nothing.
  std::string fence;
  std::int64_t observed_generation = 0;
  Extra extra;

  friend bool operator==(const ManagedClusterStatus&, const ManagedClusterStatus&) = default;
};

struct ManagedCluster {
  ObjectMeta metadata;
  ManagedClusterSpec spec;
  ManagedClusterStatus status;
  Extra extra;

  friend bool operator==(const ManagedCluster&, const ManagedCluster&) = default;
};

template <>
struct ResourceTraits<ManagedCluster> {
  static constexpr std::string_view group = "dispatch.codeflare.dev";
  static constexpr std::string_view version = "v1alpha1";
  static constexpr std::string_view api_version = "dispatch.codeflare.dev/v1alpha1";
  static constexpr std::string_view kind = "ManagedCluster";
  static constexpr std::string_view plural = "managedclusters";
  static constexpr bool namespaced = false;
};

namespace managed_cluster {
inline constexpr std::string_view kWait = "Wait";
inline constexpr std::string_view kRedispatch = "Redispatch";
inline constexpr std::string_view kExisting = "Existing";
inline constexpr std::string_view kCreate = "Create";
inline constexpr std::string_view kSame = "Same";
inline constexpr std::string_view kFixed = "Fixed";

// Condition, and the reasons of its status False: the server's own words are in the message.
inline constexpr std::string_view kConnected = "Connected";
inline constexpr std::string_view kReasonConnected = "Connected";
inline constexpr std::string_view kReasonConnecting = "Connecting";
inline constexpr std::string_view kReasonSecretMissing = "SecretMissing";  // no Secret, or no key
inline constexpr std::string_view kReasonSecretInvalid = "SecretInvalid";  // not a kubeconfig
inline constexpr std::string_view kReasonUnreachable = "Unreachable";      // rejected, no answer
inline constexpr std::string_view kReasonCertificate = "CertificateInvalid";
inline constexpr std::string_view kReasonUnauthorized = "Unauthorized";  // 401
inline constexpr std::string_view kReasonForbidden = "Forbidden";        // 403
inline constexpr std::string_view kReasonDefinitionsMissing = "DefinitionsMissing";
inline constexpr std::string_view kReasonAnotherCluster = "AnotherCluster";  // than before
inline constexpr std::string_view kReasonNameInvalid = "NameInvalid";        // "local"
inline constexpr std::string_view kReasonManagedTwice = "ManagedTwice";      // by two objects

// Holds a ManagedCluster until no AppWrapper of the hub has a plan there.
inline constexpr std::string_view kFinalizer = "dispatch.codeflare.dev/copies";

// Of Secrets with kubeconfigs, which are in queue::kControllerNamespace.
inline constexpr std::string_view kSecretKey = "kubeconfig";

// The hub's own cluster, as plans and selectors name it.
inline constexpr std::string_view kLocal = "local";
// Of every node in the hub's queue; its value is the cluster.
inline constexpr std::string_view kClusterLabel = "codeflare.dev/cluster";

// The Secret of a ManagedCluster that names none: "cluster-NAME".
std::string secret_name(const ManagedCluster& cluster);

// Of spec.lostAfter: at least a minute; 15 minutes where it says nothing that can be read.
Duration lost_after(const ManagedClusterSpec& spec);

// The cluster in "CLUSTER/NODE", a node of a plan; `local` without a slash.
std::string_view cluster_of_node(std::string_view planned_node);
}  // namespace managed_cluster

}  // namespace codeflare::model
