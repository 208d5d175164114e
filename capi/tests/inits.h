#ifndef COVE_TESTS_INITS_H
#define COVE_TESTS_INITS_H

#ifdef __cplusplus
#define COVE_BESIDE_CXX
#endif
#include <cove.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The name of the first struct whose INIT macro and init function differ in a byte; NULL = none.
 * *count = how many were compared. */
const char* first_different_init(int* count);

#ifdef __cplusplus
}
#endif

#endif
