#include "apiserver/identity/pki.h"

#include "apiserver/store/testing/power_cut_disk.h"
#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/jumping_clock.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"
#include "net/certificate_request.h"
#include "net/pem_check.h"
#include "net/testing/certificates.h"
#include "net/testing/loopback.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace codeflare::apiserver {
namespace {

using namespace std::chrono_literals;
constexpr auto kDay = 24h;

class PkiTest : public testing::Test {
 protected:
  Env env() { return sim_.env(); }
  static std::string path(std::string_view name) { return join_path("/data", name); }
  template <typename T>
  T wait(Task<T> task) {
    return run(env().loop, std::move(task)).value();
  }
  Result<std::unique_ptr<Pki>> open(std::vector<std::string> names = {}) {
    return wait(Pki::open(env(), {.directory = path("pki"), .names = std::move(names)},
                          capture_.logger(env().clock)));
  }
  std::string read(std::string_view name) {
    return env().files.read(path("pki/" + std::string(name))).value_or("(missing)");
  }
  void pass(Duration time) { ASSERT_TRUE(wait(sleep_for(time))); }

  SimEnv sim_;
  LogCapture capture_;
};

TEST_F(PkiTest, signs_a_request_for_its_own_key_user_and_groups) {
  auto pki = open();
  ASSERT_TRUE(pki) << pki.error().to_string();
  const auto request = net::make_certificate_request("ann", {"dev", "ops"});
  ASSERT_TRUE(request) << request.error().to_string();
  const Result<std::string> made = (*pki)->sign_client(request->request_pem, 1h);
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_TRUE(net::key_belongs_to(request->key_pem.reveal(), *made));
  EXPECT_FALSE((*pki)->sign_client("text", 1h));
}

TEST_F(PkiTest, makes_everything_at_the_first_start_and_keeps_it) {
  auto first = open();
  ASSERT_TRUE(first) << first.error().to_string();
  EXPECT_EQ(env().files.info(path("pki"))->mode & 0777u, 0700u);
  for (const char* key : {"ca.key", "sa.key", "apiserver.key", "admin.key"}) {
    EXPECT_EQ(env().files.info(path(std::string("pki/") + key))->mode & 0777u, 0600u) << key;
    EXPECT_TRUE(read(key).contains("PRIVATE KEY")) << key;
  }
  auto second = open();
  ASSERT_TRUE(second) << second.error().to_string();
  EXPECT_EQ((*second)->authority_pem(), (*first)->authority_pem());
  EXPECT_EQ((*second)->tls().certificate_pem, (*first)->tls().certificate_pem);
  EXPECT_EQ((*second)->tls().key_pem, (*first)->tls().key_pem);
  EXPECT_EQ((*second)->admin().certificate_pem, (*first)->admin().certificate_pem);
  EXPECT_EQ((*second)->signing_key().id(), (*first)->signing_key().id());
  EXPECT_FALSE(*wait((*second)->renew()));
  for (const std::string& line : capture_.lines()) {
    EXPECT_FALSE(line.contains("BEGIN")) << line;
  }
}

TEST_F(PkiTest, a_new_name_gets_a_new_serving_certificate) {
  auto first = open();
  ASSERT_TRUE(first);
  auto second = open({"192.0.2.7", "api.example.test", "0.0.0.0", "127.0.0.1"});
  ASSERT_TRUE(second) << second.error().to_string();
  EXPECT_NE((*second)->tls().certificate_pem, (*first)->tls().certificate_pem);
  EXPECT_EQ((*second)->admin().certificate_pem, (*first)->admin().certificate_pem);
  EXPECT_EQ((*second)->authority_pem(), (*first)->authority_pem());
  auto third = open({"api.example.test"});
  EXPECT_EQ((*third)->tls().certificate_pem, (*second)->tls().certificate_pem);
  auto bad = open({"a,DNS:evil"});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message, "\"a,DNS:evil\" is neither a DNS name nor an address");
}

