import Foundation
import TestSupport
import Testing

@Suite("What bad input gets")
struct BadInputTests {  // tier: long
    private static let model = ["--model", "Forum.xcdatamodeld"]
    private static let lookingVerbs = [["status"], ["inspect"], ["dump"], ["validate"]]
    private static let changingVerbs = [["plan"], ["migrate"], ["migrate", "--dry-run"]]

    /// Made once and copied, which is faster than to make it each time.
    private static let template = Result {
        let moult = try Tool.besideForumModel()
        let made = try moult.run(
            Tool.path, ["create", "forum.sqlite", "--version", "Forum", "--rows", "Forum=3,User=5,Post=9"] + model)
        try #require(made.exit == 0, "\(made.errors)")
        return moult
    }

    /// A tool beside the example model and `data/forum.sqlite`, a store of its first version.
    private static func besideStore(_ name: String = "forum.sqlite") throws -> Tool {
        let moult = try Tool.besideForumModel()
        let data = moult.folder.path + "/data"
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: false)
        try FileManager.default.copyItem(
            atPath: template.get().folder.path + "/forum.sqlite", toPath: "\(data)/\(name)")
        return moult
    }

    private struct Complaint {
        let code: String
        let message: String
        let cause: String
        let place: String
        let remedy: String

        init(_ result: Tool.Result) throws {
            let error = try #require(try result.document["error"] as? [String: any Sendable], "\(result.output)")
            func text(_ key: String) -> String { error[key] as? String ?? "" }
            (code, message, cause) = (text("code"), text("message"), text("cause"))
            (place, remedy) = (text("place"), text("remedy"))
        }
    }

    private func refusal(_ moult: Tool, _ bad: BadStore, _ verb: [String]) throws -> Complaint {
        let result = try moult.run(Tool.path, verb + ["data/forum.sqlite", "--json"] + Self.model)
        #expect(result.exit == bad.exit, "\(verb) ends with \(result.exit): \(result.output)")
        return try Complaint(result)
    }

    @Test(arguments: BadStore.all)
    func `a bad store is refused with what was found, where, and what to do, and nothing is touched`(bad: BadStore)
        throws
    {
        let moult = try Self.besideStore()
        try bad.make(moult.folder.path + "/data/forum.sqlite")
        let before = try moult.listing()
        for verb in Self.changingVerbs where bad.code != "hardLinked" || verb == ["migrate"] {
            let complaint = try refusal(moult, bad, verb)
            #expect(complaint.code == bad.code)
            #expect("\(complaint.message) \(complaint.cause)".contains(bad.says), "\(verb): \(complaint)")
            #expect(!complaint.place.isEmpty && !complaint.remedy.isEmpty, "\(complaint)")
        }
        for verb in Self.lookingVerbs {
            let result = try moult.run(Tool.path, verb + ["data/forum.sqlite", "--json"] + Self.model)
            #expect([0, 1, 3, 4].contains(result.exit), "\(verb): \(result)")
            if !bad.isReadable, bad.testDescription != "a table is missing" {
                #expect(result.exit == bad.exit, "\(verb): \(result)")
            }
        }
        #expect(try moult.listing() == before)
    }

    @Test(arguments: BadModel.all)
    func `a bad model is refused with what was found, where, and what to do`(bad: BadModel) throws {
        let moult = try Self.besideStore()
        let model = try bad.make(moult.folder.path)
        let before = try moult.listing()
        for verb in Self.changingVerbs + [["status"], ["validate"]] {
            let result = try moult.run(Tool.path, verb + ["data/forum.sqlite", "--json", "--model", model])
            #expect(result.exit == 4)
            let complaint = try Complaint(result)
            #expect(complaint.code == bad.code)
            #expect("\(complaint.message) \(complaint.cause)".contains(bad.says), "\(complaint)")
            #expect(complaint.place.contains(model), "\(complaint)")
            #expect(!complaint.remedy.isEmpty)
        }
        #expect(try moult.listing() == before)
    }

    @Test func `no two of them share a message`() throws {
        var seen: [String: String] = [:]
        for bad in BadStore.all {
            let moult = try Self.besideStore()
            try bad.make(moult.folder.path + "/data/forum.sqlite")
            let message = try refusal(moult, bad, ["migrate"]).message
            if let other = seen.updateValue(bad.testDescription, forKey: message) {
                Issue.record("\(bad.testDescription) and \(other): \(message)")
            }
        }
        for bad in BadModel.all {
            let moult = try Self.besideStore()
            let model = try bad.make(moult.folder.path)
            let result = try moult.run(Tool.path, ["migrate", "data/forum.sqlite", "--json", "--model", model])
            let complaint = try Complaint(result)
            if let other = seen.updateValue(bad.testDescription, forKey: complaint.message + complaint.cause) {
                Issue.record("\(bad.testDescription) and \(other): \(complaint.message)")
            }
        }
    }
}

