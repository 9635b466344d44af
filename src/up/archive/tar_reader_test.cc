#include "up/archive/tar_reader.h"

#include "up/archive/testing/tar_builder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>
#include <zlib.h>

namespace codeflare::up {
namespace {

using testing::TarBuilder;

struct Read {
  std::vector<TarEntry> entries;
  std::vector<std::string> contents;
  std::string error;
};

Read read_all(const std::string& text) {
  Read read;
  const std::unique_ptr<ByteSource> source = text_source(text);
  TarReader tar(*source);
  while (true) {
    Result<std::optional<TarEntry>> entry = tar.next();
    if (!entry || !*entry) {
      read.error = entry ? "" : entry.error().message;
      return read;
    }
    read.entries.push_back(**entry);
    std::string content((*entry)->size, '\0');
    std::size_t at = 0;
    while (at < content.size()) {
      const Result<std::size_t> count = tar.read(std::span(content).subspan(at));
      if (!count) {
        read.error = count.error().message;
        return read;
      }
      at += *count;
    }
    read.contents.push_back(std::move(content));
  }
}

std::string packed(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string unpack(std::string text, std::string* error = nullptr) {
  Result<std::unique_ptr<ByteSource>> source = unpacked(text_source(text));
  std::string all;
  char buffer[7];
  while (source) {
    const Result<std::size_t> count = (*source)->read(buffer);
    if (!count || *count == 0) {
      if (!count && error != nullptr) {
        *error = count.error().message;
      }
      return all;
    }
    all.append(buffer, *count);
  }
  if (error != nullptr) {
    *error = source.error().message;
  }
  return all;
}

TEST(TarReader, reads_files_directories_and_links_in_order) {
  const Read read = read_all(TarBuilder()
                                 .directory("d/")
                                 .file("d/a", "hello", 0755)
                                 .symlink("l", "d/a")
                                 .hard_link("h", "d/a")
                                 .file("b", std::string(1000, 'x'))
                                 .text());
  EXPECT_EQ(read.error, "");
  ASSERT_EQ(read.entries.size(), 5u);
  EXPECT_EQ(read.entries[0].type, TarEntry::Type::directory);
  EXPECT_EQ(read.entries[1].path, "d/a");
  EXPECT_EQ(read.entries[1].mode, 0755u);
  EXPECT_EQ(read.contents[1], "hello");
  EXPECT_EQ(read.entries[2].link, "d/a");
  EXPECT_EQ(read.entries[3].type, TarEntry::Type::hard_link);
  EXPECT_EQ(read.contents[4].size(), 1000u);
}

TEST(TarReader, long_names_come_from_gnu_and_pax_headers) {
  const std::string name(200, 'n');
  const Read gnu = read_all(TarBuilder()
                                .entry("././@LongLink", 'L', "", name + std::string(1, '\0'), 0644)
                                .file("short", "x")
                                .text());
  ASSERT_EQ(gnu.entries.size(), 1u) << gnu.error;
  EXPECT_EQ(gnu.entries[0].path, name);
  // "N path=...\n", where N counts itself.
  const std::string line = "210 path=" + name + "\n";
  ASSERT_EQ(line.size(), 210u);
  const Read pax = read_all(TarBuilder()
                                .entry("PaxHeaders/x", 'x', "", line + "14 linkpath=l\n", 0644)
                                .symlink("short", "other")
                                .text());
  ASSERT_EQ(pax.entries.size(), 1u) << pax.error;
  EXPECT_EQ(pax.entries[0].path, name);
  EXPECT_EQ(pax.entries[0].link, "l");
}

TEST(TarReader, what_is_no_tar_file_or_is_cut_off_is_an_error) {
  EXPECT_TRUE(read_all(std::string(512, 'x')).error.contains("checksum"));
  const std::string whole = TarBuilder().file("a", std::string(600, 'x')).text();
  EXPECT_EQ(read_all(whole.substr(0, 700)).error, "tar file is cut off");
  EXPECT_EQ(read_all(whole.substr(0, 300)).error, "tar file is cut off");
  EXPECT_EQ(read_all(TarBuilder().entry("p", 'x', "", "99 path=a\n", 0644).text()).error,
            "tar file has a damaged pax header");
  EXPECT_EQ(read_all("").error, "");
}

TEST(Unpacked, gzip_is_unpacked_several_members_too_and_all_else_stays) {
  const std::string text(100'000, 'q');
  EXPECT_EQ(unpack(packed(text) + packed("end")), text + "end");
  EXPECT_EQ(unpack("plain"), "plain");
  EXPECT_EQ(unpack(""), "");
}

TEST(Unpacked, damaged_gzip_and_zstd_are_errors) {
  std::string error;
  const std::string good = packed(std::string(1000, 'q') + "rest");
  unpack(good.substr(0, good.size() - 4), &error);
  EXPECT_EQ(error, "gzip data are cut off");
  std::string bad = good;
  bad[bad.size() - 6] = static_cast<char>(bad[bad.size() - 6] ^ 1);
  unpack(bad, &error);
  EXPECT_EQ(error, "gzip data are damaged");
  unpack("\x28\xb5\x2f\xfd....", &error);
  EXPECT_TRUE(error.contains("zstd")) << error;
}

}  // namespace
}  // namespace codeflare::up
