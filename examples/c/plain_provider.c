/* See plain_provider.h. */
#define _GNU_SOURCE
#include "plain_provider.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 16, PATH_SIZE = 512 };

/* One volume that this program has touched, and what runs on it. */
typedef struct volume {
  char deployment[64];
  char sandbox[128];
  char generation[64];
  uint64_t epoch;   /* of what was started last */
  uint64_t stopped; /* the newest that was stopped: it never starts again */
  pid_t agent;      /* 0 = nothing runs */
  int is_open;      /* offline: nothing may start; closed on any thread, so it is read atomically */
} volume;

/* Its slots are called one at a time (`threads` is 1), so it needs no lock. */
typedef struct provider {
  char root[PATH_SIZE / 2];  /* one directory for each volume, by its generation */
  char agent[PATH_SIZE / 2]; /* the program */
  volume volumes[MOST];      /* those without a generation are free */
} provider;

/* What a slot that only succeeds or fails is answered with. */
typedef struct outcome {
  cove_status code;
  const char* why;
} outcome;

static outcome no(cove_status code, const char* why) {
  const outcome made = {code, why};
  return made;
}

static outcome yes(void) { return no(COVE_OK, ""); }

static void answer(cove_done* done, outcome its) {
  if (its.code == COVE_OK) {
    cove_done_ok(done, NULL);
  } else {
    cove_done_fail(done, its.code, its.why, -1, NULL);
  }
  cove_done_free(done);
}

/* "<root>/<generation>/<name>" */
static void path_of(const provider* self, const cove_instance_ref* ref, const char* name,
                    char path[PATH_SIZE]) {
  snprintf(path, PATH_SIZE, "%s/%.63s/%s", self->root, ref->generation, name);
}

static volume* volume_of(provider* self, const cove_instance_ref* ref) {
  volume* made = NULL;
  for (size_t i = 0; i < MOST; ++i) {
    volume* const one = &self->volumes[i];
    if (strcmp(one->generation, ref->generation) == 0) return one;
    if (one->generation[0] == '\0') made = one;
  }
  if (made == NULL) return NULL;
  made->epoch = 0;
  made->stopped = 0;
  snprintf(made->deployment, sizeof made->deployment, "%s", ref->deployment);
  snprintf(made->sandbox, sizeof made->sandbox, "%s", ref->sandbox);
  snprintf(made->generation, sizeof made->generation, "%s", ref->generation);
  return made;
}

/* Whether the volume is there and the one that is named: its marker says so. */
static int is_there(const provider* self, const cove_instance_ref* ref) {
  char path[PATH_SIZE], said[PATH_SIZE] = "", wanted[PATH_SIZE];
  FILE* marker = NULL;
  path_of(self, ref, "marker", path);
  snprintf(wanted, sizeof wanted, "%s %s %s", ref->deployment, ref->sandbox, ref->generation);
  marker = fopen(path, "re");
  if (marker == NULL) return 0;
  if (fgets(said, sizeof said, marker) == NULL) said[0] = '\0';
  fclose(marker);
  return strcmp(said, wanted) == 0;
}

static int is_open(const volume* its) { return __atomic_load_n(&its->is_open, __ATOMIC_ACQUIRE); }

static void set_open(volume* its, int value) {
  __atomic_store_n(&its->is_open, value, __ATOMIC_RELEASE);
}

/* Whether the volume's agent runs; one that ended is reaped. */
static int runs(volume* its) {
  if (its->agent > 0 && waitpid(its->agent, NULL, WNOHANG) != 0) its->agent = 0;
  return its->agent > 0;
}

/* SIGTERM, on which an agent ends its commands, and SIGKILL after ten seconds. */
static void end(volume* its) {
  struct pollfd ended = {-1, POLLIN, 0};
  if (!runs(its)) return;
  ended.fd = (int)syscall(SYS_pidfd_open, its->agent, 0);
  kill(its->agent, SIGTERM);
  if (ended.fd < 0 || poll(&ended, 1, 10000) != 1) kill(its->agent, SIGKILL);
  waitpid(its->agent, NULL, 0);
  if (ended.fd >= 0) close(ended.fd);
  its->agent = 0;
}

static outcome make_volume(const provider* self, const cove_instance_ref* ref) {
  const char* const names[] = {"", "workspace", "home"};
  char path[PATH_SIZE];
  FILE* marker = NULL;
  for (size_t i = 0; i < 3; ++i) {
    path_of(self, ref, names[i], path);
    if (mkdir(path, 0700) != 0 && errno != EEXIST) return no(COVE_PROVIDER, "no directory");
  }
  path_of(self, ref, "marker", path); /* last: without it there is no volume */
  marker = fopen(path, "we");
  if (marker == NULL) return no(COVE_PROVIDER, "no marker");
  fprintf(marker, "%s %s %s", ref->deployment, ref->sandbox, ref->generation);
  return fclose(marker) == 0 ? yes() : no(COVE_QUOTA_EXCEEDED, "no room for the marker");
}

