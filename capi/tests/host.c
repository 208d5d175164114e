/* A host with its own copies of what libcove.so uses, as Node has: each decoy ends the process when
 * it is called. Opens a Cove through dlopen, so that SQLite and the rest really run, and closes it.
 * Usage: host LIBRARY STATE_DIR [deepbind] */
#define _GNU_SOURCE
#include <cove.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECOY(name)                                       \
  __attribute__((visibility("default"))) void name(void); \
  void name(void) {                                       \
    fputs("the host's " #name " was called\n", stderr);   \
    abort();                                              \
  }

DECOY(sqlite3_open_v2)
DECOY(sqlite3_prepare_v2)
DECOY(sqlite3_exec)
DECOY(EVP_DigestInit_ex)
DECOY(EVP_MD_CTX_new)
DECOY(EVP_sha256)
DECOY(SHA256_Init)
DECOY(OPENSSL_init_crypto)
DECOY(archive_read_new)
DECOY(archive_write_new)
DECOY(ZSTD_compressStream2)
DECOY(ZSTD_decompressStream)
DECOY(inflate)
DECOY(deflate)
DECOY(seccomp_init)

#define GET(type, name)                   \
  type name;                              \
  *(void**)&name = dlsym(library, #name); \
  if (name == NULL) return fprintf(stderr, "no %s\n", #name), 1

typedef cove_status (*open_fn)(const char*, const cove_open_options*, cove**, cove_error**);
typedef cove_status (*list_fn)(cove*, const cove_list_options*, cove_buffer**, cove_error**);
typedef cove_status (*close_fn)(cove*, uint64_t, cove_error**);
typedef void (*free_fn)(cove*);
typedef void (*buffer_free_fn)(cove_buffer*);
typedef const char* (*describe_fn)(const cove_error*);

static int run(void* library, const char* state_dir) {
  GET(open_fn, cove_open);
  GET(list_fn, cove_list_json);
  GET(close_fn, cove_close);
  GET(free_fn, cove_free);
  GET(buffer_free_fn, cove_buffer_free);
  GET(describe_fn, cove_error_describe);
  char config[4096];
  cove* handle = NULL;
  cove_buffer* json = NULL;
  cove_error* error = NULL;
  snprintf(config, sizeof config, "{\"state_dir\": \"%s\"}", state_dir);
  if (cove_open(config, NULL, &handle, &error) != COVE_OK ||
      cove_list_json(handle, NULL, &json, &error) != COVE_OK ||
      cove_close(handle, 10000, &error) != COVE_OK) {
    return fprintf(stderr, "%s\n", cove_error_describe(error)), 1;
  }
  cove_buffer_free(json);
  cove_free(handle);
  puts("opened, listed, closed");
  return 0;
}

int main(int argc, char** argv) {
  const int deepbind = argc == 4 && strcmp(argv[3], "deepbind") == 0;
  void* library;
  if (argc < 3) return 2;
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | (deepbind ? RTLD_DEEPBIND : 0));
  if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), 1;
  return run(library, argv[2]);
}
