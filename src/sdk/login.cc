#include "sdk/login.h"

#include "base/base64.h"
#include "json/parse.h"
#include "kube/config.h"
#include "kube/connect.h"

#include <algorithm>
#include <utility>

namespace codeflare::sdk {

namespace {

// The note in a context that a login made.
constexpr std::string_view kNote = "codeflare.dev/login";
constexpr const char* kPrevious = "previousContext";

constexpr std::string_view kReview =
    R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})";
constexpr std::string_view kAccessReview =
    R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview",)"
    R"("spec":{"nonResourceAttributes":{"path":"/version","verb":"get"}}})";

Result<Identity> read_review(const std::string& body) {
  TRY_ASSIGN(const json::Document document, json::parse(body));
  Identity identity;
  if (const json::Value* info = document.root.get({"status", "userInfo"})) {
    identity.user = info->string_or_empty("username");
    if (const json::Value* groups = info->find("groups")) {
      for (const json::Value& group : groups->items()) {
        if (group.is_string()) {
          identity.groups.emplace_back(group.as_string());
        }
      }
    }
  }
  return identity;
}

// "system:serviceaccount:team:trainer" -> "team"
std::string service_account_namespace(std::string_view user) {
  constexpr std::string_view kPrefix = "system:serviceaccount:";
  if (!user.starts_with(kPrefix)) {
    return "";
  }
  user.remove_prefix(kPrefix.size());
  return std::string(user.substr(0, user.find(':')));
}

std::string with_scheme(const std::string& server) {
  return server.find("://") == std::string::npos ? "https://" + server : server;
}

std::string host_of(const std::string& server) {
  const std::size_t begin = server.find("://") + 3;
  return server.substr(begin, server.find('/', begin) - begin);
}

Task<Result<Identity>> prove(Env env, kube::Config config) {
  CO_TRY_ASSIGN(std::unique_ptr<kube::Connection> connection,
                kube::connect(env, std::move(config)));
  kube::Client client(
      env, connection->service(),
      {.attempts_max = 2, .transport_attempts_max = 1, .request_timeout = std::chrono::seconds(8)});
  co_return co_await who_am_i(client);
}

Task<Result<std::string>> save(Env env, LoginEntries entries, std::string kubeconfig) {
  CO_TRY_ASSIGN(std::string path, co_await run_blocking(env, [&] {
                  return kube::kubeconfig_to_edit(env, kubeconfig);
                }));
  const auto change = [&](kube::KubeconfigEditor& editor) {
    add_login(editor, entries);
    return Result<void>();
  };
  CO_TRY(co_await kube::edit_kubeconfig(env, path, change));
  co_return path;
}

}  // namespace

