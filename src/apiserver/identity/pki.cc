#include "apiserver/identity/pki.h"

#include "apiserver/identity/internal/certificate.h"
#include "apiserver/identity/internal/certificate_request.h"
#include "apiserver/identity/internal/openssl.h"
#include "base/async/sleep.h"
#include "base/async/when.h"
#include "base/base64.h"
#include "json/write.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace codeflare::apiserver {

namespace {

using internal::CertificateUse;
using internal::KeyPtr;
using internal::X509Ptr;

constexpr std::string_view kAdminUser = "kubernetes-admin";
// For clocks that are behind, and for a machine whose own clock is set back: nobody could connect
// until the clock is where it was.
constexpr auto kBackdated = std::chrono::hours(24);
constexpr auto kRenewalCheck = std::chrono::hours(6);

// The names of the server in and around the cluster.
std::vector<std::string> server_names(const std::vector<std::string>& more) {
  std::vector<std::string> names = {"localhost",
                                    "kubernetes",
                                    "kubernetes.default",
                                    "kubernetes.default.svc",
                                    "kubernetes.default.svc.cluster.local",
                                    "127.0.0.1",
                                    "::1",
                                    std::string(kServiceAddress)};
  for (const std::string& name : more) {
    bool any_address = name.empty() || name == "0.0.0.0" || name == "::";
    if (!any_address && std::ranges::find(names, name) == names.end()) {
      names.push_back(name);
    }
  }
  return names;
}

}  // namespace

// State is read and changed on the loop; only reading and writing files leaves it.
struct Pki::Impl {
  Impl(Env env_in, Options options_in, Logger logger_in)
      : env(env_in), options(std::move(options_in)), logger(std::move(logger_in)) {}

  Env env;
  Options options;
  Logger logger;
  X509Ptr authority{};
  KeyPtr authority_key{};
  std::string authority_pem{};
  struct Held {
    KeyPair pair{};
    std::optional<WallTime> end{};  // known once the pair was found good
  };
  Held serving{};
  Held admin{};
  std::optional<SigningKey> signing{};
  struct Kubeconfig {
    std::string path;
    std::string server;
  };
  std::optional<Kubeconfig> kubeconfig{};
  struct PendingWrite {
    std::string path;
    Secret content;
    FileSystem::WriteOptions options;
    bool is_key = false;  // cannot be made again: on disk before anything that it signed
  };
  std::vector<PendingWrite> pending{};

  std::string path(std::string_view name) const { return join_path(options.directory, name); }
  std::string ways_out() const {
    return "put it back, or remove " + options.directory + " to start with a new authority";
  }

  using Files = std::map<std::string, Secret, std::less<>>;
  Result<Files> read_files() const;
  Result<void> load(const Files& files);
  Result<void> load_authority(const Files& files);
  Result<void> load_signing_key(const Files& files);
  Result<bool> renew();
  Result<bool> renew_authority();
  Result<bool> renew_pair(Held& held, std::string_view file, internal::CertificateSpec spec);
  PendingWrite kubeconfig_file() const;
  bool is_written(const PendingWrite& write) const;
  Error kubeconfig_error(Error error) const;
  void write_later(PendingWrite write);
  void write_again(PendingWrite write);
  static Task<Result<void>> write_one(Env env, PendingWrite one);
  Task<Result<void>> flush();

  internal::CertificateSpec dated(internal::CertificateSpec spec,
                                  std::chrono::hours lifetime) const {
    spec.from = env.clock.wall() - kBackdated;
    spec.to = env.clock.wall() + lifetime;
    spec.serial_high = env.random.next();
    spec.serial_low = env.random.next();
    return spec;
  }
  bool is_soon(WallTime end) const { return end < env.clock.wall() + options.renew_before; }
  // When a pair that is all it should be ends.
  std::optional<WallTime> check(const KeyPair& pair, const internal::CertificateSpec& spec) const;
  Result<KeyPair> issue(internal::CertificateSpec spec) const;
};

Result<Pki::Impl::Files> Pki::Impl::read_files() const {
  TRY(env.files.make_directories(options.directory, 0700));
  Files files;
  for (const char* name :
       {"ca.crt", "ca.key", "sa.key", "apiserver.crt", "apiserver.key", "admin.crt", "admin.key"}) {
    auto text = env.files.read(path(name));
    if (text) {
      files.emplace(name, Secret(*std::move(text)));
    } else if (text.error().code != ErrorCode::not_found) {
      return fail(std::move(text).error());
    }
  }
  return files;
}

