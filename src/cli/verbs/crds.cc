#include "cli/verbs/crds.h"

#include "cli/verbs/internal/session_flags.h"
#include "controllers/access/access_table.h"
#include "controllers/access/user_roles.h"
#include "controllers/crds/crds.h"
#include "controllers/crds/ensure_crds.h"
#include "controllers/crds/ensure_policy.h"
#include "json/write.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace codeflare::cli {

namespace {

using controllers::AccessPart;
using controllers::PolicyReport;
using Typed = internal::Typed<CrdsFlags>;

constexpr std::string_view text_of(PolicyReport report) {
  switch (report) {
    case PolicyReport::applied:
      return "applied";
    case PolicyReport::left_alone:
      return "unchanged (no right to change it)";
    case PolicyReport::built_in:
      return "built into this server";
    case PolicyReport::not_served:
      return "not supported by this server (needs Kubernetes 1.30)";
    case PolicyReport::not_allowed:
      return "not applied (no right to create it)";
  }
  return "";
}

int list_definitions() {
  const std::unique_ptr<Console> console = process_console();
  const Result<std::vector<controllers::EmbeddedCrd>> crds = controllers::embedded_crds();
  if (!crds) {
    return report(*console, crds.error());
  }
  for (const controllers::EmbeddedCrd& crd : *crds) {
    console->out(crd.name + "\n");
  }
  return kDone;
}

void add_crds(CLI::App& verb, Chosen& chosen) {
  verb.require_subcommand(1);
  auto typed = std::make_shared<Typed>();
  CLI::App* apply = verb.add_subcommand(
      "apply", "Add and change the definitions in a cluster; nothing is removed");
  apply->add_flag("--legacy-group", typed->flags.legacy_group, "AppWrappers of mcad.ibm.com too");
  apply->add_flag("--ray", typed->flags.ray,
                  "RayClusters too, unless the KubeRay operator has defined them");
  apply->footer("Example:\n  codeflare crds apply --ray");
  internal::finish<CrdsFlags>(*apply, chosen, typed, run_crds_apply);
  CLI::App* list = verb.add_subcommand("list", "Print the names of all definitions");
  list->footer("Example:\n  codeflare crds list");
  list->callback([&chosen] { chosen = list_definitions; });
}

void write_rights(json::Writer& writer, std::span<const runtime::Right> rights) {
  writer.key("rights").begin_array();
  for (const runtime::Right& right : rights) {
    writer.begin_object()
        .member("verbs", right.verbs)
        .member("group", right.group)
        .member("resources", right.resources)
        .member_if_set("name", right.name)
        .member("why", right.why)
        .end_object();
  }
  writer.end_array();
}

void write_parts(json::Writer& writer, std::string_view key, std::span<const AccessPart> parts) {
  writer.key(key).begin_array();
  for (const AccessPart& part : parts) {
    writer.begin_object().member("name", part.name).member("when", part.when);
    writer.key("rules").raw(controllers::rules_json(controllers::rules_of(part.rights)));
    write_rights(writer, part.rights);
    writer.end_object();
  }
  writer.end_array();
}

int print_access() {
  std::string text;
  json::Writer writer(text);
  writer.begin_object();
  write_parts(writer, "controller", controllers::controller_access());
  write_parts(writer, "up", controllers::up_access());
  writer.key("roles").begin_array();
  for (const controllers::UserRole& role : controllers::user_roles()) {
    writer.begin_object().member("about", role.about);
    writer.key("role").raw(controllers::role_json(role)).end_object();
  }
  writer.end_array().end_object();
  process_console()->out(text + "\n");
  return kDone;
}

void add_access(CLI::App& verb, Chosen& chosen) {
  verb.group("");
  verb.callback([&chosen] { chosen = print_access; });
}

}  // namespace

constinit const Verb kCrds = {
    .word = "crds",
    .about = "Custom resource definitions of codeflare",
    .examples = "codeflare crds list\n  codeflare crds apply   # before an upgrade",
    .add = add_crds};

constinit const Verb kAccess = {.word = "access",
                                .about = "Rights of the controllers, as JSON",
                                .examples = "codeflare access",
                                .add = add_access};

Task<int> run_crds_apply(Session& session, CrdsFlags flags) {
  // The policy first: an older definition had its rule, and there is always one of the two.
  const Result<PolicyReport> policy = co_await controllers::ensure_policy(session.client());
  if (!policy) {
    co_return report(session.console(), policy.error(), "admission policy");
  }
  session.console().out("admission policy: " + std::string(text_of(*policy)) + "\n");
  const Result<controllers::CrdReport> done = co_await controllers::ensure_crds(
      session.client(), {.legacy_group = flags.legacy_group, .ray_cluster = flags.ray});
  if (!done) {
    co_return report(session.console(), done.error());
  }
  for (const std::string& name : done->applied) {
    session.console().out(name + ": applied\n");
  }
  for (const controllers::CrdReport::Shared& shared : done->shared) {
    for (const std::string& version : shared.versions) {
      session.console().out(shared.name + ": version " + version +
                            " belongs to another program and stays\n");
    }
  }
  for (const std::string& name : done->left_alone) {
    session.console().out(name + ": unchanged (belongs to another program)\n");
  }
  co_return kDone;
}

}  // namespace codeflare::cli
