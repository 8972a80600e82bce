extension String {
    /// The text in UTF-8 where it lies, as SQLite's C functions take it; valid inside `body` only.
    func withBytes<Result>(_ body: (UnsafeBufferPointer<CChar>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable({ $0.withMemoryRebound(to: CChar.self, body) }) {
            return result
        }
        // A String of Objective-C's may lie in pieces, which are put together first.
        var text = self
        return text.withUTF8 { $0.withMemoryRebound(to: CChar.self, body) }
    }
}
