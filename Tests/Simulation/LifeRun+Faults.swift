import Foundation
import MoultBasics
import MoultModel
import MoultSQLite
import MoultTesting

/// What befalls the machine in a step.
extension LifeRun {
    /// Whether a fault has met a call of the step, or an allocation.
    var hasMet: Bool { disk.hasMet || AllocationFaults.hasRefused }

    func faults(of step: Life.Step) -> [Fault] {
        if life.plant == .wrongSave, case .save = step.action, number % 5 == 4 {
            return [Fault(.wrongBit, at: 1, seed: UInt64(number) * 7_919)]
        }
        let faults = step.faults.compactMap(\.fault)
        return writesOwnFiles(step.action) ? faults.filter { !$0.kind.losesWrites } : faults
    }

    /// Whether a program saves that writes the files of external data past the simulated disk, which would not survive.
    private func writesOwnFiles(_ action: Life.Action) -> Bool {
        var version = now.version
        switch action {
        case .save(let api, _): guard app.map({ !($0 is ObjectsProgram) }) ?? (api != .objects) else { return false }
        case .saveBoth(let api, _):
            guard api != .objects, let beside else { return false }
            if beside.writesOwnFiles(.save(api, [])) { return true }
        case .commit: guard rival.map({ !($0.program is ObjectsProgram) }) ?? false else { return false }
        case .mirror(.visit(_, let api)):
            guard api != .objects, let mirror else { return false }
            version = mirror.target
        default: return false
        }
        return model(version).entities.flatMap(\.attributes).contains {
            $0.description.allowsExternalBinaryDataStorage
        }
    }

    // MARK: - Permissions

    /// Nothing that is made from a store can be read by more people than the store, which keeps its permissions.
    func checkRights() throws {
        if isQuiet { return }
        for path in try FileManager.default.subpathsOfDirectory(atPath: field).sorted() {
            guard let status = try system.status(of: field + "/" + path) else { continue }
            let most = status.kind == .folder ? life.ground.folderRights : life.ground.rights
            let mode = status.mode & 0o777
            let octal = String(mode, radix: 8)
            if mode & ~most != 0 {
                throw LifeFailure(kind: "wider readable", words: "\(path) has the permissions \(octal)")
            }
            if field + "/" + path == store, mode != most {
                throw LifeFailure(kind: "other permissions", words: "the store has \(octal)")
            }
        }
    }
}
