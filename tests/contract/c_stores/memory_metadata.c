/* A metadata store in C, in memory: what a host would write. It answers at once, on whatever thread
 * it is asked. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "memory_stores.h"

typedef struct entry {
  cove_document document; /* what it points to is the store's */
} entry;

typedef struct store {
  pthread_mutex_t mutex;
  entry* entries; /* in no order */
  size_t count;
  size_t room;
  uint64_t last_version;
} store;

static char* copy_text(const char* text) {
  const size_t size = text == NULL ? 1 : strlen(text) + 1;
  char* const copy = malloc(size);
  if (copy != NULL) memcpy(copy, text == NULL ? "" : text, size);
  return copy;
}

static void free_document(cove_document* document) {
  free((void*)(uintptr_t)document->name);
  free((void*)(uintptr_t)document->body);
  free((void*)(uintptr_t)document->state);
  free((void*)(uintptr_t)document->source);
  free((void*)(uintptr_t)document->node);
}

static cove_document copy_of(const cove_document* from) {
  cove_document copy = *from;
  char* const body = malloc(from->body_size + 1);
  if (body != NULL && from->body_size > 0) memcpy(body, from->body, from->body_size);
  copy.struct_size = (uint32_t)sizeof copy;
  copy.name = copy_text(from->name);
  copy.body = body;
  copy.state = copy_text(from->state);
  copy.source = copy_text(from->source);
  copy.node = copy_text(from->node);
  return copy;
}

static entry* find_entry(store* self, uint32_t kind, const char* name) {
  for (size_t i = 0; i < self->count; ++i) {
    entry* const one = &self->entries[i];
    if (one->document.kind == kind && strcmp(one->document.name, name) == 0) return one;
  }
  return NULL;
}

static int make_room(store* self) {
  if (self->count < self->room) return 1;
  const size_t room = self->room == 0 ? 16 : self->room * 2;
  entry* const grown = realloc(self->entries, room * sizeof *grown);
  if (grown == NULL) return 0;
  self->entries = grown;
  self->room = room;
  return 1;
}

static void insert(void* user_data, const cove_document* document, int32_t durability,
                   cove_done* done) {
  store* const self = user_data;
  (void)durability; /* nothing here lasts */
  pthread_mutex_lock(&self->mutex);
  if (find_entry(self, document->kind, document->name) != NULL) {
    cove_done_fail(done, COVE_ALREADY_EXISTS, "the document is there already", -1, NULL);
  } else if (!make_room(self)) {
    cove_done_fail(done, COVE_UNAVAILABLE, "no memory", -1, NULL);
  } else {
    entry* const added = &self->entries[self->count++];
    added->document = copy_of(document);
    added->document.version = ++self->last_version;
    cove_done_version(done, added->document.version, NULL);
  }
  pthread_mutex_unlock(&self->mutex);
  cove_done_free(done);
}

static void find(void* user_data, uint32_t kind, const char* name, cove_done* done) {
  store* const self = user_data;
  pthread_mutex_lock(&self->mutex);
  const entry* const found = find_entry(self, kind, name);
  cove_done_document(done, found == NULL ? NULL : &found->document, NULL);
  pthread_mutex_unlock(&self->mutex);
  cove_done_free(done);
}

static void swap(void* user_data, const cove_document* next, uint64_t expected, int32_t durability,
                 cove_done* done) {
  store* const self = user_data;
  (void)durability;
  pthread_mutex_lock(&self->mutex);
  entry* const found = find_entry(self, next->kind, next->name);
  if (found == NULL || found->document.version != expected) {
    cove_done_fail(done, COVE_CONFLICT, "the document was changed or removed", -1, NULL);
  } else {
    free_document(&found->document);
    found->document = copy_of(next);
    found->document.version = ++self->last_version;
    cove_done_version(done, found->document.version, NULL);
  }
  pthread_mutex_unlock(&self->mutex);
  cove_done_free(done);
}

static void remove_document(void* user_data, uint32_t kind, const char* name, uint64_t expected,
                            cove_done* done) {
  store* const self = user_data;
  pthread_mutex_lock(&self->mutex);
  entry* const found = find_entry(self, kind, name);
  if (found == NULL || found->document.version != expected) {
    cove_done_fail(done, COVE_CONFLICT, "the document was changed or removed", -1, NULL);
  } else {
    free_document(&found->document);
    *found = self->entries[--self->count];
    cove_done_ok(done, NULL);
  }
  pthread_mutex_unlock(&self->mutex);
  cove_done_free(done);
}

