#include "cli/verbs/completion.h"

#include "base/async/sleep.h"
#include "base/async/when.h"
#include "base/env/real_env.h"
#include "cli/session/session.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/verbs/internal/silent_console.h"
#include "cli/views/kinds.h"
#include "kube/kubeconfig.h"
#include "model/namespace.h"
#include "model/ray_cluster.h"
#include "model/resources.h"
#include "model/training_job.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace codeflare::cli {

namespace {

using Words = std::vector<std::string>;

constexpr Duration kNamesWithin = std::chrono::seconds(2);

constexpr std::string_view kBash = R"(# codeflare completion bash > /etc/bash_completion.d/codeflare
_codeflare() {
  local IFS=$'\n'
  COMPREPLY=($(codeflare __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _codeflare codeflare
)";

constexpr std::string_view kZsh = R"(#compdef codeflare
# codeflare completion zsh > "${fpath[1]}/_codeflare"
_codeflare() {
  local -a found
  found=("${(@f)$(codeflare __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n ${found[1]} ]]; then
    compadd -a found
  else
    _files
  fi
}
compdef _codeflare codeflare
)";

constexpr std::string_view kFish =
    R"(# codeflare completion fish > ~/.config/fish/completions/codeflare.fish
function __codeflare_complete
    set -l words (commandline -opc) (commandline -ct)
    codeflare __complete $words[2..-1] 2>/dev/null
end
complete -c codeflare -a '(__codeflare_complete)'
)";

// The position after the words before the last one.
struct WordPosition {
  const CLI::App* at = nullptr;
  std::string verb;
  std::string noun;
  Words values;                       // words that are neither commands nor options
  const CLI::Option* open = nullptr;  // waits for its value
};

const CLI::Option* option_named(const CLI::App& app, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  const auto options = app.get_options();
  const auto found = std::ranges::find_if(
      options, [&](const CLI::Option* option) { return option->check_name(name); });
  return found == options.end() ? nullptr : *found;
}

const CLI::App* command_named(const CLI::App& app, const std::string& word) {
  const auto found =
      app.get_subcommands([&](const CLI::App* each) { return each->check_name(word); });
  return found.empty() ? nullptr : found.front();
}

WordPosition position_of(const CLI::App& app, const Words& words) {
  WordPosition place{.at = &app};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (place.open != nullptr) {
      place.open = nullptr;
    } else if (word.starts_with('-')) {
      const CLI::Option* option = option_named(*place.at, word);
      const bool value = option != nullptr && option->get_items_expected_max() > 0;
      place.open = value && word.find('=') == std::string::npos ? option : nullptr;
    } else if (const CLI::App* next = command_named(*place.at, word);
               next != nullptr && place.values.empty()) {
      (place.verb.empty() ? place.verb : place.noun) = next->get_name();
      place.at = next;
    } else {
      place.values.push_back(word);
    }
  }
  return place;
}

// Those of "-o": its help lists them behind a colon.
Words formats_of(const CLI::Option& option) {
  std::string text = option.get_description();
  text.erase(0, text.find(':') == std::string::npos ? text.size() : text.find(':') + 1);
  Words formats;
  std::string word;
  for (const char c : text + " ") {
    if (c >= 'a' && c <= 'z') {
      word += c;
    } else if (!word.empty()) {
      if (word != "or") {
        formats.push_back(word);
      }
      word.clear();
    }
  }
  return formats;
}

Completions values_of(const CLI::Option& option) {
  if (option.check_lname("namespace")) {
    return {.names = NamesOf::namespaces};
  }
  if (option.check_lname("context")) {
    return {.names = NamesOf::contexts};
  }
  if (option.check_lname("output")) {
    return {.words = formats_of(option)};
  }
  return {};
}

Words options_of(const CLI::App& app) {
  Words names;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty() && !option->get_lnames().empty()) {
      names.push_back("--" + option->get_lnames().front());
    }
  }
  return names;
}

Completions words_at(const WordPosition& place, const VerbTable& table) {
  Completions found;
  for (const CLI::App* each :
       place.at->get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); })) {
    found.words.push_back(each->get_name());
  }
  if (place.noun == "raycluster") {
    found.names = NamesOf::ray_clusters;
    return found;
  }
  if (place.noun == "trainingjob") {
    found.names = NamesOf::training_jobs;
    return found;
  }
  const auto row = std::ranges::find_if(table.verbs, [&](const Verb* verb) {
    return verb->word == place.verb && verb->noun.empty();
  });
  if (row == table.verbs.end() || !place.noun.empty()) {
    return found;
  }
  if (place.values.empty()) {
    for (const Verb* each : table.verbs) {
      // A verb that requires a noun has them as commands already.
      if (each->word == place.verb && !each->noun.empty() && (*row)->add != nullptr) {
        found.words.emplace_back(each->noun);
      }
    }
    if ((*row)->takes_kind) {
      found.words.emplace_back("appwrapper");
    }
  }
  const bool kind_known = place.values.empty() || parse_kind(place.values.front()).has_value();
  if ((*row)->takes_kind && kind_known) {
    found.names = NamesOf::app_wrappers;
  }
  return found;
}

