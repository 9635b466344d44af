#include "cli/verbs/verb_table.h"

#include "cli/verbs/completion.h"
#include "cli/verbs/internal/application_help.h"
#include "cli/verbs/usage.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace codeflare::cli {
namespace {

using Words = std::vector<std::string>;

// A verb with a KIND of its own, as those that exist, and with nouns.
void add_delete(CLI::App& verb, Chosen& chosen) {
  auto names = std::make_shared<Words>();
  verb.add_option("KIND", *names)->required();
  verb.callback([&chosen, names] { chosen = [names] { return static_cast<int>(names->size()); }; });
}

void add_delete_job(CLI::App& noun, Chosen& chosen) {
  auto wait = std::make_shared<bool>(false);
  noun.add_option("NAME")->required();
  noun.add_flag("--wait-for-job", *wait);
  noun.callback([&chosen, wait] { chosen = [wait] { return *wait ? 101 : 100; }; });
}

void add_submit_job(CLI::App& noun, Chosen& chosen) {
  noun.add_option("NAME")->required();
  noun.callback([&chosen] { chosen = [] { return 200; }; });
}

constexpr Verb kDeleteAny = {.word = "delete",
                             .about = "Delete things",
                             .examples = "codeflare delete aw x",
                             .add = add_delete,
                             .takes_kind = true};
constexpr Verb kDeleteJob = {.word = "delete",
                             .noun = "job",
                             .about = "Delete jobs",
                             .examples = "codeflare delete job x",
                             .add = add_delete_job};
constexpr Verb kSubmitAny = {
    .word = "submit", .about = "Submit things", .examples = "codeflare submit job x"};
constexpr Verb kSubmitJob = {.word = "submit",
                             .noun = "job",
                             .about = "Submit jobs",
                             .examples = "codeflare submit job x",
                             .add = add_submit_job};
constexpr const Verb* kRows[] = {&kDeleteAny, &kDeleteJob, &kSubmitAny, &kSubmitJob};
constexpr Noun kSomeNouns[] = {{.name = "job", .aliases = {"jobs"}},
                               {.name = "raycluster", .aliases = {"rc"}}};
constexpr VerbTable kTable = {.verbs = kRows, .nouns = kSomeNouns};

// The program's reading of a command line.
struct Program {
  CLI::App app{"test", "codeflare"};
  Chosen chosen;

