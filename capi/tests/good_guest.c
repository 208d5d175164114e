/* A host that has things of its own: what it set is as it was after a day's work with Cove.
 * Usage: good_guest CASE STATE_DIR      says "ok" and ends with 0, or with the line that is wrong
 */
#define _GNU_SOURCE
#include "good_guest.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

extern char** environ;

cove* app;
cove_workspace* workspace;

void check_done(cove_status status, cove_error** error, const char* file, int line) {
  if (status == COVE_OK) return;
  fprintf(stderr, "%s:%d: %s\n", file, line, cove_error_describe(*error));
  _exit(1);
}

void begin(const char* state_dir) {
  char config[4096];
  cove_error* error = NULL;
  const cove_workspace_key ana = {sizeof ana, 0, "app", "guest", "ana"};
  snprintf(config, sizeof config, "{\"state_dir\": \"%s\"}", state_dir);
  WORKS(cove_open(config, NULL, &app, &error));
  WORKS(cove_acquire(app, &ana, NULL, &workspace, &error));
}

void run(const char* line, const char* expected) {
  const char* const argv[] = {"sh", "-c", line};
  cove_exec_result* result = NULL;
  cove_error* error = NULL;
  WORKS(cove_workspace_exec(workspace, argv, 3, NULL, &result, &error));
  CHECK(strcmp(cove_exec_result_text(result, COVE_STDOUT, NULL), expected) == 0);
  cove_exec_result_free(result);
}

void end(void) {
  cove_error* error = NULL;
  WORKS(cove_stop(app, cove_workspace_sandbox_id(workspace), NULL, &error));
  WORKS(cove_destroy(app, cove_workspace_sandbox_id(workspace), NULL, &error));
  cove_workspace_free(workspace);
  WORKS(cove_close(app, 20000, &error));
  cove_free(app);
}

/* Its own state: handlers, mask, umask, directory, environment, locale, children. */

static volatile sig_atomic_t children_heard;
static void on_child(int number) {
  (void)number;
  ++children_heard;
}
static void on_user(int number) { (void)number; }

struct own {
  struct sigaction actions[NSIG];
  sigset_t mask;
  mode_t umask;
  char directory[4096];
  char environment[65536];
  char locale[256];
};

static void look(struct own* own) {
  char** variable;
  int number;
  memset(own, 0, sizeof *own);
  for (number = 1; number < NSIG; ++number) sigaction(number, NULL, &own->actions[number]);
  sigprocmask(SIG_BLOCK, NULL, &own->mask);
  own->umask = umask(0);
  umask(own->umask);
  CHECK(getcwd(own->directory, sizeof own->directory) != NULL);
  for (variable = environ; *variable != NULL; ++variable) {
    CHECK(strlen(own->environment) + strlen(*variable) + 2 < sizeof own->environment);
    strcat(strcat(own->environment, *variable), "\n");
  }
  snprintf(own->locale, sizeof own->locale, "%s", setlocale(LC_ALL, NULL));
}

static void check_same(const struct own* before, const struct own* after) {
  int number;
  for (number = 1; number < NSIG; ++number) {
    CHECK(before->actions[number].sa_handler == after->actions[number].sa_handler);
    CHECK(before->actions[number].sa_flags == after->actions[number].sa_flags);
    CHECK(sigismember(&before->mask, number) == sigismember(&after->mask, number));
  }
  CHECK(before->umask == after->umask);
  CHECK(strcmp(before->directory, after->directory) == 0);
  CHECK(strcmp(before->environment, after->environment) == 0);
  CHECK(strcmp(before->locale, after->locale) == 0);
}

static void own_state(const char* state_dir) {
  static struct own before;
  static struct own after;
  sigset_t blocked;
  pid_t child;
  int status = 0;
  signal(SIGCHLD, on_child);
  signal(SIGUSR1, on_user);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGINT, SIG_IGN);
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, SIGRTMIN);
  sigprocmask(SIG_BLOCK, &blocked, NULL);
  umask(0137);
  CHECK(chdir("/usr") == 0);
  CHECK(setenv("LC_ALL", "C.UTF-8", 1) == 0);
  CHECK(setlocale(LC_ALL, "") != NULL);
  look(&before);
  child = fork();
  if (child == 0) _exit(7);
  begin(state_dir);
  run("umask; echo out; exit 0", "0022\nout\n");
  run("trap '' INT; kill -INT $$; echo lives", "lives\n");
  end();
  /* The only child it ever hears of is its own, and that one waits for it. */
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
  CHECK(children_heard == 1);
  CHECK(waitpid(-1, &status, 0) == -1 && errno == ECHILD);
  look(&after);
  check_same(&before, &after);
}

