/* A provider of plain child processes.
 *
 * It shows the shape of a provider and nothing more. There is NO ISOLATION: cove-agent runs as a
 * child process with all rights of this program, on a directory of this machine, without limits;
 * and the instances end with the program. Paths inside are this machine's: a command's directory is
 * not below /workspace. */
#ifndef COVE_EXAMPLES_PLAIN_PROVIDER_H
#define COVE_EXAMPLES_PLAIN_PROVIDER_H

#include <cove.h>

/* Makes one that keeps its volumes in the directory `root`, which exists, and starts the program
 * `agent`. Cove ends it. Returns 0 where a path is too long. */
int plain_provider(const char* root, const char* agent, cove_provider* made);

#endif
