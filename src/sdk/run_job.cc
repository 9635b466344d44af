#include "sdk/run_job.h"

#include "base/go_duration.h"
#include "json/parse.h"
#include "model/node_extras.h"
#include "model/validation.h"
#include "sdk/shell_command.h"

#include <algorithm>
#include <utility>

namespace codeflare::sdk {

namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

class Faults {
 public:
  void add(std::string fault) { all_.push_back(std::move(fault)); }
  // "NAME=VALUE" pairs of an option.
  model::StringMap pairs(std::string_view option, std::string_view form,
                         const std::vector<std::string>& texts) {
    model::StringMap map;
    for (const std::string& text : texts) {
      const std::size_t equals = text.find('=');
      if (equals == std::string::npos || equals == 0) {
        add(std::string(option) + ": '" + text + "' is not " + std::string(form));
      } else {
        map.insert_or_assign(text.substr(0, equals), text.substr(equals + 1));
      }
    }
    return map;
  }
  Result<void> result() const {
    return all_.empty() ? Result<void>() : fail(invalid_argument(model::join(all_)));
  }

 private:
  model::Complaints all_;
};

std::int64_t seconds_of(const std::string& time, Faults& faults) {
  if (time.empty()) {
    return 0;
  }
  const std::optional<Duration> duration = go_duration(time);
  const std::int64_t seconds =
      duration ? std::chrono::duration_cast<std::chrono::seconds>(*duration).count() : 0;
  if (seconds < 1) {
    faults.add("--time: '" + time + "' is not a time such as 6h, 90m or 1h30m");
  }
  return seconds;
}

// "train" of "src/train.py"
std::string stem(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  path = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const std::size_t dot = path.find('.');
  return std::string(dot == std::string_view::npos || dot == 0 ? path : path.substr(0, dot));
}

}  // namespace

std::string run_name(const std::vector<std::string>& command, Random& random) {
  const auto is_script = [](const std::string& word) {
    return word.ends_with(".py") || word.ends_with(".sh");
  };
  const auto script = std::ranges::find_if(command, is_script);
  const std::string from = script != command.end() ? *script
                           : command.empty()       ? std::string()
                                                   : command.front();
  std::string name;
  for (const char c : stem(from)) {
    const char lower = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    const bool plain = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    if (plain || (!name.empty() && name.back() != '-')) {
      name += plain ? lower : '-';
    }
  }
  constexpr std::size_t kStemMax = 40;
  name.resize(std::min(name.size(), kStemMax));
  while (name.ends_with('-')) {
    name.pop_back();
  }
  if (name.empty() || (name.front() >= '0' && name.front() <= '9')) {
    name = "run" + (name.empty() ? "" : "-" + name);
  }
  return name + "-" + random.name_suffix(5);
}

Result<GangSubmission> run_submission(const RunSpec& spec) {
  Faults faults;
  GangSubmission submission{.gang = {.name = spec.name,
                                     .ns = spec.ns,
                                     .image = spec.image,
                                     .argv = spec.command,
                                     .pods = spec.pods,
                                     .terminal = spec.terminal},
                            .command = shell_command(spec.command),
                            .code = spec.code,
                            .program_image = spec.program_image};
  GangJob& gang = submission.gang;
  gang.env = faults.pairs("--env", "NAME=VALUE", spec.env);
  // A log that is looked at must not stay in a buffer.
  gang.env.try_emplace("PYTHONUNBUFFERED", "1");
  submission.queueing.quota = faults.pairs("--quota", "TREE=NODE", spec.quota);
  submission.queueing.limit_seconds = seconds_of(spec.time, faults);
  submission.queueing.priority = spec.priority;
  if (spec.gpus < 0) {
    faults.add("--gpus: must be 0 or more");
  }
  if (spec.terminal && spec.pods != 1) {
    faults.add("--pty: works with one pod, not with --pods " + std::to_string(spec.pods));
  }
  TRY(faults.result());
  if (spec.image_given) {
    gang.annotations.insert_or_assign(std::string(model::kImageRequiredAnnotation), "true");
  }
  gang.resources.insert_or_assign("cpu", spec.cpus);
  if (!spec.memory.empty()) {
    gang.resources.insert_or_assign("memory",
                                    is_digits(spec.memory) ? spec.memory + "G" : spec.memory);
  }
  if (spec.gpus > 0) {
    gang.resources.insert_or_assign(std::string(model::kGpuResource), std::to_string(spec.gpus));
  }
  TRY(check(gang));
  return submission;
}

Task<Result<bool>> is_own_server(kube::Client& client) {
  CO_TRY_ASSIGN(const kube::Client::RawResponse answer,
                co_await client.raw({.target = "/version"}));
  CO_TRY_ASSIGN(const json::Document version, json::parse(answer.body));
  co_return version.root.string_or_empty("gitVersion").ends_with("+codeflare");
}

Task<Result<std::string>> default_image(kube::Client& client) {
  CO_TRY_ASSIGN(const bool own, co_await is_own_server(client));
  if (own) {
    co_return std::string(kMachineImage);
  }
  const std::string given = client.env().variables.get("CODEFLARE_IMAGE").value_or("");
  if (given.empty()) {
    co_return fail(invalid_argument(
        "an image is missing: give --image or set CODEFLARE_IMAGE; this machine's programs run on "
        "'codeflare up' only"));
  }
  co_return given;
}

}  // namespace codeflare::sdk
