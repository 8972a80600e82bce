#include <microhttpd.h>

/// Starts a server with one thread on a socket that listens already. Swift cannot call a function of variable arguments.
static inline struct MHD_Daemon *moult_microhttpd_start(
    int listening, unsigned int connections, unsigned int seconds, size_t memory,
    void *(*began)(void *, const char *, struct MHD_Connection *), MHD_AccessHandlerCallback handler,
    MHD_RequestCompletedCallback ended, void *context) {
    return MHD_start_daemon(
        MHD_USE_AUTO_INTERNAL_THREAD, 0, NULL, NULL, handler, context, MHD_OPTION_LISTEN_SOCKET, listening,
        MHD_OPTION_CONNECTION_LIMIT, connections, MHD_OPTION_CONNECTION_TIMEOUT, seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory, MHD_OPTION_URI_LOG_CALLBACK, began, context,
        MHD_OPTION_THREAD_STACK_SIZE, (size_t)8 << 20,
        MHD_OPTION_NOTIFY_COMPLETED, ended, context, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
}

// Swift takes these enumerations as closed or open ones, by the library's version; a constant is the same with both.
static const enum MHD_Result moult_microhttpd_yes = MHD_YES;
static const enum MHD_Result moult_microhttpd_no = MHD_NO;
static const enum MHD_ValueKind moult_microhttpd_headers = MHD_HEADER_KIND;
static const enum MHD_ResponseMemoryMode moult_microhttpd_copies = MHD_RESPMEM_MUST_COPY;