static void create_volume(void* user_data, const cove_instance_ref* ref, cove_done* done) {
  answer(done, make_volume(user_data, ref));
}

static int remove_entry(const char* path, const struct stat* facts, int type, struct FTW* where) {
  (void)facts, (void)type, (void)where;
  return remove(path);
}

static outcome drop_volume(provider* self, const cove_instance_ref* ref) {
  volume* const its = volume_of(self, ref);
  char path[PATH_SIZE];
  if (its == NULL) return no(COVE_QUOTA_EXCEEDED, "too many volumes for this example");
  if (is_open(its) || runs(its)) return no(COVE_FAILED_PRECONDITION, "it is in use");
  path_of(self, ref, "", path);
  if (nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT) {
    return no(COVE_PROVIDER, "the volume's files cannot be removed");
  }
  its->generation[0] = '\0';
  return yes();
}

static void delete_volume(void* user_data, const cove_instance_ref* ref, cove_done* done) {
  answer(done, drop_volume(user_data, ref));
}

/* What an opened volume is closed and synced with. */
typedef struct opened {
  volume* its;
  int directory;
} opened;

static void close_volume(void* user_data) {
  opened* const self = user_data;
  close(self->directory);
  set_open(self->its, 0);
  free(self);
}

static void sync_volume(void* user_data, cove_done* done) {
  const opened* const self = user_data;
  answer(done, syncfs(self->directory) == 0 ? yes() : no(COVE_PROVIDER, "syncfs failed"));
}

static void open_volume(void* user_data, const cove_instance_ref* ref, cove_done* done) {
  provider* const self = user_data;
  volume* const its = volume_of(self, ref);
  opened* const made = calloc(1, sizeof *made);
  cove_offline_volume given = COVE_OFFLINE_VOLUME_INIT;
  char path[PATH_SIZE];
  path_of(self, ref, "workspace", path);
  if (made == NULL || its == NULL) {
    answer(done, no(COVE_QUOTA_EXCEEDED, "too many volumes for this example"));
  } else if (!is_there(self, ref)) {
    answer(done, no(COVE_INTEGRITY, "the volume is missing"));
  } else if (is_open(its) || runs(its)) {
    answer(done, no(COVE_FAILED_PRECONDITION, "it is in use"));
  } else {
    made->its = its;
    made->directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    set_open(its, 1);
    given.flags = COVE_VOLUME_ONE_USER;
    given.directory = made->directory;
    given.self = made;
    given.close = close_volume;
    given.sync = sync_volume;
    cove_done_volume(done, &given, NULL);
    cove_done_free(done);
    return;
  }
  free(made);
}

static int address_of(const provider* self, const cove_instance_ref* ref,
                      struct sockaddr_un* address) {
  char path[PATH_SIZE];
  path_of(self, ref, "s", path);
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address->sun_path) return 0;
  memcpy(address->sun_path, path, strlen(path) + 1);
  return 1;
}

/* The document that an agent is started with (docs/formats.md), in a file without a name. */
static int write_boot(const provider* self, const cove_instance_ref* ref, int listener) {
  char workspace[PATH_SIZE], home[PATH_SIZE];
  const int boot = memfd_create("boot", MFD_CLOEXEC);
  path_of(self, ref, "workspace", workspace);
  path_of(self, ref, "home", home);
  dprintf(boot,
          "{\"version\": 1, \"deployment\": \"%s\", \"sandbox\": \"%s\", \"generation\": \"%s\","
          " \"epoch\": %llu, \"listen_fd\": %d, \"workspace\": \"%s\", \"home\": \"%s\","
          " \"uid\": %u, \"gid\": %u, \"best_effort_limits\": true,"
          " \"environment\": {\"PATH\": \"/usr/local/bin:/usr/bin:/bin\", \"HOME\": \"%s\"}}",
          ref->deployment, ref->sandbox, ref->generation, (unsigned long long)ref->epoch, listener,
          workspace, home, (unsigned)getuid(), (unsigned)getgid(), home);
  return boot;
}

/* Starts an agent that listens at `address`; 0 = it could not be. */
static pid_t spawn_agent(const provider* self, const cove_instance_ref* ref,
                         const struct sockaddr_un* address) {
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int boot = write_boot(self, ref, listener);
  char number[16], program[] = "cove-agent", verb[] = "guest";
  char* const arguments[] = {program, verb, number, NULL};
  char* const environment[] = {NULL};
  posix_spawn_file_actions_t actions;
  pid_t agent = 0;
  snprintf(number, sizeof number, "%d", boot);
  unlink(address->sun_path);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, boot, boot); /* copied onto itself: inherited */
  posix_spawn_file_actions_adddup2(&actions, listener, listener);
  /* Listening before the agent runs: who connects early waits for its greeting. */
  if (bind(listener, (const struct sockaddr*)address, sizeof *address) != 0 ||
      listen(listener, 128) != 0 ||
      posix_spawn(&agent, self->agent, &actions, NULL, arguments, environment) != 0) {
    agent = 0;
  }
  posix_spawn_file_actions_destroy(&actions);
  close(listener);
  close(boot);
  return agent;
}

