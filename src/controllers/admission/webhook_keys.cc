#include "controllers/admission/webhook_keys.h"

#include "apiserver/identity/pki.h"
#include "base/base64.h"
#include "base/secret.h"
#include "json/write.h"
#include "kube/object.h"
#include "model/gvk.h"

#include <array>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

namespace codeflare::admission {

namespace {

const model::ResourceType kSecrets{"", "v1", "Secret", "secrets", true};

// Each replica makes its own serving certificate from the authority.
constexpr std::array<std::string_view, 3> kShared = {"ca.crt", "ca.key", "sa.key"};

using Keys = std::map<std::string_view, Secret>;

Result<Keys> keys_of(const kube::Object& object, const model::ObjectKey& secret) {
  Keys keys;
  for (const std::string_view name : kShared) {
    Result<std::string> bytes = from_base64(object.string_at({"data", name}));
    if (!bytes || bytes->empty()) {
      return fail(failed_precondition("secret " + secret.to_string() + " has no key " +
                                      std::string(name) +
                                      ": restore it, or delete the Secret (AppWrappers that wait "
                                      "must then be created again)"));
    }
    keys.emplace(name, Secret(*std::move(bytes)));
  }
  return keys;
}

Result<Keys> read_keys(FileSystem& files, const std::string& directory) {
  Keys keys;
  for (const std::string_view name : kShared) {
    TRY_ASSIGN(std::string text, files.read(join_path(directory, name)));
    keys.emplace(name, Secret(std::move(text)));
  }
  return keys;
}

// Nothing of other keys stays: a certificate of another authority would be served.
Result<void> replace_keys(FileSystem& files, const std::string& directory, const Keys& keys) {
  TRY(files.make_directories(directory, 0700));
  TRY_ASSIGN(const std::vector<std::string> there, files.list(directory));
  for (const std::string& name : there) {
    TRY(files.remove_all(join_path(directory, name)));
  }
  for (const auto& [name, key] : keys) {
    TRY(files.write(join_path(directory, name), key.reveal(), {.mode = 0600}));
  }
  return {};
}

bool has_keys(FileSystem& files, const std::string& directory, const Keys& keys) {
  const Result<Keys> there = read_keys(files, directory);
  return there && *there == keys;
}

std::string secret_json(const model::ObjectKey& secret, const Keys& keys) {
  std::string body;
  json::Writer writer(body);
  writer.begin_object().member("apiVersion", "v1").member("kind", "Secret");
  writer.key("metadata").begin_object().member("name", secret.name).member("namespace", secret.ns);
  writer.end_object().member("type", "Opaque").key("data").begin_object();
  for (const auto& [name, key] : keys) {
    writer.member(name, to_base64(key.reveal()));
  }
  writer.end_object().end_object();
  return body;
}

// Fails with already_exists when another replica was faster.
Task<Result<void>> make_secret(Env env, kube::Client& client, std::string directory,
                               model::ObjectKey secret, Logger logger) {
  CO_TRY(co_await apiserver::Pki::open(env, {.directory = directory}, logger));
  CO_TRY_ASSIGN(const Keys keys,
                co_await run_blocking(env, [&] { return read_keys(env.files, directory); }));
  std::string body = secret_json(secret, keys);
  const Result<kube::ObjectRef> made =
      co_await client.create(kSecrets, secret.ns, body, {.field_manager = "codeflare-controller"});
  wipe(body);
  if (!made) {
    co_return fail(made.error());
  }
  logger.info("keys of the webhook are in a new Secret", {{"secret", secret.to_string()}});
  co_return Result<void>();
}

}  // namespace

Task<Result<void>> share_webhook_keys(Env env, kube::Client& client, std::string directory,
                                      model::ObjectKey secret, Logger logger) {
  Result<kube::ObjectRef> there = co_await client.get(kSecrets, secret);
  if (!there && there.error().code == ErrorCode::not_found) {
    Result<void> made = co_await make_secret(env, client, directory, secret, logger);
    if (made || made.error().code != ErrorCode::already_exists) {
      co_return made;
    }
    there = co_await client.get(kSecrets, secret);
  }
  if (!there) {
    co_return fail(std::move(there).error().with_context("secret " + secret.to_string()));
  }
  CO_TRY_ASSIGN(const Keys keys, keys_of(**there, secret));
  co_return co_await run_blocking(env, [&]() -> Result<void> {
    return has_keys(env.files, directory, keys) ? Result<void>()
                                                : replace_keys(env.files, directory, keys);
  });
}

}  // namespace codeflare::admission
