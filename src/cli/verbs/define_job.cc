#include "cli/verbs/define_job.h"

#include "cli/verbs/internal/session_flags.h"
#include "json/write.h"
#include "sdk/ddp_file.h"
#include "sdk/definition_file.h"
#include "sdk/job_name.h"

#include <memory>
#include <utility>

namespace codeflare::cli {

namespace {

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<DefineJobFlags>>();
  DefineJobFlags& flags = typed->flags;
  verb.add_option("NAME", flags.first_word, "name of the job");
  verb.add_option("ARGUMENT", flags.job.script_args, "arguments of the script, behind --");
  verb.add_option("--name", flags.job.name, "name of the job, instead of NAME")->type_name("NAME");
  add_ddp_flags(verb, flags.ddp);
  verb.add_option("--working-dir", flags.job.working_dir,
                  "directory that travels with the job (default: the working directory)")
      ->type_name("DIR");
  verb.add_option("--env", flags.job.env, "environment variable; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  verb.add_flag("--force", flags.force, "replacement of a file that was edited");
  internal::add_session_flags(verb, typed->session);
  verb.callback([&chosen, typed] {
    chosen = [typed] {
      return internal::run_offline(
          typed->session, [&](Session& session) { return run_define_job(session, typed->flags); });
    };
  });
}

}  // namespace

constinit const Verb kDefineJob = {
    .word = "define",
    .noun = "job",
    .about = "Write the definition of a training job with torch to NAME.job.yaml",
    .examples =
        "codeflare define job train --script train.py -j 2x1 --cpu 2\n"
        "  codeflare define job train --m pkg.train -o yaml -- --epochs 3",
    .add = add_options};

Task<int> run_define_job(Session& session, DefineJobFlags flags) {
  if (flags.job.name.empty()) {
    flags.job.name = flags.first_word;
  } else if (!flags.first_word.empty()) {
    flags.job.script_args.insert(flags.job.script_args.begin(), flags.first_word);
  }
  if (flags.job.name.empty()) {
    co_return report_usage(session.console(), "NAME is missing: the name of the job");
  }
  if (const Result<void> name = sdk::check_job_name(flags.job.name); !name) {
    co_return report_coded(session.console(), name.error());
  }
  const Result<json::Document> made = ddp_arguments(flags.ddp, flags.job);
  if (!made) {
    co_return report_coded(session.console(), made.error());
  }
  const std::string yaml = sdk::ddp_yaml(made->root);
  if (session.output() == Output::yaml || session.output() == Output::json) {
    session.console().out(
        session.output() == Output::yaml ? yaml : json::to_pretty_text(made->root) + "\n");
    co_return kDone;
  }
  const std::string path = sdk::ddp_file_name(flags.job.name);
  const Result<void> written = sdk::write_definition(session.env().files, path, yaml, flags.force);
  if (!written) {
    co_return report_coded(session.console(), written.error());
  }
  session.console().out(session.output() == Output::name
                            ? path + "\n"
                            : path + " written\nNext: codeflare submit job " + flags.job.name +
                                  " -f, or with -c CLUSTER on a Ray cluster\n");
  co_return kDone;
}

}  // namespace codeflare::cli
