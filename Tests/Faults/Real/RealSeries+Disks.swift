import Foundation
import MoultBasics
import MoultModel
import MoultTesting
import TestSupport

/// Volumes that fill up, folders that turn read-only, and programs that have the store open.
extension RealSeries {
    /// A machine that always says it has room, so that the volume itself has to say no.
    private struct BoastingSystem: ForwardingSystem {
        let temporaryFolder: String

        func space(at path: String) throws -> VolumeSpace {
            VolumeSpace(available: .max, volume: try real.space(at: path).volume)
        }
    }

    /// With room for so many pages, and once for none; the room of an undisturbed run is found on the way.
    func fill(_ number: Int) throws -> RecoveryCheck.Outcome {
        let system = BoastingSystem(temporaryFolder: ground.temporaryFolder)
        let result = try withRoom((number - 1) * 8_192) { Result { try ground.faultCase.run(ground.store, system) } }
        if case .failure(let error as MigrationError) = result, error.code != .insufficientStorage {
            throw Broken(words: "a full volume is not named: \(error)")
        }
        let outcome = try RecoveryCheck(ground, faultPersists: true).outcome(of: .init(result))
        if case .kept = outcome, case .success = result { return .untouched }
        return outcome
    }

    /// The work is done by a user whom modes concern.
    func turnReadOnly(after delay: Double) throws -> RecoveryCheck.Outcome {
        let nobody: uid_t? = getuid() == 0 ? 65_534 : nil
        if let nobody { try give(ground.field, to: nobody) }
        let worker = try Worker(ground, user: nobody)
        sleep(delay)
        let wasAlive = worker.isRunning
        let folders = [ground.field, ground.store + ".moult", ground.store + ".moult/backups"]
        for folder in folders { chmod(folder, 0o555) }
        let ending = try worker.end()
        for folder in folders { chmod(folder, 0o755) }
        if case .died = ending { throw Broken(words: "the process dies in a folder that turns read-only") }
        let outcome = try RecoveryCheck(ground, faultPersists: true).outcome(of: ending)
        if case .kept = outcome, !wasAlive { return .untouched }
        return outcome
    }

    private func give(_ path: String, to user: uid_t) throws {
        lchown(path, user, user)
        guard try POSIXSystem().status(of: path)?.kind == .folder else { return }
        for name in try POSIXSystem().list(path) { try give(path + "/" + name, to: user) }
    }

    /// Idle, reading, writing: the run is refused with its number, or need not wait for it.
    func neighbour(_ number: Int) throws -> RecoveryCheck.Outcome {
        guard let store = ground.faultCase.opened(ground.store) else { return .untouched }
        let neighbour = try SQLiteProcess(store)
        let said = try neighbour.run(
            [
                "SELECT count(*) FROM Z_METADATA", "BEGIN; SELECT count(*) FROM Z_METADATA",
                "BEGIN IMMEDIATE; UPDATE Z_METADATA SET Z_VERSION = Z_VERSION",
            ][(number - 1) % 3])
        let result = Result { try ground.faultCase.run(ground.store, POSIXSystem()) }
        if case .failure(let error as MigrationError) = result {
            // What is no database any more nobody else can have open.
            let isNamed = error.message.contains("(\(neighbour.identifier))") || said.contains("not a database")
            guard error.code == .locked, isNamed else { throw Broken(words: "the neighbour is not named: \(error)") }
        }
        _ = try neighbour.run("ROLLBACK")
        neighbour.end()
        return try RecoveryCheck(ground).outcome(of: .init(result))
    }
}