Task<Result<Identity>> who_am_i(kube::Client& client) {
  kube::Client::RawRequest request{.method = "POST",
                                   .target = "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                                   .body = std::string(kReview)};
  Result<kube::Client::RawResponse> answer = co_await client.raw(std::move(request));
  if (answer) {
    co_return read_review(answer->body);
  }
  const ErrorCode code = answer.error().code;
  if (code != ErrorCode::not_found && code != ErrorCode::permission_denied) {
    co_return fail(std::move(answer).error());
  }
  kube::Client::RawRequest other{.method = "POST",
                                 .target = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                                 .body = std::string(kAccessReview)};
  CO_TRY(co_await client.raw(std::move(other)));
  co_return Identity();
}

void add_login(kube::KubeconfigEditor& editor, const LoginEntries& entries) {
  const std::string& name = entries.context.name;
  // A login over a login keeps what was current before the first.
  kube::KubeconfigEditor::Note note{{kPrevious, editor.current_context()}};
  const auto current = editor.note(editor.current_context(), kNote);
  if (current && editor.current_context() == name) {
    note = *current;
  }
  editor.set_cluster(entries.cluster);
  editor.set_user(entries.user);
  editor.set_context(entries.context);
  editor.set_note(name, kNote, note);
  editor.set_current_context(name);
}

Result<LoggedOut> remove_login(kube::KubeconfigEditor& editor) {
  LoggedOut out{.context = editor.current_context()};
  if (out.context.empty()) {
    return fail(failed_precondition("not logged in: the kubeconfig has no current context"));
  }
  const auto note = editor.note(out.context, kNote);
  if (!note) {
    return fail(failed_precondition("context '" + out.context +
                                    "' was not made by 'codeflare login'; nothing was removed"));
  }
  editor.remove_context_and_parts(out.context);
  const auto previous = note->find(kPrevious);
  out.current = previous == note->end() ? "" : previous->second;
  editor.set_current_context(out.current);
  return out;
}

Task<Result<LoggedIn>> log_in(Env env, TokenLogin login, std::string kubeconfig) {
  const std::string server = with_scheme(login.server);
  if (host_of(server).empty()) {
    co_return fail(invalid_argument("--server '" + login.server +
                                    "' has no host; give an address such as https://host:6443"));
  }
  if (login.token.empty()) {
    co_return fail(invalid_argument("the token is empty"));
  }
  kube::Config config{
      .server = server,
      .tls = {.insecure = login.insecure},
      .auth = kube::BearerToken{login.token},
      .source = "login",
      .origin = {.server = "--server", .ca = "--certificate-authority", .auth = "the token"}};
  if (!login.ca_file.empty()) {
    CO_TRY_ASSIGN(config.tls.ca_pem,
                  co_await run_blocking(env, [&] { return env.files.read(login.ca_file); }));
  }
  if (!login.ca_pem.empty()) {
    config.tls.ca_pem = login.ca_pem;
  }
  const std::string ca = config.tls.ca_pem;
  CO_TRY_ASSIGN(const Identity identity, co_await prove(env, std::move(config)));

  LoggedIn done{.server = server,
                .user = identity.user,
                .ns = login.ns,
                .context = "codeflare/" + host_of(server),
                .file = {}};
  if (done.ns.empty()) {
    done.ns = service_account_namespace(identity.user);
  }
  LoginEntries entries{
      .cluster = {.name = done.context,
                  .server = server,
                  .certificate_authority_data = ca.empty() ? "" : to_base64(ca),
                  .insecure_skip_tls_verify = login.insecure},
      .user = {.name = done.context, .token = login.token},
      .context = {
          .name = done.context, .cluster = done.context, .user = done.context, .ns = done.ns}};
  CO_TRY_ASSIGN(done.file, co_await save(env, std::move(entries), std::move(kubeconfig)));
  if (done.ns.empty()) {
    done.ns = "default";
  }
  co_return done;
}

Result<TokenLogin> login_of(Env env, const std::string& kubeconfig, const std::string& context) {
  TRY_ASSIGN(const kube::Config config,
             kube::load_config(env, {.explicit_path = kubeconfig, .context = context}));
  return TokenLogin{.server = config.server,
                    .token = {},
                    .ca_file = config.tls.ca_file,
                    .ca_pem = config.tls.ca_pem,
                    .insecure = config.tls.insecure,
                    .ns = config.ns};
}

Task<Result<LoggedIn>> check_login(Env env, std::string kubeconfig, std::string context) {
  CO_TRY_ASSIGN(kube::Config config, co_await run_blocking(env, [&] {
                  return kube::load_config(env, {.explicit_path = kubeconfig, .context = context});
                }));
  LoggedIn done{
      .server = config.server, .user = {}, .ns = config.ns, .context = config.source, .file = {}};
  CO_TRY_ASSIGN(const Identity identity, co_await prove(env, std::move(config)));
  done.user = identity.user;
  co_return done;
}

Task<Result<LoggedIn>> log_in_with_file(Env env, std::string config_file, std::string kubeconfig) {
  CO_TRY_ASSIGN(const kube::Kubeconfig given, co_await run_blocking(env, [&] {
                  return kube::load_kubeconfig(env.files, {config_file}, true);
                }));
  const kube::ContextEntry* context = given.context(given.current_context);
  if (context == nullptr) {
    co_return fail(invalid_argument(config_file + ": has no current context to log in with"));
  }
  CO_TRY_ASSIGN(LoggedIn done, co_await check_login(env, config_file, ""));
  const kube::ClusterEntry* cluster = given.cluster(context->cluster);
  const kube::UserEntry* user = given.user(context->user);
  if (cluster == nullptr || user == nullptr) {
    co_return fail(invalid_argument(config_file + ": context '" + context->name +
                                    "' names a cluster or user that the file does not have"));
  }
  LoginEntries entries{.cluster = *cluster, .user = *user, .context = *context};
  done.context = "codeflare/" + context->name;
  entries.cluster.name = entries.user.name = entries.context.name = done.context;
  entries.context.cluster = entries.context.user = done.context;
  CO_TRY_ASSIGN(done.file, co_await save(env, std::move(entries), std::move(kubeconfig)));
  co_return done;
}

Task<Result<LoggedOut>> log_out(Env env, std::string kubeconfig) {
  CO_TRY_ASSIGN(std::string path, co_await run_blocking(env, [&] {
                  return kube::kubeconfig_to_edit(env, kubeconfig);
                }));
  LoggedOut out;
  const auto change = [&](kube::KubeconfigEditor& editor) -> Result<void> {
    TRY_ASSIGN(const kube::Kubeconfig before, kube::parse_kubeconfig(editor.text(), path));
    TRY_ASSIGN(out, remove_login(editor));
    const kube::ContextEntry* context = before.context(out.context);
    const kube::ClusterEntry* cluster =
        context == nullptr ? nullptr : before.cluster(context->cluster);
    out.server = cluster == nullptr ? "" : cluster->server;
    return Result<void>();
  };
  CO_TRY(co_await kube::edit_kubeconfig(env, path, change));
  out.file = path;
  co_return out;
}

}  // namespace codeflare::sdk
