import Foundation
import TestSupport
import Testing

/// Each use case gives the same answer and the same rows through every face that has it.
@Suite struct FaceComparisonTests {
    @Test(arguments: UseCase.all)
    func `the command line, the library and a container do the same`(useCase: UseCase) async throws {
        try await useCase.compare()
    }

    /// The sections of the page that say what only one face has.
    private func named(under heading: String) throws -> Set<String> {
        let page = try String(
            contentsOf: packageRoot.appendingPathComponent("Documentation/Library.md"), encoding: .utf8)
        let section =
            try #require(page.components(separatedBy: "\n### \(heading)\n").dropFirst().first)
            .components(separatedBy: "\n#").first ?? ""
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `") }
        return Set(
            rows.flatMap { row in
                row.split(separator: "|").first.map { $0.matches(of: /`([^`]+)`/).map { String($0.1) } } ?? []
            })
    }

    @Test func `a verb is compared with the library, or Library.md says why there is no call`() throws {
        let compared = Set(UseCase.all.flatMap(\.verbs))
        let alone = try named(under: "Verbs without a call")
        #expect(compared.isSubset(of: FaceInventory.verbs), "\(compared.subtracting(FaceInventory.verbs))")
        #expect(FaceInventory.verbs.subtracting(compared) == alone)
    }

    @Test func `a call of the library is compared with the command line, or Library.md says why there is no verb`()
        throws
    {
        let compared = Set(UseCase.all.flatMap(\.calls))
        let all = try FaceInventory.calls
        let alone = try named(under: "Calls without a verb")
        #expect(compared.isSubset(of: all), "\(compared.subtracting(all))")
        #expect(all.subtracting(compared) == alone)
    }

    @Test func `a call that a case names is made by one`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path
        let cases = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("UseCase+") }
            .map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }.joined()
            .replacingOccurrences(of: "StoreMirror.", with: "")
        let names = Set(UseCase.all.flatMap(\.calls)).compactMap { call in
            call.prefix { $0 != "(" }.split(separator: ".").last.map(String.init)
        }
        #expect(names.filter { !cases.contains(".\($0)(") } == [])
    }
}
