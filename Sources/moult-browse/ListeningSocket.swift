import MoultBasics

/// A socket that only this computer can reach.
struct ListeningSocket {
    let descriptor: Int32
    let port: UInt16

    /// - Parameter port: 0 for any that is free.
    /// - Throws: `inputOutput`, such as for a port that another program has.
    init(port wanted: UInt16) throws {
        func failure(_ words: String) -> MigrationError {
            MigrationError(
                .inputOutput, "The port \(wanted) of this computer cannot be \(words).",
                remedy: "Choose another: --port N, or leave it out for any that is free.",
                cause: String(cString: strerror(errno)))
        }
        #if canImport(Darwin)
            let listening = socket(AF_INET, SOCK_STREAM, 0)
            _ = fcntl(listening, F_SETFD, FD_CLOEXEC)
        #else
            let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #endif
        guard listening >= 0 else { throw failure("opened") }
        var (isOn, size) = (Int32(1), socklen_t(MemoryLayout<sockaddr_in>.size))
        setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = wanted.bigEndian
        address.sin_addr = in_addr(s_addr: in_addr_t(0x7F00_0001).bigEndian)
        let (listens, own) = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let listens = bind(listening, address, size) == 0 && listen(listening, 64) == 0
                return (listens, getsockname(listening, address, &size))
            }
        }
        guard listens, own == 0 else { throw failure("used") }
        (descriptor, port) = (listening, UInt16(bigEndian: address.sin_port))
    }
}

/// The user of the program at the other end of a connection, as the system's list of connections says.
struct Peer {
    /// The port of the server.
    let port: UInt16

    /// Whether the program at a port of this computer runs for another user, who may have seen the address in the list
    /// of processes. False if the system does not say.
    func isOfAnotherUser(_ clientPort: UInt16) -> Bool {
        guard let user = user(of: clientPort) else { return false }
        // A page that root serves under sudo belongs to the user who ran sudo.
        let asked = geteuid() == 0 ? getenv("SUDO_UID").flatMap { UInt32(String(cString: $0)) } : nil
        return ![0, geteuid(), asked].contains(user)
    }

    private func user(of clientPort: UInt16) -> UInt32? {
        for list in ["/proc/net/tcp", "/proc/net/tcp6"] {
            guard let bytes = try? POSIXSystem().read(list) else { continue }
            for line in bytes.split(separator: UInt8(ascii: "\n")).dropFirst() {
                let fields = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
                if fields.count > 7, Self.port(fields[1]) == clientPort, Self.port(fields[2]) == port {
                    return UInt32(fields[7])
                }
            }
        }
        return nil
    }

    /// The port of an address in the form `0100007F:1F90`.
    private static func port(_ address: String) -> UInt16? {
        address.split(separator: ":").last.flatMap { UInt16($0, radix: 16) }
    }
}
