/// An HTTP request from a browser.
package struct Request: Sendable {
    package let method: String
    /// The decoded path, without the query.
    package let path: String
    /// The decoded fields of the query and of a form. Of several fields with one name, the first counts.
    package let query: [String: String]
    package let form: [String: String]
    private let headers: [(name: String, value: String)]

    /// The maximum length of a form, in bytes.
    package static let formLimit = 64 << 10

    /// - Parameter target: the path and query, as sent.
    /// - Returns: nil for a target or a form with an invalid encoding, and for a body that is too long.
    package init?(_ method: String, _ target: String, headers: [(String, String)], body: [UInt8] = []) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = parts.first?.utf8.percentDecoded(plusIsBlank: false), path.hasPrefix("/"),
            let query = (parts.count > 1 ? Array(parts[1].utf8) : []).fields, body.count <= Self.formLimit
        else { return nil }
        (self.method, self.path, self.query) = (method, path, query)
        self.headers = headers.map { ($0.0.lowercased(), $0.1) }
        let isForm = self.headers.contains {
            $0.name == "content-type" && $0.value.hasPrefix("application/x-www-form-urlencoded")
        }
        guard let form = isForm ? body.fields : [:] else { return nil }
        self.form = form
    }

    /// Returns the value of a header that was sent exactly once; nil otherwise.
    package func header(_ name: String) -> String? {
        let values = headers.filter { $0.name == name }
        return values.count == 1 ? values.first?.value : nil
    }

    package func hasHeader(_ name: String) -> Bool { headers.contains { $0.name == name } }

    package func cookie(_ name: String) -> String? {
        let pairs = headers.filter { $0.name == "cookie" }.flatMap { $0.value.split(separator: ";") }
        for pair in pairs {
            let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            if parts.count == 2, parts[0] == name { return String(parts[1]) }
        }
        return nil
    }
}

extension [UInt8] {
    /// The fields of `application/x-www-form-urlencoded`; nil if the encoding is invalid.
    fileprivate var fields: [String: String]? {
        var fields: [String: String] = [:]
        for field in split(separator: UInt8(ascii: "&")) {
            let parts = field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first?.percentDecoded(plusIsBlank: true),
                let value = parts.count > 1 ? parts[1].percentDecoded(plusIsBlank: true) : ""
            else { return nil }
            if fields[name] == nil { fields[name] = value }
        }
        return fields
    }
}

extension Collection<UInt8> {
    /// Returns nil for an invalid escape, and for bytes that are not UTF-8.
    fileprivate func percentDecoded(plusIsBlank: Bool) -> String? {
        var bytes: [UInt8] = []
        var rest = self[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst()?.hexadecimalDigit, let low = rest.popFirst()?.hexadecimalDigit else {
                    return nil
                }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsBlank: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var hexadecimalDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// Returns the address of a page with its query.
func address(_ path: String, _ fields: KeyValuePairs<String, String> = [:]) -> String {
    let query = fields.map { "\($0.percentEncoded)=\($1.percentEncoded)" }.joined(separator: "&")
    return query.isEmpty ? path : "\(path)?\(query)"
}

extension String {
    fileprivate var percentEncoded: String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A response to a browser.
package struct Response: Sendable {
    package let status: Int
    package private(set) var headers: [(name: String, value: String)]
    package let body: [UInt8]

    /// Headers that forbid external scripts, styles, images and frames, caching, and passing the address to other
    /// sites.
    private static let strict: [(name: String, value: String)] = [
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
                + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
        ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
        // With no-referrer, a form's request would have no origin.
        ("Referrer-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"), ("Cache-Control", "no-store"),
    ]

    package init(_ status: Int, type: String, _ text: String, headers: [(name: String, value: String)] = []) {
        self.status = status
        self.headers = Self.strict + [("Content-Type", type)] + headers
        body = Array(text.utf8)
    }

    package init(_ page: HTML, status: Int = 200) { self.init(status, type: "text/html; charset=utf-8", page.markup) }

    /// Returns a redirect that the browser follows with GET.
    package static func seeOther(_ address: String, cookie: String? = nil) -> Response {
        Response(
            303, type: "text/plain; charset=utf-8", "",
            headers: [("Location", address)] + (cookie.map { [("Set-Cookie", $0)] } ?? []))
    }

    package var text: String { String(decoding: body, as: UTF8.self) }

    package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

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
    private let session = Self.secret()

    init(host: String) {
        self.host = host
        token = Self.secret()
    }

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
    /// Compares with a secret, in a time that does not depend on where the two differ.
    fileprivate func equals(_ secret: String) -> Bool {
        let (own, other) = (Array(utf8), Array(secret.utf8))
        guard own.count == other.count else { return false }
        return zip(own, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
