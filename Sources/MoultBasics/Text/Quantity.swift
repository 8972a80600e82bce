/// Numbers formatted for people.
package enum Quantity {
    /// Formats `1234567` as `1,234,567`.
    package static func count(_ number: some BinaryInteger) -> String {
        let digits = Array(String(number.magnitude))
        var text = number.signum() < 0 ? "-" : ""
        for (position, digit) in digits.enumerated() {
            if position > 0, (digits.count - position).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return text
    }

    /// Formats `1 row` or `2 rows`; with a verb, `1 row is` or `2 rows are`.
    package static func count(_ number: some BinaryInteger, _ noun: String, plural: String? = nil) -> String {
        "\(count(number)) \(number == 1 ? noun : plural ?? noun + "s")"
    }

    /// Formats `1234567` as `1.2 MB`; a kilobyte is a thousand bytes.
    package static func bytes(_ number: some BinaryInteger) -> String {
        var amount = Double(number)
        var unit = "bytes"
        for larger in ["kB", "MB", "GB", "TB"] where amount.magnitude >= 999.5 {
            amount /= 1000
            unit = larger
        }
        return unit == "bytes" ? count(number, "byte") : "\(decimal(amount, places: amount < 9.95 ? 1 : 0)) \(unit)"
    }

    /// Formats required bytes in the same units, rounded up, so that the stated amount always suffices.
    package static func bytesNeeded(_ number: Int64) -> String { bytes(number, .up) }

    /// Formats free bytes, rounded down.
    package static func bytesFree(_ number: Int64) -> String { bytes(number, .down) }

    private static func bytes(_ number: Int64, _ rule: FloatingPointRoundingRule) -> String {
        var amount = Double(number)
        var unit = ""
        for larger in ["kB", "MB", "GB", "TB"] where amount > 999 {
            amount /= 1000
            unit = larger
        }
        guard !unit.isEmpty else { return count(number, "byte") }
        let places = amount < 9.9 ? 1 : 0
        let step = places == 1 ? 10.0 : 1
        return "\(decimal((amount * step).rounded(rule) / step, places: places)) \(unit)"
    }

    /// Formats seconds as `12 ms`, `3.4 s`, `2 min 5 s` or `1 h 2 min`.
    package static func duration(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds >= 0, seconds < 1e9 else { return "?" }
        if seconds < 0.9995 { return "\(Int((seconds * 1000).rounded())) ms" }
        if seconds < 59.95 { return "\(decimal(seconds, places: 1)) s" }
        let whole = Int(seconds.rounded())
        return whole < 3600 ? "\(whole / 60) min \(whole % 60) s" : "\(whole / 3600) h \(whole % 3600 / 60) min"
    }

    /// Formats a number rounded to some decimal places, independent of the locale.
    package static func decimal(_ number: Double, places: Int) -> String {
        let scale = (0..<min(max(places, 0), 9)).reduce(1) { scale, _ in scale * 10 }
        guard number.isFinite, number.magnitude * Double(scale) < 1e18 else { return number.description }
        let scaled = Int((number.magnitude * Double(scale)).rounded())
        let sign = number < 0 && scaled > 0 ? "-" : ""
        guard scale > 1 else { return sign + String(scaled) }
        let fraction = String(scaled % scale)
        return sign + "\(scaled / scale).\(String(repeating: "0", count: places - fraction.count))\(fraction)"
    }
}
