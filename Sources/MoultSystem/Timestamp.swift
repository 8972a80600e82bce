/// A moment of the wall clock in UTC, with nanoseconds.
package struct Timestamp: Sendable, Hashable, Comparable {
    /// Since 1970-01-01 00:00:00 UTC.
    package var seconds: Int64
    /// From 0 up to 999,999,999.
    package var nanoseconds: Int32

    package init(seconds: Int64, nanoseconds: Int32 = 0) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    package static func < (left: Timestamp, right: Timestamp) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }

    /// The same moment, cut to what ``iso8601WithMilliseconds`` keeps.
    package var inMilliseconds: Timestamp {
        Timestamp(seconds: seconds, nanoseconds: nanoseconds / 1_000_000 * 1_000_000)
    }

    /// Seconds from `earlier` to here, negative when that lies later.
    package func seconds(since earlier: Timestamp) -> Double {
        Double(seconds - earlier.seconds) + Double(nanoseconds - earlier.nanoseconds) / 1e9
    }
}

extension Timestamp {
    /// `2026-03-01T09:05:07Z`.
    package var iso8601: String {
        let (year, month, day) = civilDate
        return "\(padded(year, 4))-\(padded(month))-\(padded(day))T\(time(separator: ":"))Z"
    }

    /// `2026-03-01T09:05:07.123Z`.
    package var iso8601WithMilliseconds: String {
        "\(iso8601.dropLast()).\(padded(Int64(nanoseconds / 1_000_000), 3))Z"
    }

    /// `20260301T090507Z`: fit for the name of a file, and sorted by name it is sorted by time.
    package var iso8601Basic: String {
        let (year, month, day) = civilDate
        return "\(padded(year, 4))\(padded(month))\(padded(day))T\(time(separator: ""))Z"
    }

    /// Reads ``iso8601`` with any number of decimals; nil for any other text.
    package init?(iso8601 text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes.last == UInt8(ascii: "Z") else { return nil }
        func number(_ range: Range<Int>) -> Int64? { Int64(String(decoding: bytes[range], as: UTF8.self)) }
        guard bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"), bytes[10] == UInt8(ascii: "T"),
            let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        var fraction: Int32 = 0
        if bytes[19] == UInt8(ascii: ".") {
            let digits = (bytes[20..<(bytes.count - 1)] + Array(repeating: UInt8(ascii: "0"), count: 9)).prefix(9)
            guard let value = Int32(String(decoding: digits, as: UTF8.self)) else { return nil }
            fraction = value
        } else if bytes.count != 20 {
            return nil
        }
        let days = Self.days(year: year, month: month, day: day)
        self.init(seconds: days * 86_400 + hour * 3_600 + minute * 60 + second, nanoseconds: fraction)
    }

    private func time(separator: String) -> String {
        let ofDay = seconds - dayNumber * 86_400
        return [ofDay / 3_600, ofDay / 60 % 60, ofDay % 60].map { padded($0) }.joined(separator: separator)
    }

    private var dayNumber: Int64 { seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400 }

    // Howard Hinnant, chrono-Compatible Low-Level Date Algorithms, civil_from_days.
    private var civilDate: (year: Int64, month: Int64, day: Int64) {
        let shifted = dayNumber + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    // The same page, days_from_civil.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

private func padded(_ number: Int64, _ width: Int = 2) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
