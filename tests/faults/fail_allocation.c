/* Preloaded into a program: the allocation of number HEADROOM_FAIL_AT, counted from the first of main, has no memory, and with HEADROOM_FAIL_ON=1 all later ones have none
   either. HEADROOM_ALLOCATIONS names a file that takes the number of allocations when the program ends. With HEADROOM_NO_THREADS=1 no
   thread is to be had.

   With HEADROOM_FORK=FOLDER every allocation fails once alone and once with all later ones, each in a child that is forked at that
   allocation, and the program itself goes on: the whole sweep costs one run and the ends of the others. A child is right where it ends with
   1, no answer, and FOLDER/line as its last words, or as the program itself does (HEADROOM_EXIT, FOLDER/expected). FOLDER/report takes a line
   for each that is not, and at last the number of allocations tried. From the moment when a file appears in the working folder (the answer is
   being written, and a child would remove it) no child is forked. Of the C library of GNU. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

enum { longest_answer = 4 << 20, seconds_to_end = 60 };

static int started;
static int (*its_main)(int, char**, char**);
static long asked;
static long tried;
static int fails_on;
static int inside;
static int files_at_start = -1;
static char const* folder;

static int files_here(void) {
    DIR* const here = opendir(".");
    int count = 0;
    while (here && readdir(here)) { ++count; }
    if (here) { closedir(here); }
    return count;
}

static char const* path_of(char const* name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* The bytes of a file, -1 where there is none. */
static ssize_t bytes_of(char const* name, char* into, size_t most) {
    int const file = open(name, O_RDONLY);
    if (file < 0) { return -1; }
    size_t had = 0;
    for (ssize_t more = 1; more > 0 && had < most; had += more > 0 ? (size_t)more : 0) {
        more = read(file, into + had, most - had);
    }
    close(file);
    return (ssize_t)had;
}

static void report(char const* what, long number, int on, int status) {
    int const file = open(path_of("report"), O_WRONLY | O_CREAT | O_APPEND, 0600);
    char text[200];
    int const length = snprintf(text, sizeof text, "%s %ld %d %d\n", what, number, on, status);
    if (write(file, text, (size_t)length) != length) { _exit(99); }
    close(file);
}

static int ends_as_it_should(int status) {
    static char answer[longest_answer], other[longest_answer];
    ssize_t const written = bytes_of("answer", answer, sizeof answer);
    if (!WIFEXITED(status)) { return 0; }
    ssize_t const said = bytes_of(path_of("errors"), other, sizeof other / 2);
    char* const line = other + sizeof other / 2;
    ssize_t const words = bytes_of(path_of("line"), line, sizeof other / 2);
    if (WEXITSTATUS(status) == 1 && written < 0) {
        return words > 0 && said >= words && memcmp(other + said - words, line, (size_t)words) == 0;
    }
    char const* const code = getenv("HEADROOM_EXIT");
    if (!code || WEXITSTATUS(status) != atoi(code)) { return 0; }
    ssize_t const expected = bytes_of(path_of("expected"), other, sizeof other);
    return expected == written && (written < 0 || memcmp(answer, other, (size_t)written) == 0);
}

/* 1 in a child whose allocation is to fail. */
static int in_a_child(long number) {
    if (files_at_start < 0) { files_at_start = files_here(); }
    if (files_here() != files_at_start) { return 0; }
    ++tried;
    for (int on = 0; on < 2; ++on) {
        pid_t const child = fork();
        if (child == 0) {
            int const errors = open(path_of("errors"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
            dup2(errors, 2);
            close(errors);
            fails_on = on;
            folder = NULL;
            alarm(seconds_to_end);
            return 1;
        }
        int status = -1;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
        if (!ends_as_it_should(status)) { report("wrong", number, on, status); }
        unlink("answer");
        if (files_here() != files_at_start) {
            report("left", number, on, status);
            files_at_start = files_here();
        }
    }
    return 0;
}

static int fails(void) {
    static long at = -1;
    if (inside || !started) { return 0; }
    if (at < 0) {
        char const* const number = getenv("HEADROOM_FAIL_AT");
        char const* const all = getenv("HEADROOM_FAIL_ON");
        char const* const forks = getenv("HEADROOM_FORK");
        fails_on = all && *all == '1';
        folder = forks && *forks ? forks : NULL;
        at = number ? atol(number) : 0;
    }
    long const now = __atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED);
    if (folder) {
        inside = 1;
        int const child = in_a_child(now);
        inside = 0;
        if (!child) { return 0; }
        at = now;
    }
    if (at == 0 || (fails_on ? now < at : now != at)) { return 0; }
    errno = ENOMEM;
    return 1;
}

void* malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return fails() ? NULL : __libc_calloc(count, size); }
void* realloc(void* old, size_t size) { return fails() ? NULL : __libc_realloc(old, size); }
void* memalign(size_t alignment, size_t size) { return fails() ? NULL : __libc_memalign(alignment, size); }
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** place, size_t alignment, size_t size) {
    void* const memory = memalign(alignment, size);
    if (memory) { *place = memory; }
    return memory ? 0 : ENOMEM;
}

static int from_main(int count, char** words, char** environment) {
    started = 1;
    return its_main(count, words, environment);
}

/* Libraries set themselves up before main. OpenSSL waits for itself where it has no memory then. */
int __libc_start_main(int (*main)(int, char**, char**), int count, char** words, void (*init)(void), void (*fini)(void),
                      void (*loader_fini)(void), void* stack) {
    int (*const start)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void), void*) =
        dlsym(RTLD_NEXT, "__libc_start_main");
    its_main = main;
    return start(from_main, count, words, init, fini, loader_fini, stack);
}

int pthread_create(pthread_t* thread, pthread_attr_t const* attributes, void* (*start)(void*), void* argument) {
    if (getenv("HEADROOM_NO_THREADS")) { return EAGAIN; }
    int (*const create)(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*) = dlsym(RTLD_NEXT, "pthread_create");
    return create(thread, attributes, start, argument);
}

__attribute__((destructor)) static void at_the_end(void) {
    if (folder) {
        inside = 1;
        report("tried", tried, 0, 0);
    }
    char const* const name = getenv("HEADROOM_ALLOCATIONS");
    FILE* const file = name && *name && !inside ? fopen(name, "w") : NULL;
    if (!file) { return; }
    fprintf(file, "%ld\n", asked);
    fclose(file);
}
