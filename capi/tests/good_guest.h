/* What the cases of good_guest share: one workspace, and calls that must succeed. */
#ifndef GOOD_GUEST_H
#define GOOD_GUEST_H

#include <cove.h>
#include <stdio.h>
#include <unistd.h>

#define CHECK(good)                                                  \
  do {                                                               \
    if (!(good)) {                                                   \
      fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #good); \
      _exit(1);                                                      \
    }                                                                \
  } while (0)

#define WORKS(status) check_done((status), &error, __FILE__, __LINE__)

extern cove* app;
extern cove_workspace* workspace;

void check_done(cove_status status, cove_error** error, const char* file, int line);

/* Opens a Cove there, and acquires the workspace. */
void begin(const char* state_dir);

/* Runs a line of shell, which must print what is expected. */
void run(const char* line, const char* expected);

/* Destroys the workspace and closes the Cove. */
void end(void);

/* The cases. Each begins and ends by itself. */
void few_descriptors(const char* state_dir);
void fewer_descriptors(const char* state_dir);
void stops_after_many_calls(const char* state_dir);
void busy_with_few_descriptors(const char* state_dir);
void archived_with_fewer_descriptors(const char* state_dir);
void no_descriptors(const char* state_dir);
void forks(const char* state_dir);
void other_locale(const char* state_dir);

/* Part of `forks`: another process at the same workspace. */
void visit(const char* state_dir);

#endif
