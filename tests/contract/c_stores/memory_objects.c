/* An object store in C, in memory. Where its slots may block it reads the content by waiting, else
 * by callbacks. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "memory_stores.h"

enum { PIECE = 256 * 1024 };

/* The bytes of an object, for as long as the store or a reader has them. */
typedef struct bytes {
  char* data;
  size_t size;
  size_t room;
  int users; /* guarded by the store's mutex */
} bytes;

typedef struct object {
  char* key;
  bytes* content;
} object;

typedef struct store {
  pthread_mutex_t mutex;
  object* objects; /* by key */
  size_t count;
  int users; /* the store itself, and readers, which may outlive it */
  int is_blocking;
} store;

static void free_bytes(bytes* content) {
  free(content->data);
  free(content);
}

/* Under the mutex. */
static void let_go(bytes* content) {
  if (--content->users == 0) free_bytes(content);
}

/* Unlocks, and ends the store with its last user. */
static void leave(store* self) {
  const int users = --self->users;
  pthread_mutex_unlock(&self->mutex);
  if (users > 0) return;
  pthread_mutex_destroy(&self->mutex);
  free(self->objects);
  free(self);
}

static int append(bytes* to, const void* data, size_t size) {
  if (to->size + size > to->room) {
    const size_t room = (to->size + size) * 2;
    char* const grown = realloc(to->data, room);
    if (grown == NULL) return 0;
    to->data = grown;
    to->room = room;
  }
  if (size > 0) memcpy(to->data + to->size, data, size);
  to->size += size;
  return 1;
}

/* Where a key is, or would stand. */
static size_t place_of(const store* self, const char* key) {
  size_t at = 0;
  while (at < self->count && strcmp(self->objects[at].key, key) < 0) ++at;
  return at;
}

static object* find_object(store* self, const char* key) {
  const size_t at = place_of(self, key);
  const int is_there = at < self->count && strcmp(self->objects[at].key, key) == 0;
  return is_there ? &self->objects[at] : NULL;
}

/* A put that goes on. */
typedef struct put_run {
  store* self;
  char* key;
  bytes* content;
  cove_content* from;
  cove_done* done;
} put_run;

static void end_put(put_run* run) {
  cove_content_free(run->from);
  cove_done_free(run->done);
  if (run->content != NULL) free_bytes(run->content);
  free(run->key);
  free(run);
}

static void finish_put(put_run* run) {
  store* const self = run->self;
  pthread_mutex_lock(&self->mutex);
  const size_t at = place_of(self, run->key);
  object* const grown = realloc(self->objects, (self->count + 1) * sizeof *grown);
  if (grown != NULL) self->objects = grown;
  if (find_object(self, run->key) != NULL) {
    cove_done_fail(run->done, COVE_ALREADY_EXISTS, "the key is taken", -1, NULL);
  } else if (grown == NULL) {
    cove_done_fail(run->done, COVE_QUOTA_EXCEEDED, "no memory", -1, NULL);
  } else if (!cove_done_is_over(run->done)) { /* else nobody is to find it */
    memmove(&grown[at + 1], &grown[at], (self->count - at) * sizeof *grown);
    grown[at].key = run->key;
    grown[at].content = run->content;
    ++self->count;
    run->key = NULL;
    run->content = NULL;
    cove_done_ok(run->done, NULL);
  }
  pthread_mutex_unlock(&self->mutex);
  end_put(run);
}

static void fail_put(put_run* run, const cove_error* error) {
  cove_done_fail(run->done, cove_error_code(error), cove_error_message(error), -1, NULL);
  end_put(run);
}

static void take_piece(void* user_data, cove_buffer* piece, cove_error* error) {
  put_run* const run = user_data;
  const size_t size = cove_buffer_size(piece);
  if (error != NULL) {
    fail_put(run, error);
  } else if (!append(run->content, cove_buffer_data(piece), size)) {
    cove_done_fail(run->done, COVE_QUOTA_EXCEEDED, "no memory", -1, NULL);
    end_put(run);
  } else if (size == 0) {
    finish_put(run);
  } else if (cove_content_read_start(run->from, take_piece, run, NULL, NULL) != COVE_OK) {
    end_put(run);
  }
  cove_buffer_free(piece);
  cove_error_free(error);
}

static void read_all(put_run* run) {
  char* const piece = malloc(PIECE);
  cove_error* error = NULL;
  size_t size = 1;
  while (piece != NULL && error == NULL && size > 0) {
    if (cove_content_read(run->from, piece, PIECE, &size, &error) == COVE_OK &&
        !append(run->content, piece, size)) {
      break;
    }
  }
  free(piece);
  if (error != NULL) {
    fail_put(run, error);
    cove_error_free(error);
  } else if (size == 0) {
    finish_put(run);
  } else {
    cove_done_fail(run->done, COVE_QUOTA_EXCEEDED, "no memory", -1, NULL);
    end_put(run);
  }
}

