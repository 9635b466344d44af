#include "cli/verbs/compile.h"

#include "cli/gather/manifest.h"
#include "cli/gather/run_inputs.h"
#include "cli/session/output.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/views/run_view.h"
#include "json/write.h"
#include "json/yaml.h"
#include "model/codec/app_wrapper.h"
#include "platform/compile.h"
#include "sdk/program_image.h"

#include <memory>
#include <utility>

namespace codeflare::cli {

namespace {

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<CompileFlags>>();
  verb.add_option("FILE", typed->flags.files,
                  "YAML or JSON with Runs and what they refer to; a directory; - is standard input")
      ->required();
  verb.add_flag("--explain", typed->flags.explain,
                "print every value of the Run and its origin instead of the objects");
  verb.add_flag("--cluster", typed->flags.cluster,
                "read Applications, DataSets, sizes and policies that the files lack from the "
                "cluster");
  internal::add_session_flags(verb, typed->session);
  verb.callback([&chosen, typed] {
    chosen = [typed] {
      const auto run = [&](Session& s) { return run_compile(s, typed->flags); };
      return typed->flags.cluster ? internal::run_session(typed->session, run)
                                  : internal::run_offline(typed->session, run);
    };
  });
}

std::string text_of(const model::AppWrapper& wrapper, Output output) {
  json::Arena arena;
  const json::Value value = model::to_json(arena, wrapper);
  return output == Output::json ? json::to_pretty_text(value) + "\n"
                                : "---\n" + json::to_yaml(value, {.sorted = false});
}

}  // namespace

constinit const Verb kCompile = {.word = "compile",
                                 .about = "Print the objects that Runs become, without a cluster",
                                 .examples = "codeflare compile app.yaml run.yaml --explain",
                                 .add = add_options};

Task<int> run_compile(Session& session, CompileFlags flags) {
  const Manifests manifests = read_manifests(session, flags.files);
  const PlatformFiles files =
      read_platform(manifests.objects, session.ns().empty() ? "default" : session.ns());
  int code = kDone;
  const auto complain = [&](const std::string& text) {
    session.console().err("error: " + text + "\n");
    code = kUsage;
  };
  for (const Error& error : manifests.errors) {
    complain(error.message);
  }
  for (const Error& error : files.errors) {
    complain(error.message);
  }
  if (files.runs.empty() && code == kDone) {
    complain("the files have no Run of codeflare.dev/v1alpha1");
  }
  for (const FileRun& each : files.runs) {
    platform::CompileInput input = input_from(files, each.run);
    if (flags.cluster) {
      Result<ClusterInput> whole = co_await add_from_cluster(session, std::move(input));
      if (!whole) {
        co_return report_coded(session.console(), whole.error());
      }
      for (const std::string& unread : whole->unread) {
        session.console().err("note: you may not read " + unread + "; the result lacks it\n");
      }
      input = std::move(whole->input);
    }
    const platform::Compiled compiled =
        platform::compile(input, {.program_image = sdk::program_image(session.env().variables)});
    for (const platform::Problem& problem : compiled.problems) {
      complain(each.where + ": " + platform::to_string(problem));
    }
    if (!compiled.good()) {
      continue;
    }
    session.console().out(flags.explain ? render_effective(compiled.effective)
                                        : text_of(compiled.wrapper, session.output()));
  }
  co_return code;
}

}  // namespace codeflare::cli