// MARK: - States that only a whole situation makes

extension BadInputTests {
    @Test func `a store that is ahead is told from one that is unknown`() throws {
        let moult = try Self.besideStore()
        #expect(try moult.run(Tool.path, ["migrate", "data/forum.sqlite"] + Self.model).exit == 0)
        let before = try moult.listing()
        let result = try moult.run(Tool.path, ["migrate", "data/forum.sqlite", "--json", "--to", "Forum"] + Self.model)
        #expect(result.exit == 3)
        #expect(try Complaint(result).code == "storeAhead")
        #expect(try moult.listing() == before)
    }

    @Test(arguments: ["BEGIN; SELECT count(*) FROM ZPOST", "BEGIN IMMEDIATE; UPDATE ZPOST SET Z_OPT = 7"])
    func `a store that another process has open is refused, and no write of it is lost`(sql: String) throws {
        let moult = try Self.besideStore()
        let store = moult.folder.path + "/data/forum.sqlite"
        let other = try SQLiteProcess(store)
        try other.run(sql)
        let result = try moult.run(Tool.path, ["migrate", "data/forum.sqlite", "--json"] + Self.model)
        #expect(result.exit == 3)
        let complaint = try Complaint(result)
        #expect(complaint.code == "locked")
        #expect(complaint.message.contains("sqlite3 (\(other.identifier))"), "\(complaint)")
        #expect(!complaint.place.isEmpty && !complaint.remedy.isEmpty)
        // The lock of Moult's runs stays: to remove it would take it from a run that has just opened it.
        #expect(try FileManager.default.contentsOfDirectory(atPath: store + ".moult") == ["lock"])
        try other.run("COMMIT")
        other.end()
        #expect(
            try SQLiteShell.run(store, "SELECT count(*) FROM ZPOST WHERE Z_OPT = 7")
                == (sql.contains("UPDATE") ? "9\n" : "0\n"))
        #expect(try moult.run(Tool.path, ["migrate", "data/forum.sqlite"] + Self.model).exit == 0)
    }

    @Test func `a CloudKit mirror is planned when asked for`() throws {
        let moult = try Self.besideStore()
        try #require(BadStore.all.first { $0.code == "cloudKit" }).make(moult.folder.path + "/data/forum.sqlite")
        #expect(try moult.run(Tool.path, ["plan", "data/forum.sqlite", "--cloudkit"] + Self.model).exit == 0)
    }

    @Test func `a damaged model cache is said, and does not matter where the model is given`() throws {
        let moult = try Self.besideStore()
        let store = moult.folder.path + "/data/forum.sqlite"
        _ = try SQLiteShell.run(store, "UPDATE Z_MODELCACHE SET Z_CONTENT = x'00112233445566'")
        let before = try moult.listing()
        let inspected = try moult("inspect", "data/forum.sqlite", "--json")
        #expect(
            inspected.output.contains("The model cache cannot be read")
                || inspected.errors.contains("The model cache cannot be read"))
        let dumped = try moult("dump", "data/forum.sqlite", "--model", "data/forum.sqlite", "--json")
        #expect([3, 4].contains(dumped.exit), "\(dumped)")
        #expect(try moult.run(Tool.path, ["dump", "data/forum.sqlite", "--json"] + Self.model).exit == 0)
        #expect(try moult.listing() == before)
        #expect(try moult.run(Tool.path, ["migrate", "data/forum.sqlite"] + Self.model).exit == 0)
    }

    @Test func `a folder that cannot be written is refused, and looking at a store in it works`() throws {
        let moult = try Self.besideStore()
        let folder = moult.folder.path + "/data"
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder) }
        let before = try moult.listing()
        // Permissions do not bind the superuser.
        let isSuperuser = getuid() == 0
        func run(_ words: String...) throws -> Tool.Result {
            guard isSuperuser else { return try moult.run(words[0], Array(words[1...])) }
            return try moult.run("/usr/bin/setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups"] + words)
        }
        if isSuperuser {
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: moult.folder.path)
            guard try run("/usr/bin/test", "-x", Tool.path).exit == 0 else {
                print("SKIPPED: nobody else may run \(Tool.path), so a folder that cannot be written was not tried")
                return
            }
        }
        func tried(_ verb: String) throws -> Tool.Result {
            try run(Tool.path, verb, "data/forum.sqlite", "--json", "--model", "Forum.xcdatamodeld")
        }
        for verb in ["status", "dump", "plan"] { #expect(try tried(verb).exit == 0, "\(verb)") }
        let result = try tried("migrate")
        #expect(result.exit == 3)
        let complaint = try Complaint(result)
        #expect(complaint.code == "readOnly")
        #expect(complaint.message.contains("cannot write"))
        #expect(!complaint.place.isEmpty && !complaint.remedy.isEmpty)
        #expect(try moult.listing() == before)
    }
}

