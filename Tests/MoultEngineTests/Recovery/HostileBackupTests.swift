import Foundation
import Moult
import MoultBasics
import MoultModel
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// Archives and folders that somebody else has made, and manifests that are not what they were.
struct HostileBackupTests {  // tier: long
    private let system = POSIXSystem()
    private let fixture: EngineFixture
    private let folder: BackupFolder
    private let backup: StoreBackup

    init() throws {
        fixture = try EngineFixture(killable: 20, isWAL: false)
        let external = fixture.folder.path + "/.Forum data_SUPPORT/_EXTERNAL_DATA"
        try FileManager.default.createDirectory(atPath: external, withIntermediateDirectories: true)
        try POSIXSystem().write([1, 2, 3], to: external + "/3F2504E0")
        backup = try Migrator().backUp(fixture.store, version: "1")
        folder = BackupFolder(fixture.folder.path + "/taken")
    }

    private func refusal(of path: String) throws -> MigrationError? {
        let start = ContinuousClock.now
        let error = #expect(throws: MigrationError.self) { try folder.take(path) }
        #expect(ContinuousClock.now - start < .seconds(30))
        let left = try system.exists(folder.folder) ? system.list(folder.folder) : []
        #expect(left.isEmpty)
        return error
    }

    private func exported() throws -> String {
        let path = fixture.folder.path + "/exported-\(UUID().uuidString)"
        try folder.export(backup, to: path)
        return path
    }

    // MARK: - The manifest

    @Test func `a damaged manifest is told from a damaged file`() throws {
        let path = backup.folder + "/manifest.json"
        let whole = try system.read(path)
        for place in whole.indices {
            var bytes = whole
            bytes[place] ^= 1
            try system.write(bytes, to: path)
            // Only blanks between the members may change.
            if let read = try? StoreBackup(reading: backup.folder, system) {
                #expect(read == backup && whole[place] <= 32, "byte \(place)")
            }
        }
        var rows = String(decoding: whole, as: UTF8.self)
        let count = try #require(backup.manifest.rows["ZITEM"])
        rows.replace("\"ZITEM\": \(count)", with: "\"ZITEM\": \(count + 1)")
        try system.write(Array(rows.utf8), to: path)
        let manifest = #expect(throws: MigrationError.self) { try StoreBackup(reading: backup.folder, system) }
        #expect(manifest?.place == path && manifest?.message.contains("own checksum") == true)
        let names = try BackupFolder(Path.folder(of: backup.folder)).contents().unreadable.map(\.name)
        #expect(names == [backup.name])
        #expect(StoreDiagnosis(fixture.store).findings.contains { $0.code == "backup-unreadable" && $0.place == path })
        try system.write(whole, to: path)
        try system.append([0], to: backup.store)
        let file = #expect(throws: MigrationError.self) { try folder.verify(backup) }
        #expect(file?.place == backup.store)
    }

    @Test func `a manifest without end is not read`() throws {
        let path = try exported() + "/manifest.json"
        #expect(truncate(path, off_t(1) << 40) == 0)
        #expect(try refusal(of: Path.folder(of: path))?.code == .backupInvalid)
    }

    @Test func `a manifest with many files that are not there is refused`() throws {
        let path = try exported()
        let text = String(decoding: try system.read(path + "/manifest.json"), as: UTF8.self)
        let file = { (number: Int) in
            "{\"path\":\".Forum data_SUPPORT/_EXTERNAL_DATA/\(number)\",\"size\":0,\"sha256\":\"\"}"
        }
        let start = try #require(text.firstRange(of: "\"externalFiles\": ["))
        let end = try #require(text[start.upperBound...].firstRange(of: "]"))
        var json = text.replacingCharacters(
            in: start.upperBound..<end.lowerBound, with: (0..<20_000).map(file).joined(separator: ","))
        json.replace("\"format\": 2", with: "\"format\": 1")
        try system.write(Array(json.utf8), to: path + "/manifest.json")
        #expect(try refusal(of: path)?.message.contains("is missing") == true)
    }

    @Test(arguments: [
        "../../escaped", "/etc/passwd", ".Forum data_SUPPORT/../../x", "Forum data.sqlite-wal", "Forum.txt", "",
        "\\u0000",
    ])
    func `a manifest that names anything but external data is refused`(name: String) throws {
        let path = try exported()
        var json = String(decoding: try system.read(path + "/manifest.json"), as: UTF8.self)
        json.replace(".Forum data_SUPPORT/_EXTERNAL_DATA/3F2504E0", with: name)
        json.replace("\"format\": 2", with: "\"format\": 1")
        try system.write(Array(json.utf8), to: path + "/manifest.json")
        // It is there, and just what the manifest says.
        if name.isPlainFileName { try system.write([1, 2, 3], to: path + "/" + name) }
        #expect(try refusal(of: path)?.code == .backupInvalid)
    }

    // MARK: - Folders

