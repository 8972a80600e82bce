import MoultEngine
import MoultModel
import MoultPages
import MoultSQLite
import MoultStore

/// The findings of a recovery about each table and the pages, as the report says them.
struct SalvageLosses {
    private(set) var tables: [String: SalvageReport.Table] = [:]
    let pages: SalvageReport.Pages
    private(set) var notes: [String] = []
    private(set) var remarks: [String] = []
    let rowsAside: Int64

    init(_ recovery: PageRecovery) throws {
        let unread = try recovery.unreadPages()
        for (index, table) in recovery.tables.enumerated() {
            let lost = try recovery.lost(index, unread).ranges
            let page = table.gaps.first { $0.page > 0 }?.page
            if table.isKeyed { notes += Self.notes(ofKeyed: table) }
            if recovery.tables[index].endsOpen {
                notes.append("Nothing says what the highest key of the table \(table.name) was: more rows may be lost.")
            }
            tables[table.name] = SalvageReport.Table(
                name: table.name, rows: table.rows,
                partialKeys: table.isKeyed ? [] : KeyRanges(table.partial.map { $0...$0 }).ranges,
                lostKeys: lost,
                listed: table.counted, counter: table.counter,
                cause: lost.isEmpty
                    ? nil
                    : page.map { "Page \($0) is damaged." }
                        ?? (table.gaps.isEmpty
                            ? "Rows that an index lists are gone." : "The list of tables is damaged."),
                isMissing: false)
        }
        let ledger = recovery.ledger
        pages = SalvageReport.Pages(
            count: recovery.pages.declaredCount, size: recovery.pages.pageSize, read: ledger.numbers(.read).count,
            free: ledger.numbers(.free).count,
            damaged: KeyRanges(ledger.numbers(.damaged).map { Int64($0)...Int64($0) }).ranges,
            unexplained: ledger.unknown.count + ledger.holes.count, missing: ledger.missing, reads: recovery.pages.reads
        )
        rowsAside = recovery.rowsAside
        noteSchema(recovery)
        noteLog(recovery.pages.log)
        if !ledger.isFreelistWhole {
            remarks.append("The list of free pages cannot be followed; it holds no rows.")
        }
        if let row = tables["Z_PRIMARYKEY"], !row.lostKeys.isEmpty {
            notes.append("Its entity numbers cannot all be read: those of a fresh store are taken.")
        }
    }

    /// The rows of a table `WITHOUT ROWID` have no numbers by which they could be named.
    private static func notes(ofKeyed table: RecoveredTable) -> [String] {
        var notes: [String] = []
        if table.lacksKeyedRows {
            let pages = KeyRanges(table.gaps.filter { $0.page > 0 }.map { Int64($0.page)...Int64($0.page) })
            let missing = table.counted.map { "\(max($0 - table.rows, 0)) of \($0) rows" } ?? "Rows"
            notes.append(
                pages.ranges.isEmpty
                    ? "The root of the table \(table.name) is not known: rows of it may be missing."
                    : "\(missing) of the table \(table.name) are missing: page \(pages.words) cannot be read.")
        }
        if !table.partial.isEmpty {
            let rows = Quantity.count(Int64(table.partial.count), "row")
            notes.append("Of \(rows) of the table \(table.name), some values cannot be read.")
        }
        return notes
    }

    private mutating func noteSchema(_ recovery: PageRecovery) {
        if !recovery.isSchemaWhole {
            let lacking = recovery.tables.filter { $0.root == nil }.map(\.name).sorted()
            notes.append(
                "Its list of tables is damaged: there may have been tables that are not named here."
                    + (lacking.isEmpty
                        ? "" : " The columns of \(lacking.joined(separator: ", ")) are taken as the model has them."))
        }
        for name in recovery.schema.unreadable.sorted() {
            notes.append("The table \(name) is of a kind that is not read.")
        }
    }

    private mutating func noteLog(_ log: LogFrames) {
        if log.isHeaderDamaged {
            notes.append("Its WAL cannot be read: what was written since the last checkpoint is missing.")
        } else if log.unreadable > 0 {
            notes.append(
                "Of \(log.count) frames of its WAL, the last \(log.unreadable) cannot be read: the changes in them are "
                    + "missing.")
        }
        if log.isTorn {
            notes.append("Its WAL ends inside a frame: \(LogFrames.tornTail)")
        }
    }
}

extension DamagedStore {
    /// Returns remarks on other matters than the rows, in sentences.
    func remarks(_ version: ModelVersion) -> [String] {
        var remarks: [String] = []
        if hasHistory { remarks.append("Its persistent history is left behind: the new one begins empty.") }
        let hashes = version.hashes.entities
        let others = (metadata?.hashes?.entities ?? [:]).filter { hashes[$0.key] != $0.value }.keys.sorted()
        if !others.isEmpty {
            remarks.append(
                "The store's metadata name another version of \(others.joined(separator: ", ")) than the model: what has no "
                    + "place in the new store is kept next to it.")
        }
        return remarks
    }
}
