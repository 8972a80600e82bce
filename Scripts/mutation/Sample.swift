import MoultModel

/// A source for the check of Scripts/mutants itself: what it must find, and what it must leave alone.
struct Sample {
    let limit = 3 + 4
    var shelf: [Int] { didSet { count += 1 } }
    private(set) var count = 0

    init(_ shelf: [Int] = [1 + 1]) {
        self.shelf = shelf
        log("made")  // if count < 1 { log("a comment") }
    }

    var isFull: Bool { count >= limit }
    var name: String { title("\(count + 1) < 2") }
    var first: Int? {
        get { shelf.first }
        set { put(newValue) }
    }

    mutating func add(_ book: Int, to other: Int? = nil) throws -> Bool {
        guard let other, try has(other) && !isFull else { return false }
        if case .some(let old) = first, old == book { return true }
        let wide = count > 0 ? shelf.filter { !$0.isMultiple(of: 2) } : []
        for (place, kept) in wide.enumerated() where kept != book {
            shelf[place - 1] = kept
            try check(
                kept,
                after: place)
        }
        switch count {
        case 0: log("none")
        case 1...9 where count < book: shelf.append(book)
        default: break
        }
        let size: Int
        if wide.isEmpty { size = 0 } else { size = 1 }
        #if DEBUG
            log("debug")
        #endif
        return try size == 1 || has(book)
    }

    func title<T: Comparable>(_ text: String, _: Array<T> = []) -> String where T: Hashable {
        if text.isEmpty { plain() } else { text.filter { $0 < "z" } }
    }
}
