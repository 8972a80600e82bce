#include <sqlite3.h>

// SQLITE_STATIC and SQLITE_TRANSIENT are casts, which Swift does not import.
static const sqlite3_destructor_type moult_sqlite_static = SQLITE_STATIC;
static const sqlite3_destructor_type moult_sqlite_transient = SQLITE_TRANSIENT;

// sqlite3_db_config takes a variable number of arguments, which Swift does not import.
static inline int moult_sqlite_set(sqlite3 *connection, int option, int value) {
    return sqlite3_db_config(connection, option, value, (int *)0);
}

// sqlite3_config does so, too.
static inline int moult_sqlite_keep_no_memory_statistics(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

// And to read and replace the functions that allocate SQLite's memory, before SQLite is used.
static inline int moult_sqlite_get_allocator(sqlite3_mem_methods *methods) {
    return sqlite3_config(SQLITE_CONFIG_GETMALLOC, methods);
}

static inline int moult_sqlite_set_allocator(sqlite3_mem_methods *methods) {
    return sqlite3_config(SQLITE_CONFIG_MALLOC, methods);
}
