import MoultBasics
import MoultModel
import MoultSQLite

extension StoreSnapshot {
    /// The finding that the framework level is unknown; nil if it is known.
    ///
    /// The number alone is not a fault; the catalogue decides (``requireExpectedCatalogue(for:)``).
    var frameworkFinding: Finding? {
        let (newest, oldest) = (FrameworkLevel.newest.number, FrameworkLevel.oldest.number)
        let message: String
        switch metadata.framework {
        case nil: message = "The store does not name the framework level of the system that wrote it."
        case .some(let number) where number > newest:
            message =
                "A newer system than Moult knows wrote the store: its framework level is \(number), the newest known one "
                + "is \(newest)."
        case .some(let number) where number < oldest:
            message =
                "An older system than Moult knows wrote the store: its framework level is \(number), the oldest known one "
                + "is \(oldest)."
        case .some: return nil
        }
        return Finding(
            code: Finding.frameworkCode, severity: .warning, place: StoreMetadata.Key.framework, message: message,
            remedy: "Moult changes the store only if every table, column and index is as in a store of level "
                + "\(framework.number).")
    }

    private var isOfKnownFramework: Bool { metadata.framework.map { FrameworkLevel($0).isKnown } ?? false }

    /// Checks the catalogue of a store with an unknown framework level before anything is written to it.
    ///
    /// - Parameter model: the model that created the store.
    /// - Throws: `unsupported` if a table, column, index or trigger differs from a store of the nearest known level.
    package func requireExpectedCatalogue(for model: ManagedObjectModel) throws {
        guard !isOfKnownFramework else { return }
        let surprises = try CatalogueSurprises(self, model: model).all
        guard let first = surprises.first else { return }
        let level =
            metadata.framework.map { "of the framework level \($0), which Moult does not know," }
            ?? "without a framework level"
        let more = surprises.count == 1 ? "" : " So is \(Quantity.count(surprises.count - 1, "other thing"))."
        throw MigrationError(
            .unsupported,
            "This store \(level) is not as a store of level \(framework.number) would be: \(first.sentence)\(more)",
            place: first.place,
            remedy:
                "Let the app migrate the store, or update Moult. \(.salvage) copies every object of the model into "
                + "a new store of level \(framework.number), which can be migrated.")
    }
}

extension Finding {
    /// The code of the finding for an unknown framework level.
    package static let frameworkCode = "framework-unknown"

    /// Whether the finding means that a store is damaged. An unknown framework level does not.
    package var isFault: Bool { severity > .note && code != Self.frameworkCode }
}

/// The differences between a store's catalogue and that of its framework level. An app's own objects, whose names do
/// not start as Core Data's do, are ignored, and so are indexes left by earlier versions of the model.
private struct CatalogueSurprises {
    private(set) var all: [(place: String, sentence: String)] = []

    init(_ snapshot: StoreSnapshot, model: ManagedObjectModel) throws {
        var gaps = SchemaGaps()
        let layout = try StoreLayout(completing: snapshot, model: model, gaps: &gaps)
        let told = ["column-unknown", "column-type", "table-unknown", "entity-unknown", "column-missing"]
        let isPending = snapshot.metadata.hasDeferredWork
        all = layout.noticed.filter { finding in
            told.contains(finding.code) && !(isPending && finding.code == "column-unknown")
                && (finding.code != "table-unknown" || finding.place.hasCoreDataPrefix && !isPending)
        }.map { ($0.place, $0.message) }
        addLaterTables(snapshot)
        addCoreTables(snapshot)
        addHistory(snapshot, PersistentHistory(of: layout))
        addIndexes(snapshot, layout, gaps)
        addTriggers(snapshot)
        addCloudKit(snapshot)
        var seen: Set<String> = []
        all = all.filter { seen.insert($0.place).inserted }
    }

    /// Adds the tables of Core Data that a later level introduced.
    private mutating func addLaterTables(_ snapshot: StoreSnapshot) {
        let later =
            (snapshot.framework.hasModelCache ? [] : ["Z_MODELCACHE"])
            + (snapshot.framework.hasPersistentHistory ? [] : StoreSnapshot.historyTables)
        for table in later where snapshot.catalogue.table(table) != nil {
            all.append((table, "A store of that level has no table \(table)."))
        }
    }

