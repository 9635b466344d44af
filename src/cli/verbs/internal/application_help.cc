#include "cli/verbs/internal/application_help.h"

#include "base/async/sleep.h"
#include "base/env/real_env.h"
#include "cli/verbs/internal/silent_console.h"
#include "json/parse.h"
#include "kube/typed.h"
#include "model/codec/platform.h"
#include "platform/command_line.h"
#include "platform/parameter.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace codeflare::cli::internal {

namespace {

constexpr Duration kAnswerWithin = std::chrono::seconds(2);
constexpr std::size_t kColumn = 30;  // where CLI11 begins the text of an option

Task<std::optional<model::Application>> get_application(Session& session, model::ObjectKey key) {
  kube::Api<model::Application> api(session.client(), key.ns);
  Task<Result<model::Application>> asking = api.get(key.name);
  Result<model::Application> found =
      co_await with_timeout(kAnswerWithin, "the server", std::move(asking));
  co_return found ? std::optional(*std::move(found)) : std::nullopt;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) {
    all += (all.empty() ? "" : ", ") + text;
  }
  return all;
}

std::string text_of(const json::Value& value) {
  return value.kind() == json::Kind::string    ? std::string(value.as_string())
         : value.is_number()                   ? std::string(value.number())
         : value.kind() == json::Kind::boolean ? (value.as_bool() ? "true" : "false")
                                               : "";
}

std::string number_text(double number) {
  json::Arena arena;
  return std::string(json::Value::real(arena, number).number());
}

std::string bounds_text(const model::ParameterSpec& parameter) {
  if (parameter.minimum && parameter.maximum) {
    return number_text(*parameter.minimum) + " to " + number_text(*parameter.maximum);
  }
  return parameter.minimum   ? number_text(*parameter.minimum) + " or more"
         : parameter.maximum ? "at most " + number_text(*parameter.maximum)
                             : "";
}

std::string default_text(const model::ParameterSpec& parameter) {
  const Result<json::Document> value = json::parse(parameter.default_value.text);
  const std::optional<platform::ParameterTexts> texts =
      value ? platform::texts_of(parameter, value->root) : std::nullopt;
  return texts ? joined(*texts) : "";
}

std::string enum_text(const model::ParameterSpec& parameter) {
  const Result<json::Document> values = json::parse(parameter.enum_values.text);
  std::vector<std::string> texts;
  for (const json::Value& each : values ? values->root.items() : std::span<const json::Value>()) {
    texts.push_back(text_of(each));
  }
  return joined(texts);
}

// "passes over the data (required; 1 to 9; default 3)"
std::string about(const model::ParameterSpec& parameter) {
  std::vector<std::string> facts;
  const auto add = [&](const std::string& before, const std::string& fact) {
    if (!fact.empty()) {
      facts.push_back(before + fact);
    }
  };
  add("", parameter.required ? "required" : "");
  add("one of ", enum_text(parameter));
  add("", bounds_text(parameter));
  add("pattern ", parameter.pattern);
  add("default ", default_text(parameter));
  std::string text = parameter.description;
  for (const std::string& fact : facts) {
    text += (&fact != &facts.front() ? "; " : text.empty() ? "(" : " (") + fact;
  }
  return facts.empty() ? text : text + ")";
}

// "-p epochs=INTEGER"
std::string form(const model::ParameterSpec& parameter) {
  std::string type = parameter.type.empty() ? "string" : parameter.type;
  if (platform::is_list(parameter)) {
    return "-p " + parameter.name + "=ITEM ...";
  }
  std::ranges::transform(type, type.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return "-p " + parameter.name + "=" + type;
}

// The value of an option as typed; empty: it was not.
std::string typed(const CLI::App& verb, const std::string& option) {
  const CLI::Option* found = verb.get_option_no_throw(option);
  return found == nullptr || found->count() == 0 ? "" : found->results().back();
}

std::string typed_application_help(const CLI::App& verb) {
  const std::string reference = typed(verb, "--application");
  if (reference.empty()) {
    return {};
  }
  SessionFlags flags{.kubeconfig = typed(verb, "--kubeconfig"),
                     .context = typed(verb, "--context"),
                     .ns = typed(verb, "--namespace"),
                     .output = {}};
  const std::optional<model::Application> application = find_application(flags, reference);
  const std::string text = application ? parameter_help(*application) : "";
  return text.empty() ? "" : text + "\n";
}

}  // namespace

model::ObjectKey application_key(std::string_view reference, std::string ns) {
  const std::size_t slash = reference.find('/');
  return slash == std::string_view::npos
             ? model::ObjectKey{std::move(ns), std::string(reference)}
             : model::ObjectKey{std::string(reference.substr(0, slash)),
                                std::string(reference.substr(slash + 1))};
}

std::optional<model::Application> find_application(const SessionFlags& flags,
                                                   std::string_view reference) {
  RealEnv world;
  SilentConsole silent;
  SessionFlags quiet = flags;
  quiet.output.clear();
  const Result<std::unique_ptr<Session>> session = Session::open(world.env(), silent, quiet);
  if (!session) {
    return std::nullopt;
  }
  model::ObjectKey key = application_key(reference, (*session)->ns());
  return run(world.env().loop, get_application(**session, std::move(key))).value_or(std::nullopt);
}

std::string parameter_help(const model::Application& application) {
  std::string text;
  for (const model::ParameterSpec& parameter : application.spec.parameters) {
    std::string line = "  " + form(parameter);
    const std::string description = about(parameter);
    if (!description.empty()) {
      line += line.size() < kColumn ? std::string(kColumn - line.size(), ' ')
                                    : "\n" + std::string(kColumn, ' ');
    }
    text += line + description + "\n";
  }
  return text.empty() ? "" : "Parameters of " + platform::name_of(application) + ":\n" + text;
}

void add_application_help(CLI::App& verb) {
  // The part of the footer before its last line moves behind the parameters: CLI11 puts a line
  // break between what the function returns and the text that stays.
  const std::string fixed = verb.get_footer();
  const std::size_t last = fixed.rfind('\n');
  const std::string head = last == std::string::npos ? "" : fixed.substr(0, last);
  verb.footer(last == std::string::npos ? fixed : fixed.substr(last + 1));
  verb.footer([&verb, head] { return typed_application_help(verb) + head; });
}

}  // namespace codeflare::cli::internal
