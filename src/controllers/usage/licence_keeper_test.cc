#include "controllers/usage/licence_keeper.h"

#include "base/base64.h"
#include "controllers/crds/ensure_crds.h"
#include "controllers/testing/embedded_cluster.h"
#include "json/parse.h"
#include "model/usage_ledger.h"
#include "usage/licence_record.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>

namespace codeflare::controllers::metering {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::EmbeddedCluster;

constexpr const char* kKey = "38b1460a-5104-4067-a91d-77b872934d51";

// The licence API of Lemon Squeezy as far as it is used.
class LicenceShop final : public net::HttpService {
 public:
  Task<Result<net::Response>> send(net::Request request) override {
    ++calls;
    last_target = request.target;
    Result<std::string> body = co_await net::read_all(std::move(request.body), 1 << 16);
    last_body = body.value_or("");
    if (unreachable) {
      co_return fail(unavailable("connection refused"));
    }
    if (status != 200) {
      co_return net::make_response(status, "text/plain", Bytes::from(std::string("down")));
    }
    const bool valid = key_status == "active";
    co_return net::make_response(
        valid ? 200 : 400, "application/json",
        Bytes::from(std::string(R"({"valid":)") + (valid ? "true" : "false") +
                    R"(,"error":null,"license_key":{"status":")" + key_status + R"(","key":")" +
                    kKey + R"(","expires_at":null},"meta":{"store_id":7,"product_id":)" +
                    std::to_string(product) + "}}"));
  }

  int calls = 0;
  bool unreachable = false;
  int status = 200;
  int product = 9;
  std::string key_status = "active";
  std::string last_target;
  std::string last_body;
};

struct World {
  EmbeddedCluster cluster;
  LicenceShop shop;
  Secret licence{kKey};
  std::string public_key;
  std::string forbidden = "never told";
  LogCapture log;
  std::unique_ptr<LicenceKeeper> keeper;
  std::unique_ptr<TaskGroup> group;

  World() {
    auto crds = *run(cluster.env.loop, ensure_crds(cluster.client, {}));
    EXPECT_TRUE(crds);
  }
  ~World() { stop(); }

  void start() {
    keeper = std::make_unique<LicenceKeeper>(
        cluster.env, cluster.client,
        LicenceOptions{.ns = "codeflare-system",
                       .licence = licence,
                       .ids = {.store = 7, .product = 9},
                       .public_key = public_key,
                       .service = &shop,
                       .metrics = &cluster.metrics,
                       .forbid = [this](std::string why) { forbidden = std::move(why); },
                       .logger = log.logger(cluster.env.clock, LogLevel::debug)});
    group = std::make_unique<TaskGroup>(cluster.env.loop);
    group->spawn(keeper->run());
    cluster.settle(seconds(2));
  }
  void stop() {
    if (group != nullptr) {
      CHECK(run(cluster.env.loop, group->close()));
      group.reset();
    }
  }
  std::string condition() {
    const kube::ObjectRef object = cluster.get<model::UsageLedger>("licence", "codeflare-system");
    if (object == nullptr) {
      return "none";
    }
    const auto document = object->parse();
    const json::Value& first = document->root.get({"status", "conditions"})->items().front();
    return std::string(first.string_or_empty("status")) + " " +
           std::string(first.string_or_empty("reason"));
  }
};

TEST(LicenceKeeper, a_good_key_lets_work_start_at_once) {
  World w;
  w.start();
  EXPECT_EQ(w.forbidden, "");
  EXPECT_EQ(w.keeper->note(), "");
  EXPECT_EQ(w.condition(), "True Licensed");
  EXPECT_EQ(w.shop.last_target, "/v1/licenses/validate");
  EXPECT_EQ(w.shop.last_body, std::string("license_key=") + kKey);
  EXPECT_NE(w.cluster.metrics.expose().find("codeflare_licence_admits 1"), std::string::npos);
}

TEST(LicenceKeeper, is_checked_about_hourly) {
  World w;
  w.start();
  w.cluster.settle(hours(24));
  EXPECT_GE(w.shop.calls, 21);
  EXPECT_LE(w.shop.calls, 25);
}

TEST(LicenceKeeper, keys_that_are_expired_disabled_or_of_another_product_are_rejected) {
  for (const char* status : {"expired", "disabled", "inactive"}) {
    World w;
    w.shop.key_status = status;
    w.start();
    EXPECT_NE(w.forbidden.find(status), std::string::npos) << w.forbidden;
    EXPECT_EQ(w.condition(), "False LicenceRejected");
    EXPECT_NE(w.keeper->note().find("LicenceRejected"), std::string::npos);
  }
  World w;
  w.shop.product = 8;
  w.start();
  EXPECT_NE(w.forbidden.find("another product"), std::string::npos) << w.forbidden;
}

TEST(LicenceKeeper, an_unreachable_service_has_72_hours_of_grace_also_across_restarts) {
  World w;
  w.start();
  w.shop.unreachable = true;
  w.cluster.settle(hours(40));
  EXPECT_EQ(w.forbidden, "");
  EXPECT_NE(w.keeper->note().find("Grace"), std::string::npos) << w.keeper->note();
  w.stop();
  w.forbidden = "never told";
  w.start();
  EXPECT_EQ(w.forbidden, "") << "the record of the last good answer counts";
  w.cluster.settle(hours(34));
  EXPECT_NE(w.forbidden.find("LicenceUnknown"), std::string::npos) << w.forbidden;
  w.shop.unreachable = false;
  w.cluster.settle(hours(2));
  EXPECT_EQ(w.forbidden, "") << "a good answer heals it";
}

