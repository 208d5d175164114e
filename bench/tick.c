/* Writes the time 100 times, as 8 bytes of nanoseconds, with 2 ms between. */
#include <stdint.h>
#include <time.h>
#include <unistd.h>

int main(void) {
  for (int i = 0; i < 100; ++i) {
    struct timespec now;
    const struct timespec pause = {0, 2000000};
    nanosleep(&pause, NULL);
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t time = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    if (write(1, &time, sizeof time) != sizeof time) return 1;
  }
  return 0;
}
