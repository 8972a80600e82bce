import Foundation
import MoultModel
import MoultTesting

/// A life of a store: its models, the file that it begins as, and everything that happens to it. It says all itself, so
/// that a life that was kept means the same when the generators have changed.
struct Life: Codable, Sendable {
    var seed: UInt64
    var profile: Profile
    var ground: Ground
    var models: [HistoryModel]
    var stages: [HistoryStage] = []
    var mappings: [HistoryMapping] = []
    var steps: [Step] = []
    /// What is wrong on purpose, to see that it is found.
    var plant: Plant?
    /// Why it was kept.
    var found: String?

    /// The file that the life begins with.
    struct Ground: Codable, Sendable {
        var pageSize = 4_096
        var isWAL = true
        var hasHistory = false
        /// The highest key that was given before the first object.
        var lastKey = 0
        /// Pages of nothing in the file, before the first object.
        var emptyBytes = 0
        /// The bytes that the file has before the first object, in a table that is not Core Data's; nil for none.
        var fullBytes: Int?
        /// The permissions of the file; nil in older lives, where only its user has any.
        var mode: UInt32?

        var rights: UInt32 { mode ?? 0o600 }
        /// Whoever may read a folder may look up names in it.
        var folderRights: UInt32 { rights | 0o100 | (rights & 0o444) >> 2 }
    }

    enum Profile: String, Codable, CaseIterable, Sendable {
        /// Many faults, in some forty steps.
        case usual
        /// A fault now and then, in hundreds of steps over years.
        case rare
        /// A file that grows across the page of the locks at 2^30 bytes, keys that grow beyond 2^31, and pages of 65,536
        /// bytes.
        case long
    }

    /// A fault that is planted where the guarantees do not reach, or in the reference.
    enum Plant: String, Codable, CaseIterable, Sendable {
        /// The disk writes one bit of a save wrong, which no one compares.
        case wrongSave
        /// The disk does not keep what was synchronised.
        case lyingDisk
        /// The reference forgets an object in a migration.
        case lostRow
        /// The reference takes the default value for a value that is kept.
        case lostValue
    }

    /// One thing that happens, and what befalls the machine meanwhile.
    struct Step: Sendable {
        var action: Action
        var faults: [StepFault] = []
        /// The seconds by which the clock goes ahead before it, besides an hour; or back.
        var ahead: Int64 = 0
        /// Whether the command line does it; nil for the library.
        var isTyped: Bool?
        /// Whether it happens to the other store of a life with two; nil for the first store, or for both.
        var isOther: Bool?

        /// A word for the trace.
        var word: String { (isOther == true ? "other " : "") + (isTyped == true ? "moult " : "") + action.word }
    }

    struct StepFault: Codable, Sendable {
        var kind: String
        var number: Int
        var seed: UInt64

        var fault: Fault? { Fault.Kind(rawValue: kind).map { Fault($0, at: number, seed: seed) } }
    }

    enum Action: Codable, Sendable {
        /// A program saves; the app, if it has the store open.
        case save(API, [Change])
        /// A program reads every object.
        case look(API)
        /// The app opens the store and keeps it open.
        case open(API)
        case close
        /// A second app changes objects in a context, which it keeps.
        case begin(API, [Change])
        /// The second app saves its context.
        case commit
        /// Another program begins to read, or ends.
        case read(Bool)
        case migrate(to: Int, Way, keepsReturned: Bool)
        /// Does the work that was deferred: that many tasks, or all.
        case finish(Int?)
        case backUp
        /// Restores one of the known backups, by its place in the order of their names; nil for that of the last run.
        case rollBack(Int?)
        case prune(days: Int, count: Int)
        case move
        /// Back to the version before.
        case downgrade
        case repair
        /// A program damages the store in a way that a repair promises to mend, and it is repaired.
        case mend(Damage)
        /// Puts the objects back that the last migration has set apart.
        case putBack
        /// An app deletes its history: all of it, or what is older than a transaction.
        case trimHistory(Trim?)
        case recover
        /// Finishes the migration that the step before has left unfinished, with the settings that it has kept.
        case resume
        /// A repair deletes the history that is older than the day and second of a transaction, counted from the newest.
        case cutHistory(Int)
        case exportAndImport
        /// Another program writes a text that is not UTF-8: that of ``HistoryValues/brokenTexts``, or the first.
        case spoilText(Int, attribute: Int, bytes: Int?)
        /// The manifest of a known backup is cut in half, by the backup's place in the order of their names.
        case spoilManifest(Int)
        /// The app's developers change what no hash sees of the store's version, which stays that version.
        case retune
        /// A migration to a version that cannot follow, with the barrier at an entity.
        case bar(HistoryBarrier, entity: Int)
        /// Every face is asked about the store and its way to a version.
        case ask(to: Int)
        /// A second store, of another version, follows the store.
        case mirror(MirrorAct)
        /// An app opens both stores of a life with two, saves objects in one context, and reads all that there are.
        case saveBoth(API, [Change])
        /// An app with a later version opens both stores, which migrates them, and reads every object.
        case migrateBoth(to: Int, API)
    }

    /// What is wrong with a store.
    enum Damage: Codable, Hashable, Sendable {
        /// The to-one of an object leads nowhere.
        case dangling(link: Int, of: Int, isBackward: Bool)
        /// The counter of a root entity's keys is below the keys.
        case counter(Int)
        /// An index is gone, by its place in the order of their names.
        case index(Int)
        /// The row of an object is of no entity.
        case stranger(Int)
        /// A file of external data is there that no row names.
        case file
        /// The oldest transaction of history is gone, and its changes are there.
        case transaction
    }

