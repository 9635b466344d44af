#pragma once

#include "model/codec/codec.h"
#include "model/quota_subtree.h"

namespace codeflare::model {

const codec::StructInfo& describe(codec::Tag<QuotaAmounts>);
const codec::StructInfo& describe(codec::Tag<QuotaChild>);
const codec::StructInfo& describe(codec::Tag<QuotaSubtreeSpec>);
const codec::StructInfo& describe(codec::Tag<QuotaChildStatus>);
const codec::StructInfo& describe(codec::Tag<QuotaSubtreeStatus>);
const codec::StructInfo& describe(codec::Tag<QuotaSubtree>);

}  // namespace codeflare::model
