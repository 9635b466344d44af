#include "sdk/ray_submitter.h"

#include "json/parse.h"

#include <string>
#include <utility>

namespace codeflare::sdk {

namespace {

constexpr std::string_view kRequestVariable = "CODEFLARE_RAY_JOB";

// A tail that breaks begins with the first line again; what was printed before is left out.
constexpr std::string_view kScript = R"python(
import asyncio, json, os, sys, time
from ray.job_submission import JobSubmissionClient

PATIENCE_SECONDS = 60
job = os.environ["RAY_JOB_SUBMISSION_ID"]
address = os.environ["RAY_DASHBOARD_ADDRESS"]
address = address if "://" in address else "http://" + address
shown = 0


def patiently(call):
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return call()
        except Exception as problem:
            if "status code 4" in str(problem) or time.monotonic() > until:
                raise
        time.sleep(1)


def look():
    try:
        return client.get_job_info(job)
    except RuntimeError as problem:
        if "status code 404" in str(problem):
            return None
        raise


def submit():
    if look() is None:
        request = json.loads(os.environ["CODEFLARE_RAY_JOB"])
        client.submit_job(**dict(request, submission_id=job))


def show(text, begin):
    global shown
    print(text[max(0, shown - begin):], end="", flush=True)
    shown = max(shown, begin + len(text))


async def follow():
    begin = 0
    async for text in client.tail_job_logs(job):
        show(text, begin)
        begin += len(text)


client = patiently(lambda: JobSubmissionClient(address))
patiently(submit)
while True:
    try:
        asyncio.run(follow())
    except Exception as problem:
        print("following the log again:", problem, file=sys.stderr)
    info = patiently(look)
    if info is None:
        sys.exit("job " + job + " is gone from the Ray cluster")
    if info.status.is_terminal():
        break
    time.sleep(1)
try:
    show(client.get_job_logs(job), 0)
except Exception as problem:
    print("the end of the log cannot be read:", problem, file=sys.stderr)
end = {"status": str(info.status.value), "exitCode": getattr(info, "driver_exit_code", None)}
try:
    with open("/dev/termination-log", "w") as file:
        json.dump(end, file)
except OSError:
    pass
)python";

// In the value of a variable Kubernetes expands $(NAME), and reads $$ as a dollar.
std::string without_expansion(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '$') {
      out += c;
    }
  }
  return out;
}

void put(model::Container& container, std::string_view name, std::string value) {
  for (model::EnvVar& variable : container.env) {
    if (variable.name == name) {
      variable.value = std::move(value);
      return;
    }
  }
  container.env.push_back({.name = std::string(name), .value = std::move(value)});
}

}  // namespace

Result<void> set_submitter_command(model::Container& container, const ray::JobRequest& request) {
  TRY_ASSIGN(const std::string body, ray::to_json(request));
  container.command = {"python3", "-u", "-c", std::string(kScript.substr(1))};
  container.args.clear();
  put(container, kRequestVariable, without_expansion(body));
  return {};
}

std::optional<SubmitterEnd> submitter_end(std::string_view termination_message) {
  if (!termination_message.starts_with('{')) {
    return std::nullopt;
  }
  const Result<json::Document> message = json::parse(termination_message);
  if (!message || message->root.string_or_empty("status").empty()) {
    return std::nullopt;
  }
  SubmitterEnd end{.status = std::string(message->root.string_or_empty("status"))};
  const json::Value* code = message->root.find("exitCode");
  if (const auto number = code == nullptr ? std::nullopt : code->to_int64()) {
    end.exit_code = static_cast<int>(*number);
  }
  return end;
}

}  // namespace codeflare::sdk
