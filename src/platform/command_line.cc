#include "platform/command_line.h"

#include "base/close_words.h"
#include "json/parse.h"
#include "platform/parameter.h"
#include "platform/words.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace codeflare::platform {

namespace {

using model::ParameterSpec;

// A value with where it was written.
struct Given {
  ParameterTexts texts;
  std::string from;   // "run", "Application default/train"
  std::string field;  // "spec.parameters.epochs"
};
using GivenMap = std::map<std::string, Given, std::less<>>;

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  const auto near = nearest_name(word, views);
  std::string text;
  if (near) {
    text = "; did you mean " + std::string(*near) + "?";
  } else {
    for (const std::string& each : known) {
      text += (text.empty() ? "; known: " : ", ") + each;
    }
  }
  return text;
}

std::vector<const ParameterSpec*> positional(const model::ApplicationSpec& spec) {
  std::vector<const ParameterSpec*> sorted;
  for (const ParameterSpec& parameter : spec.parameters) {
    if (parameter.position) {
      sorted.push_back(&parameter);
    }
  }
  std::ranges::sort(sorted, {}, [](const ParameterSpec* p) { return *p->position; });
  return sorted;
}

bool looks_like_number(std::string_view word) {
  return word.size() > 1 && word[0] == '-' &&
         (std::isdigit(static_cast<unsigned char>(word[1])) != 0 || word[1] == '.');
}

// Reads free options by the schema.
class OptionReader {
 public:
  OptionReader(const model::Application& application, std::string field, std::string from,
               Problems& problems)
      : application_(application),
        field_(std::move(field)),
        from_(std::move(from)),
        problems_(problems),
        places_(positional(application.spec)) {}

  void read(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      if (word == "--" && !only_places_) {
        only_places_ = true;
      } else if (only_places_ || !word.starts_with('-') || word == "-" ||
                 (looks_like_number(word) && find_flag(word) == nullptr)) {
        place(word);
      } else {
        flag(words, i);
      }
    }
  }

  GivenMap values;
  std::vector<std::string> rest;

 private:
  const ParameterSpec* find_flag(std::string_view word) const {
    const auto& all = application_.spec.parameters;
    const auto found = std::ranges::find_if(
        all, [&](const ParameterSpec& p) { return !p.flag.empty() && flag_word(p) == word; });
    return found == all.end() ? nullptr : &*found;
  }

  void flag(const std::vector<std::string>& words, std::size_t& i) {
    const std::string& word = words[i];
    const std::size_t equals = word.find('=');
    const ParameterSpec* parameter = find_flag(word.substr(0, equals));
    if (parameter == nullptr) {
      unknown(word, word.substr(0, equals));
    } else if (equals != std::string::npos) {
      add(*parameter, word.substr(equals + 1));
    } else if (is_boolean(*parameter)) {
      add(*parameter, "true");
    } else if (i + 1 < words.size()) {
      add(*parameter, words[++i]);
    } else {
      problems_.add(field_, word + " needs a value: " + expected_of(*parameter));
    }
  }

  void place(const std::string& word) {
    if (next_place_ < places_.size()) {
      const ParameterSpec& parameter = *places_[next_place_];
      add(parameter, word);
      // A list takes all that follow.
      next_place_ += is_list(parameter) ? 0 : 1;
    } else {
      unknown(word, word);
    }
  }

  void unknown(const std::string& word, const std::string& name) {
    if (application_.spec.additional_options) {
      rest.push_back(word);
      return;
    }
    std::vector<std::string> known;
    for (const ParameterSpec& parameter : application_.spec.parameters) {
      if (!parameter.flag.empty()) {
        known.emplace_back(flag_word(parameter));
      }
    }
    problems_.add(field_, name_of(application_) + " does not know the word '" + name + "'" +
                              suggestion(name, known));
  }

  void add(const ParameterSpec& parameter, std::string text) {
    const auto [at, fresh] = values.try_emplace(parameter.name, Given{{}, from_, field_});
    if (!fresh && !is_list(parameter)) {
      problems_.add(field_, "'" + parameter.name + "' is given twice; remove one of them");
      return;
    }
    at->second.texts.push_back(std::move(text));
  }

  const model::Application& application_;
  std::string field_;
  std::string from_;
  Problems& problems_;
  std::vector<const ParameterSpec*> places_;
  std::size_t next_place_ = 0;
  bool only_places_ = false;
};

// Reads the Run's `parameters` into `values`.
void read_parameters(const model::Application& application, const model::Run& run,
                     bool options_are_the_runs, GivenMap& values, Problems& problems) {
  if (run.spec.parameters.empty()) {
    return;
  }
  const Result<json::Document> given = json::parse(run.spec.parameters.text);
  if (!given || !given->root.is_object()) {
    problems.add("spec.parameters", "expected an object: NAME: VALUE");
    return;
  }
  for (const json::Member& member : given->root.members()) {
    const std::string field = "spec.parameters." + std::string(member.key);
    const auto& all = application.spec.parameters;
    const auto parameter = std::ranges::find(all, member.key, &ParameterSpec::name);
    if (parameter == all.end()) {
      std::vector<std::string> known;
      for (const ParameterSpec& each : all) {
        known.push_back(each.name);
      }
      problems.add(field, all.empty()
                              ? name_of(application) + " has no parameters; use spec.options"
                              : name_of(application) + " has no such parameter" +
                                    suggestion(member.key, known));
      continue;
    }
    if (options_are_the_runs && values.contains(member.key)) {
      problems.add(field, "given here and in spec.options; remove one of them");
      continue;
    }
    auto texts = texts_of(*parameter, member.value);
    if (!texts) {
      problems.add(field, "expected " + expected_of(*parameter) + ", got " +
                              std::string(json::to_string(member.value.kind())));
      continue;
    }
    values.insert_or_assign(std::string(member.key), Given{*std::move(texts), "run", field});
  }
}

