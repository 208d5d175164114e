/* libarchive's reader of zip files refers to libbz2, whose archive does not fit into a shared
 * library and which ends the process where it finds itself wrong. No entry that needs it is ever
 * read (prepare/skills/package), so the functions only have to be there; they refuse, as libbz2
 * does where it is built wrongly. */
#include <bzlib.h>

int BZ2_bzDecompressInit(bz_stream* stream, int verbosity, int small) {
  (void)stream;
  (void)verbosity;
  (void)small;
  return BZ_CONFIG_ERROR;
}

int BZ2_bzDecompress(bz_stream* stream) {
  (void)stream;
  return BZ_CONFIG_ERROR;
}

int BZ2_bzDecompressEnd(bz_stream* stream) {
  (void)stream;
  return BZ_CONFIG_ERROR;
}
