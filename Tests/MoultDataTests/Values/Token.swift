import MoultData

/// The models of a shipping app whose version hash is published, as far as its published facts say them: an entity
/// with an enum, optional structs, structs inside of a struct, an array inside of one and a dictionary.
enum Token: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [PersistentToken.self] }

    enum TradeMode: String, Codable { case notTradeable, other }

    struct Rules: Codable {
        var authorizedToMakeChange: String
        var adminActionTakers: String
        var changingAuthorizedActionTakersToNoOneAllowed: Bool
        var changingAdminActionTakersToNoOneAllowed: Bool
        var selfChangingAdminActionTakersAllowed: Bool
    }

    struct DistributionRules: Codable {
        var perpetualDistributionRules: Rules?
        var newTokensDestinationIdentityRules: Rules?
        var mintingAllowChoosingDestinationRules: Rules?
        var changeDirectPurchasePricingRules: Rules?
    }

    struct PerpetualDistribution: Codable {
        var distributionType: String
        var distributionRecipient: String
        var enabled: Bool
        var lastDistributionTime: Date?
        var nextDistributionTime: Date?
    }

    struct Event: Codable {
        var time: Date
        var amount: String
    }

    struct PreProgrammedDistribution: Codable {
        var distributionSchedule: [Event]
        var currentEventIndex: Int
        var totalDistributed: String
        var remainingToDistribute: String
        var isActive: Bool
        var isPaused: Bool
        var isCompleted: Bool
    }

    struct Localization: Codable {
        var singular: String
        var plural: String
    }

    @Model final class PersistentToken {
        @Attribute(.unique) var id: Data
        var contractId: Data
        var position: Int
        var name: String
        var baseSupply: String
        var maxSupply: String?
        var decimals: Int
        var isPaused: Bool = false
        var allowTransferToFrozenBalance: Bool = true
        var localizations: [String: Localization]?
        var keepsTransferHistory = true
        var keepsFreezingHistory = true
        var keepsMintingHistory = true
        var keepsBurningHistory = true
        var keepsDirectPricingHistory = true
        var keepsDirectPurchaseHistory = true
        var conventionsChangeRules: Rules?
        var maxSupplyChangeRules: Rules?
        var manualMintingRules: Rules?
        var manualBurningRules: Rules?
        var freezeRules: Rules?
        var unfreezeRules: Rules?
        var destroyFrozenFundsRules: Rules?
        var emergencyActionRules: Rules?
        var tradeModeChangeRules: Rules?
        var distributionChangeRules: DistributionRules?
        var perpetualDistribution: PerpetualDistribution?
        var preProgrammedDistribution: PreProgrammedDistribution?
        var newTokensDestinationIdentity: Data?
        var mintingAllowChoosingDestination = true
        var tradeMode: TradeMode
        var mainControlGroupPosition: Int?
        var mainControlGroupCanBeModified: String?
        var tokenDescription: String?
        var createdAt: Date
        var lastUpdatedAt: Date
        var dataContract: PersistentDataContract?
        @Relationship(inverse: \PersistentTokenBalance.token) var balances: [PersistentTokenBalance]?
        @Relationship(inverse: \PersistentTokenHistoryEvent.token) var historyEvents: [PersistentTokenHistoryEvent]?

        init(id: Data) {
            (self.id, contractId, position, name) = (id, id, 0, "")
            (baseSupply, decimals, tradeMode, createdAt, lastUpdatedAt) = ("0", 8, .notTradeable, .now, .now)
        }
    }

    @Model final class PersistentDataContract {
        @Relationship(inverse: \PersistentToken.dataContract) var tokens: [PersistentToken]?
        init() {}
    }

    @Model final class PersistentTokenBalance {
        var token: PersistentToken?
        init() {}
    }

    @Model final class PersistentTokenHistoryEvent {
        var token: PersistentToken?
        init() {}
    }
}
