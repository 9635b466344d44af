#include "controllers/submitter/submitter.h"

#include "queue/marks.h"

#include <gtest/gtest.h>

namespace codeflare::controllers {
namespace {

// Signs with a word instead of a key.
class Word final : public RecordSeal {
 public:
  explicit Word(std::string word) : word_(std::move(word)) {}
  std::string sign(std::string_view text) const override { return word_ + std::string(text); }
  bool verify(std::string_view text, std::string_view signature) const override {
    return signature == sign(text);
  }

 private:
  std::string word_;
};

const Submitter kAnn{.username = "ann",
                     .uid = "7",
                     .groups = {"dev", "system:authenticated"},
                     .extra = {{"acme.com/scopes", {"view", "edit"}}}};

model::AppWrapper wrapper() {
  model::AppWrapper made;
  made.metadata.ns = "team";
  made.metadata.name = "train";
  made.spec.resources.generic_items.push_back(
      {.generic_template = {R"({"kind":"Job","metadata":{"name":"j"},"spec":{"n":1}})"}});
  return made;
}

model::AppWrapper submitted(const Submitter& who, const RecordSeal& seal) {
  model::AppWrapper made = wrapper();
  const std::string record = record_of(who);
  made.metadata.annotations[std::string(queue::kUserAnnotation)] = record;
  made.metadata.annotations[std::string(kSealAnnotation)] = seal_of(made, record, seal);
  return made;
}

SubmitterTrust trust(std::string word) {
  return {.seal = std::make_shared<Word>(std::move(word))};
}

TEST(Submitter, a_record_reads_back_as_the_same_user) {
  EXPECT_EQ(*read_record(record_of(kAnn)), kAnn);
  EXPECT_EQ(record_of({.username = "bob"}), R"({"username":"bob","groups":[]})");
  EXPECT_FALSE(read_record("x"));
  EXPECT_FALSE(read_record("{}"));
}

TEST(Submitter, a_record_counts_only_with_the_seal_of_admission) {
  const model::AppWrapper sealed = submitted(kAnn, Word("key"));
  const Result<Submitter> known = submitter_of(sealed, trust("key"));
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_EQ(*known, kAnn);
  EXPECT_FALSE(submitter_of(sealed, trust("another key")));
  EXPECT_FALSE(submitter_of(sealed, {})) << "without a key nothing is believed";
  model::AppWrapper bare = wrapper();
  EXPECT_FALSE(submitter_of(bare, trust("key")));
  bare.metadata.annotations[std::string(queue::kUserAnnotation)] = record_of(kAnn);
  EXPECT_FALSE(submitter_of(bare, trust("key")));
  EXPECT_TRUE(submitter_of(bare, {.built_in = true})) << "there the server alone writes it";
}

TEST(Submitter, a_seal_is_of_no_use_for_other_work_another_place_or_another_user) {
  const model::AppWrapper sealed = submitted(kAnn, Word("key"));
  const auto fails_when = [&](auto change) {
    model::AppWrapper changed = sealed;
    change(changed);
    return !submitter_of(changed, trust("key"));
  };
  EXPECT_TRUE(fails_when([](model::AppWrapper& w) { w.metadata.ns = "other"; }));
  EXPECT_TRUE(fails_when([](model::AppWrapper& w) { w.metadata.name = "other"; }));
  EXPECT_TRUE(fails_when([](model::AppWrapper& w) { w.metadata.generate_name = "train"; }));
  EXPECT_TRUE(fails_when([](model::AppWrapper& w) {
    w.metadata.annotations[std::string(queue::kUserAnnotation)] = record_of({.username = "root"});
  }));
  EXPECT_TRUE(fails_when([](model::AppWrapper& w) {
    w.spec.resources.generic_items[0].generic_template.text =
        R"({"kind":"Job","metadata":{"name":"j"},"spec":{"n":2}})";
  }));
  EXPECT_TRUE(fails_when([](model::AppWrapper& w) {
    w.spec.resources.generic_items.push_back({.generic_template = {R"({"kind":"Secret"})"}});
  }));
}

TEST(Submitter, a_seal_holds_for_the_same_work_in_other_words) {
  model::AppWrapper sealed = submitted(kAnn, Word("key"));
  sealed.spec.resources.generic_items[0].generic_template.text =
      R"({ "spec": {"n": 1}, "metadata": {"name": "j"}, "kind": "Job" })";
  sealed.spec.priority = 9;
  sealed.spec.suspend = true;
  EXPECT_TRUE(submitter_of(sealed, trust("key")));
}

}  // namespace
}  // namespace codeflare::controllers
