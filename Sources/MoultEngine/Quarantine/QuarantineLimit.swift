import MoultModel
import MoultSQLite
import MoultStore

/// The limit on the objects that repairs and the fixes of rules may put into the quarantine without being told to.
///
/// So many objects of one entity are rarely at fault themselves. A column of keys or entity numbers that was lost makes
/// every row look wrong, and the quarantine would take the store apart.
enum QuarantineLimit {
    /// A part of an entity's objects: one of so many.
    static let part: Int64 = 4
    /// So many objects of one entity are never refused.
    static let handful: Int64 = 12

    /// Looks at what a run has put aside so far, unless it may put aside any number; the old store is the schema `source`.
    ///
    /// - Throws: `quarantineTooLarge`.
    static func check(_ site: MigrationSite, _ layout: StoreLayout) throws {
        guard !site.allowsLargeQuarantine else { return }
        let connection = site.connection
        let isThere = "SELECT count(*) FROM temp.sqlite_master WHERE name = 'moult_quarantine'"
        guard try connection.integer(isThere) ?? 0 > 0 else { return }
        let leaving = try connection.rows(
            "SELECT entity, count(*) FROM temp.moult_quarantine GROUP BY entity ORDER BY entity"
        ) { ($0.text(0) ?? "", $0.integer(1)) }
        for (entity, count) in leaving where count > handful {
            guard let table = layout.table(forEntity: entity)?.name else { continue }
            // Rows whose number was lost count as the table's own.
            let rows = "SELECT count(*) FROM source.\(table.quotedName)"
            let number = layout.entityNumbers[entity].map { " WHERE Z_ENT = \($0)" } ?? ""
            let known = try connection.integer(rows + number) ?? 0
            let total = known < count ? try connection.integer(rows) ?? 0 : known
            if count * part > total { throw refusal(entity, count, total) }
        }
    }

    private static func refusal(_ entity: String, _ count: Int64, _ total: Int64) -> MigrationError {
        MigrationError(
            .quarantineTooLarge,
            "\(count) of \(total) objects of \(entity) would go to the quarantine, more than a quarter. So many "
                + "usually have one cause, such as a column of keys or entity numbers that was lost or overwritten.",
            place: entity,
            remedy: """
                Run \(.validate) with \(option: .values) to see what they have in common. If the table is damaged: \
                \(MigrationError.damagedStoreRemedy) If the objects really are wrong, pass \
                \(option: .allowLargeQuarantine).
                """
        )
    }
}
