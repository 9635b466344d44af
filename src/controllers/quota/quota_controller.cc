#include "controllers/quota/quota_controller.h"

#include "base/async/sleep.h"
#include "controllers/status_patch.h"
#include "model/codec/quota_subtree.h"

#include <utility>

namespace codeflare::controllers {

using model::QuotaSubtree;
using model::QuotaSubtreeStatus;
using runtime::Next;

namespace {

constexpr Duration kEvery = std::chrono::seconds(1);

}  // namespace

QuotaController::QuotaController(const runtime::ControllerContext& context, QuotaSource source)
    : env_(context.env),
      client_(context.client),
      subject_(context.subject),
      waker_(context.waker),
      source_(std::move(source)) {}

Task<Result<Next>> QuotaController::reconcile(runtime::ObjectKey key) {
  CO_TRY(co_await subject_.fresh(key));
  kube::ObjectRef object = subject_.store().get(key);
  if (object == nullptr) {
    written_.erase(key);
    co_return Next::await_change();
  }
  Result<QuotaSubtree> subtree = object->as<QuotaSubtree>();
  if (!subtree || subtree->metadata.deleting()) {
    co_return Next::await_change();
  }
  std::optional<QuotaSubtreeStatus> status = source_.status(*subtree);
  if (!status) {
    co_return Next::await_change();
  }
  status->observed_generation = subtree->metadata.generation;
  status->extra = subtree->status.extra;
  if (*status == subtree->status) {
    co_return Next::await_change();
  }
  const Instant now = env_.loop.now();
  if (auto last = written_.find(key); last != written_.end() && now < last->second + kEvery) {
    co_return Next::after(last->second + kEvery - now);
  }
  std::string body = status_patch(*subtree, *status);
  Result<kube::ObjectRef> written = co_await client_.patch(
      subject_.type(), key, kube::PatchKind::merge, std::move(body), {.subresource = "status"});
  if (!written && written.error().code == ErrorCode::not_found) {
    // Gone, or a definition without a status (MCAD's): the next change tries again.
    co_return Next::await_change();
  }
  CO_TRY(written);
  subject_.note_written(**written);
  written_[key] = now;
  co_return Next::await_change();
}

QuotaPulse::QuotaPulse(runtime::Informer& subtrees, runtime::Waker waker)
    : subtrees_(subtrees), waker_(std::move(waker)) {}

void QuotaPulse::changed() {
  due_ = true;
  changed_.notify_all();
}

Task<void> QuotaPulse::run() {
  for (;;) {
    while (!due_) {
      if (!co_await changed_.wait()) {
        co_return;
      }
    }
    due_ = false;
    for (const kube::ObjectRef& subtree : subtrees_.store().list()) {
      waker_.wake(subtree->key());
    }
    if (!co_await sleep_for(kEvery)) {
      co_return;
    }
  }
}

}  // namespace codeflare::controllers
