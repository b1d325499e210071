/* Answers whatever arrives with the bytes of the file ANSWER.http and parses nothing: what is left is the
   kernel's share of a response. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 20, EVENTS = 512 };
static char answer[MOST_BYTES], request[1 << 16];

static size_t read_answer(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s.http", getenv("ANSWER"));
  FILE *file = fopen(path, "rb");
  size_t length = file == NULL ? 0 : fread(answer, 1, sizeof answer, file);
  if (length == 0) exit(1);
  return length;
}

static int listen_on(int port) {
  int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 8192) != 0) exit(1);
  return listener;
}

int main(void) {
  size_t length = read_answer();
  int listener = listen_on(atoi(getenv("PORT"))), poll = epoll_create1(0), on = 1;
  struct epoll_event events[EVENTS], added = {.events = EPOLLIN, .data.fd = listener};
  epoll_ctl(poll, EPOLL_CTL_ADD, listener, &added);
  for (;;) {
    int count = epoll_wait(poll, events, EVENTS, -1);
    for (int i = 0; i < count; i++) {
      int socket = events[i].data.fd;
      if (socket == listener) {
        added.data.fd = accept(listener, NULL, NULL);
        setsockopt(added.data.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        epoll_ctl(poll, EPOLL_CTL_ADD, added.data.fd, &added);
      } else if (read(socket, request, sizeof request) <= 0 || write(socket, answer, length) < 0) {
        close(socket);
      }
    }
  }
}
