#include "elastic/etcd_store.h"

#include "base/base64.h"
#include "elastic/internal/state_watch.h"
#include "json/parse.h"
#include "json/write.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

namespace codeflare::elastic {

namespace {

using internal::Sighting;

constexpr std::size_t kAnswerBytesMax = 4u << 20;

// The gateway writes 64-bit numbers as text, and leaves zeros out.
std::int64_t number_at(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  if (value == nullptr) {
    return 0;
  }
  if (value->is_number()) {
    return value->to_int64().value_or(0);
  }
  std::int64_t number = 0;
  const std::string_view text = value->is_string() ? value->as_string() : "";
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string text_of(auto write) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object();
  write(writer);
  writer.end_object();
  return text;
}

StoreEntry missing_entry() {
  return {.value = {}, .version = "0"};
}

Result<StoreEntry> entry_of(const json::Value& kv) {
  TRY_ASSIGN(std::string value, from_base64(kv.string_or_empty("value")));
  return StoreEntry{.value = std::move(value),
                    .version = std::to_string(number_at(kv, "mod_revision"))};
}

}  // namespace

EtcdStore::EtcdStore(Env env, net::HttpService& service, std::string job_uid)
    : env_(env), service_(service), prefix_("/lattice/" + std::move(job_uid) + "/") {}

std::string EtcdStore::encoded(const StoreKey& key) const {
  return to_base64(prefix_ + key.to_string());
}

Task<Result<net::Body>> EtcdStore::open(std::string path, std::string body) {
  net::Request request{.method = "POST",
                       .target = path,
                       .headers = {{"Content-Type", "application/json"}},
                       .body_size = body.size()};
  request.body = net::body_of(std::move(body));
  CO_TRY_ASSIGN(net::Response response, co_await service_.send(std::move(request)));
  if (response.status != 200) {
    Result<std::string> text = co_await net::read_all(std::move(response.body), kAnswerBytesMax);
    co_return fail(unavailable("etcd " + path + ": status " + std::to_string(response.status) +
                               (text ? " " + text->substr(0, 200) : "")));
  }
  co_return std::move(response.body);
}

Task<Result<json::Document>> EtcdStore::call(std::string path, std::string body) {
  CO_TRY_ASSIGN(net::Body answer, co_await open(path, std::move(body)));
  CO_TRY_ASSIGN(const std::string text, co_await net::read_all(std::move(answer), kAnswerBytesMax));
  co_return json::parse(text);
}

Task<Result<StoreEntry>> EtcdStore::get(StoreKey key) {
  std::string body = text_of([&](json::Writer& w) { w.member("key", encoded(key)); });
  CO_TRY_ASSIGN(const json::Document answer, co_await call("/v3/kv/range", std::move(body)));
  const json::Value* kvs = answer.root.find("kvs");
  if (kvs == nullptr || kvs->items().empty()) {
    co_return missing_entry();
  }
  co_return entry_of(kvs->items()[0]);
}

Task<Result<void>> EtcdStore::swap(StoreKey key, std::string value, std::string version) {
  std::string body = text_of([&](json::Writer& w) {
    w.key("compare").begin_array().begin_object().member("key", encoded(key));
    w.member("target", "MOD").member("result", "EQUAL").member("mod_revision", version);
    w.end_object().end_array().key("success").begin_array().begin_object();
    w.key("request_put").begin_object().member("key", encoded(key));
    w.member("value", to_base64(value)).end_object().end_object().end_array();
  });
  CO_TRY_ASSIGN(const json::Document answer, co_await call("/v3/kv/txn", std::move(body)));
  const json::Value* succeeded = answer.root.find("succeeded");
  if (succeeded == nullptr || !succeeded->is_boolean() || !succeeded->as_bool()) {
    co_return fail(conflict(key.to_string() + " was written by somebody else"));
  }
  co_return Result<void>();
}

std::string EtcdStore::whole_range() const {
  std::string end = prefix_;
  ++end.back();
  return text_of([&](json::Writer& w) {
    w.member("key", to_base64(prefix_)).member("range_end", to_base64(end));
  });
}

Task<Result<std::map<std::string, StoreEntry>>> EtcdStore::list() {
  CO_TRY_ASSIGN(const json::Document answer, co_await call("/v3/kv/range", whole_range()));
  std::map<std::string, StoreEntry> all;
  const json::Value* kvs = answer.root.find("kvs");
  if (kvs == nullptr) {
    co_return all;
  }
  for (const json::Value& kv : kvs->items()) {
    CO_TRY_ASSIGN(const std::string key, from_base64(kv.string_or_empty("key")));
    CO_TRY_ASSIGN(StoreEntry entry, entry_of(kv));
    all.emplace(key.substr(std::min(prefix_.size(), key.size())), std::move(entry));
  }
  co_return all;
}

Task<Result<void>> EtcdStore::clear() {
  CO_TRY(co_await call("/v3/kv/deleterange", whole_range()));
  co_return Result<void>();
}

// False when the lease has run out meanwhile.
Task<Result<bool>> EtcdStore::keep_alive() {
  std::string body = text_of([&](json::Writer& w) { w.member("ID", std::to_string(lease_)); });
  CO_TRY_ASSIGN(const json::Document answer, co_await call("/v3/lease/keepalive", std::move(body)));
  const json::Value* result = answer.root.find("result");
  co_return result != nullptr&& number_at(*result, "TTL") > 0;
}

Task<Result<void>> EtcdStore::put(StoreKey key, std::string value, Duration ttl) {
  if (lease_ != 0) {
    CO_TRY_ASSIGN(const bool alive, co_await keep_alive());
    if (!alive) {
      lease_ = 0;
    }
  }
  if (lease_ == 0) {
    const std::int64_t whole = std::chrono::duration_cast<std::chrono::seconds>(ttl).count();
    std::string body = text_of([&](json::Writer& w) { w.member("TTL", std::to_string(whole)); });
    CO_TRY_ASSIGN(const json::Document answer, co_await call("/v3/lease/grant", std::move(body)));
    lease_ = number_at(answer.root, "ID");
    put_.clear();
  }
  if (put_ == value) {
    co_return Result<void>();
  }
  std::string body = text_of([&](json::Writer& w) {
    w.member("key", encoded(key)).member("value", to_base64(value));
    w.member("lease", std::to_string(lease_));
  });
  put_.clear();  // unknown until the answer is there
  CO_TRY(co_await call("/v3/kv/put", std::move(body)));
  put_ = std::move(value);
  co_return Result<void>();
}

// A stream of results, one a line: {"result":{"header":{},"created":true}}, then events.
class EtcdStore::Watch final : public internal::StateWatch {
 public:
  Watch(EtcdStore& store, StoreKey key) : StateWatch(store.env_, key), store_(store) {}

