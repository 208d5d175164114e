/// The C header as the C++ side sees it: there `cove` is a namespace, so the handle's type is
/// spelled cove_handle. Names of types are no part of a C symbol.
#pragma once

#define COVE_BESIDE_CXX
#include <cove.h>
