#include "controllers/trainingjob/checkpoint_service.h"

#include "base/async/sleep.h"
#include "base/base64.h"
#include "checkpoint/key_file.h"
#include "checkpoint/token.h"
#include "controllers/trainingjob/worker_pod.h"
#include "json/write.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace codeflare::controllers::trainingjob {

namespace {

using runtime::Action;

const runtime::ResourceType kNamespaces{"", "v1", "Namespace", "namespaces", false};
const runtime::ResourceType kSecrets{"", "v1", "Secret", "secrets", true};
const runtime::ResourceType kServices{"", "v1", "Service", "services", true};
const runtime::ResourceType kStatefulSets{"apps", "v1", "StatefulSet", "statefulsets", true};

constexpr std::string_view kTokenVolume = "lattice-checkpoint";
constexpr std::string_view kTokenDirectory = "/lattice-checkpoint";
constexpr std::size_t kUidPart = 8;
// The service is looked at again before pods are made later than that.
constexpr Duration kLookAgain = std::chrono::minutes(1);

// With them `helm install operator helm/lattice-operator --namespace lattice` takes the object
// over.
void add_meta(json::Writer& w, std::string_view api_version, std::string_view kind,
              std::string_view name) {
  w.member("apiVersion", api_version).member("kind", kind);
  w.key("metadata").begin_object().member("name", name).member("namespace", kCheckpointNamespace);
  w.key("labels").begin_object();
  w.member("app.kubernetes.io/name", "lattice-operator");
  w.member("app.kubernetes.io/managed-by", "Helm").end_object();
  w.key("annotations").begin_object();
  w.member("meta.helm.sh/release-name", "operator");
  w.member("meta.helm.sh/release-namespace", kCheckpointNamespace).end_object();
  w.end_object();
}

std::string text_of(auto write) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object();
  write(writer);
  writer.end_object();
  return text;
}

std::string secret_text(const Secret& key) {
  return text_of([&](json::Writer& w) {
    add_meta(w, "v1", "Secret", kCheckpointKeySecret);
    w.member("type", "Opaque");
    w.key("data").begin_object().member("key", to_base64(key.reveal())).end_object();
  });
}

std::string service_text(int port) {
  return text_of([&](json::Writer& w) {
    add_meta(w, "v1", "Service", "lattice-checkpoint-svc");
    w.key("spec").begin_object();
    w.key("selector").begin_object().member("app", "lattice-checkpoint").end_object();
    w.key("ports").begin_array().begin_object().member("name", "checkpoint");
    w.key("port").integer(port).end_object().end_array().end_object();
  });
}

void add_container(json::Writer& w, const std::string& image, int port) {
  w.key("containers").begin_array().begin_object();
  w.member("name", "checkpointd").member("image", image);
  w.key("args").begin_array().string("checkpointd").string("--data=/data");
  w.string("--listen=:" + std::to_string(port)).string("--key-file=/etc/checkpoint-key/key");
  w.string("--log-json").end_array();
  w.key("ports").begin_array().begin_object().member("name", "checkpoint");
  w.key("containerPort").integer(port).end_object().end_array();
  w.key("readinessProbe").begin_object().key("httpGet").begin_object();
  w.member("path", "/ping").member("port", "checkpoint").end_object();
  w.key("periodSeconds").integer(2).end_object();
  w.key("volumeMounts").begin_array();
  w.begin_object().member("name", "data").member("mountPath", "/data").end_object();
  w.begin_object().member("name", "key").member("mountPath", "/etc/checkpoint-key");
  w.key("readOnly").boolean(true).end_object().end_array();
  w.end_object().end_array();
}

// Without requests: it never takes a place that a job needs.
std::string stateful_set_text(const std::string& image, int port) {
  return text_of([&](json::Writer& w) {
    add_meta(w, "apps/v1", "StatefulSet", "lattice-checkpoint");
    w.key("spec").begin_object().key("replicas").integer(1);
    w.member("serviceName", "lattice-checkpoint-svc");
    w.key("selector").begin_object().key("matchLabels").begin_object();
    w.member("app", "lattice-checkpoint").end_object().end_object();
    w.key("template").begin_object();
    w.key("metadata").begin_object().key("labels").begin_object();
    w.member("app", "lattice-checkpoint").end_object().end_object();
    w.key("spec").begin_object().key("automountServiceAccountToken").boolean(false);
    add_container(w, image, port);
    w.key("volumes").begin_array().begin_object().member("name", "key").key("secret");
    w.begin_object().member("secretName", kCheckpointKeySecret).key("defaultMode").integer(0440);
    w.end_object().end_object().end_array().end_object().end_object();
    w.key("volumeClaimTemplates").begin_array().begin_object();
    w.key("metadata").begin_object().member("name", "data").end_object();
    w.key("spec").begin_object().key("accessModes").begin_array().string("ReadWriteOnce");
    w.end_array().key("resources").begin_object().key("requests").begin_object();
    w.member("storage", "10Gi").end_object().end_object().end_object();
    w.end_object().end_array().end_object();
  });
}

}  // namespace

