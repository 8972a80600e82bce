/// A point in time in UTC, with nanoseconds.
package struct Timestamp: Sendable, Hashable, Comparable {
    /// The seconds since 1970-01-01 00:00:00 UTC.
    package var seconds: Int64
    /// The nanoseconds within the second, from 0 to 999,999,999.
    package var nanoseconds: Int32

    package init(seconds: Int64, nanoseconds: Int32 = 0) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    package static func < (left: Timestamp, right: Timestamp) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }

    /// The same time, truncated to the precision of ``iso8601WithMilliseconds``.
    package var inMilliseconds: Timestamp {
        Timestamp(seconds: seconds, nanoseconds: nanoseconds / 1_000_000 * 1_000_000)
    }

    /// Returns the seconds since `earlier`; negative if `earlier` is in fact later.
    package func seconds(since earlier: Timestamp) -> Double {
        Double(seconds - earlier.seconds) + Double(nanoseconds - earlier.nanoseconds) / 1e9
    }
}

extension Timestamp {
    /// The form `2026-03-01T09:05:07Z`.
    package var iso8601: String {
        let (year, month, day) = civilDate
        return "\(padded(year, 4))-\(padded(month))-\(padded(day))T\(time(separator: ":"))Z"
    }

    /// The form `2026-03-01T09:05:07.123Z`.
    package var iso8601WithMilliseconds: String {
        "\(iso8601.dropLast()).\(padded(Int64(nanoseconds / 1_000_000), 3))Z"
    }

    /// The form `20260301T090507Z`, which suits a file name and sorts by time.
    package var iso8601Basic: String {
        let (year, month, day) = civilDate
        return "\(padded(year, 4))\(padded(month))\(padded(day))T\(time(separator: ""))Z"
    }

    /// Reads the form of ``iso8601`` with any number of decimals; nil for any other text.
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

private func padded(_ number: some BinaryInteger, _ width: Int = 2) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

/// Points in time as ISO 8601 text in UTC, by the proleptic Gregorian calendar.
package enum DateText {
    /// The seconds from 1970-01-01 to 2001-01-01, Core Data's reference date.
    package static let referenceDate = 978_307_200.0

    /// Returns the time as `2001-01-01T00:00:00.000Z`: three decimals, or as many more, up to nine, as are needed to
    /// read the same number from the text.
    ///
    /// Every output of a date has this form, so that queries, exports and pages agree.
    ///
    /// - Returns: nil for NaN, an infinity, or a year beyond 999,999,999, which have no such form.
    package static func text(sinceReferenceDate seconds: Double) -> String? {
        guard let (whole, fraction, digits) = decimals(of: seconds) else { return nil }
        return text(since1970: whole + Int(referenceDate), fraction: "." + padded(fraction, digits))
    }

    /// Returns the whole seconds of a date, and its decimals as a number of that many digits; nil if the date has no
    /// text.
    package static func decimals(of seconds: Double) -> (whole: Int, fraction: Int, digits: Int)? {
        guard seconds.isFinite, seconds.magnitude < 3e16 else { return nil }
        let floor = seconds.rounded(.down)
        var unit = 1000.0
        for digits in 3...9 {
            var (whole, fraction) = (floor, ((seconds - floor) * unit).rounded())
            if fraction == unit { (whole, fraction) = (whole + 1, 0) }
            // The same sum as in ``secondsSinceReferenceDate(_:)``.
            if digits == 9 || whole + fraction / unit == seconds { return (Int(whole), Int(fraction), digits) }
            unit *= 10
        }
        return nil
    }

    private static func text(since1970 seconds: Int, fraction: String) -> String {
        let days = (seconds >= 0 ? seconds : seconds - 86399) / 86400
        let second = seconds - days * 86400
        let (year, month, day) = date(days: days)
        let clock = [second / 3600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
        // ISO 8601 requires a sign for a year of more than four digits.
        let years = (0...9999).contains(year) ? padded(year, 4) : (year < 0 ? "-" : "+") + padded(abs(year), 6)
        return "\(years)-\(padded(month, 2))-\(padded(day, 2))T\(clock)\(fraction)Z"
    }

    /// Returns the civil date of a day number after 1970-01-01, computed from 1 March in eras of 400 years.
    private static func date(days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let isNextYear = month >= 10
        return (
            yearOfEra + era * 400 + (isNextYear ? 1 : 0), isNextYear ? month - 9 : month + 3,
            dayOfYear - (153 * month + 2) / 5 + 1
        )
    }

    /// Reads a UTC time in the form of ``text(sinceReferenceDate:)``, with any number of decimals or none. A year has
    /// four digits, or a sign and six to nine digits.
    ///
    /// - Returns: the whole seconds since 1970 and the nanoseconds; nil for any other text.
    package static func moment(_ text: String) -> (seconds: Int64, nanoseconds: Int32)? {
        let bytes = Array(text.utf8)
        let isSigned = bytes.first == UInt8(ascii: "+") || bytes.first == UInt8(ascii: "-")
        let digits = bytes.dropFirst(isSigned ? 1 : 0).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let end = digits.endIndex
        guard isSigned ? (6...9).contains(digits.count) : digits.count == 4, bytes.count >= end + 16,
            bytes.last == UInt8(ascii: "Z")
        else { return nil }
        func number(_ range: Range<Int>) -> Int64? { Int64(String(decoding: bytes[range], as: UTF8.self)) }
        guard bytes[end] == UInt8(ascii: "-"), bytes[end + 3] == UInt8(ascii: "-"), bytes[end + 6] == UInt8(ascii: "T"),
            let year = number(0..<end), let month = number(end + 1..<end + 3), let day = number(end + 4..<end + 6),
            let hour = number(end + 7..<end + 9), let minute = number(end + 10..<end + 12),
            let second = number(end + 13..<end + 15), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        var fraction: Int32 = 0
        if bytes[end + 15] == UInt8(ascii: ".") {
            let digits = (bytes[(end + 16)..<(bytes.count - 1)] + Array(repeating: UInt8(ascii: "0"), count: 9)).prefix(
                9)
            guard let value = Int32(String(decoding: digits, as: UTF8.self)) else { return nil }
            fraction = value
        } else if bytes.count != end + 16 {
            return nil
        }
        let days = days(year: year, month: month, day: day)
        return (days * 86_400 + hour * 3_600 + minute * 60 + second, fraction)
    }

    /// Reads the same form and returns the seconds since the reference date.
    package static func secondsSinceReferenceDate(_ text: String) -> Double? {
        moment(text).map { Double($0.seconds - Int64(referenceDate)) + Double($0.nanoseconds) / 1e9 }
    }

    // Howard Hinnant, chrono-Compatible Low-Level Date Algorithms, days_from_civil.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
