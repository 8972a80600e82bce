import MoultBasics

/// A response to a browser.
package struct Response: Sendable {
    package let status: Int
    package private(set) var headers: [(name: String, value: String)]
    package let body: [UInt8]
    /// A file that is sent in place of the body; nil for none.
    package let download: Download?

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
        self.init(status, type: type, bytes: Array(text.utf8), headers: headers)
    }

    package init(_ page: HTML, status: Int = 200) { self.init(status, type: "text/html; charset=utf-8", page.markup) }

    private init(
        _ status: Int, type: String, bytes: [UInt8], headers: [(name: String, value: String)],
        _ download: Download? = nil
    ) {
        self.status = status
        let own = Set(headers.map(\.name))
        self.headers = Self.strict.filter { !own.contains($0.name) } + [("Content-Type", type)] + headers
        body = bytes
        self.download = download
    }

    /// Creates a response with a value from the store, which runs nothing and loads nothing wherever it is opened.
    ///
    /// - Parameter name: the name of the file to save, with its extension; nil to show the value in the browser.
    package init(data: [UInt8], type: String, savedAs name: (stem: String, extension: String)?) {
        self.init(200, type: type, bytes: data, headers: Self.inert(name))
    }

    /// Creates a response with a file to save.
    package init(_ download: Download, type: String, savedAs name: (stem: String, extension: String)) {
        self.init(200, type: type, bytes: [], headers: Self.inert(name), download)
    }

    private static func inert(_ name: (stem: String, extension: String)?) -> [(name: String, value: String)] {
        [
            ("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'"),
            (
                "Content-Disposition",
                name.map { "attachment; filename=\"\($0.stem.fileName).\($0.extension)\"" } ?? "inline"
            ),
        ]
    }

    /// Returns a redirect that the browser follows with GET.
    package static func seeOther(_ address: String, cookie: String? = nil) -> Response {
        Response(
            303, type: "text/plain; charset=utf-8", "",
            headers: [("Location", address)] + (cookie.map { [("Set-Cookie", $0)] } ?? []))
    }

    /// Returns the response with the addresses of its links, forms and pictures below another path.
    func below(_ root: String) -> Response {
        guard !root.isEmpty else { return self }
        let moved = headers.map { header in
            header.name == "Location" && header.value.hasPrefix("/") ? (header.name, root + header.value) : header
        }
        var bytes = body
        let type = header("Content-Type") ?? ""
        if type.hasPrefix("text/html") || type.hasPrefix("image/svg") {
            var text = String(decoding: body, as: UTF8.self)
            // A value never contains a quotation mark: it is escaped.
            for attribute in ["href", "xlink:href", "action", "src", "data-source", "data-address"] {
                text = text.replacing(" \(attribute)=\"/", with: " \(attribute)=\"\(root)/")
            }
            bytes = Array(text.utf8)
        }
        return Response(status, moved, bytes, download)
    }

    private init(_ status: Int, _ headers: [(name: String, value: String)], _ body: [UInt8], _ download: Download?) {
        (self.status, self.headers, self.body, self.download) = (status, headers, body, download)
    }

    package var text: String {
        String(decoding: download.flatMap { try? POSIXSystem().read($0.path) } ?? body, as: UTF8.self)
    }

    package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// A file to send, which is removed once its path is no longer needed.
package final class Download: Sendable {
    private let folder: TemporaryFolder
    package let path: String

    /// - Parameter body: writes the file, in pieces.
    /// - Throws: the errors of `body`; `insufficientStorage`.
    init(_ body: (_ write: ([UInt8]) throws -> Void) throws -> Void) throws {
        let system = POSIXSystem()
        folder = try TemporaryFolder("download", system)
        path = Path.join(folder.path, "file")
        var waiting: [UInt8] = []
        func flush() throws {
            try system.append(waiting, to: path, .own)
            waiting.removeAll(keepingCapacity: true)
        }
        do {
            try body { bytes in
                waiting += bytes
                if waiting.count >= 1 << 19 { try flush() }
            }
            try flush()
        } catch {
            folder.remove()
            throw error
        }
    }

    deinit { folder.remove() }
}
