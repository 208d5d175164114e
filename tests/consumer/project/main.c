/* Uses the C interface of the installed library. */
#include <cove.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  if (strcmp(cove_status_name(COVE_NOT_FOUND), "not_found") != 0) return 1;
  printf("cove %s\n", cove_version());
  return 0;
}
