#include "base/async/when.h"
#include "s3/copy.h"
#include "s3/internal/copy_state.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace codeflare::s3 {

namespace {

constexpr std::size_t kPieceBytes = 256u << 10;
constexpr std::size_t kStateBytesMax = 1u << 30;
// Limits of AWS, which others copy.
constexpr std::uint64_t kObjectBytesMax = 5ull << 40;
constexpr std::uint64_t kPartsMax = 10'000;
constexpr int kPartsAtOnce = 4;

// A piece of a file.
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
};

// The bytes of a range, as long as the file has them.
class FileBody final : public net::BodyStream {
 public:
  FileBody(Env env, FileHandles& handles, std::string path, Range range)
      : env_(env),
        handles_(handles),
        path_(std::move(path)),
        end_(range.begin + range.size),
        at_(range.begin) {}

  Task<Result<Bytes>> read() override {
    co_return co_await run_blocking(env_, [this] { return next_piece(); });
  }

  // Off the loop; an empty one is the end.
  Result<Bytes> next_piece() {
    if (file_ == nullptr) {
      TRY_ASSIGN(file_, handles_.open_to_read(path_));
    }
    std::string piece(std::min<std::uint64_t>(kPieceBytes, end_ - at_), '\0');
    std::size_t filled = 0;
    while (filled < piece.size()) {
      TRY_ASSIGN(const std::size_t count,
                 file_->read_at(at_ + filled, std::span(piece).subspan(filled)));
      if (count == 0) {
        return fail(data_loss(path_ + " became shorter while it was copied"));
      }
      filled += count;
    }
    at_ += piece.size();
    return Bytes::from(std::move(piece));
  }

 private:
  Env env_;
  FileHandles& handles_;
  std::string path_;
  std::uint64_t end_;
  std::uint64_t at_;
  std::unique_ptr<FileHandle> file_;
};

struct Changed {
  std::string path;  // below the directory
  std::uint64_t size = 0;
};

class CopyBack {
 public:
  CopyBack(Client& client, FileHandles& handles, CopyOptions options)
      : client_(client), env_(client.env()), handles_(handles), options_(std::move(options)) {}

  Task<Result<CopyCount>> run() {
    CO_TRY(co_await run_blocking(env_, [this] { return find_changes(); }));
    std::vector<Task<Result<void>>> workers;
    for (int i = 0; i < options_.at_once; ++i) {
      workers.push_back(work());
    }
    const std::vector<Result<void>> ends = co_await when_all(std::move(workers));
    for (const Result<void>& end : ends) {
      CO_TRY(end);
    }
    co_return count_;
  }

 private:
  Result<void> find_changes() {
    if (!options_.state_file.empty()) {
      TRY_ASSIGN(const std::string text, env_.files.read(options_.state_file, kStateBytesMax));
      TRY_ASSIGN(known_, internal::KnownFiles::parse(text));
    }
    std::vector<std::string> directories = {""};
    while (!directories.empty()) {
      const std::string directory = std::move(directories.back());
      directories.pop_back();
      TRY_ASSIGN(const std::vector<std::string> names,
                 env_.files.list(join_path(options_.directory, directory)));
      for (const std::string& name : names) {
        const std::string path = directory.empty() ? name : directory + "/" + name;
        TRY_ASSIGN(const FileInfo info, env_.files.info(join_path(options_.directory, path)));
        if (info.type == FileInfo::Type::directory) {
          directories.push_back(path);
        } else if (info.type != FileInfo::Type::file) {
          ++count_.skipped;
        } else if (!known_.has(internal::mark_of(path, info))) {
          changes_.push_back({path, info.size});
        }
      }
    }
    return {};
  }

  Task<Result<void>> work() {
    while (next_ < changes_.size()) {
      const Changed& change = changes_[next_++];
      Result<void> copied = co_await copy(change);
      if (!copied) {
        next_ = changes_.size();
        co_return copied;
      }
    }
    co_return Result<void>();
  }