Result<void> Pki::Impl::load(const Files& files) {
  TRY(load_authority(files));
  TRY(load_signing_key(files));
  for (auto [held, name] :
       {std::pair(&serving, std::string("apiserver")), std::pair(&admin, std::string("admin"))}) {
    auto certificate = files.find(name + ".crt");
    auto key = files.find(name + ".key");
    if (certificate != files.end() && key != files.end()) {
      held->pair = {certificate->second.reveal(), key->second};
    }
  }
  TRY(renew());
  return {};
}

// The key is what counts: a lost certificate is made again from it, and what it signed stays good.
Result<void> Pki::Impl::load_authority(const Files& files) {
  auto key = files.find("ca.key");
  auto certificate = files.find("ca.crt");
  if (key == files.end() && certificate != files.end()) {
    return fail(failed_precondition(path("ca.key") + " is missing: " + ways_out()));
  }
  if (key == files.end()) {
    TRY_ASSIGN(authority_key, internal::generate_key());
    write_later({path("ca.key"), internal::key_to_pem(authority_key.get()), {.mode = 0600}, true});
    return {};
  }
  Result<KeyPtr> read_key = internal::key_from_pem(key->second, path("ca.key"));
  if (!read_key) {
    return fail(failed_precondition(read_key.error().message + ": " + ways_out()));
  }
  authority_key = *std::move(read_key);
  if (certificate == files.end()) {
    return {};
  }
  Result<X509Ptr> read_certificate =
      internal::certificate_from_pem(certificate->second.reveal(), path("ca.crt"));
  if (!read_certificate) {
    return fail(failed_precondition(read_certificate.error().message +
                                    ": remove it, it is made again from " + path("ca.key")));
  }
  authority = *std::move(read_certificate);
  if (X509_check_private_key(authority.get(), authority_key.get()) != 1) {
    return fail(failed_precondition(path("ca.key") + " does not belong to " + path("ca.crt")));
  }
  authority_pem = internal::certificate_to_pem(authority.get());
  return {};
}

Result<void> Pki::Impl::load_signing_key(const Files& files) {
  if (auto key = files.find("sa.key"); key != files.end()) {
    auto loaded = SigningKey::from_pem(key->second);
    if (!loaded) {
      return fail(
          failed_precondition(path("sa.key") + ": " + loaded.error().message +
                              ": restore it, or remove it to make a new one; service-account "
                              "tokens of the old key are then rejected"));
    }
    signing = *std::move(loaded);
    return {};
  }
  TRY_ASSIGN(signing, SigningKey::generate());
  write_later({path("sa.key"), signing->to_pem(), {.mode = 0600}, true});
  return {};
}

Result<bool> Pki::Impl::renew() {
  TRY_ASSIGN(bool changed, renew_authority());
  TRY_ASSIGN(bool serving_changed, renew_pair(serving, "apiserver",
                                              {.use = CertificateUse::server,
                                               .common_name = "kube-apiserver",
                                               .names = server_names(options.names)}));
  TRY_ASSIGN(bool admin_changed, renew_pair(admin, "admin",
                                            {.use = CertificateUse::client,
                                             .common_name = std::string(kAdminUser),
                                             .organizations = {"system:masters"}}));
  changed = changed || serving_changed || admin_changed;
  if (changed && kubeconfig) {
    write_later(kubeconfig_file());
  }
  return changed;
}

Result<bool> Pki::Impl::renew_authority() {
  if (authority != nullptr && !is_soon(internal::end_of(authority.get()))) {
    return false;
  }
  internal::CertificateSpec spec =
      dated({.use = CertificateUse::authority, .common_name = "codeflare-ca"},
            options.authority_lifetime);
  TRY_ASSIGN(authority,
             internal::make_certificate(spec, authority_key.get(), {.key = authority_key.get()}));
  authority_pem = internal::certificate_to_pem(authority.get());
  write_later({path("ca.crt"), Secret(authority_pem), {.mode = 0644}});
  return true;
}

// These can be made again at any time, so they are written without waiting for the disk.
Result<bool> Pki::Impl::renew_pair(Held& held, std::string_view file,
                                   internal::CertificateSpec spec) {
  if (!held.end) {
    held.end = check(held.pair, spec);
  }
  if (held.end && !is_soon(*held.end)) {
    return false;
  }
  spec = dated(std::move(spec), options.certificate_lifetime);
  spec.to = std::min(spec.to, internal::end_of(authority.get()));
  TRY_ASSIGN(held.pair, issue(spec));
  held.end = spec.to;
  std::string name(file);
  write_later({path(name + ".key"), held.pair.key_pem, {.mode = 0600, .atomic = false}});
  write_later(
      {path(name + ".crt"), Secret(held.pair.certificate_pem), {.mode = 0644, .atomic = false}});
  return true;
}

