#include "controllers/usage/licence_keeper.h"

#include "base/async/sleep.h"
#include "json/write.h"
#include "kube/ensure_namespace.h"
#include "model/usage_ledger.h"
#include "usage/licence_record.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace codeflare::controllers::metering {

namespace {

const model::ResourceType kLedgers = model::resource_type<model::UsageLedger>();

constexpr const char* kRecord = "licence";
constexpr std::size_t kLicenceBytesMax = 64u << 10;
constexpr Duration kEvery = std::chrono::hours(1);
constexpr Duration kRetryMin = std::chrono::minutes(1);
constexpr Duration kTouch = std::chrono::minutes(5);
constexpr Duration kCheckWithin = std::chrono::seconds(30);

std::string trimmed(std::string text) {
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  text.erase(0, text.find_first_not_of(" \t\r\n"));
  return text;
}

double unix_of(const std::optional<WallTime>& time) {
  return time ? std::chrono::duration<double>(time->time_since_epoch()).count() : 0;
}

}  // namespace

LicenceKeeper::LicenceKeeper(Env env, kube::Client& client, LicenceOptions options)
    : env_(env), client_(client), options_(std::move(options)) {
  standing_ = {.reason = "LicenceUnknown", .message = "the licence is being checked"};
  standing_since_ = env_.clock.wall();
}

std::string LicenceKeeper::note() const {
  return standing_.reason == "Licensed" ? "" : standing_.reason + ": " + standing_.message;
}

Task<void> LicenceKeeper::run() {
  forbidden_ = standing_.message;
  options_.forbid(forbidden_);
  for (;;) {
    const Result<void> checked = co_await check();
    if (!checked && checked.error().code == ErrorCode::cancelled) {
      co_return;
    }
    if (!checked) {
      options_.logger.warn("the record of the licence cannot be kept",
                           {{"error", checked.error()}});
    }
    // The grace may end between two checks.
    const Instant next = after(env_.loop.now(), pause());
    while (env_.loop.now() < next) {
      const Duration rest = next - env_.loop.now();
      if (!co_await sleep_for(std::min(rest, kTouch))) {
        co_return;
      }
      apply();
    }
  }
}

Task<Result<Secret>> LicenceKeeper::read_licence() {
  if (options_.file.empty()) {
    co_return options_.licence;
  }
  CO_TRY_ASSIGN(std::string text, co_await run_blocking(env_, [env = env_, path = options_.file] {
                  return env.files.read(path, kLicenceBytesMax);
                }));
  co_return Secret(trimmed(std::move(text)));
}

Task<Result<void>> LicenceKeeper::check() {
  usage::LicenceCheck answer{.message = "no licence was given; set LATTICE_LICENSE"};
  Result<Secret> licence = co_await read_licence();
  if (!licence) {
    answer.message = licence.error().message;
    licence = Secret();
  }
  Result<void> kept;
  if (!loaded_) {
    Secret sealed = *licence;
    kept = co_await load(std::move(sealed));
    loaded_ = kept.has_value();
    apply();
  }
  if (!licence->empty()) {
    Secret asked = *licence;
    CO_TRY_ASSIGN(answer, co_await ask(std::move(asked)));
  }
  failures_ = answer.answer == usage::LicenceAnswer::unreachable ? failures_ + 1 : 0;
  state_ = usage::after_check(std::move(state_), std::move(answer), env_.clock.wall());
  apply();
  CO_TRY(kept);
  Secret sealed = *licence;
  co_return co_await keep(std::move(sealed));
}

Task<Result<usage::LicenceCheck>> LicenceKeeper::ask(Secret licence) {
  const WallTime now = env_.clock.wall();
  if (usage::is_offline(licence)) {
    co_return usage::read_licence_file(licence.reveal(), options_.public_key, now);
  }
  if (options_.service == nullptr) {
    co_return usage::LicenceCheck{.message = "no licence endpoint is set"};
  }
  Result<usage::LicenceCheck> answer = co_await with_timeout(
      kCheckWithin, "licence check",
      usage::validate_online(*options_.service, std::move(licence), options_.ids, now));
  if (!answer && answer.error().code == ErrorCode::deadline_exceeded) {
    co_return usage::LicenceCheck{.message = "the licence service did not answer within 30 s"};
  }
  co_return answer;
}

