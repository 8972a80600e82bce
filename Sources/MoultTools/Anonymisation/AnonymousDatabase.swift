import MoultBasics
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore

/// The database of a copy, whose values are replaced with stand-ins.
final class AnonymousDatabase {
    let standIns: StandIns
    private let connection: Connection
    private let snapshot: StoreSnapshot
    private let layout: StoreLayout
    private let tables: AnonymousTables
    private let seed: UInt64
    /// Set once every value is noted.
    private var schema: AnonymousSchema?

    /// - Parameters:
    ///   - connection: a connection to the copy, which is changed.
    ///   - probe: the store itself.
    init(
        _ connection: Connection, _ probe: ReadOnlyStore, _ versions: ModelVersions?, _ rules: StandInRules,
        seed: UInt64
    ) throws {
        snapshot = try StoreSnapshot(probe.connection)
        guard let layout = try StoreContents(probe, in: versions).layout else {
            throw MigrationError(
                .modelNotFound, "The store contains no readable model, without which keys cannot be told from values.",
                place: probe.path, remedy: "Name the model that made it: \(option: .model("PATH")).")
        }
        guard try connection.text("PRAGMA encoding") == "UTF-8" else {
            throw MigrationError(
                .unsupported, "The texts of the store are not in UTF-8, as Core Data writes them.", place: probe.path,
                remedy: "Copy it into a database in UTF-8 first, with the sqlite3 shell.")
        }
        try rules.check(against: layout.model) { layout.model.storedAttributes(of: $0).map(\.name) }
        (self.layout, self.connection, self.seed) = (layout, connection, seed)
        let models = [layout.model] + (versions?.versions.map(\.model) ?? [])
        standIns = StandIns(seed: seed, words: ModelWords(models))
        try connection.registerCoreDataStubs()
        for function in DerivedKeeper.functions { try connection.register(function) }
        tables = try AnonymousTables(
            connection, AnonymousRows.all(of: connection, layout: layout, rules: rules), standIns)
    }

    var keptFiles: Set<String> { tables.keptFiles }

    /// The bytes that come only from the model and from Core Data: names, the metadata, and statements without their
    /// string literals. Statements of virtual tables are included in full.
    var schemaBytes: [UInt8] {
        let metadata = anonymous(snapshot.metadata)
        let statements = snapshot.catalogue.entries.map { entry in
            entry.isVirtual ? entry.sql ?? "" : schema?.words(of: entry.sql ?? "") ?? ""
        }
        let texts = snapshot.catalogue.entries.map(\.name) + statements + snapshot.primaryKeyRows.map(\.name)
        return Array(texts.joined(separator: "\n").utf8) + metadata.propertyList
    }

    /// Notes the texts in the schema's statements.
    private func noteSchema() throws -> AnonymousSchema {
        let columns = try snapshot.catalogue.entries.filter { $0.kind == .table || $0.kind == .view }.flatMap { entry in
            // A view that cannot be read has no columns.
            (try connection.attempt { try connection.columns(of: entry.name) } ?? []).map(\.name)
        }
        return AnonymousSchema(snapshot.catalogue, columns: columns, standIns)
    }

    /// - Parameter note: notes the values outside the database.
    func replace(noting note: (StandIns) throws -> Void) throws -> AnonymousCopy.Outcome {
        var outcome = AnonymousCopy.Outcome(seed: seed)
        let triggers = try removeTriggers()
        outcome.emptied = try emptyVirtualTables()
        var generator = SeededGenerator(seed: seed &+ 4)
        try tables.shuffle(&generator)
        try WorkMeter.part(upTo: 0.3) {
            let counts = try snapshot.rowCounts(in: layout, over: connection)
            WorkMeter.expect(rows: counts.values.reduce(0, +))
            try tables.note()
        }
        try note(standIns)
        _ = anonymous(snapshot.metadata)
        let schema = try noteSchema()
        self.schema = schema
        standIns.make()
        try WorkMeter.part(upTo: 0.8) { try tables.replace(and: schema.replace(on: connection)) }
        try recompute()
        try anonymous(snapshot.metadata).write(to: connection)
        try replaceModelCache()
        if try connection.catalogue().table("sqlite_stat4") != nil {
            try connection.execute("DELETE FROM sqlite_stat4")
        }
        for trigger in triggers { try connection.execute(schema.statement(trigger)) }
        outcome.objects = try snapshot.rowCounts(in: layout, over: connection)
        outcome.texts = standIns.textCount
        outcome.unordered = standIns.unorderedTexts
        outcome.kept = tables.kept.map { .init(place: $0.place, rule: $0.rule, values: $0.count) }
        return outcome
    }

