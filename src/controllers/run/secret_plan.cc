#include "controllers/run/secret_plan.h"

#include "platform/names.h"
#include "platform/pod_parts.h"
#include "platform/repo_secret.h"

#include <charconv>
#include <string_view>

namespace codeflare::controllers::runs {

namespace {

constexpr std::string_view kInput = "inputs[";

const std::string* value_of(const model::Run& run, std::string_view name) {
  for (const model::EffectiveValue& each : run.status.effective) {
    if (each.name == name) {
      return &each.value;
    }
  }
  return nullptr;
}

// "default/words" of an input.
std::optional<model::ObjectKey> key_of(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return std::nullopt;
  }
  return model::ObjectKey{std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

std::optional<SecretCopy> data_secret(const model::Run& run, const model::EffectiveValue& input,
                                      const SecretSources& sources) {
  std::size_t index = 0;
  const char* end = input.name.data() + input.name.size();
  const std::optional<model::ObjectKey> key = key_of(input.value);
  if (!input.name.starts_with(kInput) || !key || key->ns == run.metadata.ns ||
      std::from_chars(input.name.data() + kInput.size(), end, index).ptr != end - 1) {
    return std::nullopt;
  }
  const std::optional<model::DataSet> data_set = sources.data_set(*key);
  if (!data_set || !data_set->spec.s3 || !data_set->spec.s3->secret ||
      !platform::allows(data_set->spec.allowed_namespaces, key->ns, run.metadata.ns)) {
    return std::nullopt;
  }
  return SecretCopy{.from = {key->ns, data_set->spec.s3->secret->name},
                    .to = platform::data_secret_copy(run.status.app_wrapper, index),
                    .keys = {"accessKeyID", "secretAccessKey", "sessionToken", "ca.crt"}};
}

}  // namespace

bool wants_repo_secret(const model::Run& run) {
  return value_of(run, "repo") != nullptr && value_of(run, "repoSecret") == nullptr;
}

std::vector<SecretCopy> secrets_of(const model::Run& run, const SecretSources& sources) {
  std::vector<SecretCopy> copies;
  if (run.status.app_wrapper.empty()) {
    return copies;
  }
  for (const model::EffectiveValue& each : run.status.effective) {
    if (std::optional<SecretCopy> copy = data_secret(run, each, sources)) {
      copies.push_back(*std::move(copy));
    }
  }
  if (wants_repo_secret(run)) {
    const model::PlatformRepoSecret* found = platform::choose_repo_secret(
        sources.repo_secrets, *value_of(run, "repo"), sources.namespace_labels);
    if (found != nullptr) {
      copies.push_back({.from = {found->spec.secret.ns, found->spec.secret.name},
                        .to = platform::repo_secret_copy(run.status.app_wrapper),
                        .keys = {"user", "pat"}});
    }
  }
  return copies;
}

}  // namespace codeflare::controllers::runs
