import Foundation
import MoultModel
import MoultModelFiles
import TestSupport
import Testing

@Suite("moult compile and moult decompile")
struct CompileVerbTests {
    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    private func entities(_ result: Tool.Result) throws -> NSDictionary {
        try #require(try result.document["versions"] as? NSDictionary)
    }

    @Test func `a bundle has a compiled version for each source, and the same hashes`() throws {
        let moult = try Tool.besideForumModel()
        let result = try moult("compile", "Forum.xcdatamodeld", "-o", "deep/Resources")
        #expect(result.exit == 0, "\(result)")
        #expect(result.output == "Compiled 3 versions into deep/Resources/Forum.momd.\n")
        #expect(
            try names(moult.folder.path + "/deep/Resources/Forum.momd")
                == ["Forum 2.mom", "Forum 3.mom", "Forum.mom", "VersionInfo.plist"])
        #expect(
            try entities(moult("hash", "deep/Resources/Forum.momd", "--json"))
                == entities(moult("hash", "Forum.xcdatamodeld", "--json")))
    }

    @Test func `Python finds in the list of versions what it finds in the compiled bundle's own files`() throws {
        let moult = try Tool.besideForumModel()
        #expect(try moult("compile", "Forum.xcdatamodeld").exit == 0)
        let script = """
            import plistlib, base64, hashlib
            info = plistlib.load(open("Forum.momd/VersionInfo.plist", "rb"))
            print(info["NSManagedObjectModel_CurrentVersionName"])
            for name, hashes in sorted(info["NSManagedObjectModel_VersionHashes"].items()):
                archive = plistlib.load(open(f"Forum.momd/{name}.mom", "rb"))["$objects"]
                entities = [archive[o["NSEntityName"].data] for o in archive if isinstance(o, dict) and "NSEntityName" in o]
                joined = b"".join(hashes[entity] for entity in sorted(entities))
                checksum = base64.b64encode(hashlib.sha256(joined).digest()).decode()
                print(name, len(entities) == len(hashes),
                      checksum == info["NSManagedObjectModel_VersionChecksums"][name])
            """
        let result = try moult.run("/usr/bin/env", ["python3", "-c", script])
        #expect(result.output == "Forum 3\nForum True True\nForum 2 True True\nForum 3 True True\n", "\(result)")
    }

    @Test func `one version becomes one file`() throws {
        let moult = try Tool.besideForumModel()
        let result = try moult("compile", "Forum.xcdatamodeld/Forum 2.xcdatamodel", "-o", "Two.mom", "--json")
        #expect(try result.document["output"] as? String == "Two.mom")
        func hash(_ path: String) throws -> NSDictionary? {
            try entities(moult("hash", path, "--json")).allValues.first as? NSDictionary
        }
        #expect(try hash("Two.mom") == hash("Forum.xcdatamodeld/Forum 2.xcdatamodel"))
        let wrong = try moult("compile", "Forum.xcdatamodeld/Forum 2.xcdatamodel", "-o", "Two.momd")
        #expect(wrong.exit == 2, "\(wrong)")
    }

    /// Breaks the fourth line or so of Forum 2: a destination that is not there.
    private func broken() throws -> (Tool, line: Int) {
        let moult = try Tool.besideForumModel()
        let path = moult.folder.path + "/Forum.xcdatamodeld/Forum 2.xcdatamodel/contents"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let place = try #require(text.range(of: "destinationEntity=\"User\""))
        try text.replacingCharacters(in: place, with: "destinationEntity=\"Nobody\"")
            .write(toFile: path, atomically: true, encoding: .utf8)
        return (moult, text[..<place.lowerBound].split(separator: "\n", omittingEmptySubsequences: false).count)
    }

    @Test func `errors in the source are told with file and line, and nothing is written`() throws {
        let (moult, line) = try broken()
        let result = try moult("compile", "Forum.xcdatamodeld", "-o", "Out/Forum.momd")
        #expect(result.exit == 1)
        #expect(result.output.isEmpty)
        let prefix = "Forum.xcdatamodeld/Forum 2.xcdatamodel/contents:\(line): error: The destination Nobody of "
        #expect(result.errors.contains(prefix), "\(result)")
        #expect(!FileManager.default.fileExists(atPath: moult.folder.path + "/Out"))
        let document = try moult("compile", "Forum.xcdatamodeld", "-o", "Out", "--json").document
        let first = try #require((document["errors"] as? [[String: Any]])?.first)
        #expect(first["line"] as? Int == line)
        #expect(first["file"] as? String == "Forum.xcdatamodeld/Forum 2.xcdatamodel/contents")
    }

    @Test func `a compiled bundle stays as it was when its source has errors`() throws {
        let (moult, _) = try broken()
        try FileManager.default.createDirectory(
            atPath: moult.folder.path + "/Forum.momd", withIntermediateDirectories: true)
        try "old".write(toFile: moult.folder.path + "/Forum.momd/Old.mom", atomically: true, encoding: .utf8)
        #expect(try moult("compile", "Forum.xcdatamodeld").exit == 1)
        #expect(try names(moult.folder.path + "/Forum.momd") == ["Old.mom"])
    }

    @Test func `a compiled bundle is replaced whole, and what a killed run has left goes`() throws {
        let moult = try Tool.besideForumModel()
        let folder = moult.folder.path
        // No process has the highest number.
        let left = folder + "/Forum.momd.2147483647-01234567-89abcdef.part"
        for path in [folder + "/Forum.momd", left] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try "bplist00 old".write(toFile: path + "/Old.mom", atomically: true, encoding: .utf8)
        }
        let result = try moult("compile", "Forum.xcdatamodeld")
        #expect(result.exit == 0, "\(result)")
        #expect(
            try names(folder + "/Forum.momd") == ["Forum 2.mom", "Forum 3.mom", "Forum.mom", "VersionInfo.plist"])
        #expect(try names(folder).filter { $0.contains("part") } == [])
    }

    @Test func `what is not a compiled model is not replaced`() throws {
        let moult = try Tool.besideForumModel()
        let path = moult.folder.path + "/Forum.momd"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try "mine".write(toFile: path + "/diary.txt", atomically: true, encoding: .utf8)
        let result = try moult("compile", "Forum.xcdatamodeld")
        #expect(result.exit == 3, "\(result)")
        #expect(try names(path) == ["diary.txt"])
        // A name says nothing of what is in a file.
        let file = moult.folder.path + "/notes.mom"
        try "mine".write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try moult("compile", "Forum.xcdatamodeld/Forum.xcdatamodel", "-o", "notes.mom").exit == 3)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
        #expect(try moult("compile", "Forum.xcdatamodeld", "-o", "").exit == 2)
        #expect(try moult("compile", "Forum.xcdatamodeld", "-o", "Forum.xcdatamodeld").exit == 2)
    }

    @Test func `decompile replaces a source only, and only if asked`() throws {
        let moult = try Tool.besideForumModel()
        #expect(try moult("compile", "Forum.xcdatamodeld", "-o", "F.momd").exit == 0)
        #expect(try moult("decompile", "F.momd", "-o", "S.xcdatamodeld").exit == 0)
        #expect(try moult("decompile", "F.momd", "-o", "S.xcdatamodeld").exit == 3)
        #expect(try moult("decompile", "F.momd", "-o", "S.xcdatamodeld", "--replace").exit == 0)
        let diary = moult.folder.path + "/S.xcdatamodeld/diary.txt"
        try "mine".write(toFile: diary, atomically: true, encoding: .utf8)
        #expect(try moult("decompile", "F.momd", "-o", "S.xcdatamodeld", "--replace").exit == 3)
        #expect(FileManager.default.fileExists(atPath: diary))
    }

    @Test func `a class of the current product module gets the module's name`() throws {
        let moult = try Tool.besideForumModel()
        let path = moult.folder.path + "/Forum.xcdatamodeld/Forum.xcdatamodel/contents"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try text.replacing("representedClassName=\"User\"", with: "representedClassName=\".User\"")
            .write(toFile: path, atomically: true, encoding: .utf8)
        func className(_ arguments: [String]) throws -> String {
            let source = "Forum.xcdatamodeld/Forum.xcdatamodel"
            #expect(try moult.run(Tool.path, ["compile", source, "-o", "F.mom"] + arguments).exit == 0)
            let script =
                "import plistlib; o = plistlib.load(open('F.mom', 'rb'))['$objects']; "
                + "print([o[e['NSClassNameForEntity'].data] for e in o if isinstance(e, dict) and 'NSEntityName' in e "
                + "and o[e['NSEntityName'].data] == 'User'][0])"
            return try moult.run("/usr/bin/env", ["python3", "-c", script]).output
        }
        #expect(try className([]) == ".User\n")
        #expect(try className(["--module", "Club"]) == "Club.User\n")
        for name in ["", "My Club", "1st", "Club.Core"] {
            #expect(try moult("compile", "Forum.xcdatamodeld", "--module", name).exit == 2, "\(name)")
        }
    }

    @Test func `diff proves two compiled models equal, or says where they differ`() throws {
        let moult = try Tool.besideForumModel()
        let source = "Forum.xcdatamodeld/Forum 2.xcdatamodel"
        #expect(try moult("compile", source, "-o", "A.mom").exit == 0)
        #expect(try moult("compile", source, "-o", "B.mom", "--module", "Club").exit == 0)
        let equal = try moult("diff", "A.mom", "B.mom", "--check")
        #expect(equal.exit == 0, "\(equal)")
        #expect(equal.output.contains("Object for object, the compiled models are equal."))
        let path = moult.folder.path + "/" + source + "/contents"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try text.replacing("representedClassName=\"User\"", with: "representedClassName=\"Person\"")
            .write(toFile: path, atomically: true, encoding: .utf8)
        #expect(try moult("compile", source, "-o", "B.mom").exit == 0)
        let different = try moult("diff", "A.mom", "B.mom", "--json", "--check")
        #expect(different.exit == 1)
        let archives = try #require(try different.document["archives"] as? [String: any Sendable])
        let differences = try #require(archives["differences"] as? [[String: String]])
        #expect(differences == [["place": "User/NSClassNameForEntity", "old": "User", "new": "Person"]])
    }

    // MARK: momc

    private func momc(_ moult: Tool, _ arguments: String...) throws -> Tool.Result {
        let link = moult.folder.path + "/momc"
        if !FileManager.default.fileExists(atPath: link) {
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: Tool.path)
        }
        return try moult.run(link, arguments)
    }

    @Test func `called momc, it takes the arguments of build systems`() throws {
        let moult = try Tool.besideForumModel()
        let result = try momc(
            moult, "--sdkroot", "/SDKs/iPhoneOS.sdk", "--iphoneos-deployment-target", "17.0",
            "--xros-deployment-target=2.0", "--module", "Club", "--no-warnings", "Forum.xcdatamodeld", "Out/")
        #expect(result.exit == 0, "\(result)")
        #expect(try names(moult.folder.path + "/Out/Forum.momd").count == 4)
    }

    @Test func `called momc with --dry-run, it lists the files and writes nothing`() throws {
        let moult = try Tool.besideForumModel()
        let result = try momc(moult, "--dry-run", "Forum.xcdatamodeld", "Out")
        #expect(result.exit == 0, "\(result)")
        #expect(
            result.output
                == "Out/Forum.momd/Forum 2.mom\nOut/Forum.momd/Forum 3.mom\nOut/Forum.momd/Forum.mom\n"
                + "Out/Forum.momd/VersionInfo.plist\n")
        #expect(!FileManager.default.fileExists(atPath: moult.folder.path + "/Out"))
    }

    @Test func `called momc, it refuses an option that it does not know, by its name`() throws {
        let moult = try Tool.besideForumModel()
        let result = try momc(moult, "--optimize", "Forum.xcdatamodeld", "Out")
        #expect(result.exit == 2)
        #expect(result.errors.contains("momc has no option --optimize."), "\(result)")
        #expect(try momc(moult, "Forum.xcdatamodeld").exit == 2)
        #expect(try momc(moult, "--action", "guess", "Forum.xcdatamodeld", "Out").exit == 2)
        let help = try momc(moult, "--help")
        #expect(help.exit == 0 && help.output.contains("Usage: momc [options] SOURCE DESTINATION"), "\(help)")
    }

    @Test func `called mapc, it takes a mapping model, and tells what is wrong with it by file`() throws {
        let moult = try Tool.besideForumModel()
        let (link, folder) = (moult.folder.path + "/mapc", moult.folder.path + "/Empty.xcmappingmodel")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: Tool.path)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: folder + "/xcmapping.xml"))
        let result = try moult.run(link, ["--mapc-no-warnings", "Empty.xcmappingmodel", "Empty.cdm"])
        #expect(result.exit == 1)
        let expected = "Empty.xcmappingmodel/xcmapping.xml:1: error: The mapping model is an empty file."
        #expect(result.errors.hasPrefix(expected), "\(result)")
        #expect(!FileManager.default.fileExists(atPath: moult.folder.path + "/Empty.cdm"))
    }

    // MARK: Decompiling

    @Test func `a bundle is decompiled with all versions and the current one`() throws {
        let moult = try Tool.besideForumModel()
        #expect(try moult("compile", "Forum.xcdatamodeld", "-o", "A.momd").exit == 0)
        let result = try moult("decompile", "A.momd", "-o", "Sources")
        #expect(result.output == "Wrote 3 versions to Sources/A.xcdatamodeld.\n", "\(result)")
        let folder = moult.folder.path + "/Sources/A.xcdatamodeld"
        #expect(
            try names(folder) == [
                ".xccurrentversion", "Forum 2.xcdatamodel", "Forum 3.xcdatamodel", "Forum.xcdatamodel",
            ])
        let marker = try String(contentsOfFile: folder + "/.xccurrentversion", encoding: .utf8)
        #expect(marker.contains("<string>Forum 3.xcdatamodel</string>"))
        #expect(
            try entities(moult("hash", "Sources/A.xcdatamodeld", "--json"))
                == entities(moult("hash", "Forum.xcdatamodeld", "--json")))
        let again = try moult("decompile", "A.momd", "-o", "Sources")
        #expect(again.exit == 3, "\(again)")
        #expect(try moult("decompile", "A.momd", "-o", "Sources", "--replace").exit == 0)
    }

    @Test func `a compiled mapping model becomes a source, with the versions that its hashes name`() throws {
        let moult = try Tool.besideForumModel()
        let versions = try ModelVersions(contentsOf: moult.folder.path + "/Forum.xcdatamodeld").versions
        let names = versions[0].model.entities.map(\.name)
        let mapping = MappingModel(names.map { EntityMapping(from: $0, to: $0) })
            .completed(from: versions[0], to: versions[1])
        try Data(mapping.compiled()).write(to: URL(fileURLWithPath: moult.folder.path + "/First.cdm"))
        let bare = try moult("decompile", "First.cdm")
        #expect(bare.exit == 2 && bare.errors.contains("Give them with --model."), "\(bare)")
        let result = try moult("decompile", "First.cdm", "--model", "Forum.xcdatamodeld", "-o", "Maps")
        #expect(
            result.output == "Wrote the mapping from Forum to Forum 2 to Maps/First.xcmappingmodel.\n", "\(result)")
        #expect(try moult("compile", "Maps/First.xcmappingmodel", "-o", "Again.cdm").exit == 0)
        let again = try Array(Data(contentsOf: URL(fileURLWithPath: moult.folder.path + "/Again.cdm")))
        #expect(try again == mapping.compiled())
        #expect(try moult("decompile", "First.cdm", "--model", "Forum.xcdatamodeld", "-o", "Maps").exit == 3)
        let replaced = try moult("decompile", "First.cdm", "--model", "Forum.xcdatamodeld", "-o", "Maps", "--replace")
        #expect(replaced.exit == 0, "\(replaced)")
        #expect(try moult("decompile", "Maps/First.xcmappingmodel", "--model", "Forum.xcdatamodeld").exit == 2)
    }

    @Test func `the model inside a store becomes a source that compiles to the same hashes`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let result = try moult("decompile", "forum.sqlite", "-o", "Own.xcdatamodel")
        #expect(result.exit == 0, "\(result)")
        #expect(try moult("compile", "Own.xcdatamodel", "-o", "Own.mom").exit == 0)
        func checksums(_ model: String) throws -> [String] {
            let versions = try entities(moult("hash", model, "--json"))
            return versions.allValues.compactMap { ($0 as? NSDictionary)?["checksum"] as? String }
        }
        #expect(try checksums("Own.mom") == checksums("forum.sqlite"))
    }
}
