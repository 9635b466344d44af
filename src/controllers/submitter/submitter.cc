#include "controllers/submitter/submitter.h"

#include "base/base64.h"
#include "json/parse.h"
#include "json/write.h"
#include "queue/marks.h"

#include <algorithm>
#include <span>
#include <utility>

namespace codeflare::controllers {

namespace {

void append(json::Writer& writer, const std::vector<std::string>& texts) {
  writer.begin_array();
  for (const std::string& text : texts) {
    writer.string(text);
  }
  writer.end_array();
}

std::vector<std::string> strings_of(const json::Value* list) {
  std::vector<std::string> texts;
  for (const json::Value& item : list == nullptr ? std::span<const json::Value>() : list->items()) {
    if (item.is_string()) {
      texts.emplace_back(item.as_string());
    }
  }
  return texts;
}

// Members by name: servers and codecs may write them in another order than they read.
void append_sorted(std::string& out, const json::Value& value) {
  if (value.is_array()) {
    out += '[';
    for (const json::Value& item : value.items()) {
      append_sorted(out, item);
      out += ',';
    }
    out += ']';
    return;
  }
  if (!value.is_object()) {
    json::append_text(out, value);
    return;
  }
  std::vector<const json::Member*> members;
  for (const json::Member& member : value.members()) {
    members.push_back(&member);
  }
  std::ranges::sort(members, {}, &json::Member::key);
  out += '{';
  for (const json::Member* member : members) {
    json::append_quoted(out, member->key);
    out += ':';
    append_sorted(out, member->value);
    out += ',';
  }
  out += '}';
}

std::string_view annotation(const model::AppWrapper& wrapper, std::string_view name) {
  return model::find_or_empty(wrapper.metadata.annotations, name);
}

}  // namespace

std::string record_of(const Submitter& submitter) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object().member("username", submitter.username).member_if_set("uid", submitter.uid);
  writer.key("groups");
  append(writer, submitter.groups);
  if (!submitter.extra.empty()) {
    writer.key("extra").begin_object();
    for (const auto& [key, values] : submitter.extra) {
      writer.key(key);
      append(writer, values);
    }
    writer.end_object();
  }
  writer.end_object();
  return text;
}

Result<Submitter> read_record(std::string_view record) {
  const Result<json::Document> parsed = json::parse(record);
  if (!parsed) {
    return fail(invalid_argument("it is not a JSON object"));
  }
  Submitter submitter{.username = std::string(parsed->root.string_or_empty("username")),
                      .uid = std::string(parsed->root.string_or_empty("uid")),
                      .groups = strings_of(parsed->root.find("groups"))};
  if (submitter.username.empty()) {
    return fail(invalid_argument("user is missing"));
  }
  if (const json::Value* extra = parsed->root.find("extra")) {
    for (const json::Member& member : extra->members()) {
      submitter.extra[std::string(member.key)] = strings_of(&member.value);
    }
  }
  return submitter;
}

std::string sealed_text(const model::AppWrapper& wrapper, std::string_view record) {
  const model::ObjectMeta& meta = wrapper.metadata;
  std::string text = "codeflare submitted-by 1\n";
  json::append_quoted(text, meta.ns);
  // A generated name is not known yet when the record is made.
  text += meta.generate_name.empty() ? "\nname " : "\ngenerateName ";
  json::append_quoted(text, meta.generate_name.empty() ? meta.name : meta.generate_name);
  text += '\n';
  json::append_quoted(text, record);
  for (const model::GenericItem& item : wrapper.spec.resources.generic_items) {
    text += '\n';
    // An unreadable item cannot be created either; its text will do.
    if (const Result<json::Document> parsed = json::parse(item.generic_template.text)) {
      append_sorted(text, parsed->root);
    } else {
      json::append_quoted(text, item.generic_template.text);
    }
  }
  return text;
}

std::string seal_of(const model::AppWrapper& wrapper, std::string_view record,
                    const RecordSeal& seal) {
  return to_base64(seal.sign(sealed_text(wrapper, record)));
}

Result<Submitter> submitter_of(const model::AppWrapper& wrapper, const SubmitterTrust& trust) {
  const std::string_view record = annotation(wrapper, queue::kUserAnnotation);
  if (record.empty()) {
    return fail(failed_precondition("the submitter is not recorded"));
  }
  if (!trust.built_in) {
    const Result<std::string> signature = from_base64(annotation(wrapper, kSealAnnotation));
    if (trust.seal == nullptr || !signature ||
        !trust.seal->verify(sealed_text(wrapper, record), *signature)) {
      return fail(failed_precondition(
          "the record of its submitter was not made by this cluster's admission webhook"));
    }
  }
  Result<Submitter> submitter = read_record(record);
  if (!submitter) {
    return fail(failed_precondition("the record of its submitter cannot be read: " +
                                    submitter.error().message));
  }
  return submitter;
}

}  // namespace codeflare::controllers