model::ResourceType type_of(NamesOf names) {
  switch (names) {
    case NamesOf::ray_clusters:
      return model::resource_type<model::RayCluster>();
    case NamesOf::training_jobs:
      return model::resource_type<model::TrainingJob>();
    case NamesOf::namespaces:
      return model::resource_type<model::Namespace>();
    default:
      return app_wrapper_kind().type;
  }
}

Task<Words> list_names(Session& session, NamesOf names) {
  model::ResourceType type = type_of(names);
  kube::ListOptions which{.ns = type.namespaced ? session.ns() : ""};
  const Result<kube::ObjectList> list =
      co_await session.client().list_all(std::move(type), std::move(which));
  Words found;
  for (const kube::ObjectRef& object : list ? list->items : std::vector<kube::ObjectRef>()) {
    found.emplace_back(object->name());
  }
  co_return found;
}

Task<Words> nothing_after(Duration wait) {
  static_cast<void>(co_await sleep_for(wait));
  co_return Words();
}

Task<Words> names_in_time(Session& session, NamesOf names) {
  std::vector<Task<Words>> tasks;
  tasks.push_back(list_names(session, names));
  tasks.push_back(nothing_after(kNamesWithin));
  auto first = co_await when_any(std::move(tasks));
  co_return std::move(first.value);
}

// -n, --context and --kubeconfig, wherever they stand.
SessionFlags flags_of(const Words& words) {
  SessionFlags flags;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& value = words[i + 1];
    if (words[i] == "-n" || words[i] == "--namespace") {
      flags.ns = value;
    } else if (words[i] == "--context") {
      flags.context = value;
    } else if (words[i] == "--kubeconfig") {
      flags.kubeconfig = value;
    }
  }
  return flags;
}

Words contexts(Env env, const SessionFlags& flags) {
  const Result<std::string> file = kube::kubeconfig_to_edit(env, flags.kubeconfig);
  const Result<kube::Kubeconfig> config =
      file ? kube::load_kubeconfig(env.files, {*file}, true) : fail(Error(file.error()));
  Words names;
  for (const kube::ContextEntry& each :
       config ? config->contexts : std::vector<kube::ContextEntry>()) {
    names.push_back(each.name);
  }
  return names;
}

Words names_of(NamesOf names, const SessionFlags& flags) {
  RealEnv world;
  if (names == NamesOf::contexts) {
    return contexts(world.env(), flags);
  }
  internal::SilentConsole silent;
  const Result<std::unique_ptr<Session>> session = Session::open(world.env(), silent, flags);
  return session ? run(world.env().loop, names_in_time(**session, names)).value_or(Words())
                 : Words();
}

void add_options(CLI::App& verb, Chosen& chosen) {
  auto shell = std::make_shared<std::string>();
  verb.add_option("SHELL", *shell, "shell to print the script for: bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  verb.callback([&chosen, shell] {
    chosen = [shell] {
      process_console()->out(completion_script(*shell));
      return int{kDone};
    };
  });
}

}  // namespace

constinit const Verb kCompletion = {.word = "completion",
                                    .about = "Print a script that completes commands in a shell",
                                    .examples = "codeflare completion bash",
                                    .add = add_options};

std::string_view completion_script(std::string_view shell) {
  return shell == "bash" ? kBash : shell == "zsh" ? kZsh : shell == "fish" ? kFish : "";
}

Completions complete(const CLI::App& app, const VerbTable& table, const Words& words) {
  if (words.empty()) {
    return {};
  }
  const std::string& begun = words.back();
  const WordPosition place = position_of(app, words);
  Completions found = place.open != nullptr    ? values_of(*place.open)
                      : begun.starts_with('-') ? Completions{.words = options_of(*place.at)}
                                               : words_at(place, table);
  std::erase_if(found.words, [&](const std::string& word) { return !word.starts_with(begun); });
  return found;
}

int run_complete(const CLI::App& app, const VerbTable& table, std::vector<std::string> words) {
  Completions found = complete(app, table, words);
  if (found.names != NamesOf::nothing) {
    for (std::string& name : names_of(found.names, flags_of(words))) {
      if (name.starts_with(words.back())) {
        found.words.push_back(std::move(name));
      }
    }
  }
  std::string text;
  for (const std::string& word : found.words) {
    text += word + "\n";
  }
  process_console()->out(text);
  return kDone;
}

}  // namespace codeflare::cli