TEST_F(PkiTest, damage_is_repaired_where_nothing_is_lost_and_named_where_it_is) {
  auto first = open();
  ASSERT_TRUE(first);
  // Certificates that the authority signed stay valid although its own certificate is new.
  ASSERT_TRUE(env().files.remove(path("pki/ca.crt")));
  ASSERT_TRUE(env().files.write(path("pki/apiserver.key"), read("admin.key")));
  ASSERT_TRUE(env().files.write(path("pki/apiserver.crt"), "torn"));
  auto second = open();
  ASSERT_TRUE(second) << second.error().to_string();
  EXPECT_NE((*second)->authority_pem(), (*first)->authority_pem());
  EXPECT_EQ((*second)->admin().certificate_pem, (*first)->admin().certificate_pem);
  EXPECT_NE((*second)->tls().certificate_pem, (*first)->tls().certificate_pem);

  std::string key = read("ca.key");
  std::string secret = key.substr(40, 20);
  ASSERT_TRUE(env().files.write(path("pki/ca.key"), read("sa.key")));
  auto foreign = open();
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().message,
            path("pki/ca.key") + " does not belong to " + path("pki/ca.crt"));
  ASSERT_TRUE(env().files.write(path("pki/ca.key"), key.substr(0, 100)));
  auto torn = open();
  ASSERT_FALSE(torn);
  EXPECT_EQ(torn.error().message,
            path("pki/ca.key") + " is not a private key in PEM form without a passphrase: put it " +
                "back, or remove " + path("pki") + " to start with a new authority");
  EXPECT_FALSE(torn.error().message.contains(secret));
  ASSERT_TRUE(env().files.write(path("pki/ca.key"), key));
  const std::string certificate = read("ca.crt");
  ASSERT_TRUE(env().files.write(path("pki/ca.crt"), "garbage"));
  EXPECT_EQ(open().error().message, path("pki/ca.crt") +
                                        " is not a certificate in PEM form: remove it, it is made "
                                        "again from " +
                                        path("pki/ca.key"));
  ASSERT_TRUE(env().files.write(path("pki/ca.crt"), certificate));
  const std::string signing = read("sa.key");
  ASSERT_TRUE(env().files.write(path("pki/sa.key"), "garbage"));
  const std::string message = open().error().message;
  EXPECT_TRUE(message.starts_with(path("pki/sa.key") +
                                  ": the signing key is not a private key in PEM "
                                  "form"))
      << message;
  ASSERT_TRUE(env().files.write(path("pki/sa.key"), signing));
  ASSERT_TRUE(env().files.remove(path("pki/ca.key")));
  auto gone = open();
  ASSERT_FALSE(gone);
  EXPECT_TRUE(gone.error().message.contains("ca.key is missing")) << gone.error().message;
}

TEST_F(PkiTest, the_kubeconfig_is_for_the_owner_alone) {
  auto pki = open();
  ASSERT_TRUE(pki);
  ASSERT_TRUE(wait((*pki)->write_admin_kubeconfig(path("admin.kubeconfig"), "https://[::1]:6443")));
  EXPECT_EQ(env().files.info(path("admin.kubeconfig"))->mode & 0777u, 0600u);
  std::string text = *env().files.read(path("admin.kubeconfig"));
  EXPECT_TRUE(text.contains("    server: \"https://[::1]:6443\"\n")) << text;
  EXPECT_TRUE(text.contains("\ncurrent-context: codeflare\n"));
}

TEST_F(PkiTest, a_kubeconfig_that_is_as_it_should_be_is_left_alone) {
  auto pki = open();
  ASSERT_TRUE(pki);
  const auto write = [&](std::string server) {
    return wait((*pki)->write_admin_kubeconfig(path("admin.kubeconfig"), std::move(server)));
  };
  ASSERT_TRUE(write("https://x"));
  const WallTime before = env().files.info(path("admin.kubeconfig"))->modified;
  pass(1h);
  ASSERT_TRUE(write("https://x"));
  EXPECT_EQ(env().files.info(path("admin.kubeconfig"))->modified, before);
  ASSERT_TRUE(write("https://y"));
  EXPECT_TRUE(env().files.read(path("admin.kubeconfig"))->contains("https://y"));
}

TEST_F(PkiTest, a_kubeconfig_that_cannot_be_written_stays_and_the_error_says_what_helps) {
  PowerCutDisk disk(1);
  Env full{env().loop,     env().clock,     env().random,  disk,
           env().launcher, env().variables, env().blocking};
  auto pki = wait(Pki::open(full, {.directory = path("pki")}, Logger()));
  ASSERT_TRUE(pki) << pki.error().to_string();
  const std::string file = path("admin.kubeconfig");
  const auto write = [&](std::string server) {
    return wait((*pki)->write_admin_kubeconfig(file, std::move(server)));
  };
  ASSERT_TRUE(write("https://127.0.0.1:6443"));
  const std::string before = *full.files.read(file);
  disk.set_full(true);
  const Result<void> refused = write("https://127.0.0.1:1");
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.contains(file)) << refused.error().message;
  EXPECT_TRUE(refused.error().message.ends_with("listen where it says so far (127.0.0.1:6443)"))
      << refused.error().message;
  EXPECT_EQ(*full.files.read(file), before);
  EXPECT_TRUE(write("https://127.0.0.1:6443")) << "this needs no room";
}

