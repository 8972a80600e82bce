#include <sqlite3.h>

// SQLITE_STATIC and SQLITE_TRANSIENT are casts, which Swift does not import.
static const sqlite3_destructor_type moult_sqlite_static = SQLITE_STATIC;
static const sqlite3_destructor_type moult_sqlite_transient = SQLITE_TRANSIENT;