    // MARK: - Triggers, virtual tables and derived attributes

    private var virtualTables: [Catalogue.Entry] { snapshot.catalogue.tables.filter(\.isVirtual) }

    /// Removes all triggers except those of R-trees. Only Core Data can run some of them.
    ///
    /// - Returns: the statements that create them.
    private func removeTriggers() throws -> [String] {
        let trees = virtualTables.filter(\.isTree).map(\.name)
        let triggers = snapshot.catalogue.entries.filter { entry in
            entry.kind == .trigger && !trees.contains { entry.name.hasPrefix($0 + "_") }
        }
        for trigger in triggers { try connection.execute("DROP TRIGGER main.\(trigger.name.quotedName)") }
        return triggers.compactMap(\.sql)
    }

    /// Recreates an app's own virtual tables as empty tables, because only their modules know the format of their rows.
    private func emptyVirtualTables() throws -> [String] {
        let others = virtualTables.filter { !$0.isTree }
        for table in others {
            try connection.execute("DROP TABLE main.\(table.name.quotedName)")
            try connection.execute(table.sql ?? "")
        }
        return others.map(\.name)
    }

    /// Recomputes derived attributes: the stand-in of a canonical text or a sum would not match its source.
    private func recompute() throws {
        for entity in layout.model.entities where layout.entityNumbers[entity.name] != nil {
            for attribute in entity.attributes where attribute.isStored {
                guard let shape = attribute.derivation.flatMap({ DerivedShape($0.expression) }), shape.isComputed,
                    let statement = DerivedTarget(attribute, in: entity, layout)?.statement(for: shape)
                else { continue }
                try connection.execute(statement)
            }
        }
    }

    // MARK: - Metadata

    /// Returns the metadata with stand-ins for the store's UUID and for the entries that an app keeps there.
    private func anonymous(_ metadata: StoreMetadata) -> StoreMetadata {
        var metadata = metadata
        metadata.uuid = String(decoding: standIns.text(Array(metadata.uuid.utf8)), as: UTF8.self)
        for (key, value) in metadata.applicationEntries where !key.hasPrefix("NS") && !key.hasPrefix("_NS") {
            metadata.entries[key] = standIns.list(value)
        }
        return metadata
    }

    /// Removes the app's own user info from the model inside the store.
    private func replaceModelCache() throws {
        guard let bytes = snapshot.modelCache else { return }
        guard let model = snapshot.cachedModel else {
            try connection.run("UPDATE Z_MODELCACHE SET Z_CONTENT = ?", [.blob(standIns.bytes(bytes))])
            return
        }
        var plain = model
        try plain.setEntities(model.entities.map(\.withoutNotes))
        guard plain != model else { return }
        try connection.run("UPDATE Z_MODELCACHE SET Z_CONTENT = ?", [.blob(try plain.modelCache())])
    }
}

extension Catalogue.Entry {
    /// Whether a virtual table is one of Core Data's R-trees, which its triggers fill.
    fileprivate var isTree: Bool {
        name.hasPrefix("Z_RT_") && sql?.uppercased().contains("USING RTREE (Z_PK INTEGER PRIMARY KEY") == true
    }
}

extension EntityDescription {
    /// A copy without the app's own user info.
    fileprivate var withoutNotes: EntityDescription {
        var entity = self
        entity.userInfo = userInfo.withoutNotes
        entity.attributes = attributes.map(\.withoutNotes)
        for place in relationships.indices {
            entity.relationships[place].userInfo = relationships[place].userInfo.withoutNotes
        }
        for place in fetchedProperties.indices {
            entity.fetchedProperties[place].userInfo = fetchedProperties[place].userInfo.withoutNotes
        }
        return entity
    }
}

extension AttributeDescription {
    fileprivate var withoutNotes: AttributeDescription {
        var attribute = self
        attribute.userInfo = userInfo.withoutNotes
        attribute.elements = elements.map(\.withoutNotes)
        return attribute
    }
}

extension [String: String] {
    /// The entries that Core Data and SwiftData read themselves.
    fileprivate var withoutNotes: [String: String] {
        let own = [AttributeDescription.enumTypeKey, AttributeDescription.enumCasesKey]
        return filter { $0.key.hasPrefix("_NS") || own.contains($0.key) }
    }
}

