/* A provider of one's own, in C: the story of hello.c on instances that this program starts itself.
 *
 * It shows the shape of a provider and nothing more. There is NO ISOLATION: cove-agent runs as a
 * plain child process with all rights of this program, on a directory of this machine, without
 * limits; and the instances end with the program. Paths inside are this machine's: a command's
 * directory is not below /workspace.
 *
 *     build/release/bin/example-c-custom-provider STATE_DIR */
#define _GNU_SOURCE
#include <cove.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
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
  uint64_t epoch; /* of what was started last */
  pid_t agent;    /* 0 = nothing runs */
  atomic_int is_open; /* offline: nothing may start; closed on any thread */
} volume;

/* Its slots are called one at a time (`threads` is 1), so it needs no lock. */
typedef struct provider {
  char root[PATH_SIZE / 2];  /* one directory for each volume, by its generation */
  char agent[PATH_SIZE / 2]; /* the program */
  volume volumes[MOST]; /* those without a generation are free */
} provider;

static void fail(cove_done* done, cove_status code, const char* message) {
  cove_done_fail(done, code, message, -1, NULL);
  cove_done_free(done);
}

static void succeed(cove_done* done) {
  cove_done_ok(done, NULL);
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

static void create_volume(void* user_data, const cove_instance_ref* ref, cove_done* done) {
  const provider* const self = user_data;
  const char* const names[] = {"", "workspace", "home"};
  char path[PATH_SIZE];
  FILE* marker = NULL;
  for (size_t i = 0; i < 3; ++i) {
    path_of(self, ref, names[i], path);
    if (mkdir(path, 0700) != 0 && errno != EEXIST) return fail(done, COVE_PROVIDER, path);
  }
  path_of(self, ref, "marker", path); /* last: without it there is no volume */
  marker = fopen(path, "we");
  if (marker == NULL) return fail(done, COVE_PROVIDER, path);
  fprintf(marker, "%s %s %s", ref->deployment, ref->sandbox, ref->generation);
  if (fclose(marker) != 0) return fail(done, COVE_QUOTA_EXCEEDED, path);
  succeed(done);
}

static int remove_entry(const char* path, const struct stat* facts, int type, struct FTW* where) {
  (void)facts, (void)type, (void)where;
  return remove(path);
}

static void delete_volume(void* user_data, const cove_instance_ref* ref, cove_done* done) {
  provider* const self = user_data;
  volume* const its = volume_of(self, ref);
  char path[PATH_SIZE];
  if (its == NULL) return fail(done, COVE_QUOTA_EXCEEDED, "too many volumes for this example");
  if (its->is_open || runs(its)) return fail(done, COVE_FAILED_PRECONDITION, "it is in use");
  path_of(self, ref, "", path);
  if (nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT) {
    return fail(done, COVE_PROVIDER, path);
  }
  its->generation[0] = '\0';
  succeed(done);
}

/* What an opened volume is closed and synced with. */
typedef struct opened {
  volume* its;
  int directory;
} opened;

static void close_volume(void* user_data) {
  opened* const self = user_data;
  close(self->directory);
  self->its->is_open = 0;
  free(self);
}

static void sync_volume(void* user_data, cove_done* done) {
  const opened* const self = user_data;
  if (syncfs(self->directory) != 0) return fail(done, COVE_PROVIDER, "syncfs failed");
  succeed(done);
}

static void open_volume(void* user_data, const cove_instance_ref* ref, cove_done* done) {
  provider* const self = user_data;
  volume* const its = volume_of(self, ref);
  opened* const made = calloc(1, sizeof *made);
  cove_offline_volume given = COVE_OFFLINE_VOLUME_INIT;
  char path[PATH_SIZE];
  path_of(self, ref, "workspace", path);
  if (made == NULL || its == NULL) {
    fail(done, COVE_QUOTA_EXCEEDED, "too many volumes for this example");
  } else if (!is_there(self, ref)) {
    fail(done, COVE_INTEGRITY, "the volume is missing");
  } else if (its->is_open || runs(its)) {
    fail(done, COVE_FAILED_PRECONDITION, "it is in use");
  } else {
    made->its = its;
    made->directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    its->is_open = 1;
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

static void start_instance(void* user_data, const cove_instance_ref* ref, const char* policy_json,
                           cove_done* done) {
  provider* const self = user_data;
  volume* const its = volume_of(self, ref);
  struct sockaddr_un address;
  (void)policy_json; /* which a provider with isolation would obey */
  if (its == NULL) return fail(done, COVE_QUOTA_EXCEEDED, "too many volumes for this example");
  if (!is_there(self, ref)) return fail(done, COVE_INTEGRITY, "the volume is missing");
  if (its->is_open) return fail(done, COVE_FAILED_PRECONDITION, "it is open");
  if (runs(its) && its->epoch == ref->epoch) return succeed(done);
  if (runs(its) && its->epoch > ref->epoch) return fail(done, COVE_CONFLICT, "a newer one runs");
  end(its);
  if (!address_of(self, ref, &address)) {
    return fail(done, COVE_PROVIDER, "the state directory's path is too long for a socket");
  }
  its->agent = spawn_agent(self, ref, &address);
  its->epoch = ref->epoch;
  if (its->agent == 0) return fail(done, COVE_PROVIDER, "cove-agent does not start");
  succeed(done);
}

static void stop_instance(void* user_data, const cove_instance_ref* ref, cove_done* done) {
  volume* const its = volume_of(user_data, ref);
  if (its != NULL && its->epoch <= ref->epoch) end(its);
  succeed(done);
}

static void inspect(void* user_data, const cove_instance_ref* ref, cove_done* done) {
  provider* const self = user_data;
  volume* const its = volume_of(self, ref);
  const int is_running = its != NULL && runs(its) && its->epoch == ref->epoch;
  cove_done_instance(done, is_running, is_there(self, ref), NULL);
  cove_done_free(done);
}

static void connect_to(void* user_data, const cove_instance_ref* ref, cove_done* done) {
  provider* const self = user_data;
  volume* const its = volume_of(self, ref);
  struct sockaddr_un address;
  int connection = -1;
  if (!is_there(self, ref)) return fail(done, COVE_INTEGRITY, "the volume is missing");
  if (its == NULL || !runs(its) || its->epoch != ref->epoch || !address_of(self, ref, &address)) {
    return fail(done, COVE_UNAVAILABLE, "nothing of this epoch runs");
  }
  connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(connection, (const struct sockaddr*)&address, sizeof address) != 0) {
    close(connection);
    return fail(done, COVE_UNAVAILABLE, "no agent answers");
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
}

static cove_provider slots_of(provider* self) {
  cove_provider slots = COVE_PROVIDER_INIT;
  slots.flags = COVE_PART_BLOCKING;
  slots.threads = 1;
  slots.self = self;
  slots.destroy = destroy;
  slots.name = "example";
  slots.create_volume = create_volume;
  slots.delete_volume = delete_volume;
  slots.open_volume = open_volume;
  slots.start_instance = start_instance;
  slots.stop_instance = stop_instance;
  slots.inspect = inspect;
  slots.connect = connect_to;
  slots.list = list;
  return slots;
}

static cove_error* error = NULL;

static void must(cove_status status) {
  if (status == COVE_OK) return;
  fprintf(stderr, "%s: %s\n", cove_status_name(status), cove_error_describe(error));
  exit(1);
}

static cove_workspace* acquire(cove* app, const char* chat) {
  cove_workspace_key ana = COVE_WORKSPACE_KEY_INIT;
  cove_acquire_options options = COVE_ACQUIRE_OPTIONS_INIT;
  cove_workspace* workspace = NULL;
  ana.source_type = "app";
  ana.source_id = "provider-c";
  ana.user_id = "ana";
  options.chat_id = chat;
  must(cove_acquire(app, &ana, &options, &workspace, &error));
  return workspace;
}

static void story(cove* app) {
  const char* const argv[] = {"sh", "-c",
                              "echo \"$(cat note.txt) from /workspace/${PWD##*/workspace/}\""};
  char sandbox[64];
  cove_exec_result* result = NULL;
  cove_buffer* note = NULL;
  cove_workspace* workspace = acquire(app, "c1");
  must(cove_workspace_write_file(workspace, "note.txt", "hello", 5, NULL, NULL, &error));
  must(cove_workspace_exec(workspace, argv, 3, NULL, &result, &error));
  printf("%s", cove_exec_result_text(result, COVE_STDOUT, NULL));
  cove_exec_result_free(result);
  snprintf(sandbox, sizeof sandbox, "%s", cove_workspace_sandbox_id(workspace));
  must(cove_workspace_release(workspace, NULL, &error));
  cove_workspace_free(workspace);
  must(cove_stop(app, sandbox, NULL, &error));
  must(cove_archive(app, sandbox, NULL, &error));

  workspace = acquire(app, "c2");
  must(cove_workspace_read_file(workspace, "../c1/note.txt", NULL, &note, &error));
  printf("chat c2 reads: %s (%s)\n", cove_buffer_data(note),
         cove_workspace_work(workspace) == COVE_WORK_RESTORED ? "restored" : "not restored");
  cove_buffer_free(note);
  must(cove_workspace_release(workspace, NULL, &error));
  cove_workspace_free(workspace);
  must(cove_destroy(app, sandbox, NULL, &error));
}

int main(int argc, char** argv) {
  static provider its;
  const cove_provider slots = slots_of(&its);
  cove_open_options options = COVE_OPEN_OPTIONS_INIT;
  char config[PATH_SIZE];
  cove* app = NULL;
  if (argc != 2 || strlen(argv[1]) > 200) return fprintf(stderr, "usage: %s STATE_DIR\n", argv[0]), 2;
  mkdir(argv[1], 0700);
  snprintf(its.root, sizeof its.root, "%s/mine", argv[1]);
  snprintf(its.agent, sizeof its.agent, "%s/mine/cove-agent", argv[1]);
  if (mkdir(its.root, 0700) != 0 && errno != EEXIST) return perror(its.root), 1;
  must(cove_agent_write(its.agent, &error));
  snprintf(config, sizeof config, "{\"state_dir\": \"%s\"}", argv[1]);
  options.provider = &slots;
  must(cove_open(config, &options, &app, &error));
  story(app);
  must(cove_close(app, 10000, &error));
  cove_free(app);
  return 0;
}
