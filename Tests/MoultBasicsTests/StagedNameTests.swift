import Foundation
import MoultBasics
import Testing

@Suite("Names of unfinished files")
struct StagedNameTests {
    private let own = ProcessInfo.processInfo.processIdentifier

    @Test func `an error names the file that the person named, and not the unfinished one`() {
        for (path, named) in [
            ("ro/csv.\(own)-78dfc0b3-48c2eeab.part", "ro/csv"), ("a.sqlite.\(own)-0-48c2eeab.part/new", "a.sqlite"),
            ("out.\(own)-78dfc0b3-48c2eeab.part/User.csv", "out/User.csv"),
        ] {
            let error = MigrationError(.readOnly, "This user may not make \(path).", place: path, remedy: "Do it.")
            #expect(error.place == named && error.message == "This user may not make \(named).")
        }
    }

    @Test func `where no file may be made, the error names the file and the folder`() {
        func message(_ action: String, _ path: String) -> String {
            MigrationError.system(action, path, error: EACCES).message
        }
        let staged = "/ro/a.sqlite.\(own)-0-48c2eeab.part"
        #expect(message("make the folder", staged) == "This user may not make /ro/a.sqlite in /ro.")
        #expect(message("make", staged + "/new") == "This user may not make /ro/a.sqlite in /ro.")
        #expect(message("make the folder", "/ro/out") == "This user may not make the folder /ro/out in /ro.")
        #expect(message("make", "a.csv") == "This user may not make a.csv in this folder.")
    }

    @Test func `what another process has left, and a name that only looks alike, stay`() {
        for path in ["csv.\(own + 1)-78dfc0b3-48c2eeab.part", "fleet.jsonl.part", "1-2-3.part"] {
            #expect(MigrationError(.readOnly, path, place: path, remedy: "").place == path)
        }
    }
}