static int text_holds(const char* wanted, const char* value) {
  return wanted == NULL || (*value != '\0' && strcmp(wanted, value) == 0);
}

static int is_before(uint32_t wanted, uint32_t has, uint32_t bit, int64_t before, int64_t value) {
  return (wanted & bit) == 0 || ((has & bit) != 0 && value < before);
}

static int matches(const cove_document_query* query, const cove_document* one) {
  return one->kind == query->kind && text_holds(query->state, one->state) &&
         text_holds(query->source, one->source) && text_holds(query->node, one->node) &&
         is_before(query->times, one->times, COVE_TIME_ACTIVE, query->active_before_ms,
                   one->active_at_ms) &&
         is_before(query->times, one->times, COVE_TIME_HEARTBEAT, query->heartbeat_before_ms,
                   one->heartbeat_ms);
}

/* The time that an order goes by; 0 by name. */
static int64_t time_by(uint32_t order, const cove_document* one) {
  if (order == COVE_ORDER_ACTIVE) return one->active_at_ms;
  return order == COVE_ORDER_HEARTBEAT ? one->heartbeat_ms : 0;
}

static int has_place(uint32_t order, const cove_document* one) {
  if (order == COVE_ORDER_ACTIVE) return (one->times & COVE_TIME_ACTIVE) != 0;
  return order == COVE_ORDER_NAME || (one->times & COVE_TIME_HEARTBEAT) != 0;
}

static int compare_places(int64_t a_time, const char* a_name, int64_t b_time, const char* b_name) {
  if (a_time != b_time) return a_time < b_time ? -1 : 1;
  return strcmp(a_name, b_name); /* which compares bytes as unsigned */
}

static int by_name(const void* a, const void* b) {
  const cove_document* const one = a;
  const cove_document* const other = b;
  return strcmp(one->name, other->name);
}

static int by_active(const void* a, const void* b) {
  const cove_document* const one = a;
  const cove_document* const other = b;
  return compare_places(one->active_at_ms, one->name, other->active_at_ms, other->name);
}

static int by_heartbeat(const void* a, const void* b) {
  const cove_document* const one = a;
  const cove_document* const other = b;
  return compare_places(one->heartbeat_ms, one->name, other->heartbeat_ms, other->name);
}

static void query_documents(void* user_data, const cove_document_query* query, cove_done* done) {
  store* const self = user_data;
  int (*const orders[])(const void*, const void*) = {by_name, by_active, by_heartbeat};
  pthread_mutex_lock(&self->mutex);
  cove_document* const found = malloc((self->count + 1) * sizeof *found);
  size_t count = 0;
  for (size_t i = 0; found != NULL && i < self->count; ++i) {
    const cove_document* const one = &self->entries[i].document;
    if (!matches(query, one) || !has_place(query->order, one)) continue;
    if (query->after_name != NULL &&
        compare_places(time_by(query->order, one), one->name,
                       query->order == COVE_ORDER_NAME ? 0 : query->after_ms,
                       query->after_name) <= 0) {
      continue;
    }
    found[count++] = *one;
  }
  if (found == NULL) {
    cove_done_fail(done, COVE_UNAVAILABLE, "no memory", -1, NULL);
  } else {
    qsort(found, count, sizeof *found, orders[query->order]);
    const size_t given = count < query->limit ? count : query->limit;
    cove_done_documents(done, found, given, given == count ? 1 : 0, NULL);
  }
  free(found);
  pthread_mutex_unlock(&self->mutex);
  cove_done_free(done);
}

static void now(void* user_data, cove_done* done) {
  struct timespec moment;
  (void)user_data;
  clock_gettime(CLOCK_REALTIME, &moment);
  cove_done_time(done, (int64_t)moment.tv_sec * 1000 + moment.tv_nsec / 1000000, NULL);
  cove_done_free(done);
}

static void destroy(void* user_data) {
  store* const self = user_data;
  for (size_t i = 0; i < self->count; ++i) free_document(&self->entries[i].document);
  free(self->entries);
  pthread_mutex_destroy(&self->mutex);
  free(self);
}

cove_metadata_store memory_metadata(uint32_t flags) {
  cove_metadata_store made = COVE_METADATA_STORE_INIT;
  store* const self = calloc(1, sizeof *self);
  if (self == NULL) abort();
  pthread_mutex_init(&self->mutex, NULL);
  made.flags = flags;
  made.self = self;
  made.destroy = destroy;
  made.insert = insert;
  made.find = find;
  made.compare_and_swap = swap;
  made.remove = remove_document;
  made.query = query_documents;
  made.now = now;
  return made;
}
