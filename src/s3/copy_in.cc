#include "base/async/sleep.h"
#include "base/async/when.h"
#include "base/env/backoff.h"
#include "s3/copy.h"
#include "s3/internal/copy_state.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace codeflare::s3 {

namespace {

constexpr std::size_t kPieceBytes = 256u << 10;

// A file that is being received; used off the loop, one call at a time.
class NewFile {
 public:
  NewFile(FileSystem& files, FileHandles& handles, std::string path, bool writable)
      : files_(files), handles_(handles), path_(std::move(path)), writable_(writable) {}

  Result<void> write(std::string_view bytes) {
    if (handle_ == nullptr) {
      TRY(open());
    }
    TRY(handle_->write_at(size_, bytes));
    size_ += bytes.size();
    return {};
  }
  // From the first byte again.
  Result<void> restart() {
    handle_.reset();
    size_ = 0;
    return {};
  }
  Result<FileInfo> finish(std::string_view bytes) {
    TRY(write(bytes));  // also makes an empty file
    handle_.reset();
    return files_.info(path_);
  }
  std::uint64_t size() const { return size_; }

 private:
  Result<void> open() {
    TRY(files_.make_directories(parent_path(path_), writable_ ? 0777 : 0755));
    const std::uint32_t mode = writable_ ? 0666 : 0644;
    Result<std::unique_ptr<FileHandle>> made = handles_.open_new(path_, mode);
    if (!made && made.error().code == ErrorCode::already_exists) {
      TRY(files_.remove(path_));  // of an earlier attempt
      made = handles_.open_new(path_, mode);
    }
    TRY_ASSIGN(handle_, std::move(made));
    return {};
  }

  FileSystem& files_;
  FileHandles& handles_;
  std::string path_;
  bool writable_;
  std::unique_ptr<FileHandle> handle_;
  std::uint64_t size_ = 0;
};

class CopyIn {
 public:
  CopyIn(Client& client, FileHandles& handles, CopyOptions options)
      : client_(client), env_(client.env()), handles_(handles), options_(std::move(options)) {}

  Task<Result<CopyCount>> run() {
    CO_TRY(co_await run_blocking(env_, [this] { return begin(); }));
    CO_TRY_ASSIGN(Listing page, co_await client_.list(options_.prefix));
    for (;;) {
      if (page.next.empty()) {
        CO_TRY(co_await copy_page(page.objects));
        co_return count_;
      }
      auto [copied, next] =
          co_await when_both(copy_page(page.objects), client_.list(options_.prefix, page.next));
      CO_TRY(std::move(copied));
      CO_TRY_ASSIGN(page, std::move(next));
    }
  }

 private:
  Result<void> begin() {
    TRY(env_.files.make_directories(options_.directory, options_.writable ? 0777 : 0755));
    if (!options_.state_file.empty()) {
      TRY(env_.files.make_directories(parent_path(options_.state_file), 0777));
      return env_.files.write(options_.state_file, "", {.mode = 0644, .atomic = false});
    }
    return {};
  }

  Task<Result<void>> copy_page(const std::vector<ObjectInfo>& objects) {
    next_ = 0;
    marks_.clear();
    std::vector<Task<Result<void>>> workers;
    for (int i = 0; i < options_.at_once; ++i) {
      workers.push_back(work(objects));
    }
    const std::vector<Result<void>> ends = co_await when_all(std::move(workers));
    for (const Result<void>& end : ends) {
      CO_TRY(end);
    }
    if (!options_.state_file.empty()) {
      CO_TRY(co_await run_blocking(
          env_, [this] { return env_.files.append(options_.state_file, marks_); }));
    }
    co_return Result<void>();
  }

  // Takes the next object until none is left or another worker failed.
  Task<Result<void>> work(const std::vector<ObjectInfo>& objects) {
    while (next_ < objects.size()) {
      const ObjectInfo& object = objects[next_++];
      Result<void> copied = co_await copy(object);
      if (!copied) {
        next_ = objects.size();
        co_return copied;
      }
    }
    co_return Result<void>();
  }