// MARK: - Paths

extension BadInputTests {
    @Test(arguments: [
        "for um.sqlite", "for'um\".sqlite", "fórum 🐦.sqlite", "what?mode=ro.sqlite", "100%25.sqlite", "a#b.sqlite",
        "forum", "-forum.sqlite", ".forum.sqlite", "for\num.sqlite", "a&b;c`d$(e).sqlite", "[a]*.sqlite",
    ])
    func `a store of any name is read, migrated and rolled back`(name: String) throws {
        let moult = try Self.besideStore(name)
        let store = "data/" + name
        let dump = try moult.run(Tool.path, ["dump", store, "--json"])
        #expect(dump.exit == 0)
        #expect(try moult.run(Tool.path, ["migrate", store] + Self.model).exit == 0)
        #expect(try moult.run(Tool.path, ["validate", store] + Self.model).exit == 0)
        #expect(try moult.run(Tool.path, ["rollback", store]).exit == 0)
        #expect(try moult.run(Tool.path, ["dump", store, "--json"]).output == dump.output)
        let names = try FileManager.default.contentsOfDirectory(atPath: moult.folder.path + "/data")
        #expect(names.contains(name) && names.allSatisfy { $0.hasPrefix(name) || $0.hasSuffix("_SUPPORT") }, "\(names)")
    }

    @Test func `a symbolic link is followed: the store behind it is migrated, the link stays`() throws {
        let moult = try Self.besideStore()
        let folder = moult.folder.path
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/link.sqlite", withDestinationPath: "data/forum.sqlite")
        #expect(try moult.run(Tool.path, ["status", "link.sqlite"] + Self.model).exit == 0)
        #expect(try moult.run(Tool.path, ["migrate", "link.sqlite"] + Self.model).exit == 0)
        #expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/link.sqlite") == "data/forum.sqlite")
        #expect(try moult.run(Tool.path, ["status", "data/forum.sqlite", "--check"] + Self.model).exit == 0)
        #expect(FileManager.default.fileExists(atPath: folder + "/data/forum.sqlite.moult/backups"))
        #expect(!FileManager.default.fileExists(atPath: folder + "/link.sqlite.moult"))
    }
}
