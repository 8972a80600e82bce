import Foundation
import MoultNSCoreData
import TestSupport
import Testing

/// A dictionary result is what `NSDictionary` documents, as far as an app can see.
@Suite struct DictionaryResultTests {
    let folder: ScratchFolder
    let context: NSManagedObjectContext

    init() throws {
        folder = try ScratchFolder()
        let container = try Library.container(
            at: URL(fileURLWithPath: folder.path).appendingPathComponent("Library.sqlite"))
        context = container.viewContext
        _ = Library.person("Ann", 30, in: context)
        let post = Post(context: context)
        (post.title, post.pages) = ("News", 12)
        try context.save()
    }

    private func row(_ entity: String, _ names: [String]) throws -> NSDictionary {
        let request = NSFetchRequest<NSDictionary>(entityName: entity)
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = names
        return try #require(try context.fetch(request).first)
    }

    @Test func `It has the members of a dictionary with the same values`() throws {
        let row = try row("Person", ["name", "age"])
        let plain: NSDictionary = ["name": "Ann", "age": 30]
        #expect(row.count == 2)
        #expect(Set(row.allKeys.compactMap { $0 as? String }) == ["name", "age"] && row.allValues.count == 2)
        #expect(row["name"] as? String == "Ann" && row.object(forKey: NSString(string: "age")) as? Int == 30)
        #expect(row["author"] == nil && row[NSNumber(value: 1)] == nil)
        #expect(row == plain && plain == row && row.isEqual(to: ["name": "Ann", "age": 30]) && row != ["name": "Ann"])
        #expect(row.hash == plain.hash && NSSet(array: [row, plain]).count == 1)
        var seen: [String: String] = [:]
        row.enumerateKeysAndObjects(options: []) { key, value, _ in seen["\(key)"] = "\(value)" }
        #expect(seen == ["name": "Ann", "age": "30"])
        #expect(row.sorted { "\($0.key)" < "\($1.key)" }.map { "\($0.value)" } == ["30", "Ann"])
        #expect(row.allKeys(for: "Ann") as? [String] == ["name"])
        #expect(row.objects(forKeys: ["age", "x"], notFoundMarker: 0) as? [Int] == [30, 0])
        #expect(row.description.contains("Ann"))
    }

    @Test func `It becomes what a dictionary becomes`() throws {
        let row = try row("Person", ["name", "age"])
        let bridged = try #require(row as? [String: Any])
        #expect(bridged.count == 2 && bridged["name"] as? String == "Ann" && bridged["age"] as? Int == 30)
        #expect(row.copy() as? NSDictionary == row)
        let changed = try #require(row.mutableCopy() as? NSMutableDictionary)
        changed["age"] = 31
        #expect(changed == ["name": "Ann", "age": 31] && row["age"] as? Int == 30)
        #expect(NSMutableDictionary(dictionary: bridged) == row)
        let json = try JSONSerialization.data(withJSONObject: bridged, options: .sortedKeys)
        #expect(String(decoding: json, as: UTF8.self) == #"{"age":30,"name":"Ann"}"#)
        let archive = try NSKeyedArchiver.archivedData(withRootObject: row, requiringSecureCoding: false)
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSDictionary.self, from: archive) == row)
        #expect(NSPredicate(format: "age > 20 AND name == 'Ann'").evaluate(with: row))
    }

    @Test func `A value that is not there has no key`() throws {
        let row = try row("Post", ["author", "pages"])
        #expect(row.count == 1 && row.allKeys as? [String] == ["pages"] && row["author"] == nil)
        #expect(row == ["pages": 12])
    }
}
