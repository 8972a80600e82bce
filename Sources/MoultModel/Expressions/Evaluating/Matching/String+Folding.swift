@_spi(_Unicode) import Swift

extension String {
    /// The form in which texts are compared under `[c]` and `[d]`, canonically composed (NFC), so that equivalent texts
    /// are equal and a letter with a mark left is not found by its bare letter:
    /// - `[d]` leaves out marks with a combining class, such as accents, points and voicing marks; letters that have a
    ///   stroke instead of a mark, as in `ø` and `ł`, keep it.
    /// - `[c]` folds letters, whatever the language: to lower case by way of upper case, so that `ß` is `ss` and every
    ///   sigma alike; only the dotless `ı` stays itself.
    ///
    /// The text itself where neither is asked for, or where `[n]` says that it is folded already.
    package func folded(_ options: Predicate.Options) -> String {
        if options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive]) || options.contains(.normalized) {
            return self
        }
        let foldsCase = options.contains(.caseInsensitive)
        if utf8.allSatisfy({ $0 < 0x80 }) { return foldsCase ? lowercased() : self }
        let dropsMarks = options.contains(.diacriticInsensitive)
        var folded = String.UnicodeScalarView()
        for scalar in _nfd {
            if dropsMarks, scalar.properties.canonicalCombiningClass != .notReordered { continue }
            if foldsCase { folded.append(contentsOf: scalar.caseFolded) } else { folded.append(scalar) }
        }
        var composed = String.UnicodeScalarView()
        for scalar in String(folded)._nfc { composed.append(scalar) }
        return String(composed)
    }

    /// The text without case and diacritics, as `canonical:` gives it.
    package var canonical: String { folded([.caseInsensitive, .diacriticInsensitive]) }
}

extension Unicode.Scalar {
    fileprivate var caseFolded: String.UnicodeScalarView {
        if self == "\u{131}" { return String(self).unicodeScalars }
        var folded = String.UnicodeScalarView()
        // Lower case first, because the capital ẞ is its own upper case.
        for lower in properties.lowercaseMapping.unicodeScalars {
            for upper in lower.properties.uppercaseMapping.unicodeScalars {
                folded.append(contentsOf: upper.properties.lowercaseMapping.unicodeScalars)
            }
        }
        return folded
    }
}
