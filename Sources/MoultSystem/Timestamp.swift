import MoultModel

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
        guard let (seconds, nanoseconds) = DateText.moment(text) else { return nil }
        self.init(seconds: seconds, nanoseconds: nanoseconds)
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
}

private func padded(_ number: Int64, _ width: Int = 2) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
