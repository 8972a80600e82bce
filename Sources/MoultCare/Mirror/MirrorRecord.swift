import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultSQLite
import MoultSession
import MoultStore

/// The record of a mirror in the sidecar of the mirrored store, `mirror.json`: the stores, the mapping, and the store
/// that apps write to.
///
/// The progress of the mirror is not part of it: the store that follows keeps that itself (``MirrorMark``).
package struct MirrorRecord: Sendable, Hashable {
    package enum State: String, Sendable {
        /// The second store is being made. A record in this state without a running process is from a start that died.
        case starting
        /// Apps write to the first store, and the second follows.
        case mirroring
        /// Apps write to the second store. The first follows if there is a mapping back.
        case cutOver
    }

    /// The identifier of the mirror, which the mark of the store that follows repeats.
    package var identifier: String
    package var state: State
    /// The resolved path of the second store.
    package var second: String
    /// `NSStoreUUID`, the same in both stores.
    package var uuid: String
    package var from: String
    package var to: String
    /// The digest of the plan, in hexadecimal.
    package var plan: String
    package var startedAt: String
    /// Whether the next sync must compare every row, whatever has changed.
    package var comparesAll = false
    /// Whether no change since the cut-over can be copied back.
    package var isOneWay = false
    /// The changes that cannot be copied back after the cut-over, in sentences.
    package var losses: [String] = []
    /// The request that started the mirror; later calls find the model and the mapping by it.
    package var request: StoreRequest
    /// The configuration that the stores hold; nil if they hold all entities.
    package var configuration: String?
}

extension MirrorRecord {
    var part: StorePart { configuration.map(StorePart.configuration) ?? .whole }

    /// The record for JSON output, without the parts that only Moult needs.
    package var document: JSONValue {
        [
            "format": 1, "mirror": .string(identifier), "state": .string(state.rawValue), "second": .string(second),
            "from": .string(from), "to": .string(to), "startedAt": .string(startedAt), "isOneWay": .bool(isOneWay),
            "losses": JSONValue(losses),
        ]
    }

    // MARK: - On disk

    /// - Returns: nil if the store has no mirror.
    /// - Throws: `metadataInvalid` if the record cannot be read.
    package static func read(_ sidecar: StoreRecords, _ system: any System) throws -> MirrorRecord? {
        guard try system.exists(sidecar.mirror) else { return nil }
        let json = try JSONValue(
            parsing: system.read(sidecar.mirror, as: .metadataInvalid), place: sidecar.mirror, code: .metadataInvalid)
        guard let record = try MirrorRecord(json, of: sidecar) else {
            throw MigrationError(
                .metadataInvalid, "The format of the mirror's record is not known to this version of Moult.",
                place: sidecar.mirror, remedy: "Use the version of Moult that wrote it.")
        }
        return record
    }

    func write(_ sidecar: StoreRecords, _ system: any System) throws {
        try system.writeAtomically(Array((try json.indented + "\n").utf8), to: sidecar.mirror, sidecar.rights)
    }

    static func remove(_ sidecar: StoreRecords, _ system: any System) throws {
        try system.remove(sidecar.mirrorSeen)
        if try system.remove(sidecar.mirror) { try system.synchronise(sidecar.folder) }
    }

    private var json: JSONValue {
        get throws {
            .object([
                .init("format", .integer(1)), .init("mirror", .string(identifier)),
                .init("state", .string(state.rawValue)),
                .init("second", .string(second)), .init("uuid", .string(uuid)), .init("from", .string(from)),
                .init("to", .string(to)), .init("plan", .string(plan)), .init("startedAt", .string(startedAt)),
                .init("comparesAll", .bool(comparesAll)), .init("isOneWay", .bool(isOneWay)),
                .init("losses", .array(losses.map(JSONValue.string))), .init("configuration", JSONValue(configuration)),
                .init("request", try request.document),
                // An earlier version of Moult finds the model and the mapping by these words.
                .init("input", .object(request.words)),
            ])
        }
    }

    private init?(_ json: JSONValue, of sidecar: StoreRecords) throws {
        guard json["format"]?.integer == 1, let identifier = json["mirror"]?.string,
            let state = json["state"]?.string.flatMap(State.init), let second = json["second"]?.string,
            let uuid = json["uuid"]?.string, let from = json["from"]?.string, let to = json["to"]?.string,
            let plan = json["plan"]?.string, let startedAt = json["startedAt"]?.string,
            let request = try json["request"].map({ try StoreRequest($0, place: sidecar.mirror) })
                ?? json["input"]?.members.map({ StoreRequest(words: $0, of: sidecar.store, into: second) }),
            request.conflict == nil
        else { return nil }
        self.init(
            identifier: identifier, state: state, second: second, uuid: uuid, from: from, to: to, plan: plan,
            startedAt: startedAt, comparesAll: json["comparesAll"] == .bool(true),
            isOneWay: json["isOneWay"] == .bool(true), losses: json["losses"]?.array?.compactMap(\.string) ?? [],
            request: request, configuration: json["configuration"]?.string)
    }
}