TEST(LicenceKeeper, server_errors_are_no_rejection) {
  World w;
  w.start();
  w.shop.status = 500;
  w.cluster.settle(hours(10));
  EXPECT_EQ(w.forbidden, "");
  w.shop.status = 200;
  w.shop.key_status = "disabled";
  w.cluster.settle(hours(3));
  EXPECT_NE(w.forbidden, "");
}

TEST(LicenceKeeper, a_service_that_was_never_reached_gives_no_grace) {
  World w;
  w.shop.unreachable = true;
  w.start();
  EXPECT_NE(w.forbidden.find("LicenceUnknown"), std::string::npos) << w.forbidden;
  w.shop.unreachable = false;
  w.cluster.settle(minutes(3));
  EXPECT_EQ(w.forbidden, "") << "the next check comes soon";
}

TEST(LicenceKeeper, without_a_licence_nothing_starts_and_nobody_is_asked) {
  World w;
  w.licence = Secret();
  w.start();
  EXPECT_NE(w.forbidden.find("set LATTICE_LICENSE"), std::string::npos) << w.forbidden;
  EXPECT_EQ(w.shop.calls, 0);
}

TEST(LicenceKeeper, a_record_that_somebody_wrote_gives_no_grace) {
  World w;
  w.shop.unreachable = true;
  w.start();
  w.stop();
  w.cluster.patch<model::UsageLedger>(
      "licence",
      R"({"status":{"licence":{"lastGood":")" + to_rfc3339(w.cluster.env.clock.wall()) + R"("}}})",
      "status", "codeflare-system");
  w.start();
  EXPECT_NE(w.forbidden.find("LicenceUnknown"), std::string::npos) << w.forbidden;
}

TEST(LicenceKeeper, the_key_is_in_no_log_metric_or_object) {
  World w;
  w.start();
  w.shop.key_status = "disabled";
  w.cluster.settle(hours(3));
  const kube::ObjectRef object = w.cluster.get<model::UsageLedger>("licence", "codeflare-system");
  std::string logged;
  for (const std::string& line : w.log.lines()) {
    logged += line + "\n";
  }
  for (const std::string& text :
       {logged, w.cluster.metrics.expose(), object->text(), w.keeper->note()}) {
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(text.find(kKey), std::string::npos) << text;
  }
}

// An offline licence of a key pair of our own.
struct Signer {
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key{
      EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), &EVP_PKEY_free};

  std::string public_key() const {
    std::string text(32, '\0');
    std::size_t size = text.size();
    EVP_PKEY_get_raw_public_key(key.get(), reinterpret_cast<unsigned char*>(text.data()), &size);
    return text;
  }
  Secret licence(const std::string& until) const {
    const std::string claims =
        R"({"customer":"ACME","notBefore":"2000-01-01T00:00:00Z","notAfter":")" + until + "\"}";
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                          &EVP_MD_CTX_free);
    std::array<unsigned char, 64> signature{};
    std::size_t size = signature.size();
    EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get());
    EVP_DigestSign(context.get(), signature.data(), &size,
                   reinterpret_cast<const unsigned char*>(claims.data()), claims.size());
    return Secret(R"({"claims":")" + to_base64(claims) + R"(","signature":")" +
                  to_base64({reinterpret_cast<const char*>(signature.data()), size}) + "\"}");
  }
};

TEST(LicenceKeeper, an_offline_licence_asks_nobody_and_ends_on_its_day) {
  const Signer signer;
  World w;
  const WallTime end = w.cluster.env.clock.wall() + hours(30);
  w.public_key = signer.public_key();
  w.licence = signer.licence(to_rfc3339(end));
  w.start();
  EXPECT_EQ(w.forbidden, "") << w.keeper->note();
  EXPECT_EQ(w.shop.calls, 0);
  w.cluster.settle(hours(32));
  EXPECT_NE(w.forbidden.find("expired"), std::string::npos) << w.forbidden;
}

TEST(LicenceKeeper, a_tampered_offline_licence_is_rejected) {
  const Signer signer;
  const Signer other;
  World w;
  w.public_key = other.public_key();
  w.licence = signer.licence("2099-01-01T00:00:00Z");
  w.start();
  EXPECT_NE(w.forbidden.find("signature"), std::string::npos) << w.forbidden;
}

TEST(LicenceKeeper, a_clock_that_was_set_back_is_noticed_after_a_restart) {
  const Signer signer;
  World w;
  w.public_key = signer.public_key();
  w.licence = signer.licence("2099-01-01T00:00:00Z");
  w.start();
  w.stop();
  // As an earlier check left it, a day ahead of the clock.
  const usage::LicenceState state{.newest = w.cluster.env.clock.wall() + hours(24)};
  std::string record;
  json::Writer writer(record);
  usage::write_record(writer, state, w.licence);
  w.cluster.patch<model::UsageLedger>("licence", R"({"status":{"licence":)" + record + "}}",
                                      "status", "codeflare-system");
  w.start();
  EXPECT_NE(w.forbidden.find("ClockSetBack"), std::string::npos) << w.forbidden;
}

}  // namespace
}  // namespace codeflare::controllers::metering
