import MoultModel
import MoultStore
import MoultSystem

/// A piece of a migration that is done whole or not at all, and about how long it takes.
package struct MigrationUnit: Sendable, Hashable {
    package var sentence: String
    /// Calibrated on two slow cores.
    package var seconds: Double
}

/// What a migration comes down to, for one that is done in several calls.
package struct MigrationUnits: Sendable {
    /// Bytes of the store.
    let size: Int64
    /// Its objects.
    let rows: Int64
    let script: StoreScript
    /// Why what comes between the backup and the commit cannot be done in pieces; nil where it can.
    package let reasonForOne: String?
    private let instances: Int64
    private let hasPieces: Bool

    package init(_ migration: Migration, size: Int64) {
        self.size = size
        script = migration.script
        rows = (migration.rowFacts?.rowCounts.values.reduce(0) { $0 &+ $1 }) ?? 0
        instances = migration.code.isEmpty && migration.steps.isEmpty && migration.next == nil ? 0 : rows
        reasonForOne = migration.reasonForOneUnit
        hasPieces = migration.verificationPieces != nil
    }

    private var bytes: Double { Double(size) }

    // MARK: - Units

    /// All pages through SQLite.
    var backup: MigrationUnit {
        MigrationUnit(sentence: "Back the store up.", seconds: 0.005 + bytes * 1.5e-9)
    }
    /// Synchronised, checked and read once more.
    var proof: MigrationUnit {
        MigrationUnit(sentence: "Prove the backup.", seconds: 0.005 + bytes * 3e-9)
    }
    var copy: MigrationUnit {
        MigrationUnit(sentence: "Make the working copy.", seconds: 0.002 + bytes * 1.5e-9)
    }
    /// The pages pass through a log and are synchronised.
    var commit: MigrationUnit {
        MigrationUnit(
            sentence: "Put the new store in place, in one transaction.", seconds: 0.03 + bytes * 4.5e-9)
    }
    var verification: MigrationUnit {
        MigrationUnit(sentence: "Verify the new store.", seconds: 0.01 + bytes * 2.5e-9 + Double(rows) * 0.5e-6)
    }
    var pages: MigrationUnit {
        MigrationUnit(sentence: "Check the pages of the new store.", seconds: 0.005 + bytes * 2.5e-9)
    }
    /// The longest of its pieces is a question to all rows.
    private var longestVerification: MigrationUnit {
        hasPieces
            ? MigrationUnit(sentence: "Compare the links with those before.", seconds: 0.005 + Double(rows) * 0.5e-6)
            : verification
    }
    /// Everything but the backup.
    var whole: MigrationUnit {
        guard !script.isInPlace else { return MigrationUnit(sentence: "Change the store in place.", seconds: 0.05) }
        let statements = unit(of: script.statements[...]).seconds
        let others = copy.seconds + verification.seconds + commit.seconds + Double(instances) * 2e-5
        return MigrationUnit(
            sentence: "Change and verify the copy, and put it in place: \(reasonForOne ?? "in one").",
            seconds: statements + others)
    }

    /// Whole statements.
    func unit(of statements: ArraySlice<StoreScript.Statement>) -> MigrationUnit {
        MigrationUnit(
            sentence: statements.first?.sentence ?? "", seconds: statements.reduce(0) { $0 + seconds(of: $1) })
    }

    /// Whether a statement touches no row, or a few of the store's own tables.
    func isOfTheCatalogue(_ statement: StoreScript.Statement) -> Bool { seconds(of: statement) <= Self.instant }

    private func seconds(of statement: StoreScript.Statement) -> Double {
        // Pairs of keys are in no count of objects; with their indexes they take some sixty bytes each.
        let known = Double(statement.reach ?? max(rows, size / 60))
        let words = statement.sql.prefix(10)
        if words.hasPrefix("DROP TABLE") || words.hasPrefix("DELETE") { return Self.instant + bytes * 1e-9 }
        return Self.instant + known * 1e-6
    }

    private static let instant = 0.001

    // MARK: - The longest

    /// The unit that a budget has to have room for, with what every call does before it.
    package var longest: MigrationUnit {
        var unit = longestUnit
        unit.seconds += 0.05
        return unit
    }

    private var longestUnit: MigrationUnit {
        guard !script.isInPlace else { return whole }
        let statements = script.statements.filter { $0.keys == nil }.map { unit(of: [$0]) }
        let units =
            [backup, proof]
            + (reasonForOne == nil ? [copy] + statements + [pages, longestVerification, commit] : [whole])
        return units.max { $0.seconds < $1.seconds } ?? commit
    }
}

extension Migration {
    /// Why the work on the copy has to be done at one stretch; nil where it can be done in pieces.
    fileprivate var reasonForOneUnit: String? {
        if !code.isEmpty { return "a migration policy keeps a state of its own" }
        if let step = steps.first { return "the step \(step.name) keeps a state of its own" }
        if next != nil { return "the way takes several passes" }
        if ruleLog != nil || !checks.isEmpty { return "rules are checked over all of it" }
        if !newExternalFiles.isEmpty { return "files of external data are written" }
        return nil
    }
}