static outcome begin(provider* self, const cove_instance_ref* ref) {
  volume* const its = volume_of(self, ref);
  struct sockaddr_un address;
  if (its == NULL) return no(COVE_QUOTA_EXCEEDED, "too many volumes for this example");
  if (!is_there(self, ref)) return no(COVE_INTEGRITY, "the volume is missing");
  if (is_open(its)) return no(COVE_FAILED_PRECONDITION, "it is open");
  if (runs(its) && its->epoch == ref->epoch) return yes();
  if (runs(its) && its->epoch > ref->epoch) return no(COVE_CONFLICT, "a newer one runs");
  if (ref->epoch <= its->stopped) return no(COVE_CONFLICT, "it was stopped");
  end(its);
  if (!address_of(self, ref, &address)) {
    return no(COVE_PROVIDER, "the state directory's path is too long for a socket");
  }
  its->agent = spawn_agent(self, ref, &address);
  its->epoch = ref->epoch;
  return its->agent != 0 ? yes() : no(COVE_PROVIDER, "cove-agent does not start");
}

static void start_instance(void* user_data, const cove_instance_ref* ref, const char* policy_json,
                           cove_done* done) {
  (void)policy_json; /* which a provider with isolation would obey */
  answer(done, begin(user_data, ref));
}

static void stop_instance(void* user_data, const cove_instance_ref* ref, cove_done* done) {
  volume* const its = volume_of(user_data, ref);
  if (its != NULL && its->epoch <= ref->epoch) end(its);
  if (its != NULL && its->stopped < ref->epoch) its->stopped = ref->epoch;
  answer(done, yes());
}

static void inspect(void* user_data, const cove_instance_ref* ref, cove_done* done) {
  provider* const self = user_data;
  volume* const its = volume_of(self, ref);
  const int is_running = its != NULL && runs(its) && its->epoch == ref->epoch;
  cove_done_instance(done, is_running, is_there(self, ref), NULL);
  cove_done_free(done);
}

static outcome reach(provider* self, const cove_instance_ref* ref, int* connection) {
  volume* const its = volume_of(self, ref);
  struct sockaddr_un address;
  if (!is_there(self, ref)) return no(COVE_INTEGRITY, "the volume is missing");
  if (its == NULL || !runs(its) || its->epoch != ref->epoch || !address_of(self, ref, &address)) {
    return no(COVE_UNAVAILABLE, "nothing of this epoch runs");
  }
  *connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(*connection, (const struct sockaddr*)&address, sizeof address) == 0) return yes();
  close(*connection);
  return no(COVE_UNAVAILABLE, "no agent answers");
}

static void connect_to(void* user_data, const cove_instance_ref* ref, cove_done* done) {
  int connection = -1;
  const outcome reached = reach(user_data, ref, &connection);
  if (reached.code != COVE_OK) {
    answer(done, reached);
    return;
  }
  cove_done_socket(done, connection, NULL);
  cove_done_free(done);
}

/* An example lists what it has touched; a real one looks at its disks. */
static void list(void* user_data, const char* deployment, cove_done* done) {
  provider* const self = user_data;
  cove_instance_ref volumes[MOST], instances[MOST];
  cove_inventory inventory = COVE_INVENTORY_INIT;
  inventory.volumes = volumes;
  inventory.instances = instances;
  for (size_t i = 0; i < MOST; ++i) {
    volume* const its = &self->volumes[i];
    cove_instance_ref ref = COVE_INSTANCE_REF_INIT;
    ref.deployment = its->deployment;
    ref.sandbox = its->sandbox;
    ref.generation = its->generation;
    if (strcmp(its->deployment, deployment) != 0 || !is_there(self, &ref)) continue;
    volumes[inventory.volume_count++] = ref;
    ref.epoch = its->epoch;
    if (runs(its)) instances[inventory.instance_count++] = ref;
  }
  cove_done_inventory(done, &inventory, NULL);
  cove_done_free(done);
}

static void destroy(void* user_data) {
  provider* const self = user_data;
  for (size_t i = 0; i < MOST; ++i) end(&self->volumes[i]);
  free(self);
}

int plain_provider(const char* root, const char* agent, cove_provider* made) {
  provider* const self = calloc(1, sizeof *self);
  if (self == NULL || strlen(root) >= sizeof self->root || strlen(agent) >= sizeof self->agent) {
    free(self);
    return 0;
  }
  snprintf(self->root, sizeof self->root, "%s", root);
  snprintf(self->agent, sizeof self->agent, "%s", agent);
  cove_provider_init(made, sizeof *made);
  made->flags = COVE_PART_BLOCKING;
  made->threads = 1;
  made->self = self;
  made->destroy = destroy;
  made->name = "example";
  made->create_volume = create_volume;
  made->delete_volume = delete_volume;
  made->open_volume = open_volume;
  made->start_instance = start_instance;
  made->stop_instance = stop_instance;
  made->inspect = inspect;
  made->connect = connect_to;
  made->list = list;
  return 1;
}
