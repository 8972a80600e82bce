import Foundation
import Moult
import MoultBasics
import TestSupport
import Testing

// A store of SwiftData, whose newer model is inside another store.

extension UseCase {
    static let swiftData: [UseCase] = [
        UseCase("a migration of a store of SwiftData", ["migrate"], ["migrate(_:to:following:options:)"]) {
            let made = try ScratchFolder()
            try SwiftDataFace.make(made.path + "/app.sqlite")
            try SwiftDataFace.makeNewer(made.path + "/newer.sqlite")
            let faces = try Faces(copying: made)
            let migrated = try faces.tool("migrate", "app.sqlite", "--model", "newer.sqlite", "--json")
            #expect(migrated.exit == 0, "\(migrated)")
            let project = try Project(models: faces.folder + "/newer.sqlite")
            try faces.expectSame(
                JSONValue(parsing: Array(migrated.output.utf8), place: "migrate", code: .usage),
                try await project.migrate(faces.library).report.json)
            #expect(try SwiftDataFace.open(faces.app) == [7, 7, 7])
            // The container has written the model of its types into the store; what it says of the objects is the same.
            for store in [faces.tool.folder.path + "/app.sqlite", faces.library, faces.app] {
                let crates = "SELECT Z_PK, ZNAME, ZWEIGHT, ifnull(ZPRICE, 'NULL') FROM ZCRATE ORDER BY Z_PK"
                #expect(
                    try SQLiteShell.run(store, crates) == "1|crate 1|7|1\n2|crate 2|7|NULL\n3|crate 3|7|3\n")
            }
            try faces.expectSameObjects(withApp: true)
        }
    ]
}
