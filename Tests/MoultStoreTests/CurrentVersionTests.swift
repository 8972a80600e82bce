import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultTools
import TestSupport
import Testing

/// The file that marks the current version: what cannot be read is not the same as no file.
@Suite struct CurrentVersionTests {
    private func bundle(_ marker: String?) throws -> ScratchFolder {
        let folder = try ScratchFolder()
        for name in ["App", "App 2", "App 3"] {
            let version = folder.path + "/App.xcdatamodeld/\(name).xcdatamodel"
            try FileManager.default.createDirectory(atPath: version, withIntermediateDirectories: true)
            try "<model><entity name=\"\(name.split(separator: " ").joined())\"/></model>".write(
                toFile: version + "/contents", atomically: true, encoding: .utf8)
        }
        try marker?.write(
            toFile: folder.path + "/App.xcdatamodeld/.xccurrentversion", atomically: true, encoding: .utf8)
        return folder
    }

    private static func marker(_ name: String) -> String {
        "<plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string>\(name)</string></dict></plist>"
    }

    @Test(arguments: [
        "", "<plist version=\"1.0\"><dict><key>_XCCurr", "<plist version=\"1.0\"><dict/></plist>",
        marker("App 4.xcdatamodel"),
    ])
    func `no version is taken for the current one where the mark cannot be read or names none of them`(
        marker: String
    ) throws {
        let folder = try bundle(marker)
        let versions = try ModelVersions(contentsOf: folder.path + "/App.xcdatamodeld")
        let error = #expect(throws: MigrationError.self) { try versions.target(named: nil) }
        #expect(error?.place.hasSuffix("/App.xcdatamodeld/.xccurrentversion") == true)
        #expect(versions.findings.map(\.code) == ["current-version-missing"])
        // The remedy, followed.
        #expect(try versions.target(named: "App 2") == 1)
        #expect(throws: MigrationError.self) { try CompiledModel(compiling: folder.path + "/App.xcdatamodeld") }
    }

    @Test func `a link to nothing is no missing mark, and without a mark the last version is the current one`() throws {
        let folder = try bundle(nil)
        let path = folder.path + "/App.xcdatamodeld"
        #expect(try ModelVersions(contentsOf: path).target(named: nil) == 2)
        try FileManager.default.createSymbolicLink(
            atPath: path + "/.xccurrentversion", withDestinationPath: folder.path + "/gone")
        let versions = try ModelVersions(contentsOf: path)
        #expect(throws: MigrationError.self) { try versions.target(named: nil) }
        try FileManager.default.removeItem(atPath: path + "/.xccurrentversion")
        try Self.marker("App 2.xcdatamodel").write(
            toFile: path + "/.xccurrentversion", atomically: true, encoding: .utf8)
        #expect(try ModelVersions(contentsOf: path).target(named: nil) == 1)
        // A bundle of one version leaves nothing open.
        for name in ["App", "App 3"] { try FileManager.default.removeItem(atPath: path + "/\(name).xcdatamodel") }
        try "".write(toFile: path + "/.xccurrentversion", atomically: true, encoding: .utf8)
        #expect(try ModelVersions(contentsOf: path).target(named: nil) == 0)
    }

    @Test(arguments: ["cut", "other", "gone"])
    func `the list of a compiled bundle is read so too`(fault: String) throws {
        let folder = try bundle(Self.marker("App 2.xcdatamodel"))
        let path = folder.path + "/App.momd"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for file in try CompiledModel(compiling: folder.path + "/App.xcdatamodeld").files {
            try Data(file.bytes).write(to: URL(fileURLWithPath: path + "/" + file.name))
        }
        #expect(try ModelVersions(contentsOf: path).target(named: nil) == 1)
        let list = path + "/VersionInfo.plist"
        switch fault {
        case "cut":
            try Data(try Data(contentsOf: URL(fileURLWithPath: list)).prefix(60)).write(to: URL(fileURLWithPath: list))
        case "other": try FileManager.default.removeItem(atPath: path + "/App 2.mom")
        default: try FileManager.default.removeItem(atPath: list)
        }
        let versions = try ModelVersions(contentsOf: path)
        // Without a list the bundle marks no version.
        guard fault != "gone" else { return #expect(try versions.target(named: nil) == 2) }
        #expect(throws: MigrationError.self) { try versions.target(named: nil) }
        #expect(try versions.target(named: "App 3") == versions.versions.count - 1)
    }

    @Test func `a version without contents is named, and not passed over where it is the current one`() throws {
        let folder = try bundle(Self.marker("App 2.xcdatamodel"))
        let path = folder.path + "/App.xcdatamodeld"
        for name in ["App 2", "App 3"] {
            try FileManager.default.removeItem(atPath: "\(path)/\(name).xcdatamodel/contents")
        }
        let versions = try ModelVersions(contentsOf: path)
        let empty = versions.findings.filter { $0.code == "version-without-contents" }
        #expect(empty.map(\.place) == ["App 2", "App 3"].map { "\(path)/\($0).xcdatamodel" })
        #expect(versions.versions.map(\.name) == ["App"])
        #expect(throws: MigrationError.self) { try versions.target(named: nil) }
        #expect(try versions.target(named: "App") == 0)
    }

    @Test func `a lock file and a version that cannot be read are not missing`() throws {
        let folder = try bundle(nil)
        let path = folder.path + "/App.xcdatamodeld"
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/moult.lock", withDestinationPath: folder.path + "/gone")
        #expect(throws: MigrationError.self) { try ModelBundle(contentsOf: path) }
        try FileManager.default.removeItem(atPath: folder.path + "/moult.lock")
        let contents = path + "/App 3.xcdatamodel/contents"
        try FileManager.default.removeItem(atPath: contents)
        try FileManager.default.createSymbolicLink(atPath: contents, withDestinationPath: contents)
        #expect(throws: MigrationError.self) { try ModelBundle(contentsOf: path) }
    }
}
