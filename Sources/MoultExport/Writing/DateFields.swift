import MoultModel

/// Dates as ISO 8601 for millions of fields: the text of a day is made once.
struct DateFields: Sendable {
    /// By the number of the day since 2001-01-01: `2001-01-01T`.
    private var days: [Int: [UInt8]] = [:]
    /// Days that are kept; dates that are further apart are rare.
    private static let most = 50_000

    /// Appends what ``DateText`` makes of a number of seconds since 2001-01-01.
    ///
    /// - Returns: false for a number that is no such date.
    mutating func append(_ seconds: Double, to bytes: inout [UInt8]) -> Bool {
        guard seconds.isFinite, seconds.magnitude < 3e16 else { return false }
        var whole = Int(seconds.rounded(.down))
        var nanoseconds = Int(((seconds - Double(whole)) * 1e9).rounded())
        if nanoseconds == 1_000_000_000 { (whole, nanoseconds) = (whole + 1, 0) }
        let day = (whole >= 0 ? whole : whole - 86_399) / 86_400
        let second = whole - day * 86_400
        if let text = days[day] {
            bytes += text
        } else {
            guard let text = DateText.text(sinceReferenceDate: Double(day * 86_400)),
                let end = text.utf8.firstIndex(of: UInt8(ascii: "T"))
            else { return false }
            if days.count == Self.most { days = [:] }
            days[day] = Array(text.utf8[...end])
            bytes += text.utf8[...end]
        }
        bytes.append(digits: 2, of: second / 3600)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(digits: 2, of: second / 60 % 60)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(digits: 2, of: second % 60)
        bytes.append(UInt8(ascii: "."))
        bytes.append(digits: 9, of: nanoseconds)
        bytes.append(UInt8(ascii: "Z"))
        return true
    }
}