  Task<Result<void>> copy(const ObjectInfo& object) {
    CO_TRY_ASSIGN(const std::string path, relative_path(object.key, options_.prefix));
    if (path.empty() || path.ends_with('/')) {
      const std::string directory = join_path(options_.directory, path);
      const std::uint32_t mode = options_.writable ? 0777 : 0755;
      co_return co_await run_blocking(env_,
                                      [&] { return env_.files.make_directories(directory, mode); });
    }
    NewFile file(env_.files, handles_, join_path(options_.directory, path), options_.writable);
    CO_TRY_ASSIGN(const FileInfo info, co_await receive(object, file));
    if (info.size != object.size) {
      co_return fail(data_loss("object " + object.key + " has " + std::to_string(info.size) +
                               " bytes, the listing of the bucket says " +
                               std::to_string(object.size)));
    }
    count_.objects += 1;
    count_.bytes += info.size;
    if (!options_.state_file.empty()) {
      marks_ += internal::line_of(internal::mark_of(path, info));
    }
    co_return Result<void>();
  }

  // Attempts count from the last byte that came.
  Task<Result<FileInfo>> receive(const ObjectInfo& object, NewFile& file) {
    for (int attempt = 1;; ++attempt) {
      const std::uint64_t before = file.size();
      Result<FileInfo> info = co_await receive_once(object, file);
      if (info || info.error().code != ErrorCode::unavailable) {
        co_return info;
      }
      if (file.size() > before) {
        attempt = 0;
      } else if (attempt >= client_.options().attempts_max) {
        co_return fail(info.error().with_context("object " + object.key + ", " +
                                                 std::to_string(file.size()) + " of " +
                                                 std::to_string(object.size) + " bytes received"));
      }
      const ClientOptions& pace = client_.options();
      CO_TRY(co_await sleep_for(
          full_jitter(pace.retry_wait, pace.retry_wait_max, attempt + 1, env_.random)));
    }
  }

  Task<Result<FileInfo>> receive_once(const ObjectInfo& object, NewFile& file) {
    CO_TRY_ASSIGN(Client::Part part, co_await client_.get(object, file.size()));
    if (part.object_size && *part.object_size != object.size) {
      co_return fail(data_loss("object " + object.key + " has changed while it was listed: " +
                               std::to_string(*part.object_size) + " bytes, listed " +
                               std::to_string(object.size)));
    }
    if (part.begin != file.size()) {
      CO_TRY(file.restart());
    }
    std::string held;
    for (;;) {
      Result<Bytes> piece =
          part.body == nullptr ? Result<Bytes>(Bytes()) : co_await part.body->read();
      if (!piece && piece.error().code == ErrorCode::cancelled) {
        co_return fail(piece.error());
      }
      const bool over = !piece || piece->empty();
      if (!over) {
        held += piece->view();
      }
      if (file.size() + held.size() > object.size) {
        co_return fail(data_loss("object " + object.key + " has more than the " +
                                 std::to_string(object.size) + " bytes that were listed"));
      }
      if (over && piece && file.size() + held.size() == object.size) {
        co_return co_await run_blocking(env_, [&] { return file.finish(held); });
      }
      if ((over && !held.empty()) || held.size() >= kPieceBytes) {
        CO_TRY(co_await run_blocking(env_, [&] { return file.write(held); }));
        held.clear();
      }
      if (over) {
        co_return fail(unavailable("connection to the object store broke" +
                                   (piece ? std::string() : ": " + piece.error().message)));
      }
    }
  }

  Client& client_;
  Env env_;
  FileHandles& handles_;
  CopyOptions options_;
  CopyCount count_;
  std::size_t next_ = 0;
  std::string marks_;
};

}  // namespace

std::string directory_prefix(std::string_view prefix) {
  while (prefix.starts_with('/')) {
    prefix.remove_prefix(1);
  }
  while (prefix.ends_with('/')) {
    prefix.remove_suffix(1);
  }
  return prefix.empty() ? std::string() : std::string(prefix) + "/";
}

Task<Result<CopyCount>> copy_in(Client& client, FileHandles& handles, CopyOptions options) {
  CopyIn copy(client, handles, std::move(options));
  co_return co_await copy.run();
}

}  // namespace codeflare::s3
