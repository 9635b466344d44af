#include "controllers/admission/wrapped_findings.h"

#include "queue/field_hint.h"

namespace codeflare::admission {

namespace {

constexpr std::string_view kTemplate = ".generictemplate";

// "spec.x: what" begins with a path; a sentence has blanks before its first colon. A key in
// brackets may hold anything.
bool begins_with_path(std::string_view problem) {
  int depth = 0;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    depth += problem[i] == '[' ? 1 : problem[i] == ']' ? -1 : 0;
    if (depth == 0 && (problem[i] == ' ' || problem.substr(i).starts_with(": "))) {
      return problem[i] == ':';
    }
  }
  return false;
}

}  // namespace

void WrappedFindings::add_problem(std::string_view field, std::string_view problem) {
  problems.push_back(std::string(field) + std::string(kTemplate) +
                     (begins_with_path(problem) ? "." : ": ") + std::string(problem));
}

void WrappedFindings::add_unknown(std::string_view field, std::string_view path) {
  warnings.push_back(queue::unknown_field_text(std::string(field) + std::string(kTemplate) + "." +
                                               std::string(path)));
}

void WrappedFindings::add_rejection(std::string_view field, const model::Status& status) {
  if (!status.details || status.details->causes.empty()) {
    add_problem(field, status.message);
    return;
  }
  for (const model::StatusCause& cause : status.details->causes) {
    add_problem(field, cause.field.empty() ? cause.message : cause.field + ": " + cause.message);
  }
}

std::string unknown_field_in(std::string_view text) {
  constexpr std::string_view kUnknown = "unknown field \"";
  if (!text.starts_with(kUnknown) || !text.ends_with('"')) {
    return {};
  }
  return std::string(text.substr(kUnknown.size(), text.size() - kUnknown.size() - 1));
}

}  // namespace codeflare::admission