Pki::Impl::PendingWrite Pki::Impl::kubeconfig_file() const {
  Secret text = make_kubeconfig({.server = kubeconfig->server,
                                 .authority_pem = authority_pem,
                                 .user = std::string(kAdminUser),
                                 .credentials = admin.pair});
  return {kubeconfig->path, std::move(text), {.mode = 0600}};
}

bool Pki::Impl::is_written(const PendingWrite& write) const {
  const Result<std::string> text = env.files.read(write.path);
  const Result<FileInfo> info = env.files.info(write.path);
  return text && *text == write.content.reveal() && info && info->mode == write.options.mode;
}

// The old file is whole; where it leads to, nothing would have to be written.
Error Pki::Impl::kubeconfig_error(Error error) const {
  error.message +=
      "; clients find the server by this file: make room, or see that it can be written";
  constexpr std::string_view kServer = "\n    server: \"https://";
  const std::string old = env.files.read(kubeconfig->path).value_or("");
  if (const std::size_t at = old.find(kServer); at != std::string::npos) {
    const std::size_t from = at + kServer.size();
    const std::string place = old.substr(from, old.find('"', from) - from);
    if (kubeconfig->server != "https://" + place) {
      error.message += ", or listen where it says so far (" + place + ")";
    }
  }
  return error;
}

// A file that still waits to be written is written as it is now.
void Pki::Impl::write_later(PendingWrite write) {
  std::erase_if(pending, [&](const PendingWrite& one) { return one.path == write.path; });
  pending.push_back(std::move(write));
}

Task<Result<void>> Pki::Impl::write_one(Env env, PendingWrite one) {
  co_return co_await run_blocking(
      env, [&] { return env.files.write(one.path, one.content.reveal(), one.options); });
}

// The keys first; files of one kind wait for the disk together. Files that cannot be written wait
// for the next flush.
Task<Result<void>> Pki::Impl::flush() {
  for (const bool keys : {true, false}) {
    std::vector<PendingWrite> writes;
    std::vector<Task<Result<void>>> tasks;
    for (const PendingWrite& one : pending) {
      if (one.is_key == keys) {
        writes.push_back(one);
        tasks.push_back(write_one(env, one));
      }
    }
    std::erase_if(pending, [&](const PendingWrite& one) { return one.is_key == keys; });
    std::vector<Result<void>> results = co_await when_all(std::move(tasks));
    Result<void> outcome;
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i] && writes[i].path.ends_with(".crt")) {
        logger.info("certificate written", {{"file", writes[i].path}});
      }
      if (!results[i]) {
        write_again(std::move(writes[i]));
        outcome = std::move(results[i]);
      }
    }
    CO_TRY(std::move(outcome));
  }
  co_return Result<void>();
}

// Unless the file is to have another content by now.
void Pki::Impl::write_again(PendingWrite write) {
  const bool is_newer =
      std::ranges::any_of(pending, [&](const PendingWrite& one) { return one.path == write.path; });
  if (!is_newer) {
    pending.push_back(std::move(write));
  }
}

std::optional<WallTime> Pki::Impl::check(const KeyPair& pair,
                                         const internal::CertificateSpec& spec) const {
  if (pair.certificate_pem.empty() || pair.key_pem.empty()) {
    return std::nullopt;
  }
  auto certificate = internal::certificate_from_pem(pair.certificate_pem, "the certificate");
  auto key = internal::key_from_pem(pair.key_pem, "its key");
  bool good = certificate && key && X509_check_private_key(certificate->get(), key->get()) == 1 &&
              internal::is_issued_by(certificate->get(), authority.get()) &&
              internal::covers_names(certificate->get(), spec.names);
  return good ? std::optional(internal::end_of(certificate->get())) : std::nullopt;
}

Result<KeyPair> Pki::Impl::issue(internal::CertificateSpec spec) const {
  spec.to = std::min(spec.to, internal::end_of(authority.get()));
  TRY_ASSIGN(KeyPtr key, internal::generate_key());
  TRY_ASSIGN(X509Ptr certificate,
             internal::make_certificate(
                 spec, key.get(), {.certificate = authority.get(), .key = authority_key.get()}));
  return KeyPair{internal::certificate_to_pem(certificate.get()), internal::key_to_pem(key.get())};
}

