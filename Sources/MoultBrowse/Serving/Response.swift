/// A response to a browser.
package struct Response: Sendable {
    package let status: Int
    package private(set) var headers: [(name: String, value: String)]
    package let body: [UInt8]

    /// No script, style, picture or frame from elsewhere, nothing kept, and nothing told to other sites.
    private static let strict: [(name: String, value: String)] = [
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
                + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
        ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
        // A form's request would have no origin with no-referrer.
        ("Referrer-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"), ("Cache-Control", "no-store"),
    ]

    package init(_ status: Int, type: String, _ text: String, headers: [(name: String, value: String)] = []) {
        self.status = status
        self.headers = Self.strict + [("Content-Type", type)] + headers
        body = Array(text.utf8)
    }

    package init(_ page: HTML, status: Int = 200) {
        self.init(status, type: "text/html; charset=utf-8", page.markup)
    }

    /// Sends the browser on by GET.
    package static func seeOther(_ address: String, cookie: String? = nil) -> Response {
        Response(
            303, type: "text/plain; charset=utf-8", "",
            headers: [("Location", address)] + (cookie.map { [("Set-Cookie", $0)] } ?? []))
    }

    package var text: String { String(decoding: body, as: UTF8.self) }

    package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}
