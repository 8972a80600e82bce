/// The name of a column or table with an entity number in it, as an earlier migration may have left it: `before`, an
/// old number, `name` in capitals, and a suffix where two clashed.
struct NumberedName {
    let before: String
    let name: String
    var number = Number.required

    enum Number { case none, optional, required }

    /// Whether `text` is such a name, whatever its number and suffix.
    func matches(_ text: String) -> Bool {
        guard text.hasPrefix(before) else { return false }
        var rest = text.dropFirst(before.count)
        if number != .none {
            let digits = rest.prefix { $0.isASCIIDigit }
            if digits.isEmpty, number == .required { return false }
            rest = rest.dropFirst(digits.count)
        }
        guard rest.hasPrefix(name) else { return false }
        return rest.dropFirst(name.count).allSatisfy(\.isASCIIDigit)
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { self >= "0" && self <= "9" }
}
