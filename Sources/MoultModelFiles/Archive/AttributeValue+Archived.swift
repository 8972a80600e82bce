import MoultModel
import MoultPropertyList

extension AttributeValue {
    /// The archived default of an attribute of a numeric type, whatever kind of number or text the archive holds.
    ///
    /// An attribute whose type was changed keeps the kind that it had: a Boolean that was a Double has the real 0.0.
    /// Nil for what the type does not hold exactly.
    init?(archivedNumber value: KeyedArchive.Value, type: AttributeType) {
        if type == .decimal, let number = DecimalNumber(archived: value) {
            self = .decimal(number.text)
            return
        }
        let text: String? =
            if let whole = value.integer {
                String(whole)
            } else if let real = value.real {
                real.description
            } else {
                DecimalNumber(archived: value)?.text ?? value.string
            }
        guard let text else { return nil }
        // The shortest text that is the number again, so that nothing is lost on the way.
        self.init(modelFileText: text, type: type)
    }
}

extension Finding {
    /// A default value that is no value of the attribute's type: the attribute is read without one.
    static func defaultNotRead(_ text: String, of type: AttributeType, place: String) -> Finding {
        Finding(
            code: "default-not-read", severity: .warning, place: place,
            message:
                "The default value \(text) is not a value of type \(type.name); the attribute is read without one.",
            remedy: "Correct the default value or the type.")
    }
}
