import MoultModel

/// The line of each key in a JSON document, for messages about a file that a person has written.
struct JSONKeyLines {
    /// By the path of keys, such as `["severities", "SHAPE003"]`; lines count from one.
    private(set) var lines: [[String]: Int] = [:]

    /// - Parameter bytes: a document that was parsed already.
    init(_ bytes: [UInt8]) {
        var line = 1
        var path: [String] = []
        /// For each open object the number of keys that lead to it; nil for a list.
        var open: [Int?] = []
        var place = 0
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "\n"): line += 1
            case UInt8(ascii: "{"): open.append(path.count)
            case UInt8(ascii: "["): open.append(nil)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if let depth = open.popLast() ?? nil { path = Array(path.prefix(depth)) }
            case UInt8(ascii: "\""):
                let end = Self.end(of: place, in: bytes)
                let next = bytes[end...].first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
                if next == UInt8(ascii: ":"), let depth = open.last ?? nil {
                    let text = try? JSONValue(parsing: Array(bytes[place..<end]), place: "", code: .usage).string
                    path = path.prefix(depth) + [text ?? ""]
                    lines[path] = line
                }
                place = end - 1
            default: break
            }
            place += 1
        }
    }

    /// The position after a string.
    private static func end(of start: Int, in bytes: [UInt8]) -> Int {
        var place = start + 1
        while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
            place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(place + 1, bytes.count)
    }
}