    /// The transactions of history that stay, counted from the newest.
    enum Trim: Codable, Hashable, Sendable {
        /// All before the token of one goes, or all before its date.
        case token(Int)
        case date(Int)
    }

    enum MirrorAct: Codable, Hashable, Sendable {
        case start(to: Int)
        case sync(all: Bool)
        case verify, stop
        /// Apps go over to the second store, one saves there, and they go back to the first, which then has it too.
        case visit([Change], API)
    }

    /// How a migration is done.
    enum Way: Codable, Hashable, Sendable {
        case plain, normalised, inPlace, stops, refusing, rehearsal, into, deferred, container, uncompared, swiftData
        /// In calls of so many units each.
        case budget(Int)
        /// With a rule that sets apart the objects of an entity whose keys have a remainder of 3.
        case quarantining(Int, remainder: Int)
    }
}

extension Life {
    init(contentsOf path: String) throws {
        self = try JSONDecoder().decode(Life.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// The life as a file: the same text for the same life.
    var text: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
        }
    }
}

extension Life.Action {
    /// A word for the trace.
    var word: String {
        func first(_ action: Any) -> String { String("\(action)".prefix { $0 != "(" }) }
        if case .mirror(let act) = self { return "mirror \(first(act))" }
        return first(self)
    }

    /// Whether it is a program's, whose writes are not read again and compared.
    var isOfProgram: Bool {
        switch self {
        case .save, .look, .open, .close, .begin, .commit, .read, .spoilText, .trimHistory, .mirror(.visit), .saveBoth:
            true
        default: false
        }
    }

    /// Whether it happens to both stores of a life with two.
    var isOfBoth: Bool {
        switch self {
        case .saveBoth, .migrateBoth: true
        default: false
        }
    }

    /// What an app changes; nil where none does.
    var changes: [Change]? {
        get {
            switch self {
            case .save(_, let changes), .begin(_, let changes), .saveBoth(_, let changes): changes
            default: nil
            }
        }
        set {
            switch self {
            case .save(let api, _): self = .save(api, newValue ?? [])
            case .begin(let api, _): self = .begin(api, newValue ?? [])
            case .saveBoth(let api, _): self = .saveBoth(api, newValue ?? [])
            default: break
            }
        }
    }
}

// MARK: - Faults in a file

extension Life.Step: Codable {
    private enum Key: String, CodingKey { case action, fault, ahead, isTyped, isOther }

    init(from decoder: any Decoder) throws {
        let box = try decoder.container(keyedBy: Key.self)
        let alone = try? box.decodeIfPresent(Life.StepFault.self, forKey: .fault)
        self.init(
            action: try box.decode(Life.Action.self, forKey: .action),
            faults: try alone.map { [$0] } ?? box.decodeIfPresent([Life.StepFault].self, forKey: .fault) ?? [],
            ahead: try box.decode(Int64.self, forKey: .ahead),
            isTyped: try box.decodeIfPresent(Bool.self, forKey: .isTyped),
            isOther: try box.decodeIfPresent(Bool.self, forKey: .isOther))
    }

    /// One fault is written alone, as in older lives.
    func encode(to encoder: any Encoder) throws {
        var box = encoder.container(keyedBy: Key.self)
        try box.encode(action, forKey: .action)
        if faults.count == 1 { try box.encode(faults[0], forKey: .fault) }
        if faults.count > 1 { try box.encode(faults, forKey: .fault) }
        try box.encode(ahead, forKey: .ahead)
        try box.encodeIfPresent(isTyped, forKey: .isTyped)
        try box.encodeIfPresent(isOther, forKey: .isOther)
    }
}

// MARK: - Attributes in a file

extension HistoryModel.Attribute: Codable {
    private enum Key: String, CodingKey {
        case id, name, type, isOptional, standard, external, was, modifier, isDistinct
    }

    init(from decoder: any Decoder) throws {
        let box = try decoder.container(keyedBy: Key.self)
        let type = AttributeType(rawValue: try box.decode(Int32.self, forKey: .type)) ?? .string
        let standard = try box.decodeIfPresent(String.self, forKey: .standard)
        self.init(
            id: try box.decode(Int.self, forKey: .id),
            description: AttributeDescription(
                name: try box.decode(String.self, forKey: .name), type: type,
                isOptional: try box.decode(Bool.self, forKey: .isOptional),
                defaultValue: standard.flatMap { HistoryValues.value($0, as: type) },
                allowsExternalBinaryDataStorage: try box.decodeIfPresent(Bool.self, forKey: .external) ?? false,
                renamingIdentifier: try box.decodeIfPresent(String.self, forKey: .was),
                versionHashModifier: try box.decodeIfPresent(String.self, forKey: .modifier)),
            isDistinct: try box.decodeIfPresent(Bool.self, forKey: .isDistinct) ?? false)
    }

    func encode(to encoder: any Encoder) throws {
        var box = encoder.container(keyedBy: Key.self)
        try box.encode(id, forKey: .id)
        try box.encode(description.name, forKey: .name)
        try box.encode(description.type.rawValue, forKey: .type)
        try box.encode(description.isOptional, forKey: .isOptional)
        try box.encodeIfPresent(description.defaultValue.map { HistoryValues.text($0) }, forKey: .standard)
        if description.allowsExternalBinaryDataStorage { try box.encode(true, forKey: .external) }
        try box.encodeIfPresent(description.renamingIdentifier, forKey: .was)
        try box.encodeIfPresent(description.versionHashModifier, forKey: .modifier)
        if isDistinct { try box.encode(true, forKey: .isDistinct) }
    }
}