TEST_F(PkiTest, says_that_a_certificate_is_written_when_it_is) {
  ASSERT_TRUE(env().files.make_directories(path("pki"), 0700));
  ASSERT_TRUE(env().files.make_directories(path("pki/apiserver.crt")));
  const auto told = [&] {
    return std::ranges::any_of(capture_.lines(), [&](const std::string& line) {
      return line.contains("certificate written") && line.contains(path("pki/apiserver.crt"));
    });
  };
  ASSERT_FALSE(open());
  EXPECT_FALSE(told());
  ASSERT_TRUE(env().files.remove_all(path("pki/apiserver.crt")));
  ASSERT_TRUE(open());
  EXPECT_TRUE(told());
}

TEST_F(PkiTest, certificates_are_renewed_a_month_before_they_end) {
  auto first = open();
  ASSERT_TRUE(first);
  std::string serving = (*first)->tls().certificate_pem;
  pass(334 * kDay);
  EXPECT_FALSE(*wait((*first)->renew()));
  pass(2 * kDay);
  EXPECT_TRUE(*wait((*first)->renew()));
  EXPECT_NE((*first)->tls().certificate_pem, serving);
  pass(3290 * kDay);
  auto later = open();
  ASSERT_TRUE(later);
  EXPECT_NE((*later)->authority_pem(), (*first)->authority_pem());
  EXPECT_EQ((*later)->signing_key().id(), (*first)->signing_key().id());
}

TEST_F(PkiTest, a_running_server_is_handed_the_renewed_certificate) {
  auto pki = open();
  ASSERT_TRUE(pki);
  ASSERT_TRUE(wait((*pki)->write_admin_kubeconfig(path("admin.kubeconfig"), "https://x")));
  std::string kubeconfig = *env().files.read(path("admin.kubeconfig"));
  std::string serving = (*pki)->tls().certificate_pem;
  std::vector<std::string> handed;
  TaskGroup group(env().loop);
  group.spawn((*pki)->keep_renewed(
      [&](const net::TlsServerOptions& tls) { handed.push_back(tls.certificate_pem); }));
  pass(330 * kDay);
  EXPECT_TRUE(handed.empty());
  pass(10 * kDay);
  ASSERT_EQ(handed.size(), 1u);
  EXPECT_NE(handed[0], serving);
  EXPECT_NE(*env().files.read(path("admin.kubeconfig")), kubeconfig);
  ASSERT_TRUE(run(env().loop, group.close()));
}

TEST_F(PkiTest, a_renewal_that_cannot_be_written_is_served_and_written_later) {
  auto pki = open();
  ASSERT_TRUE(pki);
  ASSERT_TRUE(wait((*pki)->write_admin_kubeconfig(path("admin.kubeconfig"), "https://x")));
  const std::string kubeconfig = *env().files.read(path("admin.kubeconfig"));
  std::vector<std::string> handed;
  TaskGroup group(env().loop);
  group.spawn((*pki)->keep_renewed(
      [&](const net::TlsServerOptions& tls) { handed.push_back(tls.certificate_pem); }));
  pass(330 * kDay);
  // No file can be written where its directory is none.
  ASSERT_TRUE(env().files.rename(path("pki"), path("away")));
  ASSERT_TRUE(env().files.write(path("pki"), ""));
  pass(10 * kDay);
  ASSERT_EQ(handed.size(), 1u);
  EXPECT_NE(*env().files.read(path("admin.kubeconfig")), kubeconfig) << "this one could be";
  ASSERT_TRUE(env().files.remove(path("pki")));
  ASSERT_TRUE(env().files.rename(path("away"), path("pki")));
  EXPECT_NE(read("apiserver.crt"), handed[0]);
  pass(kDay);
  EXPECT_EQ(read("apiserver.crt"), handed[0]);
  EXPECT_EQ(handed.size(), 1u);
  ASSERT_TRUE(run(env().loop, group.close()));
  auto next = open();
  ASSERT_TRUE(next) << next.error().to_string();
  EXPECT_EQ((*next)->tls().certificate_pem, handed[0]);
}

