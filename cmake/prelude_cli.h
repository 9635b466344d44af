// As prelude.h, for what reads a command line.
#pragma once

#include "cmake/prelude.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