bool saves_remotely(const model::TrainingJob& job, const LatticeSettings& lattice) {
  const std::string& own = job.spec.checkpoint.type;
  const std::string& type = own.empty() ? lattice.checkpoint_type : own;
  return uses_agent(job) && (type == "remote" || type == "s3");
}

bool has_checkpoint_key(const LatticeSettings& lattice) {
  return lattice.starts_checkpoint_service || !lattice.checkpoint_key_file.empty();
}

std::string token_secret_name(const model::TrainingJob& job) {
  return job.metadata.name + "-checkpoint-" + job.metadata.uid.substr(0, kUidPart);
}

std::string token_secret(const model::TrainingJob& job, const Secret& key) {
  const Secret token =
      checkpoint::mint_token(key, {.job = {.ns = job.metadata.ns, .uid = job.metadata.uid}});
  const model::OwnerReference owner = owner_of(job);
  return text_of([&](json::Writer& w) {
    w.member("apiVersion", "v1").member("kind", "Secret").member("type", "Opaque");
    w.key("metadata").begin_object().member("name", token_secret_name(job));
    w.member("namespace", job.metadata.ns);
    w.key("ownerReferences").begin_array().begin_object();
    w.member("apiVersion", owner.api_version).member("kind", owner.kind);
    w.member("name", owner.name).member("uid", owner.uid);
    w.key("controller").boolean(true).key("blockOwnerDeletion").boolean(true);
    w.end_object().end_array().end_object();
    w.key("data").begin_object().member("token", to_base64(token.reveal())).end_object();
  });
}

void mount_token(const model::TrainingJob& job, model::PodSpec& spec, model::Container& container) {
  model::Volume volume{.name = std::string(kTokenVolume)};
  volume.secret.emplace().secret_name = token_secret_name(job);
  spec.volumes.push_back(std::move(volume));
  container.volume_mounts.push_back({.name = std::string(kTokenVolume),
                                     .read_only = true,
                                     .mount_path = std::string(kTokenDirectory)});
  container.env.push_back(
      {.name = "LATTICE_CHECKPOINT_TOKEN_FILE", .value = std::string(kTokenDirectory) + "/token"});
}

std::vector<Action> checkpoint_service_objects(const std::string& image, int port,
                                               const Secret& key) {
  const std::string ns(kCheckpointNamespace);
  std::vector<Action> actions;
  const auto add = [&](const runtime::ResourceType& type, std::string name, std::string body) {
    actions.push_back({.verb = Action::Verb::create,
                       .type = type,
                       .key = {type.namespaced ? ns : "", std::move(name)},
                       .body = std::move(body),
                       .why = "a TrainingJob saves checkpoints",
                       .existing_is_fine = true});
  };
  add(kNamespaces, ns,
      R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + ns + "\"}}");
  add(kSecrets, std::string(kCheckpointKeySecret), secret_text(key));
  add(kServices, "lattice-checkpoint-svc", service_text(port));
  add(kStatefulSets, "lattice-checkpoint", stateful_set_text(image, port));
  return actions;
}

Task<Result<std::optional<Secret>>> CheckpointKeys::find(LatticeSettings lattice, std::string image,
                                                         runtime::ObjectKey job) {
  if (!lattice.starts_checkpoint_service) {
    if (lattice.checkpoint_key_file.empty()) {
      co_return std::optional<Secret>();
    }
    Result<Secret> key =
        co_await run_blocking(env_, [env = env_, path = lattice.checkpoint_key_file] {
          return checkpoint::read_key(env.files, path);
        });
    if (!key) {
      co_return fail(std::move(key).error().with_context("CHECKPOINT_KEY_FILE"));
    }
    co_return std::optional(*std::move(key));
  }
  if (known_ && env_.clock.now() - looked_ < kLookAgain) {
    co_return known_;
  }
  runtime::Plan plan;
  plan.actions =
      checkpoint_service_objects(image, lattice.checkpoint_port, checkpoint::make_key(env_.random));
  CO_TRY(co_await actor_.act(job, std::move(plan)));
  CO_TRY_ASSIGN(const kube::ObjectRef secret,
                co_await client_.get(kSecrets, {std::string(kCheckpointNamespace),
                                                std::string(kCheckpointKeySecret)}));
  CO_TRY_ASSIGN(std::string key, from_base64(secret->string_at({"data", "key"})));
  key.erase(key.find_last_not_of("\r\n") + 1);
  if (key.empty()) {
    co_return fail(
        failed_precondition("Secret lattice/lattice-checkpoint-key has no key; delete "
                            "the Secret and it is made again"));
  }
  known_ = Secret(std::move(key));
  looked_ = env_.clock.now();
  co_return known_;
}

}  // namespace codeflare::controllers::trainingjob
