// The rendezvous in a real etcd, by its JSON gateway. Debian's etcd-server has 3.4; ETCD names
// another.

#include "base/async/sleep.h"
#include "base/env/real_children.h"
#include "base/env/real_env.h"
#include "elastic/etcd_endpoint.h"
#include "elastic/etcd_store.h"
#include "elastic/testing/store_claims.h"
#include "net/client.h"
#include "net/free_port.h"
#include "net/testing/certificates.h"

#include <chrono>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::elastic::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class EtcdWorld final : public StoreWorld {
 public:
  explicit EtcdWorld(bool tls = false) : tls_(tls) {
    Env env = world_.env();
    directory_ = join_path(::testing::TempDir(), "codeflare-etcd-" + env.random.uuid());
    EXPECT_TRUE(env.files.make_directories(directory_, 0700));
    client_port_ = *net::free_port("127.0.0.1");
    peer_port_ = *net::free_port("127.0.0.1");
    if (tls_) {
      write_certificates();
    }
    service_ = *connect_etcd(env, endpoint(), "test");
    start();
  }
  ~EtcdWorld() override {
    end();
    EXPECT_TRUE(world_.env().files.remove_all(directory_));
  }

  Env env() override { return world_.env(); }
  std::unique_ptr<Store> connect() override {
    return std::make_unique<EtcdStore>(world_.env(), *service_, "uid");
  }
  // A restart: leases and values are still there afterwards.
  void break_streams() override {
    end();
    start();
  }
  Duration ttl() const override { return seconds(2); }

  // As the controller reaches it.
  EtcdEndpoint endpoint() const {
    return {.host = "127.0.0.1",
            .port = std::to_string(client_port_),
            .conf = parse_rdzv_conf(tls_ ? "protocol=https,cacert=" + file("ca") + ",cert=" +
                                               file("client") + ",key=" + file("client-key")
                                         : "protocol=http")};
  }
  std::string file(const std::string& name) const { return directory_ + "-" + name; }
  template <typename T>
  T wait(Task<T> task) {
    return *run(world_.env().loop, std::move(task));
  }

 private:
  std::string address(std::uint16_t port) const {
    return (tls_ && port == client_port_ ? "https://127.0.0.1:" : "http://127.0.0.1:") +
           std::to_string(port);
  }

  void write_certificates() {
    const net::testing::CertificateAuthority authority("etcd-ca");
    const net::testing::Identity server =
        authority.issue({.common_name = "etcd", .addresses = {"127.0.0.1"}});
    const net::testing::Identity client = authority.issue({.common_name = "controller"});
    const auto write = [&](const std::string& name, const std::string& text) {
      EXPECT_TRUE(world_.env().files.write(file(name), text));
    };
    write("ca", authority.certificate_pem());
    write("server", server.certificate_pem);
    write("server-key", server.key_pem);
    write("client", client.certificate_pem);
    write("client-key", client.key_pem);
  }

  std::vector<std::string> tls_arguments() const {
    if (!tls_) {
      return {};
    }
    return {"--client-cert-auth", "--trusted-ca-file", file("ca"),        "--cert-file",
            file("server"),       "--key-file",        file("server-key")};
  }

  void start() {
    const std::optional<std::string> program = world_.env().variables.get("ETCD");
    std::vector<std::string> arguments = {"--data-dir",
                                          directory_,
                                          "--listen-client-urls",
                                          address(client_port_),
                                          "--advertise-client-urls",
                                          address(client_port_),
                                          "--listen-peer-urls",
                                          address(peer_port_),
                                          "--initial-advertise-peer-urls",
                                          address(peer_port_),
                                          "--initial-cluster",
                                          "default=" + address(peer_port_),
                                          "--log-level",
                                          "error"};
    for (std::string& argument : tls_arguments()) {
      arguments.push_back(std::move(argument));
    }
    Result<std::unique_ptr<Child>> child =
        children_->start({.program = program.value_or("etcd"), .arguments = std::move(arguments)});
    ASSERT_TRUE(child) << child.error().to_string();
    child_ = *std::move(child);
    auto store = connect();
    const Instant late = world_.env().clock.now() + seconds(30);
    while (!wait(store->get(StoreKey::round())) && world_.env().clock.now() < late) {
      wait(sleep_for(milliseconds(20)));
    }
  }

  void end() {
    child_->signal(SIGKILL);
    (void)wait(child_->wait());
    child_.reset();
  }

  bool tls_;
  RealEnv world_;
  std::unique_ptr<Children> children_ = make_real_children(world_.env().loop);
  std::unique_ptr<net::HttpClient> service_;
  std::unique_ptr<Child> child_;
  std::string directory_;
  std::uint16_t client_port_ = 0;
  std::uint16_t peer_port_ = 0;
};

TEST(EtcdStore, lists_and_clears_the_documents_of_one_job) {
  EtcdWorld world;
  const std::unique_ptr<Store> store = world.connect();
  auto& etcd = dynamic_cast<EtcdStore&>(*store);
  const auto wait = [&](auto task) { return *run(world.env().loop, std::move(task)); };
  ASSERT_TRUE(wait(etcd.swap(StoreKey::membership(), "m", "0")));
  ASSERT_TRUE(wait(etcd.put(StoreKey::member(3), "three", seconds(10))));
  const auto all = wait(etcd.list());
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ(all->at("membership").value, "m");
  EXPECT_EQ(all->at("member/3").value, "three");
  ASSERT_TRUE(wait(etcd.clear()));
  EXPECT_TRUE(wait(etcd.list())->empty());
}

TEST(EtcdStore, meets_over_tls_with_the_certificates_of_the_controllers_settings) {
  EtcdWorld world(true);
  const std::unique_ptr<Store> store = world.connect();
  ASSERT_TRUE(world.wait(store->swap(StoreKey::membership(), "m", "0")));
  ASSERT_TRUE(world.wait(store->put(StoreKey::member(3), "three", seconds(10))));
  EXPECT_EQ(world.wait(store->get(StoreKey::member(3)))->value, "three");
  world.break_streams();
  EXPECT_EQ(world.wait(store->get(StoreKey::membership()))->value, "m");

  const auto reads_with = [&](const std::vector<std::string>& without) {
    EtcdEndpoint endpoint = world.endpoint();
    for (const std::string& name : without) {
      endpoint.conf.erase(name);
    }
    const auto service = *connect_etcd(world.env(), endpoint, "test");
    EtcdStore other(world.env(), *service, "uid");
    return world.wait(other.get(StoreKey::membership())).has_value();
  };
  EXPECT_TRUE(reads_with({}));
  EXPECT_FALSE(reads_with({"cert", "key"})) << "etcd knows nobody without a certificate";
  EXPECT_FALSE(reads_with({"cacert"})) << "the system does not know this authority";

  EtcdEndpoint missing = world.endpoint();
  missing.conf["cacert"] = "/nowhere";
  const auto failed = connect_etcd(world.env(), missing, "test");
  ASSERT_FALSE(failed);
  EXPECT_TRUE(failed.error().to_string().contains("cacert")) << failed.error().to_string();
}

INSTANTIATE_TEST_SUITE_P(Etcd, StoreTest, ::testing::Values([]() -> std::unique_ptr<StoreWorld> {
                           return std::make_unique<EtcdWorld>();
                         }));

}  // namespace
}  // namespace codeflare::elastic::testing
