import CMicroHTTPD
import Dispatch
import MoultBasics
import MoultTools
import Synchronization

/// The page over HTTP, by libmicrohttpd: one thread, so that one request comes after the other.
final class Server {
    private let daemon: OpaquePointer
    private let context: Unmanaged<Context>

    /// More are not needed for one browser; a connection that says nothing for so many seconds is closed.
    private static let (connections, seconds, memory) = (UInt32(64), UInt32(5), 32 << 10)

    /// - Parameters:
    ///   - respond: returns the response to a request.
    ///   - peer: tells whose browser sends a request; nil if every browser with the cookie is admitted.
    /// - Throws: `inputOutput` if the library cannot start.
    init(
        _ listening: ListeningSocket, peer: Peer?, respond: @escaping @Sendable (Request) async -> Response
    ) throws {
        context = Unmanaged.passRetained(Context(peer, respond))
        let started = moult_microhttpd_start(
            listening.descriptor, Self.connections, Self.seconds, Self.memory,
            { _, target, _ in
                guard let target else { return nil }
                return Unmanaged.passRetained(Incoming(target: String(cString: target))).toOpaque()
            },
            { context, connection, _, method, _, data, size, incoming in
                guard let context, let connection, let method, let size, let pointer = incoming?.pointee else {
                    return moult_microhttpd_no
                }
                return Unmanaged<Context>.fromOpaque(context).takeUnretainedValue().receive(
                    Unmanaged<Incoming>.fromOpaque(pointer).takeUnretainedValue(), connection,
                    method: String(cString: method), data, size)
            },
            { _, _, incoming, _ in
                guard let pointer = incoming?.pointee else { return }
                Unmanaged<Incoming>.fromOpaque(pointer).release()
                incoming?.pointee = nil
            }, context.toOpaque())
        guard let started else {
            context.release()
            throw MigrationError(
                .inputOutput, "The server of the page cannot start.", remedy: "Run `moult browse` again.")
        }
        daemon = started
    }

    func stop() {
        MHD_stop_daemon(daemon)
        context.release()
    }
}

/// A request as it comes in.
private final class Incoming {
    let target: String
    var hasBegun = false
    var body: [UInt8] = []

    init(target: String) { self.target = target }
}

/// The context that the server's thread works with.
private final class Context: Sendable {
    private let peer: Peer?
    private let respond: @Sendable (Request) async -> Response

    init(_ peer: Peer?, _ respond: @escaping @Sendable (Request) async -> Response) {
        (self.peer, self.respond) = (peer, respond)
    }

    /// Called when the headers are there, for each piece of the body, and at its end.
    func receive(
        _ incoming: Incoming, _ connection: OpaquePointer, method: String, _ data: UnsafePointer<CChar>?,
        _ size: UnsafeMutablePointer<Int>
    ) -> MHD_Result {
        guard incoming.hasBegun else {
            incoming.hasBegun = true
            if let peer, peer.isOfAnotherUser(moult_microhttpd_client_port(connection)) {
                let words = "This page is of another user of this computer.\n"
                return send(Response(403, type: "text/plain; charset=utf-8", words), connection)
            }
            let length = MHD_lookup_connection_value(connection, moult_microhttpd_headers, "Content-Length")
            guard let length, Int(String(cString: length)) ?? .max > Request.formLimit else {
                return moult_microhttpd_yes
            }
            return send(Response(413, type: "text/plain; charset=utf-8", "The form is too large.\n"), connection)
        }
        guard size.pointee == 0 else {
            // Closes the connection: no page sends as much.
            guard incoming.body.count + size.pointee <= Request.formLimit, let data else { return moult_microhttpd_no }
            data.withMemoryRebound(to: UInt8.self, capacity: size.pointee) {
                incoming.body += UnsafeBufferPointer(start: $0, count: size.pointee)
            }
            size.pointee = 0
            return moult_microhttpd_yes
        }
        let request = Request(method, incoming.target, headers: headers(of: connection), body: incoming.body)
        guard let request else {
            return send(Response(400, type: "text/plain; charset=utf-8", "This is no request.\n"), connection)
        }
        return send(answer(to: request), connection)
    }

    /// Waits: until then, no other request is read.
    private func answer(to request: Request) -> Response {
        let (answer, isThere) = (Answer(), DispatchSemaphore(value: 0))
        Task { [respond] in
            let response = await respond(request)
            answer.response.withLock { $0 = response }
            isThere.signal()
        }
        isThere.wait()
        return answer.response.withLock { $0 } ?? Response(500, type: "text/plain; charset=utf-8", "")
    }

    private func headers(of connection: OpaquePointer) -> [(String, String)] {
        let list = HeaderList()
        withExtendedLifetime(list) {
            _ = MHD_get_connection_values(
                connection, moult_microhttpd_headers,
                { context, _, name, value in
                    guard let context, let name else { return moult_microhttpd_no }
                    let list = Unmanaged<HeaderList>.fromOpaque(context).takeUnretainedValue()
                    list.headers.append((String(cString: name), value.map { String(cString: $0) } ?? ""))
                    return moult_microhttpd_yes
                }, Unmanaged.passUnretained(list).toOpaque())
        }
        return list.headers
    }

    private func send(_ response: Response, _ connection: OpaquePointer) -> MHD_Result {
        guard let made = response.download.map(Self.sent) ?? Self.sent(response.body) else {
            return moult_microhttpd_no
        }
        defer { MHD_destroy_response(made) }
        for (name, value) in response.headers { MHD_add_response_header(made, name, value) }
        return MHD_queue_response(connection, UInt32(response.status), made)
    }
}

extension Context {
    fileprivate static func sent(_ body: [UInt8]) -> OpaquePointer? {
        body.withUnsafeBytes { bytes in
            MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), moult_microhttpd_copies)
        }
    }

    /// The library closes the file; its name is not needed once it is open.
    fileprivate static func sent(_ download: Download) -> OpaquePointer? {
        let file = open(download.path, O_RDONLY | O_CLOEXEC)
        guard file >= 0, let size = try? POSIXSystem().status(of: download.path)?.size else { return nil }
        return MHD_create_response_from_fd64(UInt64(size), file)
    }
}

private final class Answer: Sendable {
    let response = Mutex<Response?>(nil)
}

private final class HeaderList {
    var headers: [(String, String)] = []
}

/// A wish to stop, by Control-C or a polite kill.
enum Interruption {
    /// The end of the pipe that a wish is written to.
    private static let end = Atomic<Int32>(-1)

    /// Hears wishes from now on.
    ///
    /// - Returns: waits for the first.
    static func heard() -> () -> Void {
        var ends: [Int32] = [-1, -1]
        _ = pipe(&ends)
        end.store(ends[1], ordering: .releasing)
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { _ in
                // Nothing else may be called in a signal handler (`man 7 signal-safety`).
                let number = errno
                var byte = UInt8(0)
                _ = write(Interruption.end.load(ordering: .acquiring), &byte, 1)
                errno = number
            }
        }
        return { [reader = ends[0]] in
            var byte = UInt8(0)
            while read(reader, &byte, 1) < 0, errno == EINTR {}
        }
    }
}