extension StoreRequest {
    /// The names and values of options that an earlier version of Moult reads in the record.
    fileprivate var words: [JSONValue.Member] {
        let words = [
            ("model", models?.path), ("order", models?.order?.joined(separator: ",")), ("to", target),
            ("answers", models?.answers), ("mapping", models?.mappings.count == 1 ? models?.mappings.first : nil),
            ("experimental", options.isExperimental ? "" : nil), ("cloudkit", options.allowsCloudKit ? "" : nil),
            ("accept-losses", options.acceptedLosses == .all ? "" : nil),
        ]
        return words.compactMap { name, value in value.map { JSONValue.Member(name, .string($0)) } }
    }

    /// Makes the request from the record of an earlier version of Moult, which holds the words of the command line.
    fileprivate init(words: [JSONValue.Member], of store: String, into second: String) {
        func word(_ name: String) -> String? { words.first { $0.key == name }?.value.string }
        var options = RunOptions()
        (options.isExperimental, options.allowsCloudKit) = (word("experimental") != nil, word("cloudkit") != nil)
        if word("accept-losses") != nil { options.acceptedLosses = .all }
        let models = word("model").map { path in
            Models(
                path: path, order: word("order")?.split(separator: ",").map(String.init), answers: word("answers"),
                mappings: word("mapping").map { [$0] } ?? [])
        }
        self.init(store, to: word("to"), .migrateInto(second), options, models: models)
    }
}

/// The progress of the store that follows. Its own metadata has the mark under one application key, written in the same
/// transaction as the rows: after a crash, rows and mark still match.
struct MirrorMark: Equatable {
    static let key = "MoultMirror"

    /// ``MirrorRecord/identifier``
    var identifier: String
    /// The last transaction of persistent history that the rows include; nil for a store without history.
    var transaction: Int64?
    /// By table, the sum over its rows that ``MirrorContents`` computes.
    var contents: [String: Int64]
}

extension MirrorMark {
    /// Returns nil if the store follows none.
    init?(_ metadata: StoreMetadata) {
        guard let entry = metadata.entries[Self.key], let identifier = entry["mirror"]?.string,
            let contents = entry["contents"]?.dictionary?.compactMapValues(\.integer)
        else { return nil }
        self.init(identifier: identifier, transaction: entry["transaction"]?.integer, contents: contents)
    }

    /// Reads the mark of the file at a path; nil if it is not a store, or follows none.
    ///
    /// - Throws: the error of the disk, because a store that cannot be read may still follow.
    static func read(in store: String, _ system: any System) throws -> MirrorMark? {
        do {
            return try ReadOnlyStore.read(store, system: system) { try MirrorMark(StoreMetadata(from: $0.connection)) }
        } catch let error as MigrationError where ReadOnlyStore.unreadable.contains(error.code) {
            return nil
        }
    }

    var entry: PropertyList {
        var entries: [String: PropertyList] = [
            "mirror": .string(identifier), "contents": .dictionary(contents.mapValues(PropertyList.integer)),
        ]
        entries["transaction"] = transaction.map(PropertyList.integer)
        return .dictionary(entries)
    }
}

/// A sum over the rows of a table that does not depend on their order, so inserts and deletes change it without reading
/// the other rows.
///
/// It shows whether something else wrote to the store that follows. It does not prove that two stores are equal: only a
/// comparison of all values does (``MirrorComparison``).
enum MirrorContents {
    /// The sums of tables, by name.
    static func sums(_ connection: Connection, _ tables: [MirroredTable]) throws -> [String: Int64] {
        var sums: [String: Int64] = [:]
        for table in tables {
            sums[table.name] = try sum(connection, table, from: "main.\(table.name.quotedName) AS r")
        }
        return sums
    }

    /// - Parameter rows: the text after FROM; the row is called `r`.
    static func sum(_ connection: Connection, _ table: MirroredTable, from rows: String) throws -> Int64 {
        try connection.integer("SELECT moult_sum(\(row(table.columns))) FROM \(rows)") ?? 0
    }

    static func register(on connection: Connection) throws {
        try connection.register(rowFunction)
        try connection.register(SQLiteAggregate("moult_sum", argumentCount: 1) { Sum() })
    }

    /// Hashes the columns in groups, because a function takes at most 127 arguments.
    private static func row(_ columns: [String]) -> String {
        var (text, rest) = ("0", columns.map { "r.\($0.quotedName)" }[...])
        while !rest.isEmpty {
            text = "moult_row(\(text), \(rest.prefix(100).joined(separator: ", ")))"
            rest = rest.dropFirst(100)
        }
        return text
    }

    /// FNV-1a over the values' types and bytes. Numbers that are equal in SQL are equal here.
    private static let rowFunction = SQLiteFunction("moult_row", argumentCount: -1) { arguments in
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        for index in 0..<arguments.count {
            switch arguments.storageClass(index) {
            case .null: add(0)
            case .integer, .real:
                add(1)
                let bits =
                    Int64(exactly: arguments.real(index)) == arguments.integer(index)
                        || arguments.storageClass(index) == .integer
                    ? UInt64(bitPattern: arguments.integer(index)) : arguments.real(index).bitPattern
                withUnsafeBytes(of: bits) { $0.forEach(add) }
            case .text, .blob:
                add(arguments.storageClass(index) == .text ? 2 : 3)
                arguments.withBytes(index) { $0.forEach(add) }
                add(255)
            }
        }
        return .integer(Int64(bitPattern: hash))
    }

    private final class Sum: SQLiteAggregation {
        private var total: Int64 = 0
        func add(_ arguments: SQLiteArguments) { total &+= arguments.integer(0) }
        func value() -> SQLiteValue { .integer(total) }
    }
}
