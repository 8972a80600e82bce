import MoultModel
import MoultStore

/// The units of a migration that is done in several calls.
package struct MigrationUnits: Sendable {
    /// Bytes of the store.
    let size: Int64
    /// Its objects.
    let rows: Int64
    let script: StoreScript
    /// The reason why the work between the backup and the commit cannot be done in pieces; nil if it can.
    package let reasonForOne: String?
    /// Whether what the commit has put into the log is written back by itself.
    private let usesWAL: Bool
    private let instances: Int64
    /// The longest piece of the verification; nil if it has none.
    private let question: MigrationUnit?

    package init(_ migration: Migration, size: Int64, usesWAL: Bool) {
        (self.size, self.usesWAL) = (size, usesWAL)
        script = migration.script
        rows = (migration.rowFacts?.rowCounts.values.reduce(0) { $0 &+ $1 }) ?? 0
        instances = migration.code.isEmpty && migration.steps.isEmpty && migration.next == nil ? 0 : rows
        reasonForOne = migration.reasonForOneUnit
        question = migration.verification.longest
    }

    // MARK: - Units

    /// The reading of the rows that the plan was made from; done before the call has a run.
    private var look: MigrationUnit {
        MigrationUnit(sentence: "Read the rows.", seconds: WorkCost.files + Double(rows) * WorkCost.look)
    }
    var backup: MigrationUnit { unit("Back up the store.", WorkCost.backup) }
    var soundness: MigrationUnit { unit("Check the pages of the backup.", WorkCost.soundness) }
    var digest: MigrationUnit { unit("Compute the digest of the backup.", WorkCost.digest) }
    var copy: MigrationUnit { unit("Create the working copy.", WorkCost.copy) }
    var pages: MigrationUnit { unit("Check the pages of the new store.", WorkCost.soundness) }
    var commit: MigrationUnit {
        unit(
            "Commit the new store, in one transaction.",
            usesWAL ? WorkCost.commit - WorkCost.writeBack : WorkCost.commit)
    }
    var writeBack: MigrationUnit { unit("Write the log back.", WorkCost.writeBack) }
    /// All of it, for what cannot be verified in pieces.
    var verification: MigrationUnit { unit("Verify the new store.", WorkCost.verify) }

    /// Returns a unit that goes through all of the store.
    private func unit(_ sentence: String, _ secondsPerByte: Double) -> MigrationUnit {
        MigrationUnit(sentence: sentence, seconds: WorkCost.files + Double(size) * secondsPerByte)
    }

    /// Everything but the backup.
    var whole: MigrationUnit {
        guard !script.isInPlace else { return MigrationUnit(sentence: "Change the store in place.", seconds: 0.05) }
        let statements = unit(of: script.statements[...]).seconds
        let others = copy.seconds + verification.seconds + commit.seconds + Double(instances) * WorkCost.object
        return MigrationUnit(
            sentence: "Change, verify and commit the copy, in one unit: \(reasonForOne ?? "it cannot be divided").",
            seconds: statements + others)
    }

    /// Whole statements.
    func unit(of statements: ArraySlice<StoreScript.Statement>) -> MigrationUnit {
        MigrationUnit(
            sentence: statements.first?.sentence ?? "", seconds: statements.reduce(0) { $0 + seconds(of: $1) })
    }

    /// Whether a statement touches no row, or a few of the store's own tables.
    func isOfTheCatalogue(_ statement: StoreScript.Statement) -> Bool { seconds(of: statement) <= WorkCost.statement }

    private func seconds(of statement: StoreScript.Statement) -> Double {
        // Pairs of keys are in no count of objects; with their indexes they take some sixty bytes each.
        let touched = statement.rows.bound ?? max(rows, size / 60)
        return WorkCost.statement + statement.seconds(touched, of: Double(size) / Double(max(rows, 1)))
    }

    // MARK: - The longest

    /// The unit that a budget has to have room for, with what every call does before it.
    package var longest: MigrationUnit {
        var unit = longestUnit
        unit.seconds = unit.seconds * Self.spare + WorkCost.call
        return unit
    }

    /// One index takes longer than another: a budget has to have room for those that do.
    private static let spare = 1.2

    private var longestUnit: MigrationUnit {
        guard !script.isInPlace else { return whole }
        let statements = script.statements.filter { $0.keys == nil }.map { unit(of: [$0]) }
        let units =
            [look, backup, soundness, digest]
            + (reasonForOne == nil ? [copy] + statements + [pages, question ?? verification, commit] : [whole])
        return units.max { $0.seconds < $1.seconds } ?? commit
    }
}

extension Migration {
    /// The reason why the work on the copy has to be done in one unit; nil if it can be done in pieces.
    fileprivate var reasonForOneUnit: String? {
        if !code.isEmpty { return "a migration policy keeps its own state" }
        if let step = steps.first { return "the step \(step.name) keeps its own state" }
        if next != nil { return "the migration takes several passes" }
        if ruleLog != nil || !checks.isEmpty { return "rules are checked over the whole store" }
        if !newExternalFiles.isEmpty { return "files of external data are written" }
        return nil
    }
}
