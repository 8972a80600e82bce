import MoultModel
import Testing

import struct Foundation.UUID

@Suite struct ObjectIDTests {
    private static let store = UUID(uuidString: "C22067D2-9C64-4412-8A30-16F2E3081D89") ?? UUID()

    @Test(arguments: [
        ("Item", "Item"), ("Größe", "Gr%C3%B6%C3%9Fe"), ("日本", "%E6%97%A5%E6%9C%AC"), ("a b/c%d?", "a%20b%2Fc%25d%3F"),
        ("_x1", "_x1"),
    ])
    func `a URI is one, and is read back`(entity: String, encoded: String) throws {
        let id = ObjectID(store: Self.store, entityName: entity, key: 18)
        #expect(id.description == "x-coredata://C22067D2-9C64-4412-8A30-16F2E3081D89/\(encoded)/p18")
        #expect(ObjectID(uri: id.description) == id)
    }

    @Test func `a temporary URI has no store, and is read in its process only`() throws {
        let id = ObjectID(temporary: 7, entityName: "Item")
        let parts = id.description.split(separator: "/", omittingEmptySubsequences: false)
        #expect(parts.prefix(4) == ["x-coredata:", "", "", "Item"])
        #expect(parts.last?.first == "t")
        #expect(UUID(uuidString: String(parts.last?.dropFirst().prefix(36) ?? "")) != nil)
        #expect(ObjectID(uri: id.description) == id)
        #expect(ObjectID(uri: id.description)?.isTemporary == true)
        #expect(ObjectID(uri: "x-coredata:///Item/t\(UUID().uuidString)7") == nil)
    }

    @Test(arguments: [
        "", "x-coredata://", "http://C22067D2-9C64-4412-8A30-16F2E3081D89/Item/p1", "x-coredata://nope/Item/p1",
        "x-coredata://C22067D2-9C64-4412-8A30-16F2E3081D89/Item/p0",
        "x-coredata://C22067D2-9C64-4412-8A30-16F2E3081D89/Item/p-1",
        "x-coredata://C22067D2-9C64-4412-8A30-16F2E3081D89/Item/p99999999999999999999",
        "x-coredata://C22067D2-9C64-4412-8A30-16F2E3081D89//p1",
        "x-coredata://C22067D2-9C64-4412-8A30-16F2E3081D89/Item/p1/x",
        "x-coredata://C22067D2-9C64-4412-8A30-16F2E3081D89/%C3/p1",
        "x-coredata://C22067D2-9C64-4412-8A30-16F2E3081D89/%4/p1",
        "x-coredata://C22067D2-9C64-4412-8A30-16F2E3081D89/%zz/p1", "x-coredata:///Item/t7",
        "x-coredata:///Item/p7",
    ])
    func `what is no URI of an object is none`(uri: String) { #expect(ObjectID(uri: uri) == nil) }
}
