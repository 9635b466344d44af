#include "cli/views/kinds.h"

#include "base/close_words.h"
#include "model/app_wrapper.h"
#include "model/resources.h"
#include "model/status.h"

#include <algorithm>
#include <array>
#include <utility>

namespace codeflare::cli {

namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

// Other possible meanings: the other nouns have verbs of their own, and kubectl has the rest.
std::string hint_for(const std::string& word) {
  static const std::vector<std::string> kKnown = {"appwrapper", "aw",   "raycluster", "job",
                                                  "run",        "runs", "trainingjob"};
  const std::string close = did_you_mean(word, kKnown);
  return close.empty() ? "; expected appwrapper (aw), raycluster, job, run or trainingjob (tj); "
                         "use kubectl for other kinds"
                       : close;
}

}  // namespace

model::WrapperApi KnownKind::api() const {
  return type.group == model::kLegacyAppWrapperGroup ? model::WrapperApi::mcad_v1beta1
                                                     : model::WrapperApi::workload_v1beta1;
}

std::string KnownKind::word() const {
  return api() == model::WrapperApi::mcad_v1beta1 ? singular + "." + type.group : singular;
}

const KnownKind& app_wrapper_kind() {
  static const KnownKind kind{model::resource_type<model::AppWrapper>(), "appwrapper"};
  return kind;
}

const KnownKind& app_wrapper_kind(model::WrapperApi api) {
  return api == model::WrapperApi::mcad_v1beta1 ? legacy_app_wrapper_kind() : app_wrapper_kind();
}

const KnownKind& legacy_app_wrapper_kind() {
  static const KnownKind kind{model::resource_type<model::LegacyAppWrapper>(), "appwrapper"};
  return kind;
}

Result<KnownKind> parse_kind(std::string_view text) {
  const std::string word = lower(text);
  const std::size_t dot = word.find('.');
  const std::string_view name = std::string_view(word).substr(0, dot);
  std::string_view group = dot == std::string::npos ? "" : std::string_view(word).substr(dot + 1);
  constexpr std::array<std::string_view, 3> kNames = {"aw", "appwrapper", "appwrappers"};
  const model::ResourceType& type = app_wrapper_kind().type;
  const std::string version = type.version + ".";
  if (group.starts_with(version)) {
    group.remove_prefix(version.size());
  }
  const bool ours = group.empty() || group == type.group;
  if (std::ranges::find(kNames, name) == kNames.end() ||
      (!ours && group != model::kLegacyAppWrapperGroup)) {
    return fail(invalid_argument("unknown kind \"" + std::string(text) + "\"" + hint_for(word)));
  }
  KnownKind kind = ours ? app_wrapper_kind() : legacy_app_wrapper_kind();
  kind.any_group = group.empty();
  return kind;
}

Result<KindNames> read_names(std::string_view kind, std::vector<std::string> names) {
  Result<KnownKind> known = parse_kind(kind);
  if (known && names.empty()) {
    return fail(invalid_argument("NAME is missing: the name of the " + known->singular));
  }
  if (known) {
    return KindNames{*std::move(known), std::move(names)};
  }
  if (!names.empty()) {
    return fail(std::move(known).error());
  }
  KindNames found{app_wrapper_kind(), {std::string(kind)}};
  found.kind.any_group = found.kind.guessed = true;
  return found;
}

Error name_missing_kind(Error error, const KnownKind& kind, const std::string& server) {
  const model::Status* status = model::status_of(error);
  const bool no_such_kind =
      error.code == ErrorCode::not_found &&
      (status == nullptr || !status->details || status->details->name.empty());
  if (!no_such_kind) {
    return error;
  }
  return not_found(
      server + " has no " + kind.type.qualified_name() +
      "; check the address, and install the kind with 'codeflare controller --install-crds'");
}

}  // namespace codeflare::cli