 protected:
  Task<Result<Sighting>> read() override {
    std::string body = text_of([&](json::Writer& w) { w.member("key", store_.encoded(key())); });
    CO_TRY_ASSIGN(const json::Document answer,
                  co_await store_.call("/v3/kv/range", std::move(body)));
    const json::Value* header = answer.root.find("header");
    from_ = header == nullptr ? 0 : number_at(*header, "revision") + 1;
    const json::Value* kvs = answer.root.find("kvs");
    if (kvs == nullptr || kvs->items().empty()) {
      co_return Sighting{.entry = missing_entry()};
    }
    CO_TRY_ASSIGN(StoreEntry entry, entry_of(kvs->items()[0]));
    co_return Sighting{.entry = std::move(entry)};
  }

  Task<Result<void>> open() override {
    std::string body = text_of([&](json::Writer& w) {
      w.key("create_request").begin_object().member("key", store_.encoded(key()));
      w.member("start_revision", std::to_string(from_)).end_object();
    });
    CO_TRY_ASSIGN(body_, co_await store_.open("/v3/watch", std::move(body)));
    text_.clear();
    co_return Result<void>();
  }

  Task<Result<std::optional<Sighting>>> follow() override {
    while (true) {
      for (auto end = text_.find('\n'); end != std::string::npos; end = text_.find('\n')) {
        const std::string line = text_.substr(0, end);
        text_.erase(0, end + 1);
        CO_TRY_ASSIGN(std::optional<Sighting> seen, change_in(line));
        if (seen) {
          co_return seen;
        }
      }
      CO_TRY_ASSIGN(const Bytes piece, co_await body_->read());
      if (piece.empty()) {
        co_return std::optional<Sighting>();
      }
      if (text_.size() + piece.size() > kAnswerBytesMax) {
        co_return fail(too_large("etcd watch: a line of more than 4 MiB"));
      }
      text_ += piece.view();
    }
  }

  void close() override { body_.reset(); }

 private:
  // The last change of the line.
  Result<std::optional<Sighting>> change_in(const std::string& line) {
    TRY_ASSIGN(const json::Document document, json::parse(line));
    const json::Value* result = document.root.find("result");
    const json::Value* canceled = result == nullptr ? nullptr : result->find("canceled");
    if (result == nullptr ||
        (canceled != nullptr && canceled->is_boolean() && canceled->as_bool())) {
      return fail(unavailable("etcd ended the watch: " + line.substr(0, 200)));
    }
    const json::Value* events = result->find("events");
    if (events == nullptr || events->items().empty()) {
      return std::optional<Sighting>();
    }
    const json::Value& event = events->items().back();
    const json::Value* kv = event.find("kv");
    if (event.string_or_empty("type") == "DELETE" || kv == nullptr) {
      return std::optional(Sighting{.entry = missing_entry()});
    }
    TRY_ASSIGN(StoreEntry entry, entry_of(*kv));
    return std::optional(Sighting{.entry = std::move(entry)});
  }

  EtcdStore& store_;
  std::int64_t from_ = 0;
  net::Body body_;
  std::string text_;
};

std::unique_ptr<StoreWatch> EtcdStore::watch(StoreKey key) {
  return std::make_unique<Watch>(*this, key);
}

}  // namespace codeflare::elastic
