/*
 * Starts the workers of an origin and keeps them running: a crashed one is started again, a hung one replaced, and at
 * SIGHUP all of them are, one at a time. It is all that runs beside a worker that rests, which is why it is in C.
 *
 * A worker has a slot, a number that its successors keep, and a socket as its descriptor 3, over which both send JSON,
 * one value a line: what Bun calls process.send (NODE_CHANNEL_FD). This program reads of it only which of these it is:
 *
 *   from a worker   "listens PORT"               it answers there
 *                   "grow COUNT ADMIN_PORT"      the first one is ready; so many are wanted
 *                   "keep NAME=VALUE …"          for the environment of later workers, as ORIGIN_KEPT_NAME; each of these is
 *                                                percent-encoded
 *                   "replace"                    replace all of them
 *                   "reopen PID"                 let that worker open the database anew
 *                   {"report":…}                 how it is doing, at least once a second
 *                   {"time":…}                   a line of the log
 *   to a worker     {"report":…}                 of another one, or of its own predecessor
 *                   {"gone":SLOT}                nothing serves in that slot for the moment
 *                   {"exits":{"crashed":…,…}}    how often workers have ended; with the first one it has been told all
 *                   {"reopen":true}
 *
 * What workers read of files they keep here, so that one that is started later has what the others have. SIGTERM lets
 * all finish. POSIX, and where there is one, /proc of Linux.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* SIGPIPE is ignored in any case */
#endif

extern char **environ;

typedef int64_t Milliseconds; /* of a clock that does not jump */

enum {
  MOST_SLOTS = 256,
  MOST_PROCESSES = 2 * MOST_SLOTS, /* a killed one that waits for a disk does not end */
  MOST_KEPT = 16,
  MOST_OPTIONS = 64,
  MOST_LINE = 1 << 20, /* bytes */
  MOST_QUEUED = 1 << 20,
  LOOK_INTERVAL = 500,
  QUIET = 10000,         /* without a crash, after which the next one counts as the first */
  REPLACE_AFTER = 3000,  /* without a report, which comes every second */
  LONGEST_STARVING = 15000, /* without a processor: it is given so much time more */
  START_TIMEOUT = 15000, /* until it listens and has reported */
  STOP_TIMEOUT = 10000,
  LONGEST_PAUSE = 2000, /* of this process, after which it has to hear from the workers anew */
  SHORTEST_DELAY = 100, /* until a crashed one is started again, doubled with each crash in a row */
  LONGEST_DELAY = 3000,
  SPAWN_RETRY = 1000,
  SIGNAL_DELAY = 50, /* a signal to the whole group may reach a worker first, then this process */
  CANNOT_START = 78, /* EX_CONFIG of sysexits.h: the worker has written the reason on standard error */
};

#define KEPT "ORIGIN_KEPT_"

typedef struct {
  char *bytes;
  size_t length, room;
} Buffer;

/* A process. `pid` is 0 where there is none. */
typedef struct {
  pid_t pid;
  int socket;
  int slot;
  unsigned serial; /* of those started, in their order */
  enum { STARTING, LISTENING, LEAVING, ABANDONED } state;
  bool has_reported;
  bool is_outdated; /* it is to be replaced */
  bool reads_again; /* it was told to read files instead of what is kept */
  bool has_exited;  /* its pid may be another process's by now */
  pid_t successor;  /* of one that leaves */
  Milliseconds started, heard, kill_at;
  double delay_when_heard;
  Buffer in, out;
} Worker;

typedef struct {
  Worker *worker;    /* what serves; it may still be starting */
  Worker *candidate; /* what is to take its place */
  Milliseconds start_at; /* when to start another one; 0 for never */
  Buffer report;         /* the last one of any worker here */
  unsigned report_serial;
} Slot;

static char **command;
static Worker workers[MOST_PROCESSES];
static Slot slots[MOST_SLOTS];
static int wanted = 1;
static char *kept[MOST_KEPT]; /* ORIGIN_KEPT_NAME=VALUE */
static int port, admin_port;
static bool is_ready, is_stopping, reads_again;
static unsigned crashed, hung, crashes_in_a_row, last_serial;
static Milliseconds now, looked_at, listening_since, fail_at;
static int first_status;
static int wake_up[2]; /* a pipe that handlers of signals write to */