Task<Result<void>> LicenceKeeper::load(Secret licence) {
  Result<kube::ObjectRef> object = co_await client_.get(kLedgers, {options_.ns, kRecord});
  if (!object && object.error().code != ErrorCode::not_found) {
    co_return fail(std::move(object).error());
  }
  if (object) {
    CO_TRY_ASSIGN(const json::Document document, (*object)->parse());
    state_ = usage::read_record(document.root.get({"status", "licence"}), licence);
  }
  co_return Result<void>();
}

Task<Result<void>> LicenceKeeper::keep(Secret licence) {
  const model::ObjectKey key{options_.ns, kRecord};
  std::string patch = status_patch(licence);
  Result<kube::ObjectRef> written = co_await client_.patch(kLedgers, key, kube::PatchKind::merge,
                                                           patch, {.subresource = "status"});
  if (!written && written.error().code == ErrorCode::not_found) {
    CO_TRY(co_await kube::ensure_namespace(client_, options_.ns));
    std::string body;
    json::Writer w(body);
    w.begin_object().member("apiVersion", kLedgers.api_version()).member("kind", kLedgers.kind);
    w.key("metadata").begin_object().member("name", key.name).end_object().end_object();
    CO_TRY(co_await client_.create(kLedgers, options_.ns, std::move(body)));
    written = co_await client_.patch(kLedgers, key, kube::PatchKind::merge, std::move(patch),
                                     {.subresource = "status"});
  }
  if (!written) {
    co_return fail(std::move(written).error());
  }
  co_return Result<void>();
}

std::string LicenceKeeper::status_patch(const Secret& licence) const {
  std::string text;
  json::Writer w(text);
  w.begin_object().key("status").begin_object().key("licence");
  usage::write_record(w, state_, licence);
  w.key("conditions").begin_array().begin_object().member("type", "Licensed");
  w.member("status", standing_.admits ? "True" : "False").member("reason", standing_.reason);
  w.member("message", standing_.message);
  w.member("lastTransitionTime", to_rfc3339(standing_since_));
  w.end_object().end_array().end_object().end_object();
  return text;
}

// Applies the consequences of the answers so far, now.
void LicenceKeeper::apply() {
  const usage::LicenceStanding before =
      std::exchange(standing_, usage::standing_of(state_, env_.clock.wall()));
  if (options_.metrics != nullptr) {
    options_.metrics->gauge("codeflare_licence_admits", "1 while the licence lets work start.")
        .set(standing_.admits ? 1 : 0);
    options_.metrics
        ->gauge("codeflare_licence_last_good_timestamp_seconds",
                "Time of the last check that found the licence good; 0: never.")
        .set(unix_of(state_.last_good));
  }
  if (std::string why = standing_.admits ? std::string() : note(); why != forbidden_) {
    forbidden_ = why;
    options_.forbid(std::move(why));
  }
  if (told_ && before.reason == standing_.reason) {
    return;
  }
  told_ = true;
  standing_since_ = env_.clock.wall();
  const bool good = standing_.reason == "Licensed";
  options_.logger.log(good ? LogLevel::info : LogLevel::warn, "licence",
                      {{"reason", standing_.reason}, {"message", standing_.message}});
  if (options_.events != nullptr) {
    options_.events->record({.subject = {.gvk = {kLedgers.group, kLedgers.version, kLedgers.kind},
                                         .key = {options_.ns, kRecord}},
                             .warning = !good,
                             .reason = standing_.reason,
                             .message = standing_.message});
  }
}

// An hour and up to a tenth more, so that many operators do not ask at once; sooner after a check
// that did not get through.
Duration LicenceKeeper::pause() {
  Duration pause = kEvery;
  if (failures_ > 0) {
    pause = std::min(kEvery, kRetryMin * (std::int64_t{1} << std::min(failures_ - 1, 6)));
  }
  const auto jitter = static_cast<std::uint64_t>(pause.count() / 10);
  return pause + Duration(static_cast<std::int64_t>(env_.random.below(jitter + 1)));
}

}  // namespace codeflare::controllers::metering
