import Foundation

/// The extended attributes of files, by Python: `os.setxattr`, `os.getxattr`.
package enum FileAttributes {
    /// Sets an attribute of a file. False, after a line that says so, where the file system has none for users.
    package static func set(_ name: String, _ value: String, of path: String) throws -> Bool {
        let line = "import os, sys; os.setxattr(sys.argv[1], sys.argv[2], sys.argv[3].encode())"
        let run = try ChildProcess.run("python3", ["-c", line, path, name, value])
        if run.exit != 0 { print("SKIPPED: the file system of \(path) has no extended attributes of users") }
        return run.exit == 0
    }

    /// The value of an attribute; nil if the file does not have it.
    package static func value(_ name: String, of path: String) throws -> String? {
        let line = "import os, sys; sys.stdout.write(os.getxattr(sys.argv[1], sys.argv[2]).decode())"
        let run = try ChildProcess.run("python3", ["-c", line, path, name])
        return run.exit == 0 ? run.output : nil
    }
}
