import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import TestSupport
import Testing

/// Models inside apps, as folders and as archives that Python's `zipfile` makes.
@Suite("Models in apps")
struct AppModelTests {
    private static let fixtures =
        packageRoot.path + "/Tests/Corpus/alemar11__CoreDataPlus/Tests/Resources/SampleModel/Fixtures"
    private static let other =
        packageRoot.path + "/Tests/Corpus/alemar11__CoreDataPlus/Tests/Resources/SampleModel3/Fixtures"

    /// Makes an archive of folders, each under a path in the archive, and of further entries.
    private func archive(
        _ folders: [String: String], entries: [String: String] = [:], method: String = "ZIP_DEFLATED",
        in folder: ScratchFolder
    ) throws -> String {
        let script = """
            import json, os, sys, zipfile
            path, folders, entries, method = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3]), sys.argv[4]
            with zipfile.ZipFile(path, "w", getattr(zipfile, method)) as file:
                for place, folder in folders.items():
                    file.writestr(place + "/", "")
                    for name in sorted(os.listdir(folder)):
                        file.write(os.path.join(folder, name), place + "/" + name)
                for name, text in entries.items():
                    file.writestr(name, text)
            """
        func json(_ value: [String: String]) throws -> String {
            String(decoding: try JSONSerialization.data(withJSONObject: value), as: UTF8.self)
        }
        let path = folder.path + "/App.ipa"
        let run = try ChildProcess.run(
            "python3", ["-c", script, path, try json(folders), try json(entries), method])
        try #require(run.exit == 0, "\(run.output)")
        return path
    }

    private static let place = "Payload/App.app/SampleModel.momd"
    private static let momd = fixtures + "/SampleModel.momd"

    @Test(arguments: ["ZIP_DEFLATED", "ZIP_STORED"])
    func `the model in an .ipa is that of its .momd`(method: String) throws {
        let folder = try ScratchFolder()
        let path = try archive(
            [Self.place: Self.momd], entries: ["Payload/App.app/Info.plist": "text"], method: method, in: folder)
        let whole = try ModelBundle(contentsOf: Self.momd)
        for path in [path, "\(path)/\(Self.place)"] {
            let bundle = try ModelBundle(contentsOf: path)
            #expect(bundle.versions == whole.versions && bundle.versions.count == 3)
            #expect(
                bundle.currentName == whole.currentName && bundle.findings.map(\.code) == whole.findings.map(\.code))
            #expect(bundle.files["SampleModel2"] == "\(folder.path)/App.ipa/\(Self.place)/SampleModel2.mom")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["App.ipa"])
    }

    @Test func `an app's folder has the model of its .momd, and of several one is named`() throws {
        let folder = try ScratchFolder()
        let app = folder.path + "/App.app"
        try FileManager.default.createDirectory(
            atPath: app + "/Frameworks/Kit.framework", withIntermediateDirectories: true)
        let inside = app + "/Frameworks/Kit.framework/SampleModel.momd"
        try FileManager.default.copyItem(atPath: Self.momd, toPath: inside)
        let bundle = try ModelBundle(contentsOf: app)
        #expect(bundle.path == inside && bundle.versions.count == 3)
        try FileManager.default.copyItem(
            atPath: Self.other + "/SampleModel3.momd", toPath: app + "/SampleModel3.momd")
        let error = #expect(throws: MigrationError.self) { try ModelBundle(contentsOf: app) }
        #expect(error?.code == .modelNotFound && error?.message == "The app contains 2 models.")
        #expect(error?.remedy.contains(inside) == true)
        let archive = try archive(
            [Self.place: Self.momd, "Payload/App.app/Other.momd": Self.other + "/SampleModel3.momd"], in: folder)
        let several = #expect(throws: MigrationError.self) { try ModelBundle(contentsOf: archive) }
        #expect(several?.remedy.contains("\(archive)/\(Self.place)") == true)
        #expect(try ModelBundle(contentsOf: "\(archive)/Payload/App.app/Other.momd").versions.count == 3)
    }

    @Test func `an archive without a model, and a model that it does not have, are errors`() throws {
        let folder = try ScratchFolder()
        let path = try archive([:], entries: ["Payload/App.app/App": "code"], in: folder)
        for path in [path, path + "/Payload/App.app/App.momd"] {
            let error = #expect(throws: MigrationError.self) { try ModelBundle(contentsOf: path) }
            #expect(error?.code == .modelNotFound)
        }
        try "text".write(toFile: folder.path + "/Text.ipa", atomically: true, encoding: .utf8)
        let error = #expect(throws: MigrationError.self) { try ModelBundle(contentsOf: folder.path + "/Text.ipa") }
        #expect(error?.code == .modelInvalid && error?.message.contains("its end is missing") == true)
    }

    @Test(arguments: ["../App.momd/A.mom", "Payload/../../A.mom", "/A.mom", "a\\A.mom"])
    func `a name that leads out of the archive is refused`(name: String) throws {
        let folder = try ScratchFolder()
        let path = try archive([Self.place: Self.momd], entries: [name: "text"], in: folder)
        let error = #expect(throws: MigrationError.self) { try ModelBundle(contentsOf: path) }
        #expect(error?.code == .modelInvalid && error?.message.contains("leads out of it") == true)
    }

    @Test func `a file that says it is small and is not, and one that is too large, are refused`() throws {
        let folder = try ScratchFolder()
        let path = try archive([:], entries: ["A.momd/A.mom": String(repeating: "0", count: 100_000)], in: folder)
        let archive = try ZipArchive(contentsOf: path)
        let entry = try #require(archive.entries.first)
        #expect(try archive.contents(of: entry, limit: 100_000).count == 100_000)
        #expect(throws: MigrationError.self) { try archive.contents(of: entry, limit: 99_999) }
        // The size of the entry in the list of files is 24 bytes after its beginning (APPNOTE.TXT, 4.3.12).
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let list = try #require(bytes.firstRange(of: [0x50, 0x4B, 0x01, 0x02]))
        bytes.replaceSubrange((list.lowerBound + 24)..<(list.lowerBound + 28), with: [10, 0, 0, 0])
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let small = try ZipArchive(contentsOf: path)
        let error = #expect(throws: MigrationError.self) {
            try small.contents(of: try #require(small.entries.first), limit: 100_000)
        }
        #expect(error?.message.contains("is damaged") == true)
    }

    @Test func `mutated archives never crash`() throws {
        let folder = try ScratchFolder()
        let path = try archive([Self.place: Self.momd], in: folder)
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        var readable = 0
        for seed in UInt64(0)..<200 {
            let tail = Array(bytes.suffix(600)).mutated(seed: seed)
            try Data(bytes.dropLast(600) + tail).write(to: URL(fileURLWithPath: path))
            if (try? ModelBundle(contentsOf: path)) != nil { readable += 1 }
        }
        #expect(readable < 200)
    }
}
