/* Stores in C, for the contracts of the C ABI's vtables. */
#ifndef COVE_TESTS_MEMORY_STORES_H
#define COVE_TESTS_MEMORY_STORES_H

#ifdef __cplusplus
#define COVE_BESIDE_CXX
#endif
#include <cove.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each is ended by its `destroy`; `flags` is 0 or COVE_PART_BLOCKING. */
cove_metadata_store memory_metadata(uint32_t flags);
cove_object_store memory_objects(uint32_t flags);

#ifdef __cplusplus
}
#endif

#endif