void add_defaults(const model::Application& application, GivenMap& values) {
  for (const ParameterSpec& parameter : application.spec.parameters) {
    if (parameter.default_value.empty() || values.contains(parameter.name)) {
      continue;
    }
    const Result<json::Document> value = json::parse(parameter.default_value.text);
    if (auto texts = value ? texts_of(parameter, value->root) : std::nullopt) {
      values.emplace(parameter.name, Given{*std::move(texts), name_of(application),
                                           "spec.parameters." + parameter.name});
    }
  }
}

void check_values(const model::Application& application, const GivenMap& values,
                  Problems& problems) {
  for (const ParameterSpec& parameter : application.spec.parameters) {
    const auto given = values.find(parameter.name);
    const std::string field = "spec.parameters." + parameter.name;
    if (given == values.end()) {
      if (parameter.required) {
        problems.add(field,
                     name_of(application) + " requires this parameter: " + expected_of(parameter));
      }
      continue;
    }
    if (std::string wrong = complaint(parameter, given->second.texts); !wrong.empty()) {
      problems.add(given->second.field,
                   given->second.field == field ? wrong : "'" + parameter.name + "': " + wrong);
    }
  }
}

void render_flag(const ParameterSpec& parameter, const Given& given,
                 std::vector<std::string>& words) {
  if (is_boolean(parameter)) {
    if (given.texts.front() == "true") {
      words.emplace_back(flag_word(parameter));
    }
    return;
  }
  for (const std::string& text : given.texts) {
    if (parameter.flag.ends_with('=')) {
      words.push_back(parameter.flag + text);
    } else {
      words.push_back(parameter.flag);
      words.push_back(text);
    }
  }
}

std::string joined(const ParameterTexts& texts) {
  std::string line;
  for (const std::string& text : texts) {
    line += (line.empty() ? "" : " ") + quote_word(text);
  }
  return texts.size() == 1 ? texts.front() : line;
}

CommandLine render(const model::Application& application, const GivenMap& values,
                   const std::vector<std::string>& rest) {
  CommandLine line;
  for (const ParameterSpec& parameter : application.spec.parameters) {
    const auto given = values.find(parameter.name);
    if (given == values.end()) {
      continue;
    }
    line.effective.push_back({.name = "parameters." + parameter.name,
                              .value = joined(given->second.texts),
                              .from = given->second.from,
                              .extra = {}});
    if (!parameter.flag.empty()) {
      render_flag(parameter, given->second, line.words);
    }
  }
  line.words.insert(line.words.end(), rest.begin(), rest.end());
  for (const ParameterSpec* parameter : positional(application.spec)) {
    if (const auto given = values.find(parameter->name); given != values.end()) {
      line.words.insert(line.words.end(), given->second.texts.begin(), given->second.texts.end());
    }
  }
  return line;
}

}  // namespace

std::string name_of(const model::Application& application) {
  return "Application " + application.metadata.ns + "/" + application.metadata.name;
}

CommandLine command_line(const model::Application& application, const model::Run& run,
                         Problems& problems) {
  const bool of_run = run.spec.options.has_value();
  const std::string& text = of_run ? *run.spec.options : application.spec.options;
  const std::string from = of_run ? "run" : name_of(application);
  Result<std::vector<std::string>> words = split_words(text);
  if (!words) {
    problems.add({.object = of_run ? "" : name_of(application),
                  .field = "spec.options",
                  .text = words.error().message});
    return {};
  }
  GivenMap values;
  std::vector<std::string> rest;
  if (application.spec.parameters.empty()) {
    rest = *std::move(words);
  } else {
    OptionReader reader(application, "spec.options", from, problems);
    reader.read(*words);
    values = std::move(reader.values);
    rest = std::move(reader.rest);
  }
  read_parameters(application, run, of_run, values, problems);
  add_defaults(application, values);
  check_values(application, values, problems);
  CommandLine line = render(application, values, rest);
  if (!rest.empty()) {
    line.effective.push_back({.name = "options", .value = joined(rest), .from = from, .extra = {}});
  }
  return line;
}

void check_schema(const model::Application& application, Problems& problems) {
  std::set<std::string, std::less<>> names;
  std::set<std::string_view> flags;
  std::set<std::int32_t> positions;
  for (std::size_t i = 0; i < application.spec.parameters.size(); ++i) {
    const ParameterSpec& parameter = application.spec.parameters[i];
    const std::string field = "spec.parameters[" + std::to_string(i) + "]";
    const auto add = [&](std::string text) {
      problems.add({.object = name_of(application), .field = field, .text = std::move(text)});
    };
    if (std::string wrong = schema_complaint(parameter); !wrong.empty()) {
      add(parameter.name + ": " + wrong);
    }
    if (!names.insert(parameter.name).second) {
      add("name " + parameter.name + " is used twice");
    }
    if (!parameter.flag.empty() && !flags.insert(flag_word(parameter)).second) {
      add("flag " + parameter.flag + " is used twice");
    }
    if (parameter.position && !positions.insert(*parameter.position).second) {
      add("position " + std::to_string(*parameter.position) + " is used twice");
    }
  }
}

}  // namespace codeflare::platform
