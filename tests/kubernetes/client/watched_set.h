#pragma once

#include "kube/watcher.h"
#include "net/http.h"

#include <map>
#include <set>
#include <string>
#include <utility>

namespace codeflare::kube {

// The cache that a watcher's events make, and whether an event came that must not.
class WatchedSet {
 public:
  void apply(const WatcherEvent& event) {
    using Type = WatcherEvent::Type;
    switch (event.type) {
      case Type::init_begin:
        ++inits_;
        fresh_.clear();
        listing_ = true;
        return;
      case Type::init_object:
        if (!listing_ || !fresh_.emplace(entry(*event.object)).second) {
          fault_ = "a list names " + std::string(event.object->name()) + " twice";
        }
        return;
      case Type::init_done:
        objects_ = std::exchange(fresh_, {});
        listing_ = false;
        return;
      case Type::applied:
      case Type::deleted:
        change(*event.object, event.type == Type::deleted);
        return;
      case Type::progress:
        return;
    }
  }
  bool is(const ObjectList& list) const {
    std::map<std::string, std::string> wanted;
    for (const ObjectRef& object : list.items) {
      wanted.insert(entry(*object));
    }
    return !listing_ && inits_ > 0 && wanted == objects_;
  }
  int inits() const { return inits_; }
  std::size_t changes() const { return versions_.size(); }
  // The fault; empty when nothing did.
  const std::string& fault() const { return fault_; }

 private:
  static std::pair<std::string, std::string> entry(const Object& object) {
    return {std::string(object.name()), std::string(object.resource_version())};
  }
  void change(const Object& object, bool deleted) {
    auto [name, version] = entry(object);
    if (!versions_.insert(version).second) {
      fault_ = "version " + version + " of " + name + " was delivered twice";
    }
    if (deleted && objects_.erase(name) == 0) {
      fault_ = name + " was deleted and not there";
    }
    if (!deleted) {
      objects_.insert_or_assign(name, version);
    }
  }

  std::map<std::string, std::string> objects_;
  std::map<std::string, std::string> fresh_;
  std::set<std::string> versions_;  // of single changes
  bool listing_ = false;
  int inits_ = 0;
  std::string fault_;
};

// A service whose answers so far can be made to break off.
class CuttableService final : public net::HttpService {
 public:
  explicit CuttableService(net::HttpService& next) : next_(next) {}
  void cut() { ++cuts_; }

  Task<Result<net::Response>> send(net::Request request) override {
    const int cuts = cuts_;
    CO_TRY_ASSIGN(net::Response response, co_await next_.send(std::move(request)));
    if (response.body != nullptr) {
      response.body = std::make_unique<Stream>(*this, cuts, std::move(response.body));
    }
    co_return response;
  }

 private:
  class Stream final : public net::BodyStream {
   public:
    Stream(CuttableService& service, int cuts, net::Body body)
        : service_(service), cuts_(cuts), body_(std::move(body)) {}
    Task<Result<Bytes>> read() override {
      if (service_.cuts_ != cuts_) {
        co_return fail(unavailable("the connection was cut"));
      }
      co_return co_await body_->read();
    }

   private:
    CuttableService& service_;
    int cuts_;
    net::Body body_;
  };

  net::HttpService& next_;
  int cuts_ = 0;
};

}  // namespace codeflare::kube