/* Many threads with little room. */

static void* call_some(void* unused) {
  int i;
  for (i = 0; i < 3; ++i) run("echo here", "here\n");
  return unused;
}

static void threads(const char* state_dir) {
  enum { kThreads = 32 };
  pthread_t all[kThreads];
  pthread_attr_t small;
  int i;
  begin(state_dir);
  pthread_attr_init(&small);
  CHECK(pthread_attr_setstacksize(&small, 64 * 1024) == 0);
  for (i = 0; i < kThreads; ++i) CHECK(pthread_create(&all[i], &small, call_some, NULL) == 0);
  for (i = 0; i < kThreads; ++i) CHECK(pthread_join(all[i], NULL) == 0);
  pthread_attr_destroy(&small);
  end();
}

/* The descriptors 0 to 2 are free. */

static void check_null(int fd) {
  struct stat is;
  struct stat null;
  CHECK(fstat(fd, &is) == 0 && stat("/dev/null", &null) == 0 && is.st_rdev == null.st_rdev);
}

static void closed_standard(const char* state_dir) {
  const int told = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
  int null;
  int fd;
  CHECK(told >= 10);
  for (fd = 0; fd <= 2; ++fd) close(fd);
  begin(state_dir);
  run("echo up", "up\n");
  for (fd = 0; fd <= 2; ++fd) check_null(fd);
  /* As daemons do: nothing of Cove's is closed by it. */
  null = open("/dev/null", O_RDWR | O_CLOEXEC);
  CHECK(null > 2);
  for (fd = 0; fd <= 2; ++fd) CHECK(dup2(null, fd) == fd);
  run("echo still", "still\n");
  end();
  CHECK(dup2(told, STDOUT_FILENO) == STDOUT_FILENO);
}

/* It ends while a thread of its own is in the middle of a call. */

static void* call_long(void* begun) {
  const char* const argv[] = {"sleep", "1000"};
  cove_exec_result* result = NULL;
  pthread_barrier_wait(begun);
  cove_workspace_exec(workspace, argv, 2, NULL, &result, NULL);
  return NULL;
}

static void exit_in_a_call(const char* state_dir) {
  pthread_barrier_t begun;
  pthread_t thread;
  begin(state_dir);
  pthread_barrier_init(&begun, NULL, 2);
  CHECK(pthread_create(&thread, NULL, call_long, &begun) == 0);
  pthread_barrier_wait(&begun);
  puts("ok");
  exit(0);
}

static void clear(const char* state_dir) {
  cove_stop_options stop = COVE_STOP_OPTIONS_INIT;
  cove_error* error = NULL;
  begin(state_dir);
  /* What a host that is gone ran may not have ended yet. */
  stop.drain = COVE_DRAIN_CANCEL;
  WORKS(cove_stop(app, cove_workspace_sandbox_id(workspace), &stop, &error));
  end();
}

static const struct {
  const char* name;
  void (*run)(const char* state_dir);
} cases[] = {
    {"own_state", own_state},
    {"threads", threads},
    {"closed_standard", closed_standard},
    {"exit_in_a_call", exit_in_a_call},
    {"few_descriptors", few_descriptors},
    {"fewer_descriptors", fewer_descriptors},
    {"stops_after_many_calls", stops_after_many_calls},
    {"busy_with_few_descriptors", busy_with_few_descriptors},
    {"archived_with_fewer_descriptors", archived_with_fewer_descriptors},
    {"no_descriptors", no_descriptors},
    {"forks", forks},
    {"other_locale", other_locale},
    {"clear", clear},
    {"visit", visit},
};

int main(int argc, char** argv) {
  size_t i;
  CHECK(argc == 3);
  for (i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    if (strcmp(argv[1], cases[i].name) != 0) continue;
    cases[i].run(argv[2]);
    puts("ok");
    return 0;
  }
  return 2;
}