  explicit Program(Words words) {
    app.require_subcommand(0, 1);
    words = in_order(kTable, std::move(words));
    add_verbs(app, kTable, words, chosen);
    std::ranges::reverse(words);
    try {
      app.parse(words);
    } catch (const CLI::ParseError& parse_error) {
      error = parse_error.what();
    }
  }
  int run() const { return chosen ? chosen() : -1; }
  std::string error;
};

TEST(VerbTable, verb_and_noun_may_come_in_either_order) {
  EXPECT_EQ(in_order(kTable, {"submit", "job", "x"}), (Words{"submit", "job", "x"}));
  EXPECT_EQ(in_order(kTable, {"job", "submit", "x"}), (Words{"submit", "job", "x"}));
  EXPECT_EQ(in_order(kTable, {"jobs", "submit", "x"}), (Words{"submit", "job", "x"}));
  EXPECT_EQ(in_order(kTable, {"delete", "jobs"}), (Words{"delete", "job"}));
  EXPECT_EQ(in_order(kTable, {"help", "job", "submit"}), (Words{"help", "submit", "job"}));
  EXPECT_EQ(Program({"submit", "job", "x"}).run(), 200);
  EXPECT_EQ(Program({"job", "submit", "x"}).run(), 200);
}

TEST(VerbTable, other_words_stay_as_they_were_typed) {
  for (const Words& words :
       {Words{}, Words{"job"}, Words{"submit"}, Words{"submit", "rc"}, Words{"rc", "submit"},
        Words{"delete", "aw", "job"}, Words{"delete", ""}, Words{"", "delete"},
        Words{"delete", "--wait", "job"}, Words{"version", "job"}}) {
    EXPECT_EQ(in_order(kTable, words), words);
  }
}

TEST(VerbTable, run_is_a_verb_in_the_first_place_and_a_noun_in_the_second) {
  EXPECT_EQ(in_order(verb_table(), {"run", "list"}), (Words{"run", "list"}));
  EXPECT_EQ(in_order(verb_table(), {"list", "runs"}), (Words{"list", "run"}));
  EXPECT_EQ(in_order(verb_table(), {"job", "list"}), (Words{"list", "job"}));
}

TEST(VerbTable, options_may_stand_before_the_verb) {
  EXPECT_EQ(in_order(kTable, {"-n", "team", "delete", "aw", "x"}),
            (Words{"delete", "aw", "x", "-n", "team"}));
  EXPECT_EQ(in_order(kTable, {"--context=c", "-A", "job", "submit", "x"}),
            (Words{"submit", "job", "x", "--context=c", "-A"}));
  EXPECT_EQ(in_order(kTable, {"-n", "team", "submit", "job", "x", "--", "ls", "-l"}),
            (Words{"submit", "job", "x", "-n", "team", "--", "ls", "-l"}));
  EXPECT_EQ(in_order(kTable, {"-n", "team", "delete", "aw/x"}),
            (Words{"delete", "aw", "x", "-n", "team"}));
  EXPECT_EQ(in_order(kTable, {"-n", "team"}), (Words{"-n", "team"}));
  EXPECT_EQ(in_order(kTable, {"--help"}), (Words{"--help"}));
}

TEST(VerbTable, kind_and_name_may_be_one_word) {
  EXPECT_EQ(in_order(kTable, {"delete", "aw/x", "aw/y", "--wait"}),
            (Words{"delete", "aw", "x", "y", "--wait"}));
  EXPECT_EQ(in_order(kTable, {"delete", "jobs/x"}), (Words{"delete", "job", "x"}));
  EXPECT_EQ(in_order(kTable, {"delete", "pods/x"}), (Words{"delete", "pods/x"}));
  EXPECT_EQ(in_order(kTable, {"submit", "job", "x", "--", "ls", "aw/x"}),
            (Words{"submit", "job", "x", "--", "ls", "aw/x"}));
}

TEST(VerbTable, a_verb_with_one_noun_needs_none) {
  EXPECT_EQ(in_order(kTable, {"submit", "x"}), (Words{"submit", "job", "x"}));
  EXPECT_EQ(Program({"submit", "x"}).run(), 200);
}

// A noun phrase: people read it beside the name of the option alone.
bool starts_with_a_noun(const std::string& text) {
  return text.size() > 8 && !text.starts_with("of ") && !text.starts_with("(") &&
         !text.starts_with("no effect");
}

TEST(VerbTable, every_option_of_every_verb_has_a_text) {
  for (const Verb* verb : verb_table().verbs) {
    if (verb->add == nullptr) {
      continue;
    }
    CLI::App app("test");
    Chosen chosen;
    verb->add(app, chosen);
    std::vector<const CLI::App*> commands = {&app};
    for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
      commands.push_back(each);
    }
    for (const CLI::App* command : commands) {
      for (const CLI::Option* option : command->get_options()) {
        EXPECT_TRUE(starts_with_a_noun(option->get_description()))
            << verb->word << " " << verb->noun << " " << option->get_name();
      }
    }
  }
}

TEST(VerbTable, a_name_may_be_an_option) {
  for (const Verb* verb : verb_table().verbs) {
    if (verb->noun.empty()) {
      continue;
    }
    CLI::App app("test");
    Chosen chosen;
    verb->add(app, chosen);
    if (app.get_option_no_throw("NAME") != nullptr) {
      EXPECT_NE(app.get_option_no_throw("--name"), nullptr) << verb->word << " " << verb->noun;
    }
  }
}

TEST(VerbTable, jobs_are_held_and_defined_in_either_order) {
  EXPECT_EQ(in_order(verb_table(), {"job", "hold", "x"}), (Words{"hold", "job", "x"}));
  EXPECT_EQ(in_order(verb_table(), {"release", "job/x"}), (Words{"release", "job", "x"}));
  EXPECT_EQ(in_order(verb_table(), {"job", "define", "x"}), (Words{"define", "job", "x"}));
  EXPECT_EQ(in_order(verb_table(), {"define", "runs", "x"}), (Words{"define", "run", "x"}));
}