  Task<Result<void>> copy(const Changed& change) {
    if (change.size > kObjectBytesMax) {
      co_return fail(too_large("file " + change.path + " has " + std::to_string(change.size) +
                               " bytes, at most " + std::to_string(kObjectBytesMax) +
                               " can be copied back; write several files"));
    }
    if (change.size > options_.part_bytes) {
      CO_TRY(co_await copy_in_parts(change));
    } else {
      CO_TRY_ASSIGN(Client::Content content,
                    co_await content_of(path_of(change), {.size = change.size}));
      CO_TRY(co_await client_.put(options_.prefix + change.path, std::move(content)));
    }
    count_.objects += 1;
    count_.bytes += change.size;
    co_return Result<void>();
  }

  // The parts of one file, which workers take one after the other.
  struct Parts {
    Upload upload;
    std::string path;
    std::uint64_t size = 0;
    std::uint64_t part_bytes = 0;
    std::vector<std::string> tags;
    std::size_t next = 0;
  };

  Task<Result<void>> copy_in_parts(const Changed& change) {
    CO_TRY_ASSIGN(Upload upload, co_await client_.begin_upload(options_.prefix + change.path));
    // Rounded up, so that the parts are enough.
    const std::uint64_t least = (change.size + kPartsMax - 1) / kPartsMax;
    Parts parts{.upload = std::move(upload),
                .path = path_of(change),
                .size = change.size,
                .part_bytes = std::max(options_.part_bytes, least),
                .tags = {},
                .next = 0};
    parts.tags.resize((parts.size + parts.part_bytes - 1) / parts.part_bytes);
    Result<void> sent = co_await send_parts(parts);
    if (sent) {
      sent = co_await client_.finish_upload(parts.upload, parts.tags, parts.size);
    }
    if (!sent) {
      // The first error counts, whether this succeeds or not.
      static_cast<void>(co_await client_.drop_upload(parts.upload));
    }
    co_return sent;
  }

  Task<Result<void>> send_parts(Parts& parts) {
    std::vector<Task<Result<void>>> workers;
    for (int i = 0; i < kPartsAtOnce; ++i) {
      workers.push_back(send_next_parts(parts));
    }
    const std::vector<Result<void>> ends = co_await when_all(std::move(workers));
    for (const Result<void>& end : ends) {
      CO_TRY(end);
    }
    co_return Result<void>();
  }

  Task<Result<void>> send_next_parts(Parts& parts) {
    while (parts.next < parts.tags.size()) {
      const std::size_t index = parts.next++;
      Result<std::string> tag = co_await send_part(parts, index);
      if (!tag) {
        parts.next = parts.tags.size();
        co_return fail(tag.error());
      }
      parts.tags[index] = *std::move(tag);
    }
    co_return Result<void>();
  }

  Task<Result<std::string>> send_part(const Parts& parts, std::size_t index) {
    const std::uint64_t begin = index * parts.part_bytes;
    const Range range{.begin = begin, .size = std::min(parts.part_bytes, parts.size - begin)};
    CO_TRY_ASSIGN(Client::Content content, co_await content_of(parts.path, range));
    co_return co_await client_.put_part(parts.upload, static_cast<int>(index) + 1,
                                        std::move(content));
  }

  std::string path_of(const Changed& change) const {
    return join_path(options_.directory, change.path);
  }

  Task<Result<Client::Content>> content_of(std::string path, Range range) {
    Client::Content content{.size = range.size, .sha256 = {}, .body = {}};
    CO_TRY_ASSIGN(content.sha256,
                  co_await run_blocking(env_, [&] { return hash_of(path, range); }));
    content.body = [this, path, range] {
      return std::make_unique<FileBody>(env_, handles_, path, range);
    };
    co_return content;
  }

  Result<std::string> hash_of(const std::string& path, Range range) {
    FileBody body(env_, handles_, path, range);
    Sha256 hash;
    for (;;) {
      TRY_ASSIGN(const Bytes piece, body.next_piece());
      if (piece.empty()) {
        return hash.hex();
      }
      hash.add(piece.view());
    }
  }

  Client& client_;
  Env env_;
  FileHandles& handles_;
  CopyOptions options_;
  internal::KnownFiles known_;
  std::vector<Changed> changes_;
  std::size_t next_ = 0;
  CopyCount count_;
};

}  // namespace

Task<Result<CopyCount>> copy_back(Client& client, FileHandles& handles, CopyOptions options) {
  CopyBack copy(client, handles, std::move(options));
  co_return co_await copy.run();
}

}  // namespace codeflare::s3
