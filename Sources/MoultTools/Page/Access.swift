import MoultBasics

/// The access control of the server. It admits the browser that opened the address with the one-time token, and refuses
/// requests that other sites send through it.
///
/// A page of another site can also send requests to this computer. It does not know the token, its requests carry no
/// cookies (`SameSite`), and a domain of its own that resolves to this computer is rejected as a wrong host.
struct Access: Sendable {
    /// The host of the site, `127.0.0.1:PORT`.
    let host: String
    /// The token for the first request; nil once it is used.
    private(set) var token: String?
    /// The secret in a hidden field of every form.
    let formToken = Self.secret()
    /// The secret in the browser's cookie.
    private let session: String
    /// Whether the browser keeps the cookie for the next time.
    private let isKept: Bool

    /// - Parameter session: the secret that the browser may have from an earlier time; nil for a new one.
    init(host: String, session: String? = nil) {
        self.host = host
        token = Self.secret()
        (self.session, isKept) = (session ?? Self.secret(), session != nil)
    }

    /// The address that opens the site. It works once.
    var entrance: String { "http://\(host)/?token=\(token ?? "")" }

    /// The port is part of the name, because a cookie is valid for all ports of a computer.
    private var cookieName: String { "moult-\(host.split(separator: ":").last ?? "")" }

    enum Answer {
        case granted
        /// The token is correct, and is now used up; the browser gets a cookie.
        case welcome(cookie: String)
        case refused(Int, String)
    }

    mutating func check(_ request: Request) -> Answer {
        guard request.header("host") == host else { return .refused(403, "This page answers only to http://\(host).") }
        guard ["GET", "HEAD", "POST"].contains(request.method) else {
            return .refused(405, "This page knows GET, HEAD and POST.")
        }
        if request.method == "GET", request.path == "/", let given = request.query["token"] {
            guard let token, given.equals(token) else {
                return .refused(403, "This address was used before. Start moult browse again for a new one.")
            }
            self.token = nil
            let age = isKept ? "; Max-Age=31536000" : ""
            return .welcome(cookie: "\(cookieName)=\(session); HttpOnly; SameSite=Strict; Path=/\(age)")
        }
        guard let cookie = request.cookie(cookieName), cookie.equals(session) else {
            return .refused(403, "Open the address that moult browse has printed. It works once, in one browser.")
        }
        if request.hasHeader("sec-fetch-site"), !["same-origin", "none"].contains(request.header("sec-fetch-site")) {
            return .refused(403, "Another site has sent this request.")
        }
        if request.method == "POST" {
            guard request.header("origin") == "http://\(host)", request.form["form"]?.equals(formToken) == true else {
                return .refused(403, "This form is not of this page.")
            }
        }
        return .granted
    }

    /// Returns the response to a request that is not admitted, or is the first; nil for one that is.
    mutating func answer(to request: Request) -> Response? {
        switch check(request) {
        case .granted: nil
        case .welcome(let cookie): .seeOther("/", cookie: cookie)
        case .refused(let status, let words):
            Response(frame("Refused", of: "Moult", "", "<h1>Refused</h1><p>\(words)</p>"), status: status)
        }
    }

    static func secret() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<4).map { _ in
            let digits = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

extension String {
    /// Compares with a secret, in a time that does not depend on where the two differ.
    fileprivate func equals(_ secret: String) -> Bool {
        let (own, other) = (Array(utf8), Array(secret.utf8))
        guard own.count == other.count else { return false }
        return zip(own, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// The secret of a fixed address, which lets the same browser in after a restart. It is in a file that only this user
/// can read.
package enum KeptSession {
    /// Returns the secret for a port, and makes one the first time.
    ///
    /// - Parameter folder: the folder for the files of this user's programs.
    /// - Throws: any error from reading or writing the file; `fileNotReadable` if others may read it.
    package static func secret(port: UInt16, in folder: String) throws -> String {
        let system = POSIXSystem()
        let own = Path.join(folder, "moult")
        let path = Path.join(own, "browse-\(port)")
        if let status = try system.status(of: path) {
            let secret = String(decoding: try system.read(path, limit: 1_000), as: UTF8.self).trimmed
            guard try !system.isLink(path), status.mode & 0o077 == 0, secret.utf8.count == 64 else {
                throw MigrationError(
                    .fileNotReadable, "The file of the fixed address is not one that only you can read.", place: path,
                    remedy: "Remove it; the next start makes a new one.")
            }
            return secret
        }
        var parent = ""
        for part in own.split(separator: "/") {
            parent += "/" + part
            if try !system.exists(parent) { try system.makeFolder(parent, .own) }
        }
        let secret = Access.secret()
        try system.write(Array(secret.utf8), to: path, .own)
        return secret
    }
}
