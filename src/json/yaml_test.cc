#include "json/yaml.h"

#include "json/parse.h"
#include "json/text_position.h"
#include "json/write.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::json {
namespace {

// All documents as JSON, one per line, or the error.
std::string read(std::string_view yaml, const YamlOptions& options = {}) {
  auto documents = parse_yaml(yaml, options);
  if (!documents) {
    return documents.error().to_string();
  }
  std::string out;
  for (const Document& document : *documents) {
    out += (out.empty() ? "" : "\n") + to_text(document.root);
  }
  return out;
}

ErrorCode refusal(std::string_view yaml, const YamlOptions& options = {}) {
  auto documents = parse_yaml(yaml, options);
  EXPECT_FALSE(documents.has_value()) << yaml;
  return documents ? ErrorCode::internal : documents.error().code;
}

TEST(Yaml, reads_mappings_sequences_and_every_style_of_text) {
  EXPECT_EQ(read("a: 1\nb:\n- x\n- w: [1, {c: d}]\n  z:\n"),
            R"({"a":1,"b":["x",{"w":[1,{"c":"d"}],"z":null}]})");
  EXPECT_EQ(read("a: |\n  x\n   y\n\nb: >\n  f\n  g\n\n  h\nc: |-\n  s\nd: |+\n  k\n\n"),
            R"({"a":"x\n y\n","b":"f g\nh\n","c":"s","d":"k\n\n"})");
  EXPECT_EQ(read(R"(a: "\x41\u00e4\U0001F600\n\t\0 \
                     joined")"),
            "{\"a\":\"A\xc3\xa4\xf0\x9f\x98\x80\\n\\t\\u0000 joined\"}");
  EXPECT_EQ(read("a: 'it''s'\nb: plain text\n  goes on"),
            R"({"a":"it's","b":"plain text goes on"})");
  EXPECT_EQ(read(R"({"a": [1, 2.50, null, true]})"), R"({"a":[1,2.5,null,true]})");
  EXPECT_EQ(read("? a\n: b\n"), R"({"a":"b"})");
  EXPECT_EQ(read("just text"), R"("just text")");
}

TEST(Yaml, reads_several_documents_and_drops_empty_ones) {
  EXPECT_EQ(read("a: 1\n---\nb: 2\n...\n---\n---\n# nothing\n--- 3\n"), "{\"a\":1}\n{\"b\":2}\n3");
  EXPECT_EQ(read(""), "");
  EXPECT_EQ(read("# only a comment\n"), "");
  YamlOptions options;
  options.keep_empty_documents = true;
  EXPECT_EQ(read("a: 1\n---\n---\nb: 2\n", options), "{\"a\":1}\nnull\n{\"b\":2}");
}

TEST(Yaml, takes_a_byte_order_mark_and_any_line_ends) {
  EXPECT_EQ(read("\xef\xbb\xbf"
                 "a: 1\r\nb: |\r\n  x\r\n  y\r\n"),
            R"({"a":1,"b":"x\ny\n"})");
}

TEST(Yaml, aliases_are_independent_copies) {
  auto documents = parse_yaml("a: &x {l: [1]}\nb: *x\nc: *x\n");
  ASSERT_TRUE(documents.has_value());
  Document& document = documents->front();
  document.root.find("b")->find("l")->items()[0] = Value();
  EXPECT_EQ(to_text(document.root), R"({"a":{"l":[1]},"b":{"l":[null]},"c":{"l":[1]}})");
}

TEST(Yaml, anchors_are_redefined_and_forgotten_between_documents) {
  EXPECT_EQ(read("[&x 1, *x, &x 2, *x]"), "[1,1,2,2]");
  EXPECT_EQ(read("- &x [1]\n- &x [&x 2]\n- *x\n"), "[[1],[2],2]");
  EXPECT_EQ(refusal("a: &x 1\n---\nb: *x\n"), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal("a: *x\nb: &x 1\n"), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal("&x [1, *x]"), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal("&x {a: {b: *x}}"), ErrorCode::invalid_argument);
}

TEST(Yaml, scalar_aliases_can_be_keys) {
  EXPECT_EQ(read("a: &x k\n*x : 1\n"), R"({"a":"k","k":1})");
  EXPECT_EQ(read("a: &x 0x10\n*x : 1\n"), R"({"a":16,"16":1})");
  EXPECT_EQ(read("&x k: *x\n"), R"({"k":"k"})");
  EXPECT_EQ(refusal("a: &x [1]\n*x : 1\n"), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal("&x .inf : *x\n"), ErrorCode::invalid_argument);
}

TEST(Yaml, merge_keys_apply_in_the_order_of_the_mapping) {
  EXPECT_EQ(read("{<<: {a: 1, b: 2}, b: 3}"), R"({"a":1,"b":3})");
  EXPECT_EQ(read("{b: 3, <<: {a: 1, b: 2}}"), R"({"b":2,"a":1})");
  EXPECT_EQ(read("x: &x {a: 1, q: 1}\nw: &y {a: 2, z: 2}\nm:\n  <<: [*x, *y]\n  o: 3\n"),
            R"({"x":{"a":1,"q":1},"w":{"a":2,"z":2},"m":{"a":1,"z":2,"q":1,"o":3}})");
  EXPECT_EQ(read("{<<: {<<: {a: 1}, b: 2}}"), R"({"a":1,"b":2})");
  EXPECT_EQ(read("{<<: []}"), "{}");
  EXPECT_EQ(read("{!!merge <<: {a: 1}}"), R"({"a":1})");
  EXPECT_EQ(read("{'<<': {a: 1}}"), R"({"<<":{"a":1}})");
}

TEST(Yaml, merge_keys_need_mappings) {
  EXPECT_EQ(refusal("<<: 5"), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal("<<:"), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal("<<: [1]"), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal("l: &l [{a: 1}]\nm: {<<: *l}"), ErrorCode::invalid_argument);
}

TEST(Yaml, duplicate_keys_are_errors_unless_a_list_is_given) {
  EXPECT_EQ(read("spec:\n  a: 1\n  b: 2\n  a: 3\n"),
            "invalid_argument: line 4, column 3: the key \"spec.a\" occurs twice");
  std::vector<std::string> duplicates;
  YamlOptions options;
  options.duplicate_keys = &duplicates;
  EXPECT_EQ(read("l:\n- a: 1\n- {b: 1, b: 2}\nk: 1\nk: 2\n1: x\n\"1\": z\n", options),
            R"({"l":[{"a":1},{"b":2}],"k":2,"1":"z"})");
  EXPECT_EQ(duplicates, (std::vector<std::string>{"l[1].b", "k", "1"}));
}

TEST(Yaml, overriding_a_merged_key_is_no_duplicate_but_writing_it_twice_is) {
  EXPECT_EQ(read("{<<: {a: 1}, <<: {a: 2}}"), R"({"a":2})");
  EXPECT_EQ(refusal("{<<: {a: 1}, a: 2, a: 3}"), ErrorCode::invalid_argument);
}

TEST(Yaml, containers_and_null_cannot_be_keys) {
  EXPECT_EQ(refusal("? [a]\n: b"), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal("? {a: 1}\n: b"), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal("~: 1"), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal("? : 1"), ErrorCode::invalid_argument);
}

TEST(Yaml, malformed_text_is_an_error) {
  for (std::string_view text : {"a: b: c",
                                "a: - b",
                                "\ta: b",
                                "a:\n\tb: c",
                                "[1, 2",
                                "{a: 1",
                                "a: \"x",
                                "a: 'x",
                                "a: 1\n b: 2",
                                "a: 1\nb",
                                "a: @b",
                                "a: `b",
                                "a: %b",
                                "a: \"\\q\"",
                                "a: \"\\ud800\"",
                                "a:\n  - x\n - y",
                                "%YAML 2.0\n---\na",
                                "a: \x01",
                                "a: \xff",
                                "a: \"x\" y",
                                "*",
                                "&"}) {
    EXPECT_EQ(refusal(text), ErrorCode::invalid_argument) << text;
  }
}

TEST(Yaml, errors_name_line_and_column) {
  auto broken = parse_yaml("a: 1\nb:\n  c: [1, 2\nd: 3\n");
  ASSERT_FALSE(broken.has_value());
  EXPECT_EQ(broken.error().message,
            "line 4, column 2: did not find expected ',' or ']', while parsing a flow sequence");
  auto* position = dynamic_cast<const TextPosition*>(broken.error().detail.get());
  ASSERT_NE(position, nullptr);
  EXPECT_EQ(position->line, 4u);
  EXPECT_EQ(position->column, 2u);
  EXPECT_EQ(read("a: 1\nb: !!int x\n"),
            "invalid_argument: line 2, column 4: cannot read this str as !!int");
  EXPECT_EQ(read("a: *nothing\n"),
            "invalid_argument: line 1, column 4: there is no anchor \"nothing\"");
}

TEST(Yaml, depth_is_limited) {
  auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(parse_yaml(nested(512)).has_value());
  EXPECT_EQ(refusal(nested(513)), ErrorCode::too_large);
  EXPECT_EQ(refusal(std::string(100'000, '[')), ErrorCode::too_large);
  EXPECT_EQ(refusal("a: &a " + nested(300) + "\nb: " + std::string(300, '[') + "*a" +
                    std::string(300, ']')),
            ErrorCode::too_large);
}

TEST(Yaml, size_and_number_of_documents_are_limited) {
  YamlOptions options;
  options.max_bytes = 10;
  EXPECT_TRUE(parse_yaml("a: 1234567", options).has_value());
  EXPECT_EQ(refusal("a: 12345678", options), ErrorCode::too_large);
  options = {};
  options.max_documents = 2;
  EXPECT_TRUE(parse_yaml("--- 1\n--- 2\n", options).has_value());
  EXPECT_EQ(refusal("--- 1\n--- 2\n--- 3\n", options), ErrorCode::too_large);
}

TEST(Yaml, alias_bombs_are_refused) {
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    std::string previous = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) {
      laughs += (j > 0 ? ", " : "") + previous;
    }
    laughs += "]\n";
  }
  EXPECT_EQ(refusal(laughs), ErrorCode::too_large);

  std::string large = "a: &a \"" + std::string(100'000, 'x') + "\"\nl:\n";
  for (int i = 0; i < 1'000; ++i) {
    large += "- *a\n";
  }
  EXPECT_EQ(refusal(large), ErrorCode::too_large);
}

TEST(Yaml, merge_bombs_are_refused) {
  std::string text = "m0: &m0 {";
  for (int i = 0; i < 1'000; ++i) {
    text += "k" + std::to_string(i) + ": 1, ";
  }
  text += "}\nl:\n";
  for (int i = 0; i < 100'000; ++i) {
    text += "- {<<: *m0}\n";
  }
  EXPECT_EQ(refusal(text), ErrorCode::too_large);
}

TEST(Yaml, a_typical_manifest_reads_as_its_json) {
  EXPECT_EQ(read(R"(apiVersion: v1
kind: Pod
metadata:
  name: web
  labels: {app: web, version: "1.0"}
  annotations:
    enabled: "yes"
spec:
  hostNetwork: no
  containers:
  - name: main
    image: registry/web:1.2.3
    command: ["sh", "-c", 'echo "hi"; sleep 1']
    resources:
      limits:
        cpu: 500m
        memory: 1Gi
    ports:
    - containerPort: 8080
    volumeMounts:
    - {name: data, mountPath: /data}
  volumes:
  - name: data
    configMap:
      name: cm
      defaultMode: 0644
)"),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","labels":{"app":"web",)"
            R"("version":"1.0"},"annotations":{"enabled":"yes"}},"spec":{"hostNetwork":false,)"
            R"("containers":[{"name":"main","image":"registry/web:1.2.3","command":["sh","-c",)"
            R"("echo \"hi\"; sleep 1"],"resources":{"limits":{"cpu":"500m","memory":"1Gi"}},)"
            R"("ports":[{"containerPort":8080}],"volumeMounts":[{"name":"data",)"
            R"("mountPath":"/data"}]}],"volumes":[{"name":"data","configMap":{"name":"cm",)"
            R"("defaultMode":420}}]}})");
}

}  // namespace
}  // namespace codeflare::json
