import MoultBasics
import MoultModel
import MoultSQLite
import MoultSession
import MoultStore

/// The result of inspecting a store: its version, its entities, the framework that wrote it, and its metadata.
public struct StoreInspection: Sendable, CustomStringConvertible {
    private let snapshot: StoreSnapshot
    private let recognition: StoreRecognition
    private let names: [String]
    private let counts: [(key: String, value: Int64?)]
    /// The row counts of the history tables.
    private let history: [String: Int64]
    private let withValues: Bool
    /// Whether the store's version has the name of the file alone.
    private let isUnnamed: Bool

    /// Inspects a store without changing it.
    ///
    /// - Parameters:
    ///   - versions: the versions that the store may have; empty to use the model inside it.
    ///   - withValues: whether to show the values of an app's own metadata entries.
    /// - Throws: what examining a file that is not a store throws.
    package init(of store: String, in versions: ModelVersions, withValues: Bool = false) throws {
        // Read the file before any connection is open: reading it later would drop the connection's locks.
        let header = try? POSIXSystem().read(store, prefix: 100)
        self = try ReadOnlyStore.read(store) { probe in
            let snapshot = try StoreSnapshot(probe.connection, header: header)
            let recognition = try StoreRecognition(of: snapshot, in: versions)
            let counts = try snapshot.objectCounts(of: recognition.model, over: probe.connection)
            let history = try snapshot.historyRows(over: probe.connection)
            return Self(snapshot, recognition, in: versions, counts: counts, history: history, withValues: withValues)
        }
    }

    private init(
        _ snapshot: StoreSnapshot, _ recognition: StoreRecognition, in versions: ModelVersions,
        counts: [String: Int64?], history: [String: Int64], withValues: Bool
    ) {
        (self.withValues, self.history) = (withValues, history)
        (self.snapshot, self.recognition) = (snapshot, recognition)
        names = recognition.position.map { versions.versions[$0].names } ?? []
        isUnnamed = recognition.position.map { versions.versions[$0].isUnnamed } ?? false
        self.counts = counts.inByteOrder { $0.key }
    }

    /// The name of the store's version; nil if it matches none.
    public var version: String? { names.first }
    /// The store's UUID.
    public var uuid: String { snapshot.metadata.uuid }
    /// The level of the framework that last wrote the store; nil if the metadata does not contain it.
    public var framework: Int? { snapshot.metadata.framework }
    /// The objects of each entity, without those of sub-entities, by name; nil if they cannot be counted.
    package var entityCounts: [(name: String, rows: Int64?)] { counts.map { ($0.key, $0.value) } }
    /// Objects by entity, without those of sub-entities. An entity whose objects cannot be counted is missing.
    public var rowCounts: [String: Int64] {
        Dictionary(counts.compactMap { name, rows in rows.map { (name, $0) } }, uniquingKeysWith: { first, _ in first })
    }
    /// The findings about the store.
    public var findings: [Finding] { snapshot.findings + recognition.findings }
    /// The text that `moult inspect` prints.
    public var description: String { lines(style: .plain).joined(separator: "\n") }
    /// The JSON that `moult inspect --json` prints, on one line.
    public var json: String { document.compact }

    package var document: JSONValue {
        [
            "format": 1, "version": versionDocument,
            "entities": .array(
                counts.map { ["name": .string($0.key), "rows": $0.value.map(JSONValue.integer) ?? .null] }),
            "framework": snapshot.metadata.framework.map { JSONValue($0) } ?? .null,
            "uuid": .string(snapshot.metadata.uuid),
            "metadata": metadata,
            "history": JSONValue(sorted: history.mapValues(JSONValue.integer)),
            "cloudKitTables": JSONValue(snapshot.cloudKitTables),
            "alteredInPlace": JSONValue(snapshot.tablesAlteredInPlace),
            "hasModelCache": .bool(snapshot.modelCache != nil), "file": file,
            "findings": .array(findings.map(\.document)),
        ]
    }

    /// The whole property list; only the keys of an app's own entries unless values were requested.
    private var metadata: JSONValue {
        let own = snapshot.metadata.applicationEntries
        var entries: [String: JSONValue] = [:]
        for (key, value) in snapshot.metadata.entries {
            entries[key] = withValues || own[key] == nil ? value.document : .null
        }
        return JSONValue(sorted: entries)
    }

    private var versionDocument: JSONValue {
        [
            "name": JSONValue(names.first), "names": JSONValue(names),
            "recognisedBy": .string(recognition.basis.rawValue),
            "identifiers": JSONValue(snapshot.metadata.versionIdentifiers),
            "configuration": JSONValue(recognition.configuration),
            "hashes": JSONValue(sorted: snapshot.hashes.entities.mapValues { .string($0.base64) }),
            "checksum": .string(snapshot.hashes.checksum.base64), "digest": .string(snapshot.hashes.digest.base64),
        ]
    }

