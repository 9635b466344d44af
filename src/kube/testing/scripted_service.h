#pragma once

#include "base/env/env.h"
#include "kube/object.h"
#include "kube/testing/scripted_store.h"
#include "model/gvk.h"
#include "net/http.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::kube::testing {

struct ScriptedOptions {
  enum class WatchList : std::uint8_t { served, refused, ignored };
  WatchList watch_list = WatchList::served;
  Duration bookmark_interval = std::chrono::seconds(60);
  // Between the last initial object and the mark that ends them; changes come in between.
  Duration initial_mark_delay{0};
  std::size_t history_max = 10'000;  // changes; older ones are compacted
  // Lists and watches at version "0" may be this many revisions behind.
  std::uint64_t stale_revisions_max = 0;
  // A faulty server: a watch repeats this many revisions before the one asked for.
  std::uint64_t replayed_revisions = 0;
  // Writes to the object leave its status alone, writes to its status leave the rest alone.
  bool status_subresource = true;
};

// A small Kubernetes-like API in memory, for tests of clients and controllers. It knows the wire:
// any kind by its path, create, read, update with conflicts, four patches (strategic merge and
// apply as plain merges), delete with finalizers and preconditions, lists in pages, selectors,
// watches with bookmarks, initial events, 410 after compaction. It does not validate, default or
// convert: what a test needs of that it does itself.
class ScriptedService final : public net::HttpService {
 public:
  explicit ScriptedService(Env env, ScriptedOptions options = {});
  ~ScriptedService() override;

  Task<Result<net::Response>> send(net::Request request) override;

  // As another client would, without a request. put() creates or replaces, status included.
  ObjectRef put(const model::ResourceType& type, std::string_view json);
  bool erase(const model::ResourceType& type, const model::ObjectKey& key);
  ObjectRef find(const model::ResourceType& type, const model::ObjectKey& key) const;
  const ScriptedStore::Objects& objects(const model::ResourceType& type) const;

  std::uint64_t revision() const;
  // Watches and pages from before now get 410.
  void compact();
  std::size_t open_watches() const;
  void end_watches();    // in good order
  void break_watches();  // connection lost

  // Sees each request first; an answer here is the answer.
  using Intercept = std::function<std::optional<net::Response>(const net::Request&)>;
  void set_intercept(Intercept intercept) { intercept_ = std::move(intercept); }
  // Sees every change, also of writes without a request.
  using Observer = std::function<void(const ScriptedStore::Change&)>;
  void set_observer(Observer observer);
  // "GET /api/v1/pods?limit=500", in their order.
  const std::vector<std::string>& requests() const { return requests_; }
  void forget_requests() { requests_.clear(); }

  struct Shared;
  struct Target;

 private:
  net::Response create(const Target& target, std::string_view body);
  net::Response update(const Target& target, std::string_view body);
  net::Response patch(const Target& target, std::string_view type, std::string_view body);
  net::Response remove(const Target& target, std::string_view body);
  net::Response remove_all(const Target& target);
  net::Response list(const Target& target);
  net::Response watch(const Target& target);
  net::Response store(const Target& target, json::Document object, const ObjectRef& old, int code);
  std::uint64_t stale_revision();

  Env env_;
  ScriptedOptions options_;
  std::shared_ptr<Shared> shared_;
  Intercept intercept_;
  std::vector<std::string> requests_;
};

// The server's way to say no.
net::Response status_answer(int code, std::string_view reason, std::string_view message);

}  // namespace codeflare::kube::testing
