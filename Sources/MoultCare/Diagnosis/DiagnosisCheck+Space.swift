import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultSQLite
import MoultStore

extension DiagnosisCheck {
    /// The check for what takes up space and may not be needed: persistent history, objects without an
    /// owner, and free pages.
    static let contents = DiagnosisCheck(upTo: 0.92) { site in
        guard site.isSound, let snapshot = site.snapshot else { return [] }
        return try ReadOnlyStore.read(site.path, system: site.system) { probe in
            let free = FreePages(snapshot.file)
            return try [history(site, snapshot, free, probe.connection)].compactMap { $0 }
                + orphans(site, snapshot, probe.connection) + [freePages(site, free)].compactMap { $0 }
        }
    }

    /// Returns a note on a history of at least 1,000 rows that takes up a tenth of the file or 10 MiB. If
    /// SQLite cannot measure its tables, the number of rows alone decides.
    private static func history(
        _ site: DiagnosisContext, _ snapshot: StoreSnapshot, _ pages: FreePages, _ connection: Connection
    ) throws -> Finding? {
        let tables = StoreSnapshot.historyTables.filter { snapshot.catalogue.table($0) != nil }
        guard tables.contains("ACHANGE"), tables.contains("ATRANSACTION") else { return nil }
        let transactions = try connection.integer("SELECT count(*) FROM ATRANSACTION") ?? 0
        let changes = try connection.integer("SELECT count(*) FROM ACHANGE") ?? 0
        guard transactions + changes >= 1_000 else { return nil }
        let indexes = snapshot.catalogue.entries.filter { $0.kind == .index && tables.contains($0.tableName) }
        let trees = tables + indexes.map(\.name)
        let bytes = try trees.reduce(Int64(0)) { $0 &+ (try connection.bytes(of: $1) ?? 0) }
        let file = max(pages.total &* pages.pageSize, 1)
        guard bytes == 0 || bytes >= file / 10 || bytes >= 10 << 20 else { return nil }
        let size = bytes == 0 ? "" : ": \(Quantity.bytes(bytes)), \(bytes &* 100 / file) % of the file"
        func seconds(_ value: SQLiteValue) -> Double? {
            switch value {
            case .real(let seconds): seconds
            case .integer(let seconds): Double(seconds)
            default: nil
            }
        }
        func day(_ function: String) throws -> String? {
            let value = try connection.value("SELECT \(function)(ZTIMESTAMP) FROM ATRANSACTION")
            let text = value.flatMap(seconds).flatMap { DateText.text(sinceReferenceDate: $0) }
            return text.map { String($0.prefix(10)) }
        }
        let (oldest, newest) = (try day("min"), try day("max"))
        let span = oldest.flatMap { first in newest.map { " They are of \(first) to \($0)." } } ?? ""
        // The newest transaction always stays, so the day must be after another one.
        let deleted = try connection.value(
            "SELECT max(ZTIMESTAMP) FROM ATRANSACTION WHERE Z_PK < (SELECT max(Z_PK) FROM ATRANSACTION)")
        guard let date = deleted.flatMap(seconds).flatMap({ DateText.text(sinceReferenceDate: $0 + 86_400) }) else {
            return nil
        }
        return site.finding(
            "history-large", .note, place: "ATRANSACTION",
            "Persistent history has \(Quantity.count(transactions, "transaction")) and "
                + "\(Quantity.count(changes, "change"))\(size).\(span)",
            "\(.repair, with: [site.store] + site.anyModel + [.only(["history", "space"]), .before(String(date.prefix(10)))]) deletes what is "
                + "older than that date. Choose one that every reader of the history has passed.")
    }

    /// Returns a note on each entity of which most objects have no owner, although owners delete the others.
    private static func orphans(
        _ site: DiagnosisContext, _ snapshot: StoreSnapshot, _ connection: Connection
    ) throws -> [Finding] {
        guard let model = site.version?.model, let layout = try? StoreLayout(actual: snapshot, model: model) else {
            return []
        }
        return try model.entities.compactMap { entity in
            guard let number = layout.entityNumbers[entity.name], let table = layout.table(for: entity)?.name,
                let owners = model.owners(of: entity)
            else { return nil }
            let columns = owners.compactMap { relationship -> String? in
                let storage = layout.storage(ofRelationship: relationship.name, in: entity)
                guard case .foreignKey(_, let column, _)? = storage else { return nil }
                return column.quotedName
            }
            guard !columns.isEmpty, columns.count == owners.count else { return nil }
            let isOrphan = columns.map { "\($0) IS NULL" }.joined(separator: " AND ")
            let counts = try connection.rows(
                "SELECT count(*), count(iif(\(isOrphan), 1, NULL)) FROM \(table.quotedName) WHERE Z_ENT = \(number)"
            ) { (all: $0.integer(0), orphans: $0.integer(1)) }
            // If no object has an owner, the app does not use the relationships.
            guard let (all, orphans) = counts.first, orphans < all, orphans >= 100, orphans > all / 2 else {
                return nil
            }
            let names = owners.map(\.name)
            let predicate = names.map { "\($0) == nil" }.joined(separator: " AND ")
            let choice: [Remedy.Setting] = [.entity(entity.name), .matching(predicate)]
            let inverses = names.count == 1 ? names[0] : "each of \(names.joined(separator: ", "))"
            return site.finding(
                "objects-without-owner", .note, place: entity.name,
                "\(Quantity.count(orphans)) of \(Quantity.count(all, "object")) of \(entity.name) have no owner that "
                    + "would delete them with itself: \(inverses) is nil. The app may want them so.",
                "\(.export, with: [site.store] + site.anyModel + choice) lists them")
        }
    }

    /// Returns a note on free pages that are worth giving back.
    private static func freePages(_ site: DiagnosisContext, _ free: FreePages) -> Finding? {
        guard free.isWorthwhile, free.count * 4 > free.total || free.bytes >= 10 << 20 else { return nil }
        return site.finding(
            "mostly-free", .note,
            "\(Quantity.count(free.count)) of \(Quantity.count(free.total, "page")) are empty: "
                + "\(Quantity.bytes(free.bytes)) of \(Quantity.bytes(free.total &* free.pageSize)).",
            "\(.repair, with: [site.store] + site.anyModel + [.only(["space"])]) gives them back")
    }
}

extension ManagedObjectModel {
    /// Returns the to-one relationships of an entity whose inverses delete its objects with their owners; nil if the
    /// rows of the entity alone do not show which of its objects have an owner.
    fileprivate func owners(of entity: EntityDescription) -> [RelationshipDescription]? {
        let lineage = Set(lineage(of: entity).map(\.name))
        let cascades = entities.flatMap { owner in
            owner.relationships.filter { $0.deleteRule == .cascade && lineage.contains($0.destinationEntityName) }
        }
        let known = relationships(of: entity).filter { inverse(of: $0)?.deleteRule == .cascade }
        // The root of a tree has no owner, and an owner may hold objects that do not refer to it.
        guard !known.isEmpty, cascades.allSatisfy({ inverse(of: $0) != nil }),
            known.allSatisfy({
                !$0.isToMany && $0.isOptional && !$0.isTransient && !lineage.contains($0.destinationEntityName)
            })
        else { return nil }
        return known
    }
}
