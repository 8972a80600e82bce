/// The access control of the server. It admits the browser that opened the address with the one-time token, and of its
/// requests those that no other site has sent.
///
/// A page of another site can send requests to this computer too. It knows no token, its cookies are not sent
/// (`SameSite`), and a name of its own that leads here is a wrong host.
struct Access: Sendable {
    /// `127.0.0.1:PORT`
    let host: String
    /// For the first request; nil when it was used.
    private(set) var token: String?
    /// The secret that every form has in a hidden field.
    let formToken = Self.secret()
    private let session = Self.secret()

    init(host: String) {
        self.host = host
        token = Self.secret()
    }

    /// Cookies are for a computer, not for a port.
    private var cookieName: String { "moult-\(host.split(separator: ":").last ?? "")" }

    enum Answer {
        case granted
        /// The token was right, and is used now: the browser gets a cookie.
        case welcome(cookie: String)
        case refused(Int, String)
    }

    mutating func check(_ request: Request) -> Answer {
        guard request.header("host") == host else {
            return .refused(403, "This page answers only to http://\(host).")
        }
        guard ["GET", "HEAD", "POST"].contains(request.method) else {
            return .refused(405, "This page knows GET, HEAD and POST.")
        }
        if request.method == "GET", request.path == "/", let given = request.query["token"] {
            guard let token, given.equals(token) else {
                return .refused(403, "This address was used before. Start moult browse again for a new one.")
            }
            self.token = nil
            return .welcome(cookie: "\(cookieName)=\(session); HttpOnly; SameSite=Strict; Path=/")
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

    private static func secret() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<4).map { _ in
            let digits = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

extension String {
    /// Takes as long wherever the two differ.
    fileprivate func equals(_ secret: String) -> Bool {
        let (own, other) = (Array(utf8), Array(secret.utf8))
        guard own.count == other.count else { return false }
        return zip(own, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
