import Foundation

/// The files beside the versions of a model, as Xcode or a person writes them.
package enum SchemaFiles {
    /// Marks a version of a bundle as its current one.
    package static func mark(_ version: String, inBundle path: String) throws {
        try """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>\(version).xcdatamodel</string></dict></plist>
        """.write(toFile: path + "/.xccurrentversion", atomically: true, encoding: .utf8)
    }

    /// Marks the newest version of a bundle that has several, such as `App 2` beside `App`.
    package static func markNewest(inBundle path: String) throws {
        let versions = try FileManager.default.contentsOfDirectory(atPath: path).filter {
            $0.hasSuffix(".xcdatamodel")
        }.map { String($0.dropLast(".xcdatamodel".count)) }
        let newest = versions.max { ($0.count, $0) < ($1.count, $1) }
        if let newest, versions.count > 1 { try mark(newest, inBundle: path) }
    }

    /// Gives an entity of a locked version another hash, and the version the checksum that follows from it, by Python.
    package static func changeHash(ofVersion version: String, inLock path: String) throws {
        let script = """
            import base64, hashlib, json, sys
            path, name = sys.argv[1:]
            lock = json.load(open(path))
            for version in [one for versions in lock["models"].values() for one in versions if one["name"] == name]:
                entities = version["entities"]
                first = min(entities)
                entities[first] = base64.b64encode(bytes([7] * 32)).decode() + " " + entities[first].split(" ")[1]
                hashes = [base64.b64decode(entities[key].split(" ")[0]) for key in sorted(entities)]
                version["checksum"] = base64.b64encode(hashlib.sha256(b"".join(hashes)).digest()).decode()
            json.dump(lock, open(path, "w"))
            """
        let run = try ChildProcess.run("python3", ["-c", script, path, version])
        guard run.exit == 0 else { throw ChildProcess.Failure(description: run.output) }
    }
}