    private mutating func addCoreTables(_ snapshot: StoreSnapshot) {
        var expected = ["Z_PRIMARYKEY": ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"]]
        expected["Z_METADATA"] = ["Z_VERSION", "Z_UUID", "Z_PLIST"]
        if snapshot.framework.hasModelCache { expected["Z_MODELCACHE"] = ["Z_CONTENT"] }
        for (table, columns) in expected.sorted(by: { $0.key < $1.key }) {
            guard snapshot.catalogue.table(table) != nil else {
                all.append((table, "The table \(table) is missing."))
                continue
            }
            compare(columns, snapshot, table)
        }
    }

    private mutating func addHistory(_ snapshot: StoreSnapshot, _ history: PersistentHistory) {
        guard snapshot.keepsHistory else { return }
        for table in history.tables {
            guard snapshot.catalogue.table(table.name) != nil else {
                all.append((table.name, "The table \(table.name) is missing."))
                continue
            }
            // An earlier version of the model may have preserved more values of deleted objects.
            compare(table.columns.map(\.name), snapshot, table.name) { $0.hasPrefix("ZTOMBSTONE") }
        }
    }

    private mutating func compare(
        _ expected: [String], _ snapshot: StoreSnapshot, _ table: String,
        allowing isAllowed: (String) -> Bool = { _ in false }
    ) {
        let present = (snapshot.columns[table] ?? []).map { $0.name.uppercased() }
        all += expected.filter { !present.contains($0) && !isAllowed($0) }.map {
            ("\(table).\($0)", "The table \(table) has no column \($0).")
        }
        all += present.filter { !expected.contains($0) && !isAllowed($0) }.map {
            ("\(table).\($0)", "The table \(table) has the column \($0), which is not known.")
        }
    }

    private mutating func addIndexes(_ snapshot: StoreSnapshot, _ layout: StoreLayout, _ gaps: SchemaGaps) {
        all += gaps.indexes.map { index in
            (
                index.name,
                gaps.differing.contains(index.name)
                    ? "The index \(index.name) is not the one that the model defines."
                    : "The index \(index.name) of the model is missing."
            )
        }
        let history = PersistentHistory(of: layout).indexes
        let expected = IndexDefinition.all(of: layout, numbering: EntityNumbering(of: layout.model)).definitions
        let known = Set((history + expected).map(\.name))
        let own = layout.model.entities.map { "Z_\($0.name)_" }
        let tables = layout.tables.map(\.name) + layout.joinTables.map(\.name) + StoreSnapshot.historyTables
        for entry in snapshot.catalogue.entries where entry.kind == .index && entry.sql != nil {
            let isLeftOver =
                !entry.isUnique
                && (own.contains { entry.name.hasPrefix($0) } || entry.name.hasPrefix(entry.tableName + "_"))
            guard tables.contains(entry.tableName), entry.name.hasCoreDataPrefix, !isLeftOver,
                !known.contains(entry.name)
            else { continue }
            all.append((entry.name, "Nothing in the model explains the index \(entry.name)."))
        }
    }

    private mutating func addTriggers(_ snapshot: StoreSnapshot) {
        for entry in snapshot.catalogue.entries
        where entry.kind == .trigger && entry.name.hasCoreDataPrefix
            && Catalogue.TriggerKind(name: entry.name) == .unknown
        {
            all.append((entry.name, "The trigger \(entry.name) is of a kind that is not known."))
        }
    }

    /// Adds differences in the CloudKit tables. A migration changes only one of them, to renumber its records.
    private mutating func addCloudKit(_ snapshot: StoreSnapshot) {
        let present = snapshot.cloudKitTables
        all += present.filter { !Self.cloudKitTables.contains($0) }.map {
            ($0, "The table \($0) of the CloudKit mirror is not known.")
        }
        guard present.contains("ANSCKRECORDMETADATA") else { return }
        let columns = (snapshot.columns["ANSCKRECORDMETADATA"] ?? []).map(\.name)
        all += ["ZENTITYID", "ZENTITYPK"].filter { !columns.contains($0) }.map {
            ("ANSCKRECORDMETADATA.\($0)", "The table ANSCKRECORDMETADATA has no column \($0).")
        }
    }

    private static let cloudKitTables = Set(
        """
        DATABASEMETADATA EVENT EXPORTEDOBJECT EXPORTMETADATA EXPORTOPERATION HISTORYANALYZERSTATE IMPORTOPERATION \
        IMPORTPENDINGRELATIONSHIP METADATAENTRY MIRROREDRELATIONSHIP MIRROREDRELATIONSHIPSYSTEMFIELDSASSET RECORDMETADATA \
        RECORDMETADATAENCODEDRECORDASSET RECORDMETADATASYSTEMFIELDSASSET RECORDZONEMETADATA \
        RECORDZONEMETADATAENCODEDSHAREASSET RECORDZONEMOVERECEIPT RECORDZONEQUERY
        """.split(separator: " ").map { "ANSCK\($0)" })
}

extension String {
    /// Whether the name could be that of a Core Data table, index or trigger: `Z` or `A`, then a capital or underscore.
    fileprivate var hasCoreDataPrefix: Bool {
        guard let first, let second = dropFirst().first, first == "Z" || first == "A" else { return false }
        return second == "_" || second.isUppercase
    }
}