static Milliseconds read_clock(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (Milliseconds)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void *require(void *memory) {
  static const char text[] = "Cannot go on: no memory is left\n";
  if (memory == NULL) {
    if (write(2, text, sizeof text - 1) < 0) {} /* nothing can be done about it */
    exit(1);
  }
  return memory;
}

static void append(Buffer *buffer, const char *bytes, size_t length) {
  if (buffer->length + length > buffer->room) {
    buffer->room = (buffer->length + length) * 2;
    buffer->bytes = require(realloc(buffer->bytes, buffer->room));
  }
  memcpy(buffer->bytes + buffer->length, bytes, length);
  buffer->length += length;
}

static void drop_front(Buffer *buffer, size_t length) {
  buffer->length -= length;
  if (buffer->length > 0) memmove(buffer->bytes, buffer->bytes + length, buffer->length);
}

static void release(Buffer *buffer) {
  free(buffer->bytes);
  *buffer = (Buffer){0};
}

/* --- The log: lines of JSON on standard output, of which none is ever waited for --- */

static ssize_t write_without_waiting(const char *bytes, size_t length) {
  static enum { UNKNOWN, SOCKET, OTHER } kind = UNKNOWN;
  static int output = 1;
  if (kind == UNKNOWN) {
    struct stat status;
    kind = fstat(1, &status) == 0 && S_ISSOCK(status.st_mode) ? SOCKET : OTHER;
    /* What has it open, too, may want to wait: it is opened anew, where that can be done. */
    int anew = kind == OTHER && S_ISFIFO(status.st_mode) ? open("/dev/fd/1", O_WRONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    if (anew >= 0) output = anew;
  }
  return kind == SOCKET ? send(1, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL) : write(output, bytes, length);
}

static void write_line(const char *line, size_t length) {
  static bool is_cut = false;
  static Buffer whole;
  whole.length = 0;
  if (is_cut) append(&whole, "\n", 1);
  append(&whole, line, length);
  append(&whole, "\n", 1);
  ssize_t written = write_without_waiting(whole.bytes, whole.length);
  if (written > 0) is_cut = (size_t)written < whole.length;
}

/* `facts` begin with a comma where there are any. */
static void write_event(const char *level, const char *event, const char *message, const char *facts, ...) {
  char more[512], line[1024], second[32];
  va_list values;
  va_start(values, facts);
  vsnprintf(more, sizeof more, facts, values);
  va_end(values);
  struct timeval time;
  gettimeofday(&time, NULL);
  strftime(second, sizeof second, "%Y-%m-%dT%H:%M:%S", gmtime(&time.tv_sec));
  int length = snprintf(line, sizeof line,
                        "{\"time\":\"%s.%03dZ\",\"level\":\"%s\",\"event\":\"%s\",\"message\":\"%s\"%s,\"pid\":%d}", second,
                        (int)(time.tv_usec / 1000), level, event, message, more, (int)getpid());
  write_line(line, (size_t)length);
}

/* --- What is sent to workers --- */

/* Bytes that it does not take now are sent when it does. One that hangs takes none: what is too much is dropped. */
static void send_bytes(Worker *worker, const char *bytes, size_t length) {
  if (worker->socket < 0 || length == 0 || worker->out.length + length > MOST_QUEUED) return;
  ssize_t sent = worker->out.length > 0 ? -1 : send(worker->socket, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0) sent = 0;
  if ((size_t)sent < length) append(&worker->out, bytes + sent, length - (size_t)sent);
}

static void send_rest(Worker *worker) {
  ssize_t sent = send(worker->socket, worker->out.bytes, worker->out.length, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent > 0) drop_front(&worker->out, (size_t)sent);
  else if (errno != EAGAIN && errno != EINTR) worker->out.length = 0; /* nobody reads any more */
}

static void send_to_all(const char *bytes, size_t length) {
  for (Worker *worker = workers; worker < workers + MOST_PROCESSES; worker++)
    if (worker->pid != 0) send_bytes(worker, bytes, length);
}

static size_t describe_exits(char *line, size_t room) {
  return (size_t)snprintf(line, room, "{\"exits\":{\"crashed\":%u,\"hung\":%u}}\n", crashed, hung);
}

static void send_gone(Worker *reader, int slot) {
  char line[64];
  size_t length = (size_t)snprintf(line, sizeof line, "{\"gone\":%d}\n", slot);
  if (reader != NULL) send_bytes(reader, line, length);
  else send_to_all(line, length);
}

static void tell_exits(void) {
  char line[96];
  send_to_all(line, describe_exits(line, sizeof line));
}

/* What a worker has to know before it reports for the first time. */
static void tell_all(Worker *worker) {
  for (int slot = 0; slot < wanted; slot++) {
    send_bytes(worker, slots[slot].report.bytes, slots[slot].report.length);
    bool serves = slots[slot].worker != NULL && slots[slot].worker->has_reported;
    if (!serves && slot != worker->slot) send_gone(worker, slot);
  }
  char line[96];
  send_bytes(worker, line, describe_exits(line, sizeof line));
}

/* --- Processes --- */

static bool begins(const char *line, const char *with) { return strncmp(line, with, strlen(with)) == 0; }

static bool has_name_of(const char *assignment, const char *other) {
  size_t length = strcspn(other, "=");
  return strncmp(assignment, other, length) == 0 && assignment[length] == '=';
}

/* At the end, unless the name has a value: `assignments` end with NULL, and have room. */
static void add(char **assignments, char *assignment) {
  for (; *assignments != NULL; assignments++)
    if (has_name_of(*assignments, assignment)) return;
  *assignments = assignment;
}

static void close_on_exec(int descriptor) { fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

/* The options of the engine: NAME=VALUE a line, in the file engine.env beside the program. An upgrade may have changed it. */
static void add_engine_options(char **assignments, const char *program) {
  const char *slash = strrchr(program, '/');
  size_t folder = slash == NULL ? 0 : (size_t)(slash - program) + 1;
  char *path = require(calloc(folder + 11, 1)), line[256];
  memcpy(path, program, folder);
  strcpy(path + folder, "engine.env");
  FILE *file = fopen(path, "r");
  if (file == NULL) return;
  for (int count = 0; count < MOST_OPTIONS && fgets(line, sizeof line, file) != NULL;) {
    line[strcspn(line, "\r\n")] = '\0';
    if (line[0] == '#' || strchr(line, '=') == NULL) continue;
    add(assignments, require(strdup(line)));
    count++;
  }
  fclose(file);
}

/* In the new process: never returns. */
static void run_worker(const Worker *worker, int its_socket) {
  size_t words = 0, count = 0;
  while (command[words] != NULL) words++;
  while (environ[count] != NULL) count++;
  char slot[16], on[16], admin[16];
  snprintf(slot, sizeof slot, "%d", worker->slot);
  snprintf(on, sizeof on, "%d", port);
  snprintf(admin, sizeof admin, "%d", admin_port);
  char **arguments = require(calloc(words + 6, sizeof *arguments));
  memcpy(arguments, command, words * sizeof *arguments);
  char *ours[] = {"worker", slot, on, admin, worker->reads_again ? "again" : NULL};
  memcpy(arguments + words, ours, sizeof ours);
  char **environment = require(calloc(count + MOST_OPTIONS + MOST_KEPT + 3, sizeof *environment));
  add(environment, "NODE_CHANNEL_FD=3");
  add(environment, "NODE_CHANNEL_SERIALIZATION_MODE=json");
  for (size_t index = 0; index < MOST_KEPT; index++)
    if (kept[index] != NULL) add(environment, kept[index]);
  for (size_t index = 0; index < count; index++)
    if (!begins(environ[index], KEPT)) add(environment, environ[index]);
  add_engine_options(environment, command[words - 1]);
  close(0);
  open("/dev/null", O_RDONLY); /* as 0 */
  dup2(its_socket, 3); /* the copy stays open in the program */
  for (int other = 4; other < 256; other++) close(other); /* what this program was started with */
  signal(SIGPIPE, SIG_DFL);
  environ = environment;
  execvp(arguments[0], arguments);
  fprintf(stderr, "Cannot run %s: %s\n", arguments[0], strerror(errno));
  _exit(CANNOT_START);
}

static Worker *find_free(void) {
  for (Worker *worker = workers; worker < workers + MOST_PROCESSES; worker++)
    if (worker->pid == 0) return worker;
  errno = EAGAIN;
  return NULL;
}

/* NULL when the system does not allow it, which is in the log then. */
static Worker *start_worker(int slot) {
  int ends[2] = {-1, -1};
  Worker *worker = find_free();
  if (worker == NULL || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) goto failed;
  close_on_exec(ends[0]);
  close_on_exec(ends[1]);
  *worker = (Worker){.slot = slot, .socket = ends[0], .started = now, .heard = now, .reads_again = reads_again};
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  pid_t pid = fork();
  if (pid == 0) {
    const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};
    for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) signal(numbers[index], SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    run_worker(worker, ends[1]);
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (pid < 0) goto failed;
  close(ends[1]);
  worker->pid = pid;
  worker->serial = ++last_serial;
  reads_again = false;
  tell_all(worker);
  return worker;
failed:
  write_event("error", "worker_not_started", "A process cannot be started.", ",\"error\":\"%s\"", strerror(errno));
  if (ends[0] >= 0) close(ends[0]), close(ends[1]);
  return NULL;
}

static void start_in(Slot *slot) {
  slot->start_at = 0;
  slot->worker = start_worker((int)(slot - slots));
  if (slot->worker == NULL) slot->start_at = now + SPAWN_RETRY;
}

/* Gives the milliseconds until the successor of a worker starts. */
static Milliseconds start_later(const Worker *worker) {
  crashes_in_a_row = now - worker->started > QUIET ? 1 : crashes_in_a_row + 1;
  Milliseconds delay = crashes_in_a_row > 5 ? LONGEST_DELAY : SHORTEST_DELAY << (crashes_in_a_row - 1);
  if (delay > LONGEST_DELAY) delay = LONGEST_DELAY;
  Slot *slot = &slots[worker->slot];
  if (slot->candidate != NULL) return 0; /* which takes its place */
  slot->start_at = now + delay;
  return delay;
}

static void stop_worker(Worker *worker, int signal) {
  kill(worker->pid, signal);
  if (worker->kill_at == 0) worker->kill_at = now + STOP_TIMEOUT;
}

/* Milliseconds of its life in which it was ready to run and had no processor: the second field of schedstat (Linux,
 * Documentation/scheduler/sched-stats.rst). A wait that lasts is not in it yet. 0 where the system does not say it. */
static double scheduling_delay(pid_t pid) {
  char path[64];
  double ran = 0, waited = 0;
  snprintf(path, sizeof path, "/proc/%d/schedstat", (int)pid);
  FILE *file = fopen(path, "r");
  if (file == NULL) return 0;
  if (fscanf(file, "%lf %lf", &ran, &waited) != 2) waited = 0;
  fclose(file);
  return waited / 1e6;
}

/* --- What workers say --- */

/* NAME=VALUE, percent-encoded. Gives whether that is new. */
static bool set_kept(const char *encoded, size_t length) {
  char *assignment = require(malloc(sizeof KEPT + length));
  strcpy(assignment, KEPT);
  size_t written = strlen(KEPT);
  for (size_t index = 0; index < length; index++) {
    bool is_code = encoded[index] == '%' && index + 2 < length;
    char digits[] = {is_code ? encoded[index + 1] : 0, is_code ? encoded[index + 2] : 0, 0};
    is_code = isxdigit((unsigned char)digits[0]) && isxdigit((unsigned char)digits[1]);
    assignment[written++] = is_code ? (char)strtol(digits, NULL, 16) : encoded[index];
    if (is_code) index += 2;
  }
  assignment[written] = '\0';
  int place = -1;
  for (int index = MOST_KEPT - 1; index >= 0; index--)
    if (kept[index] == NULL ? place < 0 || kept[place] == NULL : has_name_of(kept[index], assignment)) place = index;
  bool is_new = place >= 0 && strchr(assignment, '=') != NULL && /* no worker keeps so many, or anything without a value */
                (kept[place] == NULL || strcmp(kept[place], assignment) != 0);
  if (is_new) {
    free(kept[place]);
    kept[place] = assignment;
  } else free(assignment);
  return is_new;
}

/* Workers that began with what was kept before are replaced: all have the same. */
static void keep_all(const Worker *keeper, const char *encoded, size_t length) {
  bool is_new = false;
  for (size_t begin = 0, end; begin < length; begin = end + 1) {
    const char *space = memchr(encoded + begin, ' ', length - begin);
    end = space == NULL ? length : (size_t)(space - encoded);
    if (set_kept(encoded + begin, end - begin)) is_new = true;
  }
  for (Worker *worker = workers; worker < workers + MOST_PROCESSES && is_new; worker++)
    if (worker->pid != 0 && worker != keeper) worker->is_outdated = true;
}

static void handle_listens(Worker *worker, int its_port) {
  Slot *slot = &slots[worker->slot];
  if (worker->state != STARTING || its_port < 1 || its_port > 65535) return;
  worker->state = LISTENING;
  worker->reads_again = false; /* it has read them, and keeps what it has read */
  port = its_port;
  if (slot->candidate != worker) return;
  Worker *old = slot->worker;
  slot->candidate = NULL;
  slot->worker = worker;
  if (old == NULL) return;
  old->state = LEAVING;
  old->successor = worker->pid;
  stop_worker(old, SIGUSR2); /* as SIGTERM, but load balancers are not told to go elsewhere */
}

static void grow(int count, int its_admin_port) {
  if (is_ready || count < 1 || count > MOST_SLOTS) return;
  is_ready = true;
  admin_port = its_admin_port;
  wanted = count;
  for (int slot = 1; slot < wanted && !is_stopping; slot++) start_in(&slots[slot]);
}

static void mark_outdated(void) {
  for (Worker *worker = workers; worker < workers + MOST_PROCESSES; worker++) worker->is_outdated = worker->pid != 0;
}

/* Others hear of the newest in each slot. In its own only its successor hears a worker, whose counters have those of the
 * one before it: they would be counted twice, or be lost, in any other. */
static void take_report(Worker *worker, const char *line, size_t length) {
  Slot *slot = &slots[worker->slot];
  bool is_newest = worker->serial >= slot->report_serial;
  worker->has_reported = true;
  if (worker->state == ABANDONED) return;
  for (Worker *other = workers; other < workers + MOST_PROCESSES; other++) {
    if (other->pid == 0 || other == worker) continue;
    bool is_successor = other == slot->candidate ? slot->worker == worker : other->pid == worker->successor;
    if (other->slot == worker->slot ? is_successor : is_newest) send_bytes(other, line, length);
  }
  if (!is_newest) return;
  slot->report_serial = worker->serial;
  slot->report.length = 0;
  append(&slot->report, line, length);
}

/* `length` is with the newline, which a 0 has taken the place of. */
static void take_line(Worker *worker, char *line, size_t length) {
  int number = 0, other = 0;
  worker->heard = now;
  if (begins(line, "{\"time\":")) write_line(line, length - 1);
  else if (begins(line, "{\"report\":")) {
    line[length - 1] = '\n';
    take_report(worker, line, length);
  } else if (sscanf(line, "\"listens %d\"", &number) == 1) handle_listens(worker, number);
  else if (sscanf(line, "\"grow %d %d\"", &number, &other) == 2) grow(number, other);
  else if (begins(line, "\"keep ") && length > 8) keep_all(worker, line + 6, length - 8);
  else if (begins(line, "\"replace\"")) mark_outdated();
  else if (sscanf(line, "\"reopen %d\"", &number) == 1) {
    for (Worker *one = workers; one < workers + MOST_PROCESSES; one++)
      if (one->pid != 0 && one->pid == number) send_bytes(one, "{\"reopen\":true}\n", 16);
  }
  if (!begins(line, "\"listens ")) worker->delay_when_heard = scheduling_delay(worker->pid); /* its first request comes now */
}

static void take_lines(Worker *worker) {
  size_t begin = 0;
  for (;;) {
    char *end = memchr(worker->in.bytes + begin, '\n', worker->in.length - begin);
    if (end == NULL) break;
    size_t length = (size_t)(end - worker->in.bytes) + 1 - begin;
    *end = '\0';
    take_line(worker, worker->in.bytes + begin, length);
    begin += length;
  }
  drop_front(&worker->in, begin);
  if (worker->in.length > MOST_LINE && !worker->has_exited) kill(worker->pid, SIGKILL); /* no worker says so much */
}

/* Reads what is there; of one that never stops talking a part, so that others are heard, too. */
static void hear(Worker *worker) {
  char bytes[65536];
  for (int part = 0; part < 16 && worker->socket >= 0; part++) {
    ssize_t length = recv(worker->socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0 && errno == EAGAIN) return;
    if (length <= 0) {
      close(worker->socket);
      worker->socket = -1;
      return;
    }
    append(&worker->in, bytes, (size_t)length);
    take_lines(worker);
  }
}

/* --- Ends --- */

/* `quote` is put around the name of a signal. */
static void describe_status(int status, const char *quote, char *text, size_t room) {
  static const struct { int number; const char *name; } names[] = {
      {SIGKILL, "SIGKILL"}, {SIGTERM, "SIGTERM"}, {SIGINT, "SIGINT"}, {SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"},
      {SIGBUS, "SIGBUS"},   {SIGILL, "SIGILL"},   {SIGHUP, "SIGHUP"}, {SIGTRAP, "SIGTRAP"}, {SIGFPE, "SIGFPE"}};
  if (!WIFSIGNALED(status)) {
    snprintf(text, room, "%d", WEXITSTATUS(status));
    return;
  }
  snprintf(text, room, "%ssignal %d%s", quote, WTERMSIG(status), quote);
  for (size_t index = 0; index < sizeof names / sizeof *names; index++)
    if (names[index].number == WTERMSIG(status)) snprintf(text, room, "%s%s%s", quote, names[index].name, quote);
}

static void forget(Worker *worker) {
  if (worker->socket >= 0) close(worker->socket);
  release(&worker->in);
  release(&worker->out);
  *worker = (Worker){0};
}

static void end_replacement(void) {
  for (Worker *worker = workers; worker < workers + MOST_PROCESSES; worker++) worker->is_outdated = false;
}

static void leave_slot(Worker *worker) {
  Slot *slot = &slots[worker->slot];
  slot->worker = NULL;
  send_gone(NULL, worker->slot);
  tell_exits();
}

static void handle_crash(const Worker *worker, int status) {
  char how[32];
  Milliseconds delay = start_later(worker);
  describe_status(status, "\"", how, sizeof how);
  reads_again = reads_again || worker->reads_again;
  write_event("error", "worker_exited", "A worker exited unexpectedly; another one will start.",
              ",\"worker_pid\":%d,\"exit\":%s,\"delay_ms\":%d", (int)worker->pid, how, (int)delay);
}

static void handle_exit(Worker *worker, int status) {
  Slot *slot = &slots[worker->slot];
  hear(worker); /* its last report */
  if (slot->candidate == worker) {
    slot->candidate = NULL;
    if (!worker->is_outdated) end_replacement(); /* else all were to be replaced again meanwhile */
    if (slot->worker == NULL) slot->start_at = now;
    else slot->report_serial = slot->worker->serial; /* its reports are heard again */
    if (!is_stopping)
      write_event("error", "worker_replacement_failed", "A new worker did not start; the old one stays.",
                  ",\"worker_pid\":%d", slot->worker == NULL ? 0 : (int)slot->worker->pid);
  } else if (slot->worker == worker && !is_stopping) {
    if (is_ready) {
      crashed++;
      handle_crash(worker, status);
      leave_slot(worker);
    } else {
      slot->worker = NULL;
      first_status = status;
      fail_at = now + SIGNAL_DELAY;
    }
  } else if (worker->successor != 0 && !is_stopping) {
    write_event("info", "worker_replaced", "A new worker has replaced an old one.",
                ",\"old_worker_pid\":%d,\"worker_pid\":%d", (int)worker->pid, (int)worker->successor);
  }
  if (slot->worker == worker) slot->worker = NULL;
  forget(worker);
}

static void reap(void) {
  int status;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
    for (Worker *worker = workers; worker < workers + MOST_PROCESSES; worker++)
      if (worker->pid == pid) {
        worker->has_exited = true;
        handle_exit(worker, status);
      }
}

/* --- What time brings --- */

static Milliseconds silence_of(const Worker *worker) {
  /* What this process did not hear while it was stopped itself does not count. */
  return now - (worker->heard > listening_since ? worker->heard : listening_since);
}

/* Another worker in its place would have no processor either, and its requests would be torn for nothing. */
static bool is_hung(const Worker *worker) {
  Milliseconds silence = silence_of(worker);
  if (silence <= REPLACE_AFTER) return false;
  double starved = scheduling_delay(worker->pid) - worker->delay_when_heard;
  if (starved > LONGEST_STARVING) starved = LONGEST_STARVING;
  return (double)silence - (starved > 0 ? starved : 0) > REPLACE_AFTER;
}

/* Its end is not waited for: while it waits for a disk, it cannot end. */
static void replace_hung(Worker *worker) {
  hung++;
  kill(worker->pid, SIGKILL);
  write_event("error", "worker_hung", "A worker did not report any more; another one takes its place.",
              ",\"worker_pid\":%d,\"silent_ms\":%d", (int)worker->pid, (int)silence_of(worker));
  worker->state = ABANDONED;
  start_later(worker);
  leave_slot(worker);
}

static void look_for_silent(void) {
  if (now - looked_at > LONGEST_PAUSE) listening_since = now;
  looked_at = now;
  for (Worker *worker = workers; worker < workers + MOST_PROCESSES && !is_stopping; worker++) {
    if (worker->pid == 0 || worker->state >= LEAVING) continue;
    if (worker->state == LISTENING && worker->has_reported && is_ready) {
      if (is_hung(worker)) replace_hung(worker);
    } else if (now - (worker->started > listening_since ? worker->started : listening_since) > START_TIMEOUT)
      kill(worker->pid, SIGKILL);
  }
}

/* One at a time: the new one listens before the old one stops, which has ended before the next one starts. */
static void replace_next(void) {
  if (!is_ready || is_stopping) return;
  for (Worker *worker = workers; worker < workers + MOST_PROCESSES; worker++)
    if (worker->pid != 0 && worker->state == LEAVING) return;
  for (int slot = 0; slot < wanted; slot++)
    if (slots[slot].candidate != NULL) return;
  for (int slot = 0; slot < wanted; slot++) {
    Worker *old = slots[slot].worker;
    if (old == NULL || !old->is_outdated) continue;
    if (old->state == STARTING) return;
    slots[slot].candidate = start_worker(slot);
    if (slots[slot].candidate == NULL) end_replacement();
    return;
  }
}

static void do_what_is_due(void) {
  if (now - looked_at >= LOOK_INTERVAL) look_for_silent();
  for (Worker *worker = workers; worker < workers + MOST_PROCESSES; worker++)
    if (worker->kill_at != 0 && now >= worker->kill_at) kill(worker->pid, SIGKILL), worker->kill_at = 0;
  for (int slot = 0; slot < wanted && !is_stopping; slot++)
    if (slots[slot].start_at != 0 && now >= slots[slot].start_at) start_in(&slots[slot]);
  replace_next();
  if (fail_at == 0 || now < fail_at || is_stopping) return;
  if (WIFEXITED(first_status) && WEXITSTATUS(first_status) == CANNOT_START) exit(1);
  char exit_of_it[32];
  describe_status(first_status, "", exit_of_it, sizeof exit_of_it);
  fprintf(stderr, "Cannot start: the first worker exited with %s before it was ready\n", exit_of_it);
  exit(1);
}

static int wait_at_most(void) {
  Milliseconds until = looked_at + LOOK_INTERVAL;
  for (int slot = 0; slot < wanted && !is_stopping; slot++)
    if (slots[slot].start_at != 0 && slots[slot].start_at < until) until = slots[slot].start_at;
  if (fail_at != 0 && fail_at < until) until = fail_at;
  return until > now ? (int)(until - now) : 0;
}

/* --- Signals --- */

static void note_signal(int number) {
  int before = errno;
  char byte = (char)number;
  if (write(wake_up[1], &byte, 1) < 0) {} /* the pipe is full: it wakes up in any case */
  errno = before;
}

static void stop_all(void) {
  if (is_stopping) return; /* a second signal */
  is_stopping = true;
  write_event("info", "stopping", "Open requests are answered, then all exit.", "");
  for (Worker *worker = workers; worker < workers + MOST_PROCESSES; worker++)
    if (worker->pid != 0 && worker->state != ABANDONED) stop_worker(worker, SIGTERM);
}

static void take_signals(void) {
  char number;
  while (read(wake_up[0], &number, 1) == 1) {
    if (number == SIGTERM || number == SIGINT) stop_all();
    if (number == SIGHUP) {
      reads_again = true;
      mark_outdated();
    }
  }
}

static void handle_signals(void) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL); /* whoever started this may have blocked some */
  if (pipe(wake_up) != 0) {
    perror("Cannot start: no pipe");
    exit(1);
  }
  for (int end = 0; end < 2; end++) {
    close_on_exec(wake_up[end]);
    fcntl(wake_up[end], F_SETFL, O_NONBLOCK);
  }
  struct sigaction action = {.sa_handler = note_signal};
  const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};
  for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) sigaction(numbers[index], &action, NULL);
  signal(SIGPIPE, SIG_IGN);
}

