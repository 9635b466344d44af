#include "cli/verbs/submit_run.h"

#include "cli/gather/run_inputs.h"
#include "cli/session/output.h"
#include "cli/verbs/follow_run.h"
#include "cli/verbs/internal/application_help.h"
#include "cli/verbs/internal/session_flags.h"
#include "json/parse.h"
#include "json/write.h"
#include "json/yaml.h"
#include "kube/typed.h"
#include "model/codec/platform.h"
#include "platform/compile.h"
#include "platform/words.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace codeflare::cli {

namespace {

void add_options(CLI::App& verb, Chosen& chosen) {
  auto typed = std::make_shared<internal::Typed<SubmitRunFlags>>();
  SubmitRunFlags& flags = typed->flags;
  verb.add_option("--name", flags.name, "name of the run (default: made by the server)")
      ->type_name("NAME");
  add_run_options(verb, flags);
  verb.add_flag("--wait", flags.wait, "wait until the run has ended");
  verb.add_flag("--dry-run", flags.dry_run, "print the run instead of creating it");
  internal::finish_wait(verb, chosen, typed, run_submit_run);
}

Result<std::pair<std::string, std::string>> pair_of(std::string_view option,
                                                    const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return fail(invalid_argument(std::string(option) + ": " + text + " is not NAME=VALUE"));
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Result<void> add_pairs(std::string_view option, const std::vector<std::string>& texts,
                       model::StringMap& into) {
  for (const std::string& text : texts) {
    TRY_ASSIGN(auto pair, pair_of(option, text));
    into.insert_or_assign(std::move(pair.first), std::move(pair.second));
  }
  return {};
}

// Of a parameter whose type is not known.
constexpr std::string_view kAnyType = "any";

// As the parameter's type wants it; a text that does not fit stays a text, and the compiler says
// what is wrong with it.
std::string json_of(const std::string& type, const std::vector<std::string>& texts) {
  const auto quoted = [](const std::string& text) {
    std::string out;
    json::append_quoted(out, text);
    return out;
  };
  if (type == "list") {
    std::string list = "[";
    for (const std::string& text : texts) {
      list += (list.size() == 1 ? "" : ",") + quoted(text);
    }
    return list + "]";
  }
  const std::string& text = texts.back();
  if ((type == "boolean" || type == kAnyType) && (text == "true" || text == "false")) {
    return text;
  }
  if (type == "integer" || type == "number" || type == kAnyType) {
    const Result<json::Document> value = json::parse(text);
    if (value && value->root.is_number()) {
      return text;
    }
  }
  return quoted(text);
}

Result<model::RawJson> parameters_of(const SubmitRunFlags& flags,
                                     const model::Application* application) {
  std::map<std::string, std::vector<std::string>> values;
  for (const std::string& text : flags.parameters) {
    TRY_ASSIGN(auto pair, pair_of("--parameter", text));
    values[pair.first].push_back(pair.second);
  }
  if (values.empty()) {
    return model::RawJson();
  }
  std::string text;
  json::Writer w(text);
  w.begin_object();
  for (const auto& [name, texts] : values) {
    std::string type = texts.size() > 1 ? "list" : "string";
    if (application == nullptr && texts.size() == 1) {
      type = kAnyType;
    } else if (application != nullptr) {
      const auto& all = application->spec.parameters;
      const auto found = std::ranges::find(all, name, &model::ParameterSpec::name);
      type = found == all.end() ? type : found->type;
    }
    w.key(name).raw(json_of(type, texts));
  }
  w.end_object();
  return model::RawJson{text};
}

Result<void> set_amount(const std::string& option, const std::string& text,
                        std::optional<model::Quantity>& amount) {
  if (text.empty()) {
    return {};
  }
  Result<model::Quantity> parsed = model::Quantity::parse(text);
  if (!parsed) {
    return fail(invalid_argument(option + ": " + text +
                                 " is not an amount; write numbers such as 2, 500m or 4Gi"));
  }
  amount = *parsed;
  return {};
}

// Reports what is wrong with the Run. A problem that objects may cause which the user may not read
// is left to the controller.
int judge(Console& console, const ClusterInput& whole) {
  const std::vector<platform::Problem> problems = platform::compile(whole.input).problems;
  std::vector<platform::Problem> certain = problems;
  std::erase_if(certain, [&](const platform::Problem& each) { return whole.may_cause(each); });
  for (const platform::Problem& problem : certain) {
    console.err("error: " + platform::to_string(problem) + "\n");
  }
  if (!certain.empty()) {
    return std::ranges::all_of(certain, &platform::Problem::missing) ? kNotFound : kUsage;
  }
  if (!problems.empty()) {
    std::string unread;
    for (const std::string& each : whole.unread) {
      unread += (unread.empty() ? "" : ", ") + each;
    }
    console.err("note: you may not read " + unread + "; the controller checks the run\n");
  }
  return kDone;
}

}  // namespace

constinit const Verb kSubmitRun = {
    .word = "submit",
    .noun = "run",
    .about = "Run an application",
    .examples = "codeflare submit run --application train -p epochs=3 --size xs --wait",
    .add = add_options};

void add_run_options(CLI::App& verb, SubmitRunFlags& flags) {
  const auto repeated = [&](const char* name, std::vector<std::string>& into, const char* about,
                            const char* type) {
    verb.add_option(name, into, about)
        ->type_name(type)
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
  };
  verb.add_option("OPTIONS", flags.words, "words behind the command of the application, behind --");
  verb.add_option("-a,--application", flags.application, "application to run")
      ->required()
      ->type_name("[NAMESPACE/]NAME");
  repeated("-p,--parameter", flags.parameters,
           "value of a parameter; may be repeated, for lists too", "NAME=VALUE");
  repeated("--env", flags.env, "environment variable; may be repeated", "NAME=VALUE");
  repeated("--label", flags.labels, "label of the run, quota labels included; may be repeated",
           "KEY=VALUE");
  verb.add_option("--size", flags.size, "auto, xxs, xs, sm, md, lg, xl or xxl")->type_name("SIZE");
  verb.add_option("--workers", flags.workers, "number of workers; 0: only a head")->type_name("N");
  verb.add_option("--cpu", flags.cpu, "CPUs of each worker")->type_name("AMOUNT");
  verb.add_option("--memory", flags.memory, "memory of each worker")->type_name("AMOUNT");
  verb.add_option("--gpu", flags.gpu, "GPUs of each worker")->type_name("N");
  verb.add_flag("--supports-gpu", flags.supports_gpu, "use GPUs where the application can");
  verb.add_option("--input", flags.input, "size of the data")->type_name("SIZE");
  verb.add_option("--priority", flags.priority, "low, normal or high")->type_name("LEVEL");
  verb.add_option("--retries", flags.retries, "pods that may fail and are started anew")
      ->type_name("N");
  verb.add_option("--deadline", flags.deadline, "longest time on the cluster")
      ->type_name("SECONDS");
  verb.add_option("--expected", flags.expected, "likely time on the cluster")->type_name("SECONDS");
  verb.add_option("--ttl", flags.ttl, "delete the run this long after its end")
      ->type_name("SECONDS");
  verb.add_flag("--hold", flags.hold, "queue the run, but do not start it");
  internal::add_application_help(verb);
}

Result<model::Run> run_of(const SubmitRunFlags& flags, const std::string& ns,
                          const model::Application* application) {
  model::Run run;
  run.metadata.ns = ns;
  const model::ObjectKey key = internal::application_key(flags.application, "");
  run.spec.application.name = key.name;
  run.spec.application.ns = key.ns;
  run.metadata.name = flags.name;
  if (flags.name.empty()) {
    run.metadata.generate_name = run.spec.application.name + "-";
  }
  if (!flags.words.empty()) {
    std::string options;
    for (const std::string& word : flags.words) {
      options += (options.empty() ? "" : " ") + platform::quote_word(word);
    }
    run.spec.options = options;
  }
  TRY(add_pairs("--env", flags.env, run.spec.env));
  TRY(add_pairs("--label", flags.labels, run.metadata.labels));
  run.spec.size = flags.size;
  run.spec.workers = flags.workers;
  TRY(set_amount("--cpu", flags.cpu, run.spec.cpu));
  TRY(set_amount("--memory", flags.memory, run.spec.memory));
  run.spec.gpu = flags.gpu;
  run.spec.supports_gpu = flags.supports_gpu;
  run.spec.input = flags.input;
  run.spec.priority = flags.priority;
  run.spec.retries = flags.retries;
  run.spec.active_deadline_seconds = flags.deadline;
  run.spec.expected_seconds = flags.expected;
  run.spec.ttl_seconds_after_finished = flags.ttl;
  run.spec.suspend = flags.hold;
  TRY_ASSIGN(run.spec.parameters, parameters_of(flags, application));
  return run;
}

Task<int> run_submit_run(Session& session, SubmitRunFlags flags) {
  Result<model::Run> run = run_of(flags, session.ns(), nullptr);
  if (!run) {
    co_return report_usage(session.console(), run.error().message);
  }
  Result<ClusterInput> whole =
      co_await add_from_cluster(session, platform::CompileInput{.run = *run});
  if (!whole) {
    co_return report_coded(session.console(), whole.error());
  }
  platform::CompileInput& input = whole->input;
  run = run_of(flags, session.ns(), input.application ? &*input.application : nullptr);
  if (!run) {
    co_return report_usage(session.console(), run.error().message);
  }
  input.run = *run;
  if (const int code = judge(session.console(), *whole); code != kDone) {
    co_return code;
  }
  if (flags.dry_run) {
    json::Arena arena;
    const json::Value value = model::to_json(arena, *run);
    session.console().out(session.output() == Output::json
                              ? json::to_pretty_text(value) + "\n"
                              : json::to_yaml(value, {.sorted = false}));
    co_return kDone;
  }
  kube::Api<model::Run> runs(session.client(), session.ns());
  Result<model::Run> made = co_await runs.create(*std::move(run), {.field_validation = "Strict"});
  if (!made) {
    co_return report_coded(session.console(), made.error(), "run " + flags.name);
  }
  const std::string name = made->metadata.name;
  session.console().out("run/" + name + (session.output() == Output::name ? "\n" : " created\n"));
  if (flags.wait) {
    co_return co_await run_wait_run(session, {.name = name, .timeout = flags.timeout});
  }
  co_return kDone;
}

}  // namespace codeflare::cli
