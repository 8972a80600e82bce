import MoultModel

/// The text files of a model as Xcode has them: one `contents`, or an `.xcdatamodeld` of several versions.
package struct SourceFiles: Sendable {
    /// The text of each file, by its path in the bundle.
    package let files: [(path: String, text: String)]

    /// The files of an `.xcdatamodeld`.
    ///
    /// - Throws: `usage` for a name that cannot be a file's; `modelInvalid` for what XML has no form for.
    package init(
        bundle versions: [(name: String, model: ManagedObjectModel)], currentName: String?,
        defaults: [String: String] = [:]
    ) throws {
        var files: [(path: String, text: String)] = []
        for (name, model) in versions {
            try Self.check(name)
            files.append(("\(name).xcdatamodel/contents", try model.xmlContents(defaults: defaults)))
        }
        if let currentName { files.append((".xccurrentversion", Self.marker(of: currentName))) }
        self.files = files
    }

    /// The file of an `.xcdatamodel`.
    ///
    /// - Throws: `modelInvalid` for what XML has no form for.
    package init(_ model: ManagedObjectModel, defaults: [String: String] = [:]) throws {
        files = [("contents", try model.xmlContents(defaults: defaults))]
    }

    /// The attributes that Xcode gives a file that it has written itself, for a model that came from none.
    package static let documentDefaults = [
        "lastSavedToolsVersion": "24512", "systemVersion": "25C56", "minimumToolsVersion": "Automatic",
        "sourceLanguage": "Swift",
    ]

    /// The property list by which Xcode knows the current version.
    private static func marker(of name: String) -> String {
        let escaped = name.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
            \t<key>_XCCurrentVersionName</key>
            \t<string>\(escaped).xcdatamodel</string>
            </dict>
            </plist>

            """
    }

    private static func check(_ name: String) throws {
        guard name.isEmpty || name.contains("/") || name.hasPrefix(".") else { return }
        throw MigrationError(
            .usage, "The version name \(name) cannot be a file name.", place: name,
            remedy: "Give the version a name without slashes.")
    }
}
