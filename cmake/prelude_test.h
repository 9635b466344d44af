// As prelude.h, for test programs.
#pragma once

#include "cmake/prelude.h"

#include <gtest/gtest.h>
