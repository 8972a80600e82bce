// Preloaded into moult (LD_PRELOAD): ends the process, or fails a call, at its n-th call that changes a file.
//
// FAULT_AT     the number of the call; 0 counts only
// FAULT_KIND   kill, EIO, ENOSPC; with a + behind the error, all calls from there on fail
// FAULT_COUNT  a file that gets the number of calls of each process
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long calls;
static long at;
static int number, onwards;

// Whether a call makes something longer, which a full disk refuses; it still removes, renames and synchronises.
enum { changes, grows };

static int strikes(int kind) {
    if (at < 0) return 0;
    long call = atomic_fetch_add(&calls, 1) + 1;
    if (at == 0 || call < at || (call > at && !onwards)) return 0;
    if (number == 0) {
        syscall(SYS_kill, getpid(), SIGKILL);
        for (;;) pause();
    }
    if (number == ENOSPC && kind != grows) return 0;
    errno = number;
    return 1;
}

__attribute__((constructor)) static void begin(void) {
    const char *when = getenv("FAULT_AT"), *kind = getenv("FAULT_KIND");
    char program[4096] = "";
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) program[0] = 0;
    const char *name = strrchr(program, '/');
    at = when && name && !strcmp(name, "/moult") ? atol(when) : -1;
    if (!kind || !strcmp(kind, "kill")) return;
    number = strncmp(kind, "EIO", 3) == 0 ? EIO : ENOSPC;
    onwards = kind[strlen(kind) - 1] == '+';
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("FAULT_COUNT");
    if (at < 0 || !path) return;
    char text[32];
    int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&calls));
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (file >= 0) {
        syscall(SYS_write, file, text, length);
        close(file);
    }
}

static int isFile(int file) {
    struct stat status;
    return file > 2 && fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define WRAP(kind, result, name, parameters, ...) \
    result name parameters { return strikes(kind) ? -1 : NEXT(name)(__VA_ARGS__); }
#define WRAP_FILE(kind, result, name, parameters, file, ...) \
    result name parameters { return isFile(file) && strikes(kind) ? -1 : NEXT(name)(file, __VA_ARGS__); }

WRAP_FILE(grows, ssize_t, write, (int file, const void *bytes, size_t count), file, bytes, count)
WRAP_FILE(grows, ssize_t, pwrite, (int file, const void *bytes, size_t count, off_t place), file, bytes, count, place)
WRAP_FILE(grows, ssize_t, pwrite64, (int file, const void *bytes, size_t count, off64_t place), file, bytes, count, place)
WRAP_FILE(changes, int, ftruncate, (int file, off_t size), file, size)
WRAP_FILE(changes, int, ftruncate64, (int file, off64_t size), file, size)
WRAP_FILE(changes, int, fchmod, (int file, mode_t mode), file, mode)
WRAP(changes, int, truncate, (const char *path, off_t size), path, size)
WRAP(changes, int, fsync, (int file), file)
WRAP(changes, int, fdatasync, (int file), file)
WRAP(changes, int, rename, (const char *from, const char *to), from, to)
WRAP(changes, int, renameat2, (int a, const char *from, int b, const char *to, unsigned flags), a, from, b, to, flags)
WRAP(grows, int, link, (const char *from, const char *to), from, to)
WRAP(changes, int, unlink, (const char *path), path)
WRAP(changes, int, rmdir, (const char *path), path)
WRAP(grows, int, mkdir, (const char *path, mode_t mode), path, mode)
WRAP(changes, int, chmod, (const char *path, mode_t mode), path, mode)
WRAP(grows, ssize_t, copy_file_range,
     (int in, off64_t *from, int out, off64_t *to, size_t count, unsigned flags), in, from, out, to, count, flags)

// Fallocate answers with the error itself.
int posix_fallocate(int file, off_t from, off_t count) {
    return strikes(grows) ? errno : NEXT(posix_fallocate)(file, from, count);
}

static int opens(const char *path, int folder, int flags) {
    if (!(flags & (O_CREAT | O_TRUNC))) return 0;
    struct stat status;
    int isThere = fstatat(folder, path, &status, 0) == 0;
    if (isThere && (!(flags & O_TRUNC) || !S_ISREG(status.st_mode) || status.st_size == 0)) return 0;
    return strikes(isThere ? changes : grows);
}

#define MODE                        \
    mode_t mode = 0;                \
    if (flags & O_CREAT) {          \
        va_list list;               \
        va_start(list, flags);      \
        mode = va_arg(list, mode_t); \
        va_end(list);               \
    }

int open(const char *path, int flags, ...) {
    MODE return opens(path, AT_FDCWD, flags) ? -1 : NEXT(open)(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    MODE return opens(path, AT_FDCWD, flags) ? -1 : NEXT(open64)(path, flags, mode);
}
int openat(int folder, const char *path, int flags, ...) {
    MODE return opens(path, folder, flags) ? -1 : NEXT(openat)(folder, path, flags, mode);
}
