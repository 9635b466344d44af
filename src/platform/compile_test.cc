#include "platform/compile.h"

#include "json/parse.h"
#include "platform/names.h"
#include "platform/words.h"

#include <gtest/gtest.h>

#include <random>

namespace codeflare::platform {
namespace {

using Words = std::vector<std::string>;

model::Application application(const std::string& api) {
  model::Application made;
  made.metadata.name = "app";
  made.metadata.ns = "default";
  made.spec.api = api;
  made.spec.image = "image:1";
  made.spec.command = "python3 main.py";
  return made;
}

model::Run run() {
  model::Run made;
  made.metadata.name = "r";
  made.metadata.ns = "default";
  made.metadata.uid = "u-1";
  made.spec.application.name = "app";
  made.spec.size = "xs";
  return made;
}

json::Document item(const Compiled& compiled, std::string_view kind) {
  for (const model::GenericItem& each : compiled.wrapper.spec.resources.generic_items) {
    Result<json::Document> object = json::parse(each.generic_template.text);
    if (object && object->root.string_or_empty("kind") == kind) {
      return *std::move(object);
    }
  }
  ADD_FAILURE() << "no " << kind;
  return {};
}

// The arguments of the container's process: Kubernetes reads "$$" as "$".
Words argv(const Compiled& compiled) {
  const json::Document job = item(compiled, "Job");
  const json::Value* pod = job.root.get({"spec", "template", "spec"});
  Words words;
  for (const json::Value& each : pod->find("containers")->items()[0].find("command")->items()) {
    std::string word;
    const std::string_view text = each.as_string();
    for (std::size_t i = 0; i < text.size(); ++i) {
      word += text[i];
      i += text.substr(i, 2) == "$$" ? 1 : 0;
    }
    words.push_back(word);
  }
  return words;
}

Words tail(const Words& words, std::size_t count) {
  return {words.end() - static_cast<std::ptrdiff_t>(std::min(count, words.size())), words.end()};
}

// The words of a ray Run lie in a script, quoted for one shell.
Words script_words(const Compiled& compiled) {
  const json::Document files = item(compiled, "ConfigMap");
  return *split_words(files.root.find("data")->string_or_empty("run.sh"));
}

TEST(Compile, random_words_come_out_of_every_archetype_byte_for_byte) {
  std::mt19937 random(7);
  const std::string_view alphabet = "ab $(){}'\"\\;|&`<>*?!#~\n\t=-%@[]^./0";
  for (int round = 0; round < 1000; ++round) {
    Words words;
    for (std::size_t i = 0; i < 10; ++i) {
      std::string word;
      for (std::size_t length = random() % 12; length > 0; --length) {
        word += alphabet[random() % alphabet.size()];
      }
      words.push_back(word);
    }
    model::Run asked = run();
    asked.spec.options.emplace();
    for (const std::string& word : words) {
      *asked.spec.options += quote_word(word) + " ";
    }
    for (const std::string api : {"shell", "torch"}) {
      const Compiled compiled = compile({.run = asked, .application = application(api)});
      ASSERT_TRUE(compiled.good()) << to_string(compiled.problems.front());
      ASSERT_EQ(tail(argv(compiled), words.size()), words);
    }
    const Compiled ray = compile({.run = asked, .application = application("ray")});
    ASSERT_TRUE(ray.good()) << to_string(ray.problems.front());
    ASSERT_EQ(tail(script_words(ray), words.size()), words);
  }
}

TEST(Compile, parameters_become_flags_and_positions_in_the_order_of_the_schema) {
  model::Application app = application("shell");
  model::ParameterSpec file;
  file.name = "file";
  file.position = 0;
  model::ParameterSpec epochs;
  epochs.name = "epochs";
  epochs.type = "integer";
  epochs.flag = "--epochs=";
  model::ParameterSpec tags;
  tags.name = "tags";
  tags.type = "list";
  tags.flag = "-t";
  model::ParameterSpec quiet;
  quiet.name = "quiet";
  quiet.type = "boolean";
  quiet.flag = "-q";
  app.spec.parameters = {file, epochs, tags, quiet};
  model::Run asked = run();
  asked.spec.parameters = {R"({"file":"a b","epochs":3,"tags":["x","y"],"quiet":true})"};
  const Words wanted{"--epochs=3", "-t", "x", "-t", "y", "-q", "a b"};
  EXPECT_EQ(tail(argv(compile({.run = asked, .application = app})), 7), wanted);
  asked.spec.parameters = {};
  asked.spec.options = "-q --epochs 3 'a b' -t x -t=y";
  EXPECT_EQ(tail(argv(compile({.run = asked, .application = app})), 7), wanted);
}

TEST(Compile, names_are_short_and_differ_by_uid) {
  model::ObjectMeta meta;
  meta.name = std::string(63, 'a');
  meta.uid = "1";
  const std::string first = wrapper_name(meta);
  EXPECT_EQ(first.size(), 47u);
  meta.uid = "2";
  EXPECT_NE(wrapper_name(meta), first);
  meta.name = "1.x";
  EXPECT_TRUE(wrapper_name(meta).starts_with("r-1-x-"));
}

TEST(Compile, labels_owner_and_times_reach_the_app_wrapper) {
  model::Run asked = run();
  asked.metadata.labels.emplace("team", "a");
  asked.spec.priority = "high";
  asked.spec.active_deadline_seconds = 60;
  asked.spec.expected_seconds = 30;
  asked.spec.suspend = true;
  const Compiled compiled = compile({.run = asked, .application = application("shell")});
  ASSERT_TRUE(compiled.good());
  const model::AppWrapper& wrapper = compiled.wrapper;
  EXPECT_EQ(wrapper.metadata.labels.at("team"), "a");
  EXPECT_EQ(wrapper.metadata.owner_references.at(0).uid, "u-1");
  EXPECT_EQ(wrapper.spec.priority, 100);
  EXPECT_TRUE(wrapper.spec.suspend.value_or(false));
  EXPECT_EQ(wrapper.spec.scheduling_spec->dispatch_duration->limit, 60);
  EXPECT_EQ(wrapper.spec.scheduling_spec->dispatch_duration->expected, 30);
}

TEST(Compile, the_smallest_size_that_meets_the_minima_is_found) {
  model::Application app = application("shell");
  app.spec.min_memory = model::Quantity(std::int64_t{10} << 30);
  model::Run asked = run();
  asked.spec.size.clear();
  EXPECT_EQ(compile({.run = asked, .application = app}).size, "md");
  asked.spec.size = "xs";
  const Compiled small = compile({.run = asked, .application = app});
  ASSERT_EQ(small.problems.size(), 1u);
  EXPECT_EQ(to_string(small.problems[0]),
            "spec.size: size xs is too small for Application default/app: memory 4Gi, at least "
            "10737418240 needed; the smallest size that fits is md");
}

}  // namespace
}  // namespace codeflare::platform
