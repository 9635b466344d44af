#pragma once

#include "base/env/env.h"
#include "base/secret.h"
#include "controllers/trainingjob/training_settings.h"
#include "kube/client.h"
#include "model/pod.h"
#include "model/training_job.h"
#include "runtime/reconciler.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Checkpoints of TrainingJobs: the token of each job, and the service itself where no chart
// installs it.
namespace codeflare::controllers::trainingjob {

inline constexpr std::string_view kCheckpointNamespace = "lattice";
inline constexpr std::string_view kCheckpointKeySecret = "lattice-checkpoint-key";

// The pods of the job save to the checkpoint service.
bool saves_remotely(const model::TrainingJob& job, const LatticeSettings& lattice);
// Tokens can be made: there is a key.
bool has_checkpoint_key(const LatticeSettings& lattice);

// The Secret with the token of the job. Its name has a part of the UID: a later job of the same
// name has another.
std::string token_secret_name(const model::TrainingJob& job);
std::string token_secret(const model::TrainingJob& job, const Secret& key);
// Mounts that Secret into the container and says where.
void mount_token(const model::TrainingJob& job, model::PodSpec& spec, model::Container& container);

// Namespace, Secret, Service and StatefulSet of the checkpoint service, as the chart
// helm/lattice-operator has them, so that the chart can take them over. The Secret is used only if
// there is none.
std::vector<runtime::Action> checkpoint_service_objects(const std::string& image, int port,
                                                        const Secret& key);

// Finds the key of the tokens: in the file of the settings, or in the Secret of the service, which
// is started when it is asked for first.
class CheckpointKeys {
 public:
  CheckpointKeys(Env env, kube::Client& client, runtime::Actor& actor)
      : env_(env), client_(client), actor_(actor) {}

  // Nothing: there is no key. `job` is who needs it.
  Task<Result<std::optional<Secret>>> find(LatticeSettings lattice, std::string image,
                                           runtime::ObjectKey job);

 private:
  Env env_;
  kube::Client& client_;
  runtime::Actor& actor_;
  std::optional<Secret> known_;  // of the service
  Instant looked_{};
};

}  // namespace codeflare::controllers::trainingjob
