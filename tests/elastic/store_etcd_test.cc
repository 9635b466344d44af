// The rendezvous in a real etcd, by its JSON gateway. Debian's etcd-server has 3.4; ETCD names
// another.

#include "base/async/sleep.h"
#include "base/env/real_children.h"
#include "base/env/real_env.h"
#include "elastic/etcd_store.h"
#include "elastic/testing/store_claims.h"
#include "net/client.h"
#include "net/free_port.h"
#include "net/url.h"

#include <chrono>
#include <csignal>
#include <string>

namespace codeflare::elastic::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class EtcdWorld final : public StoreWorld {
 public:
  EtcdWorld() {
    Env env = world_.env();
    directory_ = join_path(::testing::TempDir(), "codeflare-etcd-" + env.random.uuid());
    EXPECT_TRUE(env.files.make_directories(directory_, 0700));
    client_port_ = *net::free_port("127.0.0.1");
    peer_port_ = *net::free_port("127.0.0.1");
    Result<net::Url> url = net::parse_url(address(client_port_));
    service_ = *net::HttpClient::create(env, *url, {});
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

 private:
  static std::string address(std::uint16_t port) {
    return "http://127.0.0.1:" + std::to_string(port);
  }

  void start() {
    const std::optional<std::string> program = world_.env().variables.get("ETCD");
    Result<std::unique_ptr<Child>> child = children_->start(
        {.program = program.value_or("etcd"),
         .arguments = {"--data-dir", directory_, "--listen-client-urls", address(client_port_),
                       "--advertise-client-urls", address(client_port_), "--listen-peer-urls",
                       address(peer_port_), "--initial-advertise-peer-urls", address(peer_port_),
                       "--initial-cluster", "default=" + address(peer_port_), "--log-level",
                       "error"}});
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

  template <typename T>
  T wait(Task<T> task) {
    return *run(world_.env().loop, std::move(task));
  }

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

INSTANTIATE_TEST_SUITE_P(Etcd, StoreTest, ::testing::Values([]() -> std::unique_ptr<StoreWorld> {
                           return std::make_unique<EtcdWorld>();
                         }));

}  // namespace
}  // namespace codeflare::elastic::testing
