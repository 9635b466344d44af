#include "apiserver/store/internal/acknowledged.h"

#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <zlib.h>

namespace codeflare::apiserver {

namespace {

constexpr std::string_view kSuffix = "-acknowledged";
constexpr std::string_view kWord = "revision ";
constexpr std::size_t kDigits = 20;
constexpr std::size_t kSummedBytes = kWord.size() + kDigits;

// All digits, so that each record covers the one before.
std::string padded(std::uint64_t number, std::size_t digits, int base) {
  std::array<char, 24> text;
  const char* end = std::to_chars(text.begin(), text.end(), number, base).ptr;
  const auto size = static_cast<std::size_t>(end - text.begin());
  return std::string(digits - size, '0').append(text.data(), size);
}

// "revision 00000000000000000017 89abcdef\n", with a CRC-32.
std::string record_of(Revision revision) {
  std::string text = std::string(kWord) + padded(revision, kDigits, 10);
  const uLong sum = crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size());
  return text + ' ' + padded(sum, 8, 16) + '\n';
}

std::optional<Revision> parse(std::string_view text) {
  if (text.size() < kSummedBytes) {
    return std::nullopt;
  }
  const std::string_view digits = text.substr(kWord.size(), kDigits);
  Revision revision = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), revision);
  return text == record_of(revision) ? std::optional(revision) : std::nullopt;
}

std::string path_of(const DataDirectory& directory, std::uint64_t generation) {
  return directory.file(generation) + std::string(kSuffix);
}

}  // namespace

Result<std::optional<Revision>> AcknowledgedRevision::read(const DataDirectory& directory,
                                                           std::uint64_t generation) {
  const std::string path = path_of(directory, generation);
  if (!directory.files.exists(path)) {
    return std::nullopt;
  }
  TRY_ASSIGN(std::string text, directory.files.read(path));
  return parse(text);
}

Result<void> AcknowledgedRevision::make_durable(const DataDirectory& directory,
                                                std::uint64_t generation) {
  const std::string path = path_of(directory, generation);
  return directory.files.exists(path) ? directory.files.sync(path) : Result<void>();
}

Result<void> AcknowledgedRevision::remove(const DataDirectory& directory,
                                          std::uint64_t generation) {
  return directory.files.remove_all(path_of(directory, generation));
}

Result<AcknowledgedRevision> AcknowledgedRevision::open(const DataDirectory& directory,
                                                        std::uint64_t generation,
                                                        Revision revision) {
  std::string path = path_of(directory, generation);
  if (!directory.files.exists(path)) {
    TRY(directory.files.create(path, 0600));
  }
  TRY_ASSIGN(RawFile file, RawFile::open({.vfs = directory.vfs,
                                          .database = directory.file(generation),
                                          .suffix = std::string(kSuffix)}));
  AcknowledgedRevision acknowledged(directory.files, std::move(path), std::move(file));
  TRY(acknowledged.write(revision));
  TRY(acknowledged.sync());
  return acknowledged;
}

Result<void> AcknowledgedRevision::write(Revision revision) {
  return file_.write(0, record_of(revision));
}

Result<void> AcknowledgedRevision::sync() {
  return files_->sync(path_);
}

}  // namespace codeflare::apiserver
