import MoultModel
import TestSupport

/// Edits a model as people do, at random; every edit keeps or ends a number, so that the truth stays known.
struct HistoryEditor {
    var model = HistoryModel()
    /// The kinds of edits made since the version before.
    private(set) var edits: [String] = []
    var random: HistoryRandom
    private var lastID = 0
    /// Everything that was edited since the version before: one edit each, so that a question has one true answer.
    var touched: Set<Int> = []
    /// The version before: a name that it has is not given to anything else at once.
    var start = HistoryModel()
    var entitiesChanged = false
    /// Attributes that left, by their entity's number and name, so that one that returns is known.
    var departed: [Departure: HistoryModel.Attribute] = [:]

    struct Departure: Hashable {
        var entity: Int
        var name: String
    }

    static let names = ["a", "b", "c", "d", "e", "f", "ent", "kind", "order", "Ünit"]
    static let compositeNames = ["home", "mark", "size"]
    static let entityNames = ["Note", "User", "Tag", "Item", "Place", "Group", "Pk", "Zebra"]
    static let types: [AttributeType] = [
        .string, .integer16, .integer32, .integer64, .boolean, .float, .double, .decimal, .date, .binary, .uuid, .uri,
        .transformable,
    ]

    init(seed: UInt64) {
        random = HistoryRandom(seed: seed)
        if isLikely(1, in: 4) { model.isPlain = true }
        if isLikely(1, in: 8) {
            (model.others, model.isDivided) = ([], true)
            for isMarked in [false, true] { addEntity(isMarked: isMarked) }
        }
        for _ in 0..<Int.random(in: isDivided ? 1...3 : 2...4, using: &random) { addEntity() }
        for _ in 0..<Int.random(in: 2...5, using: &random) { addLink() }
        for _ in 0..<3 where isLikely(1, in: 3) { _ = changeDerived() }
        if !isPlain, !isDivided, isLikely(1, in: 4) {
            model.others = []
            for _ in 0..<2 where isLikely(1, in: 2) { _ = changeConfiguration() }
        }
    }

    /// Whether the model stays one that SwiftData's classes can declare: no hierarchy, no order, no abstract entity, no
    /// relationship without inverse, no index.
    var isPlain: Bool { model.isPlain == true }
    /// Whether each configuration has a store, so that nothing leads from one to the other.
    var isDivided: Bool { model.isDivided == true }

    mutating func newID() -> Int {
        lastID += 1
        return lastID
    }

    mutating func isLikely(_ part: Int, in whole: Int) -> Bool {
        Int.random(in: 0..<whole, using: &random) < part
    }

    /// Makes one to four edits; more where both configurations have to change.
    mutating func advance() {
        (touched, edits, entitiesChanged, start) = ([], [], false, model)
        // Identifiers stay in a model until they are removed.
        if isLikely(1, in: 2) { model.forgetIdentifiers() }
        let wanted = Int.random(in: isDivided ? 3...6 : 1...4, using: &random)
        for _ in 0..<40 where edits.count < wanted {
            let edit = Self.edits[Int.random(in: 0..<Self.edits.count, using: &random)]
            if edit.make(&self) { edits.append(edit.name) }
        }
    }

    private struct Edit: Sendable {
        var name: String
        var make: @Sendable (inout HistoryEditor) -> Bool

        init(_ name: String, _ make: @escaping @Sendable (inout HistoryEditor) -> Bool) {
            self.name = name
            self.make = make
        }
    }

    private static let edits: [Edit] = [
        Edit("attribute added") { $0.addAttribute() }, Edit("attribute added") { $0.addAttribute() },
        Edit("attribute returned") { $0.returnAttribute() }, Edit("attribute removed") { $0.removeAttribute() },
        Edit("attribute renamed") { $0.renameAttribute() }, Edit("attribute renamed") { $0.renameAttribute() },
        Edit("composite renamed") { $0.renameComposite() }, Edit("composite entered or left") { $0.regroup() },
        Edit("configuration changed") { $0.changeConfiguration() },
        Edit("attribute moved") { $0.moveAttribute() }, Edit("type changed") { $0.changeType() },
        Edit("type changed") { $0.changeType() }, Edit("optional changed") { $0.changeOptional() },
        Edit("transient changed") { $0.changeTransient() },
        Edit("external storage changed") { $0.changeExternal() }, Edit("index changed") { $0.changeIndex() },
        Edit("uniqueness changed") { $0.changeUnique() }, Edit("entity added") { $0.addEntity() },
        Edit("entity removed") { $0.removeEntity() }, Edit("entity renamed") { $0.renameEntity() },
        Edit("parent changed") { $0.changeParent() }, Edit("abstract changed") { $0.changeAbstract() },
        Edit("link added") { $0.addLink() }, Edit("link added") { $0.addLink() },
        Edit("link removed") { $0.removeLink() }, Edit("link renamed") { $0.renameLink() },
        Edit("cardinality changed") { $0.changeCardinality() }, Edit("cardinality changed") { $0.changeCardinality() },
        Edit("order changed") { $0.changeOrder() }, Edit("inverse changed") { $0.changeInverse() },
        Edit("modifier changed") { $0.changeModifier() }, Edit("note changed") { $0.changeNote() },
        Edit("delete rule changed") { $0.changeDeleteRule() }, Edit("counts changed") { $0.changeCounts() },
        Edit("counts changed") { $0.changeCounts() }, Edit("derived changed") { $0.changeDerived() },
        Edit("derived changed") { $0.changeDerived() },
    ]
}