static void put(void* user_data, const char* key, cove_content* content, cove_done* done) {
  store* const self = user_data;
  put_run* const run = calloc(1, sizeof *run);
  if (run == NULL) abort();
  run->self = self;
  run->key = strdup(key);
  run->content = calloc(1, sizeof *run->content);
  run->content->users = 1;
  run->from = content;
  run->done = done;
  if (self->is_blocking) {
    read_all(run);
  } else if (cove_content_read_start(content, take_piece, run, NULL, NULL) != COVE_OK) {
    end_put(run);
  }
}

/* An object that is read. */
typedef struct reader {
  store* self;
  bytes* content;
  size_t at;
} reader;

static void next_piece(void* user_data, cove_done* done) {
  reader* const self = user_data;
  const size_t left = self->content->size - self->at;
  const size_t size = left < PIECE ? left : PIECE;
  const char* const piece = self->content->data + self->at;
  self->at += size; /* before the answer: the next question may come on another thread then */
  cove_done_bytes(done, piece, size, NULL);
  cove_done_free(done);
}

static void end_reader(void* user_data) {
  reader* const self = user_data;
  pthread_mutex_lock(&self->self->mutex);
  let_go(self->content);
  leave(self->self);
  free(self);
}

static void get(void* user_data, const char* key, cove_done* done) {
  store* const self = user_data;
  cove_byte_source source = COVE_BYTE_SOURCE_INIT;
  pthread_mutex_lock(&self->mutex);
  const object* const found = find_object(self, key);
  reader* const made = found == NULL ? NULL : calloc(1, sizeof *made);
  if (made != NULL) {
    made->self = self;
    made->content = found->content;
    ++found->content->users;
    ++self->users;
  }
  pthread_mutex_unlock(&self->mutex);
  source.self = made;
  source.destroy = end_reader;
  source.next = next_piece;
  if (made == NULL) {
    cove_done_fail(done, COVE_NOT_FOUND, "no such object", -1, NULL);
  } else {
    cove_done_source(done, &source, NULL);
  }
  cove_done_free(done);
}

static void stat_object(void* user_data, const char* key, cove_done* done) {
  store* const self = user_data;
  pthread_mutex_lock(&self->mutex);
  const object* const found = find_object(self, key);
  if (found == NULL) {
    cove_done_fail(done, COVE_NOT_FOUND, "no such object", -1, NULL);
  } else {
    cove_done_size(done, found->content->size, NULL);
  }
  pthread_mutex_unlock(&self->mutex);
  cove_done_free(done);
}

static void list(void* user_data, const char* prefix, const char* after, uint32_t limit,
                 cove_done* done) {
  store* const self = user_data;
  cove_object* const page = calloc(limit, sizeof *page);
  size_t count = 0;
  int32_t is_last = 1;
  if (page == NULL) abort();
  pthread_mutex_lock(&self->mutex);
  for (size_t i = 0; i < self->count; ++i) {
    const object* const one = &self->objects[i];
    if (strcmp(one->key, after) <= 0 || strncmp(one->key, prefix, strlen(prefix)) != 0) continue;
    if (count == limit) {
      is_last = 0;
      break;
    }
    cove_object_init(&page[count], sizeof page[count]);
    page[count].key = one->key;
    page[count].size = one->content->size;
    ++count;
  }
  cove_done_objects(done, page, count, is_last, NULL);
  pthread_mutex_unlock(&self->mutex);
  free(page);
  cove_done_free(done);
}

static void drop_object(object* one) {
  let_go(one->content);
  free(one->key);
}

static void remove_object(void* user_data, const char* key, cove_done* done) {
  store* const self = user_data;
  pthread_mutex_lock(&self->mutex);
  object* const found = find_object(self, key);
  if (found != NULL) {
    const size_t behind = self->count - (size_t)(found - self->objects) - 1;
    drop_object(found);
    memmove(found, found + 1, behind * sizeof *found);
    --self->count;
  }
  pthread_mutex_unlock(&self->mutex);
  cove_done_ok(done, NULL);
  cove_done_free(done);
}

static void destroy(void* user_data) {
  store* const self = user_data;
  pthread_mutex_lock(&self->mutex);
  for (size_t i = 0; i < self->count; ++i) drop_object(&self->objects[i]);
  self->count = 0;
  leave(self);
}

cove_object_store memory_objects(uint32_t flags) {
  cove_object_store made = COVE_OBJECT_STORE_INIT;
  store* const self = calloc(1, sizeof *self);
  if (self == NULL) abort();
  pthread_mutex_init(&self->mutex, NULL);
  self->users = 1;
  self->is_blocking = (flags & COVE_PART_BLOCKING) != 0;
  made.flags = flags;
  made.self = self;
  made.destroy = destroy;
  made.put = put;
  made.get = get;
  made.stat = stat_object;
  made.list = list;
  made.remove = remove_object;
  return made;
}
