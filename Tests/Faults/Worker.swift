import FaultCases
import Foundation
import MoultBasics
import MoultModel
import MoultTesting
import TestSupport

/// A process that does the work of a kind of migration on a trial's store, on the machine as it is.
final class Worker {
    private static let mark = "begun\n"
    private let process: ChildProcess
    private var text = ""

    /// - Parameter user: whom it becomes before it begins, where this process may choose.
    init(_ ground: FaultFixture, user: uid_t? = nil) throws {
        var environment = ["TMPDIR": ground.temporaryFolder]
        if let user { environment["MOULT_FAULTS_USER"] = "\(user)" }
        process = try ChildProcess(
            try POSIXSystem.ownProgram(), ["--work", ground.faultCase.name, ground.store],
            output: .read, environment: environment)
        // The work begins now, and not with the start of the program.
        while !text.contains(Self.mark), try readSome() {}
    }

    private func readSome() throws -> Bool {
        let bytes = process.readSome()
        text += String(decoding: bytes, as: UTF8.self)
        return !bytes.isEmpty
    }

    var identifier: pid_t { process.identifier }
    var isRunning: Bool { process.isRunning }

    func kill() { process.kill() }

    /// Waits for its end.
    func end() throws -> RecoveryCheck.Ending {
        while try readSome() {}
        let code = process.wait()
        return code == 0 ? .succeeded : code > 128 ? .died : .failed(Failure(code: code, words: words))
    }

    /// What it has said of its error.
    private var words: String { text.replacingOccurrences(of: Self.mark, with: "") }

    /// The error of a process.
    struct Failure: Error, CustomStringConvertible {
        let code: Int32
        let words: String

        /// Refused before anything was done, or told that what was asked for is not there any more.
        var isRefusal: Bool { code == 2 || code == 3 }

        var description: String { "exit code \(code): \(words)" }
    }

    // MARK: - In the process

    static func work(_ name: String, on store: String) -> Int32 {
        do {
            guard let faultCase = try FaultCases.all.first(where: { $0.name == name }) else { return 2 }
            if let user = ProcessInfo.processInfo.environment["MOULT_FAULTS_USER"].flatMap(uid_t.init) {
                guard setgid(user) == 0, setuid(user) == 0 else { return 2 }
            }
            FileHandle.standardOutput.write(Data(mark.utf8))
            try faultCase.run(store, POSIXSystem())
            return 0
        } catch {
            FileHandle.standardOutput.write(Data("\(error)".utf8))
            return (error as? MigrationError)?.exitCode ?? 1
        }
    }
}
