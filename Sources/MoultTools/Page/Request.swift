import MoultBasics

/// An HTTP request from a browser.
package struct Request: Sendable {
    package let method: String
    /// The decoded path, without the query.
    package private(set) var path: String
    /// The decoded fields of the query and of a form. Of several fields with one name, the first counts.
    package let query: [String: String]
    package let form: [String: String]
    private let fields: [(name: String, value: String)]
    private let headers: [(name: String, value: String)]

    /// The maximum length of a form, in bytes.
    package static let formLimit = 64 << 10

    /// - Parameter target: the path and query, as sent.
    /// - Returns: nil for a target or a form with an invalid encoding, and for a body that is too long.
    package init?(_ method: String, _ target: String, headers: [(String, String)], body: [UInt8] = []) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = parts.first?.percentDecoded(), path.hasPrefix("/"),
            let query = (parts.count > 1 ? Array(parts[1].utf8) : []).fields, body.count <= Self.formLimit
        else { return nil }
        (self.method, self.path, self.query, fields) = (method, path, query.firsts, query)
        self.headers = headers.map { ($0.0.lowercased(), $0.1) }
        let isForm = self.headers.contains {
            $0.name == "content-type" && $0.value.hasPrefix("application/x-www-form-urlencoded")
        }
        guard let form = isForm ? body.fields : [] else { return nil }
        self.form = form.firsts
    }

    /// Returns every value of a field of the query, in order.
    package func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// The request with another path.
    func at(_ path: String) -> Request {
        var request = self
        request.path = path
        return request
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
    fileprivate var fields: [(name: String, value: String)]? {
        var fields: [(name: String, value: String)] = []
        for field in split(separator: UInt8(ascii: "&")) {
            let parts = field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first?.percentDecoded(plusIsBlank: true),
                let value = parts.count > 1 ? parts[1].percentDecoded(plusIsBlank: true) : ""
            else { return nil }
            fields.append((name, value))
        }
        return fields
    }
}

extension [(name: String, value: String)] {
    /// The first value of each name.
    fileprivate var firsts: [String: String] {
        Dictionary(map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}

/// Returns the address of a page with its query.
func address(_ path: String, _ fields: KeyValuePairs<String, String> = [:]) -> String {
    address(path, fields.map { ($0, $1) })
}

func address(_ path: String, _ fields: [(String, String)]) -> String {
    let query = fields.map { "\($0.percentEncoded())=\($1.percentEncoded())" }.joined(separator: "&")
    return query.isEmpty ? path : "\(path)?\(query)"
}
