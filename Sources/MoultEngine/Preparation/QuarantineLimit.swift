import MoultBasics
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore

/// The limit on the objects that repairs and fixes of rules may quarantine without permission.
///
/// It is rare that so many objects of one entity are faulty themselves. If a column of keys or entity numbers is lost,
/// every row looks wrong, and a repair would quarantine most of the store.
package enum QuarantineLimit {
    /// The divisor of an entity's object count that gives the limit.
    static let part: Int64 = 4
    /// The number of objects of one entity that are never refused.
    static let handful: Int64 = 12

    /// Checks the number of objects that a run has quarantined so far, unless any number is permitted; the old store is
    /// the schema `source`.
    ///
    /// - Throws: `quarantineTooLarge`.
    package static func check(_ site: CodeContext, _ layout: StoreLayout) throws {
        guard !site.allowsLargeQuarantine else { return }
        let connection = site.connection
        guard try connection.hasTable("moult_quarantine", in: "temp") else { return }
        let leaving = try connection.rows(
            "SELECT entity, count(*) FROM temp.moult_quarantine GROUP BY entity ORDER BY entity"
        ) { ($0.text(0) ?? "", $0.integer(1)) }
        for (entity, count) in leaving where count > handful {
            guard let table = layout.table(forEntity: entity)?.name else { continue }
            // Rows that lost their number count for the whole table.
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
