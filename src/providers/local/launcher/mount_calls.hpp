/// The kernel's newer mount calls, from whichever header has them: glibc's, and else the kernel's
/// own.
#pragma once

#include <sys/mount.h>

#ifndef OPEN_TREE_CLONE
#include <linux/mount.h>
#endif
