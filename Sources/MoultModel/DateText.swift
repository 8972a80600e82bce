/// Points in time as ISO 8601 text in UTC, by the proleptic Gregorian calendar.
package enum DateText {
    /// From 1970-01-01 to 2001-01-01, Core Data's reference date.
    package static let referenceDate = 978_307_200.0

    /// Seconds since the reference date as `2001-01-01T00:00:00.000000000Z`, nine decimals, the nearest nanosecond.
    ///
    /// - Returns: nil for NaN, an infinity or a year beyond 999,999,999: those have no such text.
    package static func text(sinceReferenceDate seconds: Double) -> String? {
        guard seconds.isFinite, seconds.magnitude < 3e16 else { return nil }
        var whole = Int(seconds.rounded(.down))
        var nanoseconds = Int(((seconds - Double(whole)) * 1e9).rounded())
        if nanoseconds == 1_000_000_000 { (whole, nanoseconds) = (whole + 1, 0) }
        return text(since1970: whole + Int(referenceDate), fraction: "." + padded(nanoseconds, 9))
    }

    private static func text(since1970 seconds: Int, fraction: String) -> String {
        let days = (seconds >= 0 ? seconds : seconds - 86399) / 86400
        let second = seconds - days * 86400
        let (year, month, day) = date(days: days)
        let clock = [second / 3600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
        // Beyond four digits ISO 8601 asks for a sign.
        let years = (0...9999).contains(year) ? padded(year, 4) : (year < 0 ? "-" : "+") + padded(abs(year), 6)
        return "\(years)-\(padded(month, 2))-\(padded(day, 2))T\(clock)\(fraction)Z"
    }

    /// The civil date so many days after 1970-01-01: counted from 1 March, in eras of 400 years.
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

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
