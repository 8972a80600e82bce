import MoultBasics

/// A figure: Moult's measurements, beside those of what it is compared with.
struct Figure {
    enum Unit: String, CaseIterable {
        case seconds, milliseconds, mebibytes, megabytes, bytes, calls

        var symbol: String {
            switch self {
            case .seconds: "s"
            case .milliseconds: "ms"
            case .mebibytes: "MiB"
            case .megabytes: "MB"
            case .bytes: "B"
            case .calls: "calls"
            }
        }
    }

    /// Without the number of rows, so that one bound can hold for every size.
    var name: String
    /// The rows of the store; nil if the figure does not depend on the rows that a run is asked for.
    var rows: Int?
    var ours: [Double]
    /// One for each of ours, taken right before or after it; empty if there is nothing to compare with.
    var theirs: [Double] = []
    /// Whether the figure is their time divided by ours; otherwise it is ours divided by theirs, or ours alone.
    var isSpeed = false
    var unit = Unit.seconds
    /// Further options that measure it again, such as the kind of change.
    var options: [String] = []
    /// Further numbers for the tables, by name.
    var details: [String: [Double]] = [:]
    /// Further words for the tables, by name.
    var words: [String: String] = [:]
    /// How many times slower the machine was than the one of the bounds, set by the run.
    var pace = 1.0
    /// The group that measured it, set by the run.
    var group = ""
    /// The day on which it was measured, set by the run.
    var date = ""

    var isRatio: Bool { !theirs.isEmpty }

    /// How many times wider a bound is on this machine: a ratio's is the same on each.
    var allowance: Double { !isRatio && [.seconds, .milliseconds].contains(unit) ? pace : 1 }

    /// The numbers that a bound is about, round by round.
    var values: [Double] {
        guard isRatio else { return ours }
        return zip(ours, theirs).map { isSpeed ? $1 / $0 : $0 / $1 }
    }

    var title: String { rows.map { "\(name), \(Quantity.count($0)) rows" } ?? name }

    /// The smallest and the largest value.
    var spread: String {
        let (low, high) = (values.min() ?? 0, values.max() ?? 0)
        return isRatio ? "\(low.decimals(2))-\(high.decimals(2))" : "\(number(low))-\(text(high))"
    }

    /// A value of the figure: a ratio, or a number in its unit.
    func valueText(_ value: Double) -> String { isRatio ? value.decimals(2) : text(value) }

    func text(_ value: Double) -> String { "\(number(value)) \(unit.symbol)" }

    private func number(_ value: Double) -> String {
        switch unit {
        case .seconds: value.decimals(3)
        case .milliseconds, .mebibytes, .megabytes, .bytes: value.decimals(1)
        case .calls: value.decimals(0)
        }
    }
}

/// Figures as members of the file of results.
extension Figure {
    var json: JSONValue {
        func list(_ numbers: [Double]) -> JSONValue { .array(numbers.filter(\.isFinite).map(JSONValue.double)) }
        return .object([
            .init("group", .string(group)), .init("name", .string(name)),
            .init("rows", rows.map { JSONValue($0) } ?? .null), .init("date", .string(date)),
            .init("unit", .string(unit.rawValue)), .init("isSpeed", .bool(isSpeed)),
            .init("median", values.median.isFinite ? .double(values.median) : .null), .init("ours", list(ours)),
            .init("theirs", list(theirs)),
            .init("pace", .double(pace)), .init("options", JSONValue(options)),
            .init("details", JSONValue(sorted: details.mapValues(list))),
            .init("words", JSONValue(sorted: words.mapValues(JSONValue.string))),
        ])
    }

    /// Returns nil for what is not a figure.
    init?(_ json: JSONValue) {
        func numbers(_ value: JSONValue?) -> [Double] { value?.array?.compactMap(\.double) ?? [] }
        guard let group = json["group"]?.string, let name = json["name"]?.string,
            let unit = json["unit"]?.string.flatMap(Unit.init), let ours = json["ours"]?.array?.compactMap(\.double),
            !ours.isEmpty
        else { return nil }
        self.init(
            name: name, rows: json["rows"]?.integer.map { Int($0) }, ours: ours, theirs: numbers(json["theirs"]),
            isSpeed: json["isSpeed"]?.bool ?? false, unit: unit,
            options: json["options"]?.array?.compactMap(\.string) ?? [], pace: json["pace"]?.double ?? 1,
            group: group, date: json["date"]?.string ?? "")
        for member in json["details"]?.members ?? [] { details[member.key] = numbers(member.value) }
        for member in json["words"]?.members ?? [] { words[member.key] = member.value.string }
    }
}

extension [Double] {
    var median: Double {
        let ordered = sorted()
        guard !ordered.isEmpty else { return 0 }
        let middle = ordered.count / 2
        return ordered.count.isMultiple(of: 2) ? (ordered[middle - 1] + ordered[middle]) / 2 : ordered[middle]
    }
}

extension Double {
    func decimals(_ count: Int) -> String { Quantity.decimal(self, places: count) }
}
