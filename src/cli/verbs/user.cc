#include "cli/verbs/user.h"

#include "cli/session/output.h"
#include "cli/verbs/internal/all_namespaces.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/views/table.h"
#include "cli/views/wrapper_view.h"
#include "controllers/access/user_roles.h"
#include "kube/ensure_namespace.h"
#include "model/namespace.h"
#include "model/resources.h"
#include "sdk/users.h"

#include <memory>
#include <utility>

namespace codeflare::cli {

namespace {

using Typed = internal::Typed<UserFlags>;

void add_add(CLI::App& user, Chosen& chosen) {
  CLI::App* verb = user.add_subcommand("add", "Give a user a role and a kubeconfig");
  auto typed = std::make_shared<Typed>();
  verb->add_option("NAME", typed->flags.name, "name of the user, such as ann")->required();
  std::vector<std::string> roles;
  for (const std::string_view role : sdk::user_role_names()) {
    roles.emplace_back(role);
  }
  verb->add_option("--role", typed->flags.role,
                   "role in the namespace: viewer, user, owner or admin (default user)")
      ->check(CLI::IsMember(roles))
      ->type_name("ROLE");
  verb->add_option("--group", typed->flags.groups, "group of the user; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME");
  verb->add_option("--days", typed->flags.days, "lifetime of the certificate (default 365)")
      ->check(CLI::Range(1, 365))
      ->type_name("DAYS");
  verb->add_option("--file", typed->flags.file,
                   "kubeconfig to write, mode 0600 (default ./NAME.kubeconfig)")
      ->type_name("FILE");
  internal::add_session_flags(*verb, typed->session, {});
  verb->footer("Example:\n  codeflare user add ann --namespace team-a --role user");
  verb->callback([&chosen, typed] {
    chosen = [typed] {
      return internal::run_session(typed->session, [&](Session& session) -> Task<int> {
        Result<kube::Config> server = kube::load_config(
            session.env(),
            {.explicit_path = typed->session.kubeconfig, .context = typed->session.context});
        if (server) {
          typed->flags.server = *std::move(server);
        }
        return run_user_add(session, typed->flags);
      });
    };
  });
}

std::string names_of(const std::vector<sdk::BoundUser>& users) {
  std::string text;
  for (const sdk::BoundUser& user : users) {
    text += (text.empty() ? "" : ", ") + user.ns;
  }
  return text;
}

void add_options(CLI::App& user, Chosen& chosen) {
  user.require_subcommand(1);
  add_add(user, chosen);
  CLI::App* list = user.add_subcommand("list", "List users that 'user add' made, with their roles");
  list->footer("Example:\n  codeflare user list\n  codeflare user list -n team-a");
  const auto listed = std::make_shared<Typed>();
  internal::finish(*list, chosen, listed, run_user_list, {"json", "yaml", "name"});
  internal::add_all_namespaces(*list, listed);
  CLI::App* remove = user.add_subcommand("remove", "Remove the roles of a user");
  auto typed = std::make_shared<Typed>();
  remove->add_option("NAME", typed->flags.name, "name of the user")->required();
  remove->footer("Example:\n  codeflare user remove ann");
  internal::finish(*remove, chosen, typed, run_user_remove, {});
}

// The namespace exists afterwards; true when it was made.
Task<Result<bool>> make_namespace(Session& session, std::string ns) {
  const Result<kube::ObjectRef> found =
      co_await session.client().get(model::resource_type<model::Namespace>(), {"", ns});
  if (found || found.error().code != ErrorCode::not_found) {
    co_return false;  // a missing right shows in the next step
  }
  CO_TRY(co_await kube::ensure_namespace(session.client(), std::move(ns)));
  co_return true;
}

constexpr std::string_view kManager = "codeflare-user";

// The ClusterRoles that are bound; a cluster without the chart lacks them. The chart keeps those
// that exist.
Task<Result<void>> make_roles(Session& session) {
  const model::ResourceType type{"rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles",
                                 false};
  for (const controllers::UserRole& role : controllers::user_roles()) {
    const std::string name(role.name);
    const Result<kube::ObjectRef> there = co_await session.client().get(type, {"", name});
    if (there || there.error().code != ErrorCode::not_found) {
      continue;  // namespace administrators may not look, and need not
    }
    std::string body = controllers::role_json(role, kManager);
    const Result<kube::ObjectRef> made =
        co_await session.client().create(type, "", std::move(body));
    if (!made && made.error().code != ErrorCode::already_exists) {
      Error error = made.error();
      co_return fail(std::move(error).with_context("clusterrole " + name + " is missing"));
    }
    session.console().out("clusterrole " + name + " created\n");
  }
  co_return Result<void>();
}

Task<Result<std::string>> give_kubeconfig(Session& session, sdk::NewUser user, UserFlags flags) {
  std::string file = flags.file.empty() ? user.name + ".kubeconfig" : flags.file;
  CO_TRY_ASSIGN(sdk::UserCredentials credentials,
                co_await sdk::issue_credentials(session.env(), session.client(), user));
  std::string path = file;
  CO_TRY(co_await sdk::write_user_kubeconfig(session.env(), std::move(path),
                                             std::move(flags.server), std::move(user),
                                             std::move(credentials)));
  co_return file;
}

json::Value users_value(const std::vector<sdk::BoundUser>& users, json::Arena& arena) {
  json::Value list = json::Value::array();
  for (const sdk::BoundUser& user : users) {
    json::Value entry = json::Value::object();
    entry.set(arena, "user", json::Value::string(arena, user.name));
    entry.set(arena, "namespace", json::Value::string(arena, user.ns));
    entry.set(arena, "role", json::Value::string(arena, user.role));
    entry.set(arena, "since", json::Value::string(arena, to_rfc3339(user.since)));
    list.push_back(arena, entry);
  }
  return list;
}

std::string users_table(const std::vector<sdk::BoundUser>& users, WallTime now) {
  Table table({"USER", "NAMESPACE", "ROLE", "AGE"});
  for (const sdk::BoundUser& user : users) {
    table.add_row({user.name, user.ns, user.role, age_text(user.since, now)});
  }
  return table.to_text();
}

}  // namespace

constinit const Verb kUser = {.word = "user",
                              .about = "Add, list and remove users of namespaces",
                              .examples = "codeflare user add ann --namespace team-a",
                              .add = add_options};

Task<int> run_user_add(Session& session, UserFlags flags) {
  const sdk::NewUser user{.name = flags.name,
                          .ns = session.ns(),
                          .role = flags.role,
                          .groups = flags.groups,
                          .lifetime = std::chrono::hours(24) * flags.days};
  if (const Result<void> good = sdk::check_user(user); !good) {
    co_return report_usage(session.console(), good.error().message);
  }
  std::string ns = user.ns;
  const Result<bool> made = co_await make_namespace(session, std::move(ns));
  if (!made) {
    co_return report(session.console(), made.error(), "namespace " + user.ns);
  }
  if (*made) {
    session.console().out("namespace " + user.ns + " created\n");
  }
  if (const Result<void> roles = co_await make_roles(session); !roles) {
    co_return report(session.console(), roles.error());
  }
  sdk::NewUser bound = user;
  if (const Result<void> done = co_await sdk::bind_user(session.client(), std::move(bound));
      !done) {
    co_return report(session.console(), done.error(), "role bindings of user " + user.name);
  }
  session.console().out("user " + user.name + " has role " + user.role + " in namespace " +
                        user.ns + "\n");
  sdk::NewUser certified = user;
  const Result<std::string> file =
      co_await give_kubeconfig(session, std::move(certified), std::move(flags));
  if (!file) {
    co_return report(session.console(), file.error(), "certificate of user " + user.name);
  }
  session.console().out("kubeconfig written to " + *file +
                        "; treat it like a password. The user sets KUBECONFIG to it, or runs "
                        "'codeflare login --configpath FILE'.\n");
  co_return kDone;
}

Task<int> run_user_list(Session& session, UserFlags /*flags*/) {
  std::string ns = session.ns_given() ? session.ns() : "";
  Result<std::vector<sdk::BoundUser>> users = co_await sdk::list_users(session.client(), ns);
  if (!users && users.error().code == ErrorCode::permission_denied && ns.empty()) {
    ns = session.ns();
    session.console().err("note: you can list users of namespace " + ns + " only\n");
    users = co_await sdk::list_users(session.client(), std::move(ns));
  }
  if (!users) {
    co_return report(session.console(), users.error());
  }
  if (session.output() == Output::name) {
    for (const sdk::BoundUser& user : *users) {
      session.console().out(user.name + "\n");
    }
  } else if (!is_table(session.output())) {
    session.console().out(machine_text(
        [&](json::Arena& arena) { return users_value(*users, arena); }, session.output()));
  } else if (users->empty()) {
    session.console().err("no users; add one with 'codeflare user add NAME --namespace NS'\n");
  } else {
    session.console().out(users_table(*users, session.now()));
  }
  co_return kDone;
}

Task<int> run_user_remove(Session& session, UserFlags flags) {
  std::string name = flags.name;
  std::string ns = session.ns_given() ? session.ns() : "";
  const std::string where = ns.empty() ? "" : " in namespace " + ns;
  const Result<std::vector<sdk::BoundUser>> gone =
      co_await sdk::remove_user(session.client(), std::move(name), std::move(ns));
  if (!gone) {
    co_return report(session.console(), gone.error(), "user " + flags.name);
  }
  if (gone->empty()) {
    co_return report(session.console(), not_found("user \"" + flags.name + "\" has no role" +
                                                  where + "; run 'codeflare user list'"));
  }
  session.console().out("user " + flags.name + " has no role any more in " + names_of(*gone) +
                        "; the certificate stays valid until it expires, without rights there\n");
  co_return kDone;
}

}  // namespace codeflare::cli
