#include <cove.h>

/* The handle is called `cove` in C, and every INIT macro is a constant initialiser. */
static const cove_call_options call = COVE_CALL_OPTIONS_INIT;
static const cove_open_options open_options = COVE_OPEN_OPTIONS_INIT;
static const cove_workspace_key key = COVE_WORKSPACE_KEY_INIT;

int cove_header_c99(const cove* handle);
int cove_header_c99(const cove* handle) {
  return handle == NULL && call.struct_size > 0 && open_options.log == NULL && key.user_id == NULL;
}
