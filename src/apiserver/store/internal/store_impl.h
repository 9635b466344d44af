#pragma once

#include "apiserver/store/internal/collection.h"
#include "apiserver/store/internal/history.h"
#include "apiserver/store/internal/pending.h"
#include "apiserver/store/internal/store_metrics.h"
#include "apiserver/store/store.h"
#include "base/async/task_group.h"
#include "base/async/wait_list.h"

#include <cstddef>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::apiserver {

// Collections with committed state; pending state of what is sequenced; one task that commits.
// Reads and the life cycle are in store_impl.cc, the way of a write in store_commit.cc.
class StoreImpl final : public Store {
 public:
  StoreImpl(Env env, std::unique_ptr<Log> log, Options options, Logger logger,
            MetricsRegistry& metrics);
  ~StoreImpl() override;

  Task<Result<void>> load();

  CollectionId collection(std::string_view resource) override;
  std::string_view name_of(CollectionId collection) const override;
  std::vector<CollectionId> collections() const override;
  Revision revision() const override { return revision_; }
  ObjectPtr get(CollectionId collection, std::string_view ns, std::string_view name) const override;
  ObjectPtr find_uid(std::string_view uid) const override { return uids_.find(uid); }
  Result<Revision> visit(CollectionId collection, const Range& range,
                         const std::function<bool(const ObjectPtr&)>& visitor) const override;
  std::size_t size(CollectionId collection) const override;
  Task<Result<void>> wait_for(Revision revision, Duration limit) override;
  Result<std::unique_ptr<WatchCursor>> watch(CollectionId collection, Revision from) override;
  Task<Result<std::vector<ObjectPtr>>> commit(std::vector<Write> writes) override;
  void on_commit(Hook hook) override { hooks_.push_back(std::move(hook)); }
  void forget(Revision through) override;
  Task<void> settle() override;
  std::optional<Error> degraded() const override { return degraded_; }
  Task<void> close() override;

  bool closed() const { return closed_; }

 private:
  struct Change {
    Write::Op op = Write::Op::create;
    Collection* collection = nullptr;
    ObjectPtr object;
  };
  // Lives in the frame of commit() until it has ended.
  struct Transaction {
    std::vector<Change> changes;
    bool ended = false;
    std::optional<Error> error;
    WaitList end;
  };
  // Why a transaction can't be sequenced. With a revision: only because of that pending write,
  // so whoever lost must see how it ends.
  struct Refusal {
    Error error;
    Revision waits_for = 0;
  };

  const Collection& at(CollectionId collection) const;
  Collection& at(CollectionId collection);
  Result<void> check_history(const Collection& collection, Revision position) const;
  Task<Result<void>> wait_committed(Revision revision);
  void expire_later();
  void show_gauges();

  std::optional<Error> refuse_now(std::size_t writes) const;
  std::expected<void, Refusal> compare(const Write& write, ObjectPtr& newest) const;
  std::expected<void, Refusal> sequence(const std::vector<Write>& writes, Transaction& transaction);
  Result<Change> make_change(const Write& write, const ObjectPtr& newest, Revision revision);
  Task<void> commit_queue();
  Task<Result<void>> append(const std::vector<Transaction*>& batch);
  void publish(Transaction& transaction);
  void end(Transaction& transaction);
  // Fails the batch and whatever was sequenced behind it.
  void fail_all(const std::vector<Transaction*>& batch, const Error& error);
  Task<void> take_failure(Error error);
  Task<void> probe();
  Task<void> rebuild();
  Task<void> fold();

  Env env_;
  std::unique_ptr<Log> log_;
  Options options_;
  Logger logger_;
  StoreMetrics metrics_;

  std::vector<std::unique_ptr<Collection>> collections_;  // by id, from 1
  std::map<std::string, CollectionId, std::less<>> ids_;
  UidIndex uids_;
  History history_;
  std::optional<TimerId> expiry_;
  // History before this is gone in every collection.
  Revision history_start_ = 0;
  std::vector<Hook> hooks_;

  Revision revision_ = 1;   // committed
  Revision sequenced_ = 1;  // given out
  Revision resolved_ = 1;   // committed or failed
  WaitList resolution_;     // whenever resolved_ moves
  Pending pending_;
  std::vector<Transaction*> queue_;
  std::size_t queued_writes_ = 0;

  bool committing_ = false;
  bool probing_ = false;
  bool rebuilding_ = false;
  bool closing_ = false;
  bool closed_ = false;
  bool log_closed_ = false;
  std::optional<Error> degraded_;
  TaskGroup tasks_;
};

}  // namespace codeflare::apiserver
