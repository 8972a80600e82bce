import MoultBasics
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore

// The results of a run of policies in pieces, as the units after it use them.

extension Executor {
    var pathOfPolicyRows: String { Path.join(work, sidecar.nameOfPolicyRows) }

    /// Copies the rows of the policies' tables that later units need into a file: the new store does not have them.
    func setAside(_ copy: WorkingCopy, _ pace: CallBudget) throws {
        let rows = try PolicyNotes.count(on: copy.connection)
        let unit = MigrationUnit(
            sentence: "Set aside which objects the policies have changed.",
            seconds: CostModel.files + Double(rows) * CostModel.insert)
        try pace.perform(unit) {
            try system.removeDatabase(pathOfPolicyRows)
            try system.makeFile(pathOfPolicyRows, .own)
            try PolicyNotes.setAside(from: copy.connection, in: pathOfPolicyRows)
        }
    }

    /// Removes the policies' tables from the copy, and reports the results of the policies, which may be those of an
    /// earlier call.
    func takePolicies(_ copy: WorkingCopy, _ pace: CallBudget) throws {
        guard let policies = migration.policies else { return }
        try PolicyNotes.forget(on: copy.connection)
        try PolicyNotes.show(pathOfPolicyRows, on: copy.connection)
        let record = try PolicyRecord(pace.checkpoint.policies)
        policies.report(record)
        rows &+= record.written
    }

    /// Makes the objects that the policies have quarantined durable. A call that died may have done so before.
    func keepQuarantined() throws {
        guard migration.policies != nil else { return }
        let quarantine = Quarantine(sidecar, system)
        try quarantine.remove(run: identifier)
        let file = try Connection(pathOfPolicyRows, mode: .immutable)
        defer { file.close() }
        quarantined = try quarantine.keep(from: file, in: "main", run: identifier)
    }
}
