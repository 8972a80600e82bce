import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

extension Migration {
    /// A bound plan as the engine runs it: its script, the check that the store is still the one it was made for, and
    /// the verification of what comes out.
    ///
    /// - Parameters:
    ///   - store: the resolved path of the store, next to which its external data lies.
    ///   - from: the name of the version that made the store.
    ///   - workingCopy: the path of the copy that an earlier pass has made, next to which new external data may lie.
    ///   - followsCode: whether an earlier pass runs code, which may leave required values out.
    /// - Throws: `dataConflict` if the rows do not fit the new version; `unsupported` if the plan cannot run in place.
    package init(
        _ plan: BoundPlan, on store: String, from: String, workingCopy: String? = nil, followsCode: Bool = false,
        _ choice: StoreScript.Choice = .normalised, system: any System
    ) throws {
        if let obstacle = plan.obstacle { throw obstacle }
        let script = try StoreScript(plan, choice)
        let external =
            workingCopy.map { ExternalStorage(ofWorkingCopy: $0, of: store) } ?? ExternalStorage(store: store)
        let functions = script.functions { name in
            guard StoreVerification.isPlainName(name) else { throw StoreVerification.strangeFile(name, store) }
            return try external.contents(of: name, on: system) ?? system.read(Path.join(external.folder, name))
        }
        let check = StoreVerification(
            plan, store: store, keeping: script.kept, followsCode: followsCode, system: system)
        let binding = plan.binding
        self.init(
            script, from: from, to: plan.target.name, functions: functions,
            precondition: { try StoreVerification.requireUnchanged(binding, of: store, $0) },
            verification: script.isInPlace ? check.verificationInPlace : check.verification)
        growth = StoreGrowth(plan: plan)
        verifySteps = check.verifySteps
        if !script.isInPlace { verification.longest = check.longestPiece }
    }
}
