#pragma once

#include "base/secret.h"
#include "json/value.h"
#include "json/write.h"
#include "usage/licence.h"

#include <string>
#include <string_view>

// The record of the licence between checks: status.licence of a UsageLedger. A seal made with the
// licence itself ties it to the licence: others cannot lengthen the grace by writing it.
namespace codeflare::usage {

// A short hash of the licence, which may be shown.
std::string licence_id(const Secret& licence);

void write_record(json::Writer& writer, const LicenceState& state, const Secret& licence);
// The state without its last answer; an empty one when the record is another licence's or was
// changed. `record` may be null.
LicenceState read_record(const json::Value* record, const Secret& licence);

// An offline licence is a JSON document, a key is not.
bool is_offline(const Secret& licence);

}  // namespace codeflare::usage
