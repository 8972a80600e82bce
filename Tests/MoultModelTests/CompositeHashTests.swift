import MoultModel
import Testing

/// The version hash of composite attributes, against what Apple's frameworks have written.
@Suite struct CompositeHashTests {
    /// A published golden hash of iOS 26.5: an entity with an enum, optional structs, structs inside of a struct and an
    /// array inside of one.
    @Test func `an entity of a shipping app with thirteen composites has its published hash`() throws {
        let model = try ManagedObjectModel(entities: [
            token,
            EntityDescription(
                name: "PersistentDataContract",
                relationships: [
                    .init(name: "tokens", destinationEntityName: token.name, inverseName: "dataContract", maxCount: 0)
                ]),
            EntityDescription(
                name: "PersistentTokenBalance",
                relationships: [
                    .init(name: "token", destinationEntityName: token.name, inverseName: "balances", maxCount: 1)
                ]),
            EntityDescription(
                name: "PersistentTokenHistoryEvent",
                relationships: [
                    .init(name: "token", destinationEntityName: token.name, inverseName: "historyEvents", maxCount: 1)
                ]),
        ])
        let hashes = VersionHashes(of: model)
        let hex = hashes.entities["PersistentToken"]?.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(hex == "85dacb8b1556f06c9ece6bac94e185e0fdbd8f62554f2b5eca444c121649567c")
        #expect(hashes.uncertain.isEmpty)
    }

    @Test func `a composite's own name and flags do not count, its leaves' names, types and flags do`() throws {
        func hash(_ change: (inout AttributeDescription) -> Void) throws -> [UInt8]? {
            var attribute = AttributeDescription(
                name: "author", type: .composite,
                elements: [
                    .init(name: "name", type: .string), .init(name: "year", type: .integer64, isOptional: false),
                ])
            change(&attribute)
            let model = try ManagedObjectModel(entities: [EntityDescription(name: "Book", attributes: [attribute])])
            return VersionHashes(of: model).entities["Book"]
        }
        let usual = try hash { _ in }
        #expect(try hash { $0.name = "writer" } == usual)
        #expect(try hash { $0.isOptional = false } == usual)
        #expect(try hash { $0.userInfo = ["EnumType": "1"] } == usual)
        #expect(try hash { $0.elements.reverse() } == usual)
        #expect(
            try hash { attribute in
                attribute.elements = [.init(name: "inner", type: .composite, elements: attribute.elements)]
            } == usual)
        #expect(try hash { $0.elements[0].name = "title" } != usual)
        #expect(try hash { $0.elements[0].type = .uri } != usual)
        #expect(try hash { $0.elements[1].isOptional = true } != usual)
        #expect(try hash { $0.elements.removeLast() } != usual)
    }

    @Test func `an attribute of a type that is not there has no certain hash`() throws {
        let lost = AttributeDescription(name: "home", type: .composite, compositeName: "Address")
        let model = try ManagedObjectModel(entities: [EntityDescription(name: "Person", attributes: [lost])])
        #expect(VersionHashes(of: model).uncertain == ["Person": "Person.home is composite and has no elements"])
    }

    private var token: EntityDescription {
        EntityDescription(
            name: "PersistentToken", attributes: plain + composites,
            relationships: [
                .init(
                    name: "dataContract", destinationEntityName: "PersistentDataContract", inverseName: "tokens",
                    maxCount: 1),
                .init(
                    name: "balances", destinationEntityName: "PersistentTokenBalance", inverseName: "token", maxCount: 0
                ),
                .init(
                    name: "historyEvents", destinationEntityName: "PersistentTokenHistoryEvent", inverseName: "token",
                    maxCount: 0),
            ], uniquenessConstraints: [["id"]])
    }

    private var plain: [AttributeDescription] {
        func attributes(_ names: String, _ type: AttributeType, isOptional: Bool = false) -> [AttributeDescription] {
            names.split(separator: " ").map { .init(name: String($0), type: type, isOptional: isOptional) }
        }
        return attributes("contractId id", .binary) + attributes("position decimals", .integer64)
            + attributes("name baseSupply", .string) + attributes("createdAt lastUpdatedAt", .date)
            + attributes("maxSupply mainControlGroupCanBeModified tokenDescription", .string, isOptional: true)
            + attributes("newTokensDestinationIdentity localizations", .binary, isOptional: true)
            + attributes("mainControlGroupPosition", .integer64, isOptional: true)
            + attributes(
                "isPaused allowTransferToFrozenBalance keepsTransferHistory keepsFreezingHistory keepsMintingHistory "
                    + "keepsBurningHistory keepsDirectPricingHistory keepsDirectPurchaseHistory "
                    + "mintingAllowChoosingDestination", .boolean)
    }

    private var composites: [AttributeDescription] {
        func composite(_ name: String, _ elements: [AttributeDescription]) -> AttributeDescription {
            .init(name: name, type: .composite, elements: elements)
        }
        // Every leaf of an optional struct is optional.
        func leaves(_ names: String, _ type: AttributeType) -> [AttributeDescription] {
            names.split(separator: " ").map { .init(name: String($0), type: type) }
        }
        let rule =
            leaves("authorizedToMakeChange adminActionTakers", .string)
            + leaves(
                "changingAuthorizedActionTakersToNoOneAllowed changingAdminActionTakersToNoOneAllowed "
                    + "selfChangingAdminActionTakersAllowed", .boolean)
        let rules = [
            "conventions", "maxSupply", "manualMinting", "manualBurning", "freeze", "unfreeze",
            "destroyFrozenFunds", "emergencyAction", "tradeMode",
        ]
        let names = rules.map { name in
            ["conventions", "maxSupply", "tradeMode"].contains(name) ? name + "ChangeRules" : name + "Rules"
        }
        return names.map { composite($0, rule) } + [
            composite("tradeMode", leaves("tradeMode", .string)),
            composite(
                "distributionChangeRules",
                [
                    "perpetualDistributionRules", "newTokensDestinationIdentityRules",
                    "mintingAllowChoosingDestinationRules", "changeDirectPurchasePricingRules",
                ].map { composite($0, rule) }),
            composite(
                "perpetualDistribution",
                leaves("distributionType distributionRecipient", .string) + leaves("enabled", .boolean)
                    + leaves("lastDistributionTime nextDistributionTime", .date)),
            composite(
                "preProgrammedDistribution",
                leaves("distributionSchedule", .binary) + leaves("currentEventIndex", .integer64)
                    + leaves("totalDistributed remainingToDistribute", .string)
                    + leaves("isActive isPaused isCompleted", .boolean)),
        ]
    }
}
