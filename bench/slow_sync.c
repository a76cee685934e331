/* Preloaded into a PostgreSQL server, this makes every fdatasync take SLOW_SYNC_US microseconds longer: a commit then
   takes as long as on a disk at the other end of a network. See bench/start-postgres. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

typedef int (*sync_function)(int);

int fdatasync(int file) {
  static sync_function real = NULL;
  static long delay_us = 0;
  if (real == NULL) {
    const char* wanted = getenv("SLOW_SYNC_US");
    delay_us = wanted != NULL ? atol(wanted) : 0;
    real = (sync_function)dlsym(RTLD_NEXT, "fdatasync");
  }
  const int result = real(file);
  const struct timespec pause = {.tv_sec = delay_us / 1000000, .tv_nsec = delay_us % 1000000 * 1000};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
  return result;
}
