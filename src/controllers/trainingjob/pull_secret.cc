#include "controllers/trainingjob/pull_secret.h"

#include "base/base64.h"
#include "controllers/trainingjob/worker_pod.h"
#include "json/write.h"

#include <utility>

namespace codeflare::controllers::trainingjob {

namespace {

constexpr std::size_t kUidPart = 8;
constexpr std::string_view kDockerHub = "https://index.docker.io/v1/";

Result<std::string> line_of(FileSystem& files, const std::string& path) {
  Result<std::string> text = files.read(path);
  if (!text) {
    if (text.error().code == ErrorCode::not_found) {
      return std::string();
    }
    return fail(std::move(text).error().with_context(path));
  }
  text->erase(text->find_last_not_of("\r\n") + 1);
  return text;
}

std::string docker_config(std::string_view registry, const RegistryLogin& login) {
  std::string text;
  json::Writer w(text);
  w.begin_object().key("auths").begin_object().key(registry).begin_object();
  w.member("username", login.username).member("password", login.password.reveal());
  w.member("auth", to_base64(login.username + ":" + login.password.reveal()));
  w.end_object().end_object().end_object();
  return text;
}

}  // namespace

Result<std::optional<RegistryLogin>> read_registry_login(FileSystem& files,
                                                         const std::string& folder) {
  if (folder.empty()) {
    return std::optional<RegistryLogin>();
  }
  TRY_ASSIGN(std::string username, line_of(files, folder + "/username"));
  TRY_ASSIGN(std::string password, line_of(files, folder + "/password"));
  if (username.empty() && password.empty()) {
    return std::optional<RegistryLogin>();
  }
  if (username.empty() || password.empty()) {
    return fail(failed_precondition(folder + " needs the files username and password, " +
                                    (username.empty() ? "username" : "password") + " is empty"));
  }
  return std::optional(
      RegistryLogin{.username = std::move(username), .password = Secret(std::move(password))});
}

std::string registry_of(std::string_view image) {
  const std::string_view first = image.substr(0, image.find('/'));
  const bool host = first.size() < image.size() &&
                    (first.find_first_of(".:") != std::string_view::npos || first == "localhost");
  return std::string(host ? first : kDockerHub);
}

std::string pull_secret_name(const model::TrainingJob& job) {
  return job.metadata.name + "-pull-" + job.metadata.uid.substr(0, kUidPart);
}

std::string pull_secret(const model::TrainingJob& job, std::string_view image,
                        const RegistryLogin& login) {
  const model::OwnerReference owner = owner_of(job);
  std::string config = docker_config(registry_of(image), login);
  std::string text;
  json::Writer w(text);
  w.begin_object().member("apiVersion", "v1").member("kind", "Secret");
  w.member("type", "kubernetes.io/dockerconfigjson");
  w.key("metadata").begin_object().member("name", pull_secret_name(job));
  w.member("namespace", job.metadata.ns);
  w.key("ownerReferences").begin_array().begin_object();
  w.member("apiVersion", owner.api_version).member("kind", owner.kind);
  w.member("name", owner.name).member("uid", owner.uid);
  w.key("controller").boolean(true).key("blockOwnerDeletion").boolean(true);
  w.end_object().end_array().end_object();
  w.key("data").begin_object().member(".dockerconfigjson", to_base64(config)).end_object();
  w.end_object();
  wipe(config);
  return text;
}

}  // namespace codeflare::controllers::trainingjob
