/// The conversions of one lowered expression, each of which may have no result.
final class ConversionLog {
    private var conversions: [(value: SQLText, result: SQLText)] = []

    func add(_ value: SQLText, _ result: SQLText) { conversions.append((value, result)) }

    /// Holds for a row where one of them had a value and no result; nil if there are none.
    var failure: SQLText? {
        guard !conversions.isEmpty else { return nil }
        return conversions.map { "(\($0.value) IS NOT NULL AND \($0.result) IS NULL)" as SQLText }.joined(
            separator: " OR ")
    }
}