    @Test func `links and pipes in an exported folder are refused, strangers are left behind`() throws {
        for link in ["Forum data.sqlite", ".Forum data_SUPPORT", ".Forum data_SUPPORT/_EXTERNAL_DATA/3F2504E0"] {
            let path = try exported()
            try system.rename(path + "/" + link, to: path + "-elsewhere")
            try FileManager.default.createSymbolicLink(
                atPath: path + "/" + link, withDestinationPath: path + "-elsewhere")
            #expect(try refusal(of: path)?.message.contains("not a plain file") == true, "\(link)")
        }
        for pipe in ["Forum data.sqlite", "manifest.json"] {
            let path = try exported()
            try system.remove(path + "/" + pipe)
            #expect(mkfifo(path + "/" + pipe, 0o600) == 0)
            #expect(try refusal(of: path)?.code == .backupInvalid)
        }
        // Two links to their own folder are 2 to the power of 40 folders to whoever follows them.
        let path = try exported()
        for name in ["a", "b"] {
            try FileManager.default.createSymbolicLink(atPath: path + "/" + name, withDestinationPath: ".")
        }
        try system.write([1], to: path + "/Forum data.sqlite-wal")
        let taken = try folder.take(path)
        #expect(
            try system.files(below: taken.folder)
                == [".Forum data_SUPPORT/_EXTERNAL_DATA/3F2504E0", "Forum data.sqlite", "manifest.json"])
    }

    // MARK: - Archives

    /// The archive with one header changed and its checksum made right.
    private func archive(_ change: (inout [UInt8]) -> Void) throws -> String {
        let path = fixture.folder.path + "/\(UUID().uuidString).tar"
        try folder.export(backup, to: path)
        var bytes = try system.read(path)
        var header = Array(bytes[0..<512])
        change(&header)
        let sum = TapeArchive.checksum(header)
        let digits = String(sum, radix: 8)
        header.replaceSubrange(148..<154, with: Array((String(repeating: "0", count: 6 - digits.count) + digits).utf8))
        bytes.replaceSubrange(0..<512, with: header)
        try system.write(bytes, to: path)
        return path
    }

    @Test func `sizes that no disk has are refused`() throws {
        for size in ["77777777777\0", "00000000001\0", "-0000000001\0", "99999999999\0", "            "] {
            let path = try archive { $0.replaceSubrange(124..<136, with: Array(size.utf8)) }
            #expect(try refusal(of: path)?.code == .backupInvalid, "\(size)")
        }
        // GNU's form for more than eight gibibytes, here eight exbibytes.
        let large = try archive {
            $0.replaceSubrange(124..<136, with: [0x80, 0, 0, 0] + [0x7F] + [UInt8](repeating: 0xFF, count: 7))
        }
        #expect(try refusal(of: large)?.code == .backupInvalid)
        for record in ["28 size=9223372036854775807\n", "12 size=-10\n"] {
            let path = fixture.folder.path + "/\(UUID().uuidString).tar"
            try folder.export(backup, to: path)
            var header = Array(try system.read(path).prefix(512))
            (header[156], header[157]) = (UInt8(ascii: "x"), 0)
            let size = String(record.utf8.count, radix: 8)
            header.replaceSubrange(
                124..<136, with: Array((String(repeating: "0", count: 11 - size.count) + size + "\0").utf8))
            let digits = String(TapeArchive.checksum(header), radix: 8)
            header.replaceSubrange(
                148..<154, with: Array((String(repeating: "0", count: 6 - digits.count) + digits).utf8))
            let padding = [UInt8](repeating: 0, count: 512 - record.utf8.count)
            try system.write(header + Array(record.utf8) + padding + system.read(path), to: path)
            #expect(try refusal(of: path)?.code == .backupInvalid, "\(record)")
        }
    }

    @Test func `links, absolute names and ways up that another tar has packed are refused`() throws {
        let source = fixture.folder.path + "/source"
        try system.makeFolder(source)
        try system.write([1], to: source + "/file")
        try FileManager.default.createSymbolicLink(atPath: source + "/soft", withDestinationPath: "/etc/passwd")
        try FileManager.default.linkItem(atPath: source + "/file", toPath: source + "/hard")
        let packed: [(String, [String])] = [
            ("soft", ["-C", source, "soft"]), ("hard", ["-C", source, "file", "hard"]),
            ("absolute", ["-P", source + "/file"]), ("up", ["-P", "-C", source, "../source/file"]),
        ]
        for (name, arguments) in packed {
            let path = fixture.folder.path + "/\(name).tar"
            let tar = try ChildProcess.run("tar", ["--format=pax", "-cf", path] + arguments)
            #expect(tar.exit == 0, "\(tar.output)")
            #expect(try refusal(of: path)?.code == .backupInvalid, "\(name)")
        }
    }

    @Test func `of an archive with thousands of other files nothing but the backup is unpacked`() throws {
        let exported = try exported()
        let path = fixture.folder.path + "/full.tar"
        let archive = try TapeArchive.Writer(path, system)
        for number in 0..<3_000 { try archive.add([7], as: "rubbish/\(number)") }
        for file in try system.files(below: exported) {
            try archive.add(file: exported + "/" + file, as: file)
        }
        try archive.finish()
        let counting = WriteCounter()
        let taken = try BackupFolder(folder.folder, counting).take(path)
        #expect(taken.manifest == backup.manifest)
        #expect(counting.count < 20, "\(counting.count)")
    }
}

/// Counts the files that are written.
private final class WriteCounter: ForwardingSystem, @unchecked Sendable {
    private let lock = NSLock()
    private var writes = 0

    var count: Int { lock.withLock { writes } }

    func write(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws {
        lock.withLock { writes += 1 }
        try POSIXSystem().write(bytes, to: path, rights)
    }
}
