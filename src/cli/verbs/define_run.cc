#include "cli/verbs/define_run.h"

#include "cli/verbs/internal/application_help.h"
#include "cli/verbs/internal/session_flags.h"
#include "json/write.h"
#include "json/yaml.h"
#include "model/codec/platform.h"
#include "model/list.h"
#include "model/validation.h"
#include "platform/command_line.h"
#include "sdk/definition_file.h"

#include <memory>
#include <utility>
#include <vector>

namespace codeflare::cli {

namespace {

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<DefineRunFlags>>();
  DefineRunFlags& flags = typed->flags;
  verb.add_option("NAME", flags.first_word, "name of the run");
  verb.add_option("--name", flags.run.name, "name of the run, instead of NAME")->type_name("NAME");
  add_run_options(verb, flags.run);
  verb.add_flag("--force", flags.force, "replacement of a file that was edited");
  internal::add_session_flags(verb, typed->session);
  verb.callback([&chosen, typed] {
    chosen = [typed] {
      const std::optional<model::Application> application =
          internal::find_application(typed->session, typed->flags.run.application);
      return internal::run_offline(typed->session, [&](Session& session) {
        return run_define_run(session, typed->flags, application);
      });
    };
  });
}

// The faults of parameters and options that the Application knows.
int report_faults(Session& session, const model::Run& run, const model::Application& application) {
  platform::Problems problems;
  platform::command_line(application, run, problems);
  int code = kDone;
  for (const platform::Problem& problem : problems.take()) {
    code = report_usage(session.console(), platform::to_string(problem));
  }
  return code;
}

std::string yaml_of(const model::Run& run) {
  json::Arena arena;
  return "# Check with: codeflare compile --cluster " + run.metadata.name +
         ".run.yaml\n# Submit with: codeflare create -f " + run.metadata.name + ".run.yaml\n" +
         json::to_yaml(model::to_json(arena, run), {.sorted = false});
}

std::string json_of(const model::Run& run) {
  json::Arena arena;
  return json::to_pretty_text(model::to_json(arena, run)) + "\n";
}

}  // namespace

constinit const Verb kDefineRun = {
    .word = "define",
    .noun = "run",
    .about = "Write a run of an application to NAME.run.yaml",
    .examples = "codeflare define run hello --application train -p epochs=3 --size xs",
    .add = add_options};

Task<int> run_define_run(Session& session, DefineRunFlags flags,
                         std::optional<model::Application> application) {
  SubmitRunFlags& given = flags.run;
  if (given.name.empty()) {
    given.name = flags.first_word;
  } else if (!flags.first_word.empty()) {
    given.words.insert(given.words.begin(), flags.first_word);
  }
  if (given.name.empty()) {
    co_return report_usage(session.console(), "NAME is missing: the name of the run");
  }
  if (const model::Complaints wrong = model::check_dns1123_subdomain(given.name); !wrong.empty()) {
    co_return report_usage(session.console(),
                           "run '" + given.name + "': name: " + model::join(wrong));
  }
  const model::Application* known = application ? &*application : nullptr;
  const Result<model::Run> run =
      run_of(given, session.ns_given() ? session.ns() : std::string(), known);
  if (!run) {
    co_return report_usage(session.console(), run.error().message);
  }
  if (known != nullptr) {
    if (const int code = report_faults(session, *run, *known); code != kDone) {
      co_return code;
    }
  } else if (!given.parameters.empty()) {
    session.console().err("note: Application " + given.application +
                          " was not read, so the types of the parameters are a guess\n");
  }
  if (session.output() == Output::yaml || session.output() == Output::json) {
    session.console().out(session.output() == Output::yaml ? yaml_of(*run) : json_of(*run));
    co_return kDone;
  }
  const std::string path = given.name + ".run.yaml";
  const Result<void> written =
      sdk::write_definition(session.env().files, path, yaml_of(*run), flags.force);
  if (!written) {
    co_return report_coded(session.console(), written.error());
  }
  session.console().out(session.output() == Output::name
                            ? path + "\n"
                            : path + " written\nNext: codeflare create -f " + path + "\n");
  co_return kDone;
}

}  // namespace codeflare::cli
