import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultSQLite
import MoultStore

extension DiagnosisCheck {
    /// The check for what takes up space and may not be needed: persistent history, objects that belong to none, free
    /// pages.
    static let contents = DiagnosisCheck(upTo: 0.92) { site in
        guard site.isSound, let snapshot = site.snapshot else { return [] }
        return try ReadOnlyStore.read(site.path, system: site.system) { probe in
            let free = try FreePages(probe.connection)
            return try [history(site, snapshot, free, probe.connection)].compactMap { $0 }
                + orphans(site, snapshot, probe.connection) + [freePages(site, free)].compactMap { $0 }
        }
    }

    /// Returns a note on a history that takes up a good part of the file.
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
        guard bytes == 0 || bytes >= file / 10 else { return nil }
        let size = bytes == 0 ? "" : ": \(Quantity.bytes(bytes)), \(bytes &* 100 / file) % of the file"
        func day(_ function: String) throws -> String? {
            let value = try connection.value("SELECT \(function)(ZTIMESTAMP) FROM ATRANSACTION")
            let seconds: Double? =
                switch value {
                case .real(let seconds)?: seconds
                case .integer(let seconds)?: Double(seconds)
                default: nil
                }
            return seconds.flatMap { DateText.text(sinceReferenceDate: $0) }.map { String($0.prefix(10)) }
        }
        let (oldest, newest) = (try day("min"), try day("max"))
        let span = oldest.flatMap { first in newest.map { " They are of \(first) to \($0)." } } ?? ""
        let date = newest ?? "DATE"
        return site.finding(
            "history-large", .note, place: "ATRANSACTION",
            "Persistent history has \(Quantity.count(transactions, "transaction")) and "
                + "\(Quantity.count(changes, "change"))\(size).\(span)",
            "\(.repair, with: [site.store] + site.anyModel + [.only(["history", "space"]), .before(date)]) deletes what is "
                + "older than that date. Choose one that every reader of the history has passed.")
    }

    /// Returns notes on objects of which most have no owner, although the owners of the others delete them.
    private static func orphans(
        _ site: DiagnosisContext, _ snapshot: StoreSnapshot, _ connection: Connection
    ) throws -> [Finding] {
        guard let model = site.version?.model, let layout = try? StoreLayout(actual: snapshot, model: model) else {
            return []
        }
        return try model.entities.flatMap { entity in
            try entity.relationships.compactMap { relationship in
                guard !relationship.isToMany, relationship.isOptional, !relationship.isTransient,
                    model.inverse(of: relationship)?.deleteRule == .cascade,
                    let table = layout.table(for: entity)?.name,
                    case .foreignKey(_, let column, _)? = layout.storage(ofRelationship: relationship.name, in: entity)
                else { return nil }
                let numbers = layout.numbers(ofEntityAndDescendants: entity).map(String.init).joined(separator: ", ")
                let counts = try connection.rows(
                    """
                    SELECT count(*), count(*) - count(\(column.quotedName)) FROM \(table.quotedName) \
                    WHERE Z_ENT IN (\(numbers))
                    """
                ) { (all: $0.integer(0), orphans: $0.integer(1)) }
                guard let (all, orphans) = counts.first, orphans >= 100, orphans > all / 2 else { return nil }
                let bytes = try connection.bytes(of: table).map { " The table takes up \(Quantity.bytes($0))." } ?? ""
                return site.finding(
                    "objects-without-owner", .note, place: "\(entity.name).\(relationship.name)",
                    "\(Quantity.count(orphans)) of \(Quantity.count(all, "object")) of \(entity.name) belong to no "
                        + "\(relationship.destinationEntityName), which would delete them with itself.\(bytes)",
                    "If the app does not need them, a rule removes them: {\"format\": 1, \"rules\": [{\"name\": "
                        + "\"orphans\", \"entity\": \"\(entity.name)\", \"orphan\": \"\(relationship.name)\", \"fix\": "
                        + "\"delete\"}]} in a file, and \(.validate, with: [site.store] + site.anyModel + [.rules("FILE"), .fix, .allowLargeQuarantine])."
                )
            }
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