static bool has_processes(void) {
  for (Worker *worker = workers; worker < workers + MOST_PROCESSES; worker++)
    if (worker->pid != 0 && worker->state != ABANDONED) return true;
  return false;
}

static void wait_for_events(void) {
  struct pollfd polled[MOST_PROCESSES + 1] = {{.fd = wake_up[0], .events = POLLIN}};
  Worker *whose[MOST_PROCESSES + 1];
  nfds_t count = 1;
  for (Worker *worker = workers; worker < workers + MOST_PROCESSES; worker++) {
    if (worker->pid == 0 || worker->socket < 0) continue;
    short events = worker->out.length > 0 ? POLLIN | POLLOUT : POLLIN;
    whose[count] = worker;
    polled[count++] = (struct pollfd){.fd = worker->socket, .events = events};
  }
  int ready = poll(polled, count, wait_at_most());
  now = read_clock();
  if (ready <= 0) return;
  for (nfds_t index = 1; index < count; index++) {
    if (polled[index].revents & POLLOUT) send_rest(whose[index]);
    if (polled[index].revents & (POLLIN | POLLHUP | POLLERR)) hear(whose[index]);
  }
}

/* Where one of them is closed, what is opened next would be taken for the log. */
static void take_standard_descriptors(void) {
  int taken;
  do taken = open("/dev/null", O_RDWR);
  while (taken >= 0 && taken <= 2);
  close(taken);
}

int main(int count, char **arguments) {
  if (count < 2 || strcmp(arguments[1], "--help") == 0) {
    fprintf(count < 2 ? stderr : stdout,
            "supervisor COMMAND…\n\nRuns the workers of an origin: COMMAND, the last word of which is its program. SIGHUP\n"
            "replaces them, one at a time, SIGTERM lets them finish. Settings are in .env.example.\n");
    return count < 2 ? 64 : 0; /* EX_USAGE */
  }
  take_standard_descriptors();
  command = arguments + 1;
  now = looked_at = read_clock();
  handle_signals();
  start_in(&slots[0]);
  if (slots[0].worker == NULL) return 1;
  while (!is_stopping || has_processes()) {
    wait_for_events();
    take_signals();
    reap();
    do_what_is_due();
  }
  return 0;
}
