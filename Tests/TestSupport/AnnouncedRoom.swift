/// Room that a message announces, such as `needs 1.2 MB of free space`.
package enum AnnouncedRoom {
    /// The bytes behind a word; nil if there are none.
    package static func bytes(after word: String, in text: String) -> Int? {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard let place = words.firstIndex(where: { $0 == word }), words.count > place + 2,
            let amount = Double(words[place + 1].filter { $0 != "," })
        else { return nil }
        let units: [Substring: Double] = ["byte": 1, "bytes": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9]
        return units[words[place + 2]].map { Int((amount * $0).rounded()) }
    }
}
