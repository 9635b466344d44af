#include "apiserver/kinds/strategies.h"
#include "apiserver/registry/edit.h"
#include "apiserver/request/user.h"

namespace codeflare::apiserver {

namespace {

json::Value texts(json::Arena& arena, const std::vector<std::string>& from) {
  json::Value list = json::Value::array();
  for (const std::string& text : from) {
    list.push_back(arena, json::Value::string(arena, text));
  }
  return list;
}

// A request for a certificate says who asked, and is then never changed: approvers decide by it.
class CertificateRequestStrategy final : public Strategy {
 public:
  void prepare_create(WriteContext& context, json::Value& object) const override {
    json::Arena& arena = context.arena;
    json::Value& spec = make_object(arena, object, "spec");
    for (std::string_view key : {"username", "uid", "groups", "extra"}) {
      spec.erase(key);
    }
    if (context.user == nullptr) {
      return;
    }
    spec.set_static(arena, "username", json::Value::string(arena, context.user->name));
    if (!context.user->uid.empty()) {
      spec.set_static(arena, "uid", json::Value::string(arena, context.user->uid));
    }
    if (!context.user->groups.empty()) {
      spec.set_static(arena, "groups", texts(arena, context.user->groups));
    }
    if (!context.user->extra.empty()) {
      json::Value extra = json::Value::object();
      for (const auto& [key, values] : context.user->extra) {
        extra.set(arena, key, texts(arena, values));
      }
      spec.set_static(arena, "extra", extra);
    }
  }

  void prepare_update(WriteContext& context, json::Value& object,
                      const json::Value& old) const override {
    copy_member(context.arena, object, old, "spec");
  }
};

}  // namespace

std::shared_ptr<const Strategy> make_certificate_request_strategy() {
  return std::make_shared<CertificateRequestStrategy>();
}

}  // namespace codeflare::apiserver