// Says who called, as the server sees it.
Task<Result<net::Response>> whoami(net::Request request) {
  std::string text = request.peer->foreign_certificate ? "foreign" : "nobody";
  if (const auto& certificate = request.peer->certificate) {
    text = certificate->common_name;
    for (const std::string& organization : certificate->organizations) {
      text += '/' + organization;
    }
  }
  co_return net::make_response(200, "text/plain", Bytes::from(text));
}

TEST(Pki, clients_are_known_by_the_certificates_it_issues) {
  net::testing::RealWorld world;
  std::string directory = join_path(testing::TempDir(), "pki_test." + world.env().random.uuid());
  LogCapture capture;
  auto pki = world.run(
      Pki::open(world.env(), {.directory = directory}, capture.logger(world.env().clock)));
  ASSERT_TRUE(pki) << pki.error().to_string();
  EXPECT_EQ(world.env().files.info(directory)->mode & 0777u, 0700u);
  EXPECT_EQ(world.env().files.info(join_path(directory, "ca.key"))->mode & 0777u, 0600u);
  auto robot = (*pki)->issue_client({.user = "system:node:n1", .groups = {"system:nodes", "x"}});
  ASSERT_TRUE(robot);
  net::testing::CertificateAuthority other("codeflare-ca");
  net::testing::Identity foreign =
      other.issue({.common_name = "kubernetes-admin", .organizations = {"system:masters"}});

  net::testing::Loopback loopback(whoami, {.tls = (*pki)->tls()},
                                  {.tls = {.ca_bundle_pem = (*pki)->authority_pem()}});
  auto ask = [&](const std::string& certificate, const std::string& key, std::string name = {}) {
    auto client = loopback.new_client({.tls = {.ca_bundle_pem = (*pki)->authority_pem(),
                                               .certificate_pem = certificate,
                                               .key_pem = key,
                                               .server_name = std::move(name)}},
                                      "127.0.0.1", true);
    Result<net::Response> response = loopback.world().run(client->send({}));
    return response ? loopback.read(*response).value_or("lost") : response.error().to_string();
  };
  EXPECT_EQ(ask((*pki)->admin().certificate_pem, (*pki)->admin().key_pem.reveal()),
            "kubernetes-admin/system:masters");
  EXPECT_EQ(ask(robot->certificate_pem, robot->key_pem.reveal()), "system:node:n1/system:nodes/x");
  EXPECT_EQ(ask("", ""), "nobody");
  EXPECT_EQ(ask(foreign.certificate_pem, foreign.key_pem), "foreign");
  for (const char* name : {"localhost", "kubernetes", "kubernetes.default.svc.cluster.local"}) {
    EXPECT_EQ(ask("", "", name), "nobody") << name;
  }
  EXPECT_NE(ask("", "", "kubernetes.example"), "nobody");
  EXPECT_TRUE(world.env().files.remove_all(directory));
}

// The clock is set by hours after the certificates were made: TLS looks at the machine's clock.
TEST(Pki, certificates_are_good_when_the_clock_is_set_by_hours) {
  net::testing::RealWorld world;
  JumpingClock clock(world.env().clock);
  for (const Duration then : {Duration(20h), Duration(-20h)}) {
    clock.jump(then);
    std::string directory = join_path(testing::TempDir(), "pki_test." + world.env().random.uuid());
    auto pki =
        world.run(Pki::open(with_clock(world.env(), clock), {.directory = directory}, Logger()));
    ASSERT_TRUE(pki) << pki.error().to_string();
    auto ann = (*pki)->issue_client({.user = "ann", .groups = {"dev"}});
    ASSERT_TRUE(ann);
    net::testing::Loopback loopback(whoami, {.tls = (*pki)->tls()},
                                    {.tls = {.ca_bundle_pem = (*pki)->authority_pem()}});
    auto client = loopback.new_client({.tls = {.ca_bundle_pem = (*pki)->authority_pem(),
                                               .certificate_pem = ann->certificate_pem,
                                               .key_pem = ann->key_pem.reveal()}},
                                      "127.0.0.1", true);
    Result<net::Response> response = loopback.world().run(client->send({}));
    ASSERT_TRUE(response) << response.error().to_string();
    EXPECT_EQ(loopback.read(*response).value_or("lost"), "ann/dev");
    EXPECT_TRUE(world.env().files.remove_all(directory));
    clock.jump(-then);
  }
}

}  // namespace
}  // namespace codeflare::apiserver
