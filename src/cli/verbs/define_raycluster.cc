#include "cli/verbs/define_raycluster.h"

#include "cli/verbs/internal/session_flags.h"
#include "cli/views/cluster_view.h"
#include "json/write.h"
#include "sdk/cluster_file.h"
#include "sdk/cluster_manifest.h"

#include <memory>
#include <utility>

namespace codeflare::cli {

namespace {

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<DefineRayClusterFlags>>();
  internal::add_cluster_flags(verb, typed->flags.cluster);
  verb.add_flag("--force", typed->flags.force, "replacement of a file that was edited");
  internal::add_session_flags(verb, typed->session);
  verb.callback([&chosen, typed] {
    chosen = [typed] {
      return internal::run_offline(typed->session, [&](Session& session) {
        return run_define_raycluster(session, typed->flags);
      });
    };
  });
}

}  // namespace

constinit const Verb kDefine = {.word = "define",
                                .about = "Write a definition to a file",
                                .examples = "codeflare define raycluster demo --workers 2"};
constinit const Verb kDefineRayCluster = {
    .word = "define",
    .noun = "raycluster",
    .about = "Write the definition of a Ray cluster to NAME.yaml",
    .examples =
        "codeflare define raycluster demo --workers 2 --gpus 1\n"
        "  codeflare define raycluster demo --workers 2 -o yaml",
    .add = add_options};

Task<int> run_define_raycluster(Session& session, DefineRayClusterFlags flags) {
  const std::optional<sdk::ClusterConfig> config =
      internal::read_cluster_flags(session, *flags.cluster);
  if (!config) {
    co_return kUsage;
  }
  if (session.output() == Output::yaml) {
    session.console().out(sdk::cluster_yaml(*config));
    co_return kDone;
  }
  if (session.output() == Output::json) {
    const json::Document manifest = sdk::cluster_manifest(*config);
    session.console().out(json::to_pretty_text(manifest.root) + "\n");
    co_return kDone;
  }
  const std::string path = sdk::cluster_file_name(config->name);
  const Result<void> written =
      sdk::write_cluster_file(session.env().files, path, *config, flags.force);
  if (!written) {
    co_return report_coded(session.console(), written.error());
  }
  session.console().out(session.output() == Output::name
                            ? path + "\n"
                            : path + " written: " + sizes_line(*config) +
                                  "\nNext: codeflare create raycluster " + config->name + "\n");
  co_return kDone;
}

}  // namespace codeflare::cli
