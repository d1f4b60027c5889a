/* Preloaded into a program: the allocation of number HEADROOM_FAIL_AT has no memory, and with HEADROOM_FAIL_ON=1 all later ones have none
   either. HEADROOM_ALLOCATIONS names a file that takes the number of allocations when the program ends. With HEADROOM_NO_THREADS=1 no
   thread is to be had. Of the C library of GNU. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static long asked;

static int fails(void) {
    static long at = -1;
    static int on;
    if (at < 0) {
        char const* const number = getenv("HEADROOM_FAIL_AT");
        char const* const all = getenv("HEADROOM_FAIL_ON");
        on = all && *all == '1';
        at = number ? atol(number) : 0;
    }
    long const now = __atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED);
    if (at == 0 || (on ? now < at : now != at)) { return 0; }
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

int pthread_create(pthread_t* thread, pthread_attr_t const* attributes, void* (*start)(void*), void* argument) {
    if (getenv("HEADROOM_NO_THREADS")) { return EAGAIN; }
    int (*const create)(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*) = dlsym(RTLD_NEXT, "pthread_create");
    return create(thread, attributes, start, argument);
}

__attribute__((destructor)) static void report(void) {
    char const* const name = getenv("HEADROOM_ALLOCATIONS");
    FILE* const file = name ? fopen(name, "w") : NULL;
    if (!file) { return; }
    fprintf(file, "%ld\n", asked);
    fclose(file);
}
