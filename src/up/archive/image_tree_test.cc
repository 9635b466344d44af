#include "up/archive/image_tree.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::up {
namespace {

using Type = TarEntry::Type;

TarEntry file(std::string path) {
  return {.path = std::move(path), .type = Type::file, .link = {}, .mode = 04755, .size = 1};
}
TarEntry link(std::string path, std::string to, Type type = Type::symlink) {
  return {.path = std::move(path), .type = type, .link = std::move(to), .mode = 0777};
}
TarEntry directory(std::string path) {
  return {.path = std::move(path), .type = Type::directory, .link = {}, .mode = 0755};
}

using Layer = std::vector<TarEntry>;

// Paths with what they are: "a/", "a/b", "l -> x".
void list(const ImageTree::Node& node, const std::string& at, std::string& text) {
  for (const auto& [name, child] : node.children) {
    const std::string path = at + name;
    const bool is_directory = child->type == ImageTree::Node::Type::directory;
    const bool is_link = child->type == ImageTree::Node::Type::symlink;
    text += path + (is_directory ? "/" : is_link ? " -> " + child->link : "") + "\n";
    list(*child, path + "/", text);
  }
}

std::string tree_of(const std::vector<Layer>& layers, ImageTree* out = nullptr) {
  ImageTree tree;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    for (std::size_t k = 0; k < layers[i].size(); ++k) {
      if (const Result<void> done = tree.add(i, k, layers[i][k]); !done) {
        return "error: " + done.error().message;
      }
    }
  }
  std::string text;
  list(tree.root(), "", text);
  if (out != nullptr) {
    *out = std::move(tree);
  }
  return text;
}

TEST(ImageTree, later_layers_replace_what_earlier_ones_have) {
  ImageTree tree;
  EXPECT_EQ(
      tree_of({{directory("a/"), file("a/x"), file("a/y")}, {file("a/x"), file("b/c/d")}}, &tree),
      "a/\na/x\na/y\nb/\nb/c/\nb/c/d\n");
  EXPECT_EQ(tree.find("a/x")->content, (ContentId{1, 0}));
  EXPECT_EQ(tree.find("a/y")->content, (ContentId{0, 2}));
  EXPECT_EQ(tree.find("a/x")->mode, 0755u) << "set-user-id is not kept";
  EXPECT_EQ(tree.size(), 6u);
}

TEST(ImageTree, whiteouts_hide_what_is_below_and_nothing_of_their_own_layer) {
  EXPECT_EQ(tree_of({{file("a/x"), file("a/y"), file("b")}, {file("a/.wh.x"), file(".wh.b")}}),
            "a/\na/y\n");
  EXPECT_EQ(tree_of({{file("a/x")}, {file("a/z"), file("a/.wh..wh..opq")}}), "a/\na/z\n");
  EXPECT_EQ(tree_of({{file("a/x")}, {file("a/x"), file("a/.wh.x")}}), "a/\na/x\n");
  EXPECT_EQ(tree_of({{file("a")}, {file(".wh.nothing")}}), "a\n");
}

TEST(ImageTree, a_directory_that_becomes_a_link_or_a_file_loses_what_was_in_it) {
  EXPECT_EQ(tree_of({{file("a/x")}, {link("a", "b")}}), "a -> b\n");
  EXPECT_EQ(tree_of({{file("a")}, {file("a/x")}}), "a/\na/x\n");
}

TEST(ImageTree, links_on_the_way_are_followed_inside_of_the_tree) {
  EXPECT_EQ(tree_of({{link("bin", "usr/bin"), file("bin/sh")}}),
            "bin -> usr/bin\nusr/\nusr/bin/\nusr/bin/sh\n");
  EXPECT_EQ(tree_of({{link("out", "/etc"), file("out/passwd")}}),
            "etc/\netc/passwd\nout -> /etc\n");
}

// None of these names anything outside.
TEST(ImageTree, no_path_leads_out) {
  EXPECT_EQ(tree_of({{file("../../etc/x")}}), "etc/\netc/x\n");
  EXPECT_EQ(tree_of({{file("/etc/x")}}), "etc/\netc/x\n");
  EXPECT_EQ(tree_of({{file("a/../../b")}}), "a/\nb\n");
  EXPECT_EQ(tree_of({{link("l", "../../../tmp"), file("l/x")}}),
            "l -> ../../../tmp\ntmp/\ntmp/x\n");
  EXPECT_EQ(tree_of({{file(".."), file("."), file("/"), file("")}}), "");
  EXPECT_EQ(tree_of({{file("a/.wh...")}}), "a/\n");
}

TEST(ImageTree, links_in_a_circle_end_in_an_error) {
  EXPECT_TRUE(tree_of({{link("a", "b"), link("b", "a"), file("a/x")}}).contains("too many links"));
  EXPECT_TRUE(tree_of({{link("a", "a/a/a"), file("a/x")}}).starts_with("error: "));
}

TEST(ImageTree, hard_links_share_the_content_of_a_file_of_the_image) {
  ImageTree tree;
  EXPECT_EQ(tree_of({{file("a"), link("b", "a", Type::hard_link)}}, &tree), "a\nb\n");
  EXPECT_EQ(tree.find("b")->content, tree.find("a")->content);
  EXPECT_EQ(tree_of({{link("b", "/etc/shadow", Type::hard_link)}}),
            "error: layer has a hard link to /etc/shadow, which is not in the image");
  EXPECT_TRUE(tree_of({{directory("d"), link("b", "d", Type::hard_link)}}).contains("directory"));
}

TEST(ImageTree, devices_are_left_out) {
  EXPECT_EQ(tree_of({{{.path = "dev/null", .type = Type::other, .link = {}}}}), "dev/\n");
}

}  // namespace
}  // namespace codeflare::up