Pki::Pki(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Pki::~Pki() = default;

Task<Result<std::unique_ptr<Pki>>> Pki::open(Env env, Options options, Logger logger) {
  auto impl = std::make_unique<Impl>(env, std::move(options), std::move(logger));
  Impl* raw = impl.get();
  CO_TRY_ASSIGN(Impl::Files files, co_await run_blocking(env, [raw] { return raw->read_files(); }));
  CO_TRY(impl->load(files));
  CO_TRY(co_await impl->flush());
  co_return std::unique_ptr<Pki>(new Pki(std::move(impl)));
}

const std::string& Pki::authority_pem() const {
  return impl_->authority_pem;
}

net::TlsServerOptions Pki::tls() const {
  return {.certificate_pem = impl_->serving.pair.certificate_pem,
          .key_pem = impl_->serving.pair.key_pem.reveal(),
          .client_ca_pem = impl_->authority_pem};
}

const KeyPair& Pki::admin() const {
  return impl_->admin.pair;
}

const SigningKey& Pki::signing_key() const {
  return *impl_->signing;
}

Result<KeyPair> Pki::issue_client(const ClientRequest& request) const {
  return impl_->issue(impl_->dated(
      {.use = CertificateUse::client, .common_name = request.user, .organizations = request.groups},
      request.lifetime));
}

Result<std::string> Pki::sign_client(std::string_view request_pem,
                                     std::chrono::seconds lifetime) const {
  TRY_ASSIGN(const internal::ReadRequest request, internal::read_certificate_request(request_pem));
  internal::CertificateSpec spec = impl_->dated({.use = CertificateUse::client,
                                                 .common_name = request.common_name,
                                                 .organizations = request.organizations},
                                                std::chrono::hours(0));
  spec.to = std::min(impl_->env.clock.wall() + lifetime, internal::end_of(impl_->authority.get()));
  TRY_ASSIGN(const X509Ptr certificate,
             internal::make_certificate(
                 spec, request.key.get(),
                 {.certificate = impl_->authority.get(), .key = impl_->authority_key.get()}));
  return internal::certificate_to_pem(certificate.get());
}

Task<Result<bool>> Pki::renew() {
  CO_TRY_ASSIGN(bool changed, impl_->renew());
  CO_TRY(co_await impl_->flush());
  co_return changed;
}

Task<Result<void>> Pki::write_admin_kubeconfig(std::string path, std::string server) {
  impl_->kubeconfig = Impl::Kubeconfig{std::move(path), std::move(server)};
  Impl::PendingWrite file = impl_->kubeconfig_file();
  // The same address and keys as before: a disk without room must not prevent the start.
  if (co_await run_blocking(impl_->env, [&] { return impl_->is_written(file); })) {
    co_return Result<void>();
  }
  impl_->write_later(std::move(file));
  Result<void> written = co_await impl_->flush();
  if (!written) {
    co_return fail(co_await run_blocking(
        impl_->env, [&] { return impl_->kubeconfig_error(std::move(written).error()); }));
  }
  co_return written;
}

Task<void> Pki::keep_renewed(std::function<void(const net::TlsServerOptions&)> changed) {
  while (co_await sleep_for(kRenewalCheck)) {
    Result<bool> renewed = impl_->renew();
    if (!renewed) {
      impl_->logger.error("certificates cannot be renewed", {{"error", renewed.error()}});
    } else if (*renewed) {
      impl_->logger.info("certificates renewed", {});
      changed(tls());  // whatever the disk says: the old ones are about to end
    }
    if (Result<void> written = co_await impl_->flush(); !written) {
      impl_->logger.error("renewed certificates cannot be written, trying again later",
                          {{"error", written.error()}});
    }
  }
}

Secret make_kubeconfig(const KubeconfigContent& content) {
  std::string server;
  json::append_quoted(server, content.server);
  std::string user;
  json::append_quoted(user, content.user);
  std::string key = to_base64(content.credentials.key_pem.reveal());
  std::string text;
  // Grown once: no copies of the key stay behind.
  text.reserve(1024 + 2 * (content.authority_pem.size() +
                           content.credentials.certificate_pem.size() + key.size()));
  text.append(
          "apiVersion: v1\nkind: Config\nclusters:\n- name: codeflare\n  cluster:\n    server: ")
      .append(server)
      .append("\n    certificate-authority-data: ")
      .append(to_base64(content.authority_pem))
      .append("\nusers:\n- name: ")
      .append(user)
      .append("\n  user:\n    client-certificate-data: ")
      .append(to_base64(content.credentials.certificate_pem))
      .append("\n    client-key-data: ")
      .append(key)
      .append("\ncontexts:\n- name: codeflare\n  context:\n    cluster: codeflare\n    user: ")
      .append(user)
      .append("\ncurrent-context: codeflare\n");
  wipe(key);
  return Secret(std::move(text));
}

}  // namespace codeflare::apiserver
