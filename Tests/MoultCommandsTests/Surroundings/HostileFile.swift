import Foundation
import TestSupport
import Testing

/// Something that lies where a file is expected.
enum HostileFile: String, CaseIterable, Sendable {
    case pipe = "a FIFO"
    case folder = "a folder"
    case device = "a device"
    case loop = "a link to itself"
    case dangling = "a link that leads nowhere"
    case link = "a link to another file"
    case unreadable = "a file that may not be read"
    case sparse = "a file of six gigabytes"

    /// Puts it at a path, whatever is there.
    func make(_ path: String, _ moult: Tool) throws {
        let make =
            switch self {
            case .pipe: "mkfifo '\(path)'"
            case .folder: "mkdir '\(path)'"
            case .device: "mknod -m 600 '\(path)' c 1 5 2> tmp/no || ln -s /dev/zero '\(path)'"
            case .loop: "ln -s \"$(basename '\(path)')\" '\(path)'"
            case .dangling: "ln -s \"$PWD/nothing\" '\(path)'"
            case .link: "echo victim > victim && ln -s \"$PWD/victim\" '\(path)'"
            case .unreadable: "touch '\(path)' && chmod 0 '\(path)'"
            case .sparse: "truncate -s 6G '\(path)'"
            }
        let result = try moult.shell("rm -rf '\(path)'; mkdir -p \"$(dirname '\(path)')\"; \(make)")
        try #require(result.exit == 0, "\(result.errors)")
    }
}

/// A file that some commands read or write beside the store.
struct HostileInput: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let path: String
    let commands: [String]

    private static let model = "--model Forum.xcdatamodeld"
    private static let sidecar = "forum.sqlite.moult"

    static let all = inputs + records + external

    private static let inputs = [
        HostileInput(
            testDescription: "model", path: "Forum.xcdatamodeld/Forum.xcdatamodel/contents",
            commands: [
                "hash Forum.xcdatamodeld", "plan forum.sqlite \(model)", "migrate forum.sqlite \(model)",
                "status forum.sqlite \(model)", "validate forum.sqlite \(model)",
            ]),
        HostileInput(
            testDescription: "current version", path: "Forum.xcdatamodeld/.xccurrentversion",
            commands: [
                "hash Forum.xcdatamodeld", "migrate forum.sqlite \(model)",
                "diff Forum.xcdatamodeld Forum.xcdatamodeld",
            ]),
        HostileInput(
            testDescription: "model as JSON", path: "input.json",
            commands: ["hash input.json", "migrate forum.sqlite --model input.json"]),
        HostileInput(
            testDescription: "rules", path: "input.rules.json",
            commands: [
                "validate forum.sqlite \(model) --rules input.rules.json",
                "validate forum.sqlite \(model) --rules input.rules.json --fix",
            ]),
        HostileInput(
            testDescription: "plan", path: "plan.json", commands: ["migrate forum.sqlite \(model) --plan plan.json"]),
        HostileInput(
            testDescription: "answers", path: "answers.json",
            commands: [
                "plan forum.sqlite \(model) --answers answers.json",
                "migrate forum.sqlite \(model) --dry-run --answers answers.json",
            ]),
        HostileInput(
            testDescription: "mapping", path: "Own.cdm",
            commands: ["plan forum.sqlite \(model) --mapping Own.cdm", "inspect Own.cdm"]),
        HostileInput(
            testDescription: "rows", path: "User.csv", commands: ["import forum.sqlite User.csv"]),
        HostileInput(
            testDescription: "lines", path: "User.jsonl", commands: ["import forum.sqlite User.jsonl"]),
        HostileInput(
            testDescription: "configuration", path: "moult.json",
            commands: [
                "status forum.sqlite", "migrate forum.sqlite \(model)", "lint Forum.xcdatamodeld", "init",
                "anonymise forum.sqlite -o copy-anonymous.sqlite",
            ]),
        HostileInput(
            testDescription: "lock", path: "moult.lock",
            commands: ["lock Forum.xcdatamodeld", "lint Forum.xcdatamodeld", "checklist Forum.xcdatamodeld"]),
        HostileInput(
            testDescription: "schema of CloudKit", path: "Forum.ckdb",
            commands: [
                "cloudkit check Forum.xcdatamodeld --schema Forum.ckdb", "cloudkit diff Forum.ckdb Forum.ckdb",
                "cloudkit schema Forum.xcdatamodeld --merge Forum.ckdb -o Merged.ckdb",
            ]),
        HostileInput(
            testDescription: "source", path: "Forum.xcdatamodeld/Forum 2.xcdatamodel/contents",
            commands: ["compile Forum.xcdatamodeld -o Resources", "generate Forum.xcdatamodeld -o Sources"]),
        HostileInput(
            testDescription: "generated source", path: "Sources/User+CoreDataClass.swift",
            commands: ["generate Forum.xcdatamodeld -o Sources"]),
        HostileInput(
            testDescription: "generated tests", path: "Tests/ForumMigrationTests.swift",
            commands: ["generate tests Forum.xcdatamodeld -o Tests"]),
        HostileInput(
            testDescription: "archive", path: "backup.tar", commands: ["backup import forum.sqlite backup.tar"]),
        HostileInput(
            testDescription: "copy", path: "copy.sqlite",
            commands: ["backup import forum.sqlite copy.sqlite --was-closed", "salvage copy.sqlite saved.sqlite"]),
    ]

    private static let records =
        ["lock", "journal.json", "runs.jsonl", "log.txt", "quarantine.sqlite", "mirror.json", "backups", "."].map {
            name in
            HostileInput(
                testDescription: "record \(name)", path: name == "." ? sidecar : "\(sidecar)/\(name)",
                commands: [
                    "status forum.sqlite \(model)", "runs forum.sqlite", "log forum.sqlite",
                    "quarantine list forum.sqlite", "backup list forum.sqlite", "mirror status forum.sqlite",
                    "doctor forum.sqlite \(model)", "backup create forum.sqlite", "resume forum.sqlite \(model)",
                    "migrate forum.sqlite \(model)",
                ])
        }

    private static let external = [
        HostileInput(
            testDescription: "external file", path: ".forum_SUPPORT/_EXTERNAL_DATA/BBBBBBBB",
            commands: [
                "validate forum.sqlite \(model)", "dump forum.sqlite", "backup create forum.sqlite",
                "migrate forum.sqlite \(model)", "salvage forum.sqlite saved.sqlite",
                "mirror start forum.sqlite \(model) --at new.sqlite", "anonymise forum.sqlite -o copy-anonymous.sqlite",
                "export forum.sqlite -o csv", "migrate forum.sqlite \(model) --into newest.sqlite",
                "test --kill 1 forum.sqlite \(model)",
            ])
    ]

    /// What lies beside a store and belongs to SQLite.
    static let sideFiles = ["-wal", "-journal", "-shm"].map { suffix in
        HostileInput(
            testDescription: suffix, path: "forum.sqlite\(suffix)",
            commands: VerbExample.all.filter { !$0.isTrial && $0.command.contains("forum.sqlite") }.map {
                String($0.command.dropFirst("moult ".count))
            })
    }
}