TEST(ApplicationHelp, lists_parameters_as_they_are_given) {
  model::Application application;
  application.metadata.name = "train";
  application.metadata.ns = "team";
  EXPECT_EQ(internal::parameter_help(application), "");
  model::ParameterSpec epochs;
  epochs.name = "epochs";
  epochs.type = "integer";
  epochs.description = "passes over the data";
  epochs.default_value.text = "3";
  epochs.minimum = 1;
  epochs.maximum = 9;
  model::ParameterSpec mode;
  mode.name = "mode";
  mode.required = true;
  mode.enum_values.text = R"(["fast", "slow"])";
  model::ParameterSpec files;
  files.name = "files-to-read-from";
  files.type = "list";
  files.description = "inputs";
  application.spec.parameters.push_back(epochs);
  application.spec.parameters.push_back(mode);
  application.spec.parameters.push_back(files);
  EXPECT_EQ(internal::parameter_help(application),
            "Parameters of Application team/train:\n"
            "  -p epochs=INTEGER           passes over the data (1 to 9; default 3)\n"
            "  -p mode=STRING              (required; one of fast, slow)\n"
            "  -p files-to-read-from=ITEM ...\n"
            "                              inputs\n");
}

TEST(ApplicationHelp, leaves_the_help_alone_without_an_application) {
  CLI::App app("test");
  app.footer("Example:\n  one\n  two");
  app.add_option("--application");
  const std::string before = app.help();
  internal::add_application_help(app);
  EXPECT_EQ(app.help(), before);
}

TEST(VerbTable, commands_stand_under_headings) {
  EXPECT_EQ(help_group("up"), "Cluster");
  EXPECT_EQ(help_group("explain"), "Queue");
  EXPECT_EQ(help_group("logs"), "Work");
  EXPECT_EQ(help_group("controller"), "Administration");
  EXPECT_EQ(help_group(""), "Work");
}

TEST(Usage, unknown_words_are_asked_about) {
  const auto said = [](Words words) {
    CLI::App app("test", "codeflare");
    app.require_subcommand(0, 1);
    Chosen chosen;
    add_verbs(app, verb_table(), words, chosen);
    std::ranges::reverse(words);
    try {
      app.parse(words);
    } catch (const CLI::ParseError& error) {
      return usage_text(app, error);
    }
    return std::string();
  };
  EXPECT_EQ(said({"lits"}),
            "error: unknown command lits; did you mean list?\n"
            "Run 'codeflare --help' for usage.\n");
  // The name of the object is another verb.
  EXPECT_EQ(said({"explian", "image"}),
            "error: unknown command explian; did you mean explain?\n"
            "Run 'codeflare --help' for usage.\n");
  EXPECT_EQ(said({"queue", "--wacth"}),
            "error: unknown option --wacth; did you mean --watch?\n"
            "Run 'codeflare queue --help' for usage.\n");
  EXPECT_EQ(said({"image", "lst"}),
            "error: unknown command lst; did you mean list?\n"
            "Run 'codeflare image --help' for usage.\n");
  EXPECT_EQ(said({"create", "rayclustr", "demo"}),
            "error: unexpected argument rayclustr; did you mean raycluster?\n"
            "Run 'codeflare create --help' for usage.\n");
  EXPECT_EQ(said({"completion", "bash", "again"}),
            "error: unexpected argument again\nRun 'codeflare completion --help' for usage.\n");
}

