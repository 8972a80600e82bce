import Foundation
import MoultBasics
import TestSupport

/// What is at the path of a store, by the sqlite3 shell and by plain bytes: nothing of Moult is asked, and nothing is
/// looked for at another place.
enum ShellWitness {
    /// `nothing`, `an empty file`, `whole` with a digest of all that the shell dumps, or `damaged` with one of the bytes.
    @Sendable static func look(_ store: String) throws -> String {
        let files = FileManager.default
        guard files.fileExists(atPath: store) else { return "nothing" }
        let folder = try ScratchFolder()
        let copy = folder.path + "/store"
        for suffix in ["", "-wal", "-journal"] where files.fileExists(atPath: store + suffix) {
            try files.copyItem(atPath: store + suffix, toPath: copy + suffix)
        }
        if files.contents(atPath: copy)?.isEmpty == true { return "an empty file" }
        let said = try ChildProcess.run("sqlite3", [copy, "PRAGMA integrity_check", ".dump"])
        if said.exit == 0, said.output.hasPrefix("ok\n") {
            // A file of external data has another name each time.
            let dump = said.output.replacing(/X'02[0-9a-f]{72}00'/, with: "a file")
            return "whole " + Array(Digest.sha256(dump.utf8)).hexadecimal
        }
        // After an error the shell ends without writing the log back, as another program may have done before.
        _ = try ChildProcess.run("sqlite3", [copy, "PRAGMA wal_checkpoint(TRUNCATE)"])
        return "damaged " + Array(Digest.sha256(files.contents(atPath: copy) ?? Data())).hexadecimal
    }
}
