/// The arguments of one call of a closure. Each is read when it is requested.
@usableFromInline package protocol TransformArguments {
    /// The text of a String; nil for no value and for a value of any other type.
    func text(_ position: Int) -> String?
    /// Nil for no value.
    func value(_ position: Int) throws -> AttributeValue?
    var all: [AttributeValue?] { get throws }
}

extension Array: TransformArguments where Element == AttributeValue? {
    @usableFromInline package func text(_ position: Int) -> String? {
        if case .string(let text)? = self[position] { text } else { nil }
    }
    @usableFromInline package func value(_ position: Int) -> AttributeValue? { self[position] }
    @usableFromInline package var all: [AttributeValue?] { self }
}
