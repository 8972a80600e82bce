#include <microhttpd.h>
#include <netinet/in.h>

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

/// Returns the port of the browser on this computer; 0 if it is unknown.
static inline unsigned short moult_microhttpd_client_port(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (!info || !info->client_addr || info->client_addr->sa_family != AF_INET) return 0;
    return ntohs(((const struct sockaddr_in *)(const void *)info->client_addr)->sin_port);
}

// Swift takes these enumerations as closed or open ones, by the library's version; a constant is the same with both.
static const enum MHD_Result moult_microhttpd_yes = MHD_YES;
static const enum MHD_Result moult_microhttpd_no = MHD_NO;
static const enum MHD_ValueKind moult_microhttpd_headers = MHD_HEADER_KIND;
static const enum MHD_ResponseMemoryMode moult_microhttpd_copies = MHD_RESPMEM_MUST_COPY;
