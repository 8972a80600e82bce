/// The file next to a model that holds the recorded answers to its questions: `Forum.answers.json` for
/// `Forum.xcdatamodeld`, `moult.answers.json` inside a plain folder of versions.
package enum AnswersFile {
    static let suffix = ".answers.json"
    /// The file in a plain folder of versions.
    package static let nameInFolder = "moult" + suffix

    /// Returns the path of the file for the answers of a model, whether or not there are any.
    package static func path(besideModelAt modelPath: String) -> String {
        let path = modelPath.count > 1 && modelPath.hasSuffix("/") ? String(modelPath.dropLast()) : modelPath
        let bundles = ["xcdatamodeld", "momd"]
        let parent = path.parentFolder
        // A single version inside its bundle has the bundle's answers.
        if bundles.contains(parent.fileExtension) { return self.path(besideModelAt: parent) }
        guard ModelFolder.isFolder(path) == true, !bundles.contains(path.fileExtension),
            path.fileExtension != "xcdatamodel"
        else {
            let name = path.fileStem + suffix
            return parent == "." && !path.hasPrefix("./") ? name : parent == "/" ? "/" + name : parent + "/" + name
        }
        let entries = (try? ModelFolder.entries(of: path)) ?? []
        let inside = entries.filter { bundles.contains($0.fileExtension) }
        if inside.count == 1, !entries.contains(where: { ModelFile(at: $0).map { !$0.isOtherJSON } ?? false }) {
            return self.path(besideModelAt: inside[0])
        }
        return path + "/" + nameInFolder
    }
}