/// The texts in the statements of a catalogue. A literal in an app's view, trigger, index, default or check is a text
/// of the store like any value, and gets the same stand-in.
struct AnonymousSchema {
    private let entries: [Catalogue.Entry]
    /// The names of tables, columns, indexes, triggers and views, in upper case.
    private let names: Set<String>
    /// The texts that get stand-ins.
    private let texts: Set<[UInt8]>
    private let standIns: StandIns

    /// Functions whose arguments are formats and paths: `'%Y'`, `'start of month'`, `'$.name'`.
    private static let formatting: Set<String> = [
        "STRFTIME", "DATE", "TIME", "DATETIME", "JULIANDAY", "UNIXEPOCH", "TIMEDIFF",
    ]

    /// Notes the texts.
    ///
    /// - Parameter standIns: the stand-ins; all values are noted already.
    init(_ catalogue: Catalogue, columns: [String], _ standIns: StandIns) {
        entries = catalogue.entries.filter { entry in
            // Only a module knows the meaning of its arguments. Core Data's own statements contain only names of the
            // model.
            !entry.isVirtual && entry.sql?.contains("NSCoreData") == false
        }
        names = Set((catalogue.entries.flatMap { [$0.name, $0.tableName] } + columns).map { $0.uppercased() })
        self.standIns = standIns
        var texts: Set<[UInt8]> = []
        for entry in entries {
            let tokens = entry.sql?.sqlTokens ?? []
            for place in tokens.indices {
                guard let text = Self.text(of: tokens[place]), !names.contains(tokens[place].name.uppercased()) else {
                    continue
                }
                let isName = !tokens[place].text.hasPrefix("'")
                let isValue = standIns.isNoted(text)
                guard isValue || !isName && OriginalTexts.isLong(text) && !Self.isFormat(tokens, place) else {
                    continue
                }
                texts.insert(text)
            }
        }
        self.texts = texts
        for text in texts { _ = standIns.text(text) }
    }

    /// Returns the text of a string literal. SQLite reads a double-quoted name as a string if nothing has that name.
    private static func text(of token: SQLToken) -> [UInt8]? {
        token.text.hasPrefix("'") || token.text.hasPrefix("\"") ? Array(token.name.utf8) : nil
    }

    /// Whether a string is an argument of a function that takes formats, or a path into JSON.
    private static func isFormat(_ tokens: [SQLToken], _ place: Int) -> Bool {
        if tokens[place].name.hasPrefix("$") { return true }
        var depth = 0
        for place in stride(from: place - 1, through: 1, by: -1) {
            switch tokens[place].text {
            case ")": depth += 1
            case "(" where depth > 0: depth -= 1
            case "(": return formatting.contains(tokens[place - 1].word)
            default: continue
            }
        }
        return false
    }

    // MARK: - The new statements

    /// Returns the statement with stand-ins for its texts, and without any comment that contains a text of the store.
    func statement(_ sql: String) -> String { rewritten(sql) { "'\($0.replacing("'", with: "''"))'" } }

    /// Returns a statement's names and keywords, without any text.
    func words(of sql: String) -> String { rewritten(sql, keepsOthers: false) { _ in "" } }

    private func rewritten(_ sql: String, keepsOthers: Bool = true, _ literal: (String) -> String) -> String {
        var (new, end) = ("", sql.startIndex)
        func add(_ gap: Substring) {
            let isComment = gap.contains { $0 == "-" || $0 == "/" }
            new += isComment && (!keepsOthers || standIns.originals.first(in: Array(gap.utf8)) != nil) ? " " : gap
        }
        for token in sql.sqlTokens {
            add(sql[end..<token.range.lowerBound])
            if let text = Self.text(of: token), texts.contains(text) {
                new += literal(String(decoding: standIns.text(text), as: UTF8.self))
            } else if keepsOthers || !token.text.hasPrefix("'") {
                new += token.text
            }
            end = token.range.upperBound
        }
        add(sql[end...])
        return new
    }

    /// Gives tables, indexes and views their new statements. The triggers are removed at this point.
    ///
    /// - Returns: the tables to rebuild with their indexes, because their values may be computed from texts.
    func replace(on connection: Connection) throws -> Set<String> {
        var changed: Set<String> = []
        for entry in entries where entry.kind != .trigger {
            guard let sql = entry.sql else { continue }
            let new = statement(sql)
            guard new != sql else { continue }
            try connection.editSchema(
                "UPDATE main.sqlite_master SET sql = \(new.quotedLiteral) WHERE type = \(entry.kind.rawValue.quotedLiteral) "
                    + "AND name = \(entry.name.quotedLiteral)")
            if entry.kind != .view { changed.insert(entry.tableName) }
        }
        return changed
    }
}