TEST(Completion, knows_verbs_nouns_options_and_whose_names_may_follow) {
  const auto at = [](Words words) {
    CLI::App app("test", "codeflare");
    Chosen chosen;
    const Words head(words.begin(), words.end() - 1);
    add_verbs(app, verb_table(), head, chosen);
    for (CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
      each->group("Any");
    }
    return complete(app, verb_table(), words);
  };
  EXPECT_EQ(at({"expl"}).words, Words{"explain"});
  EXPECT_EQ(at({"queue", "p"}).words, Words{"pause"});
  EXPECT_EQ(at({"queue", "--wa"}).words, Words{"--watch"});
  EXPECT_EQ(at({"list", "-o", "w"}).words, Words{"wide"});
  EXPECT_EQ(at({"list", "-n", ""}).names, NamesOf::namespaces);
  EXPECT_EQ(at({"list", "--context", ""}).names, NamesOf::contexts);
  EXPECT_EQ(at({"delete", "ray"}).words, Words{"raycluster"});
  EXPECT_EQ(at({"delete", ""}).names, NamesOf::app_wrappers);
  EXPECT_EQ(at({"delete", "aw", "a", ""}).names, NamesOf::app_wrappers);
  EXPECT_EQ(at({"delete", "raycluster", ""}).names, NamesOf::ray_clusters);
  EXPECT_EQ(at({"scale", "tr"}).words, Words{"trainingjob"});
  EXPECT_EQ(at({"delete", "trainingjob", ""}).names, NamesOf::training_jobs);
  EXPECT_EQ(at({"create", "-f", ""}).names, NamesOf::nothing);
  for (const char* shell : {"bash", "zsh", "fish"}) {
    EXPECT_TRUE(completion_script(shell).contains(kCompleteWord)) << shell;
  }
  EXPECT_EQ(completion_script("cmd"), "");
}

TEST(VerbTable, a_noun_has_options_of_its_own) {
  EXPECT_EQ(Program({"delete", "job", "x"}).run(), 100);
  EXPECT_EQ(Program({"delete", "job", "x", "--wait-for-job"}).run(), 101);
  EXPECT_FALSE(Program({"delete", "aw", "x", "--wait-for-job"}).error.empty());
  EXPECT_FALSE(Program({"delete", "job"}).error.empty());  // its NAME is missing
}

TEST(VerbTable, a_noun_counts_only_right_behind_its_verb) {
  EXPECT_EQ(Program({"delete", "aw"}).run(), 1);
  EXPECT_EQ(Program({"delete", "aw", "job", "jobs"}).run(), 3);
  EXPECT_EQ(Program({"submit", "job", "job"}).run(), 200);
  EXPECT_EQ(Program({"submit", "job", "delete"}).run(), 200);
}

TEST(VerbTable, a_verb_that_does_nothing_by_itself_asks_for_a_noun) {
  const Program program({"submit"});
  EXPECT_EQ(program.run(), -1);
  EXPECT_EQ(program.error, "A subcommand is required");
  EXPECT_FALSE(Program({"submit", "aw", "x"}).error.empty());
}

TEST(VerbTable, help_of_a_verb_names_its_nouns_and_each_has_its_own) {
  const Program verb({"delete", "aw"});
  EXPECT_TRUE(verb.app.get_subcommand("delete")->help().contains("  delete job --help\n"));
  const Program noun({"delete", "job", "x"});
  const CLI::App* job = noun.app.get_subcommand("delete")->get_subcommand("job");
  const std::string help = job->help("codeflare delete");
  EXPECT_TRUE(help.contains("Usage: codeflare delete job ")) << help;
  EXPECT_TRUE(help.contains("--wait-for-job")) << help;
  EXPECT_FALSE(help.contains("KIND")) << help;
  const Program asked({"help", "delete", "job"});
  EXPECT_NO_THROW(asked.app.get_subcommand("delete")->get_subcommand("job"));
}

TEST(VerbTable, every_row_is_complete_and_in_order) {
  const VerbTable table = verb_table();
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const Verb* verb : table.verbs) {
    EXPECT_TRUE(seen.emplace(verb->word, verb->noun).second) << verb->word;
    EXPECT_FALSE(verb->about.empty()) << verb->word;
    EXPECT_TRUE(verb->examples.starts_with("codeflare ")) << verb->word;
    if (!verb->noun.empty()) {
      EXPECT_TRUE(seen.contains({verb->word, ""})) << verb->word << " " << verb->noun;
      EXPECT_NE(verb->add, nullptr) << verb->word << " " << verb->noun;
      EXPECT_EQ(std::ranges::count(table.nouns, verb->noun, &Noun::name), 1) << verb->noun;
    }
  }
}

}  // namespace
}  // namespace codeflare::cli