    private var file: JSONValue {
        [
            "size": .integer(snapshot.file.size), "pageSize": .integer(snapshot.file.pageSize),
            "freePages": .integer(snapshot.file.freePages), "autoVacuum": .integer(snapshot.file.autoVacuum),
            "journalMode": .string(snapshot.file.journalMode.rawValue),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        let identifiers = snapshot.metadata.versionIdentifiers.filter { !$0.isEmpty }
        var facts = TextTable([.left(""), .left("")])
        facts.add(
            "version",
            names.isEmpty
                ? String(advice: "not known; name the model with \(option: .model(nil))")
                : isUnnamed ? "without a name" : names.joined(separator: " = "))
        if !identifiers.isEmpty { facts.add("identifiers", identifiers.joined(separator: ", ")) }
        facts.add("framework", snapshot.metadata.framework.map(String.init) ?? "not given")
        facts.add("uuid", snapshot.metadata.uuid)
        facts.add("file", "\(Quantity.bytes(snapshot.file.size)), \(snapshot.file.journalMode.rawValue)")
        for (table, rows) in history.sorted(by: { $0.key < $1.key }) {
            facts.add("history", "\(table): \(Quantity.count(rows, "row"))")
        }
        if !snapshot.cloudKitTables.isEmpty {
            facts.add("CloudKit", Quantity.count(snapshot.cloudKitTables.count, "table"))
        }
        for (key, value) in snapshot.metadata.applicationEntries.sorted(by: { $0.key < $1.key }) {
            facts.add("metadata", withValues ? "\(key) = \(value.document.compact)" : key)
        }
        var entities = TextTable([.left("entity"), .right("rows")])
        for (name, rows) in counts { entities.add(name, rows.map { Quantity.count($0) } ?? "?") }
        return facts.lines(style: style) + [""] + entities.lines(style: style)
            + findings.filter { $0.severity > .note }.flatMap { $0.lines(style: style) }
    }
}

extension PropertyList {
    /// A property list as JSON: dates as text, data as Base64.
    package var document: JSONValue {
        switch self {
        case .null: .null
        case .boolean(let truth): .bool(truth)
        case .integer(let number): .integer(number)
        case .unsignedInteger(let number): .string(String(number))
        case .real(let number): .double(number)
        case .date(let seconds): AttributeValue.date(seconds).document
        case .data(let bytes): .string(bytes.base64)
        case .string(let text): .string(text)
        case .array(let elements): .array(elements.map(\.document))
        case .dictionary(let entries): JSONValue(sorted: entries.mapValues(\.document))
        case .uid(let index): ["uid": JSONValue(index)]
        }
    }
}

extension StoreSnapshot {
    /// Returns the number of objects of each entity in `Z_PRIMARYKEY`, without those of its sub-entities; nil for an
    /// entity whose table is not found.
    ///
    /// - Parameter model: the store's model; without it, tables are found by Core Data's naming rule.
    package func objectCounts(of model: ManagedObjectModel?, over connection: Connection) throws -> [String: Int64?] {
        let layout = model.flatMap { try? StoreLayout(actual: self, model: $0) }
        let rows = Dictionary(entityRows.map { ($0.number, $0) }) { first, _ in first }
        var byTable: [String: [Int: Int64]] = [:]
        var counts: [String: Int64?] = [:]
        for row in entityRows {
            var root = row
            // Each step leads to a parent; in a damaged table, parents may form a cycle.
            for _ in rows where rows[root.superNumber] != nil { root = rows[root.superNumber] ?? root }
            let table = layout?.table(forEntity: row.name)?.name ?? "Z" + root.name.uppercased()
            guard columns[table]?.contains(where: { $0.name == "Z_ENT" }) == true else {
                counts[row.name] = .some(nil)
                continue
            }
            let found = try byTable[table] ?? rowCounts(of: table, over: connection)
            byTable[table] = found
            counts[row.name] = found[row.number] ?? 0
        }
        return counts
    }
}

extension ObjectRow {
    /// One line of `dump`: `{"entity","pk","values":{property:value}}`, keys in byte order.
    package var document: JSONValue {
        let members = zip(shape.shownNames, values).map { JSONValue.Member($0, $1.readable) }
        return ["entity": .string(entityName), "pk": .integer(primaryKey), "values": .object(members)]
    }

    /// Returns the object for a person: its name, then one property on each line.
    package func lines(style: TextStyle) -> [String] {
        var table = TextTable([.left(""), .left("")])
        for (name, value) in zip(shape.shownNames, values) { table.add("  " + name, value.text) }
        return [style.bold("\(entityName.printable) \(primaryKey)")] + table.lines(style: style)
    }
}

extension PropertyValue {
    package var document: JSONValue {
        switch self {
        case .attribute(let value): value?.document ?? .null
        case .toOne(let reference): reference?.document ?? .null
        case .toMany(let references): .array(references.map(\.document))
        case .undecodable(let value): ["error": .string(value.reason), "base64": .string(value.bytes.base64)]
        }
    }

    /// The ``document``, with bytes shown as the document that they contain.
    fileprivate var readable: JSONValue { readableBytes ?? document }

    private var readableBytes: JSONValue? {
        switch self {
        case .attribute(.binary(let bytes)?): ReadableData.document(of: bytes, usual: .json)
        case .attribute(.transformable(let bytes)?): ReadableData.document(of: bytes, usual: .archive)
        default: nil
        }
    }

    fileprivate var text: String {
        if let document = readableBytes { return document.compact }
        return switch self {
        case .attribute(nil), .toOne(nil): "nil"
        case .attribute(.binary(let bytes)?), .attribute(.transformable(let bytes)?): Quantity.bytes(bytes.count)
        case .attribute(let value?): value.document.string ?? value.document.compact
        case .toOne(let reference?): "\(reference.entityName) \(reference.primaryKey)"
        case .toMany(let references):
            references.prefix(8).map { "\($0.entityName) \($0.primaryKey)" }.joined(separator: ", ")
                + (references.count > 8 ? ", … (\(references.count))" : "")
        case .undecodable(let value): "not readable: \(value.reason)"
        }
    }
}

extension ObjectReference {
    package var document: JSONValue { ["entity": .string(entityName), "pk": .integer(primaryKey)] }
}
