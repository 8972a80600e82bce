import MoultBasics
import Testing

/// Expected orders are those of archives that Apple's compiler wrote.
@Suite struct HashTableOrderTests {
    private static let relationship = [
        "NSPropertyName", "NSRenamingIdentifier", "_P", "NSIsOptional", "NSEntity", "NSDestinationEntity",
        "_NSDestinationEntityName", "NSInverseRelationship", "_NSInverseRelationshipName", "NSMaxCount", "NSMinCount",
        "NSDeleteRule", "$class",
    ]

    @Test(arguments: [
        (["NS.keys", "NS.objects", "$class"], "NS.keys NS.objects $class"),
        (
            ["NSEntities", "NSFetchRequestTemplates", "NSVersionIdentifiers", "CDMCompilerToolVersion", "$class"],
            "NSEntities CDMCompilerToolVersion NSFetchRequestTemplates NSVersionIdentifiers $class"
        ),
        (
            ["NS.exponent", "NS.length", "NS.negative", "NS.compact", "NS.mantissa.bo", "NS.mantissa", "$class"],
            "$class NS.mantissa NS.negative NS.exponent NS.mantissa.bo NS.length NS.compact"
        ),
        (
            relationship,
            "_P NSDestinationEntity NSEntity NSDeleteRule $class NSInverseRelationship _NSInverseRelationshipName "
                + "NSIsOptional NSMaxCount NSPropertyName NSRenamingIdentifier NSMinCount _NSDestinationEntityName"
        ),
    ])
    func `keys are in the order of Apple's archives`(keys: [String], expected: String) {
        #expect(HashTableOrder.positions(of: keys).map { keys[$0] }.joined(separator: " ") == expected)
    }

    @Test(arguments: [0, 1, 3, 4, 6, 7, 12, 20, 390, 1065, 1066, 3000])
    func `no key is lost while the table grows`(count: Int) {
        let keys = (0..<count).map { "key \($0)" }
        #expect(HashTableOrder.positions(of: keys).sorted() == Array(0..<count))
    }

    @Test func `what does not fit into the largest table stays in its own order`() {
        let keys = (0..<1066).map { "\($0)" }
        #expect(HashTableOrder.positions(of: keys) == Array(0..<1066))
    }
}
