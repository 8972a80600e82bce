/// One piece of a text of HTML, as a browser's tokenizer would cut it.
enum HTMLToken: Equatable {
    /// Characters between tags, with their entities as they stand.
    case text(String)
    /// A start tag with its name in lower case; values have their quotes taken off and entities as they stand.
    case start(name: String, attributes: [String: String])
    case end(name: String)
    /// A comment, a doctype or a processing instruction: nothing that is shown.
    case markup
}
