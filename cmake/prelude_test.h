// As prelude.h, for test programs.
#include "prelude.h"

#include <gtest/gtest.h>
