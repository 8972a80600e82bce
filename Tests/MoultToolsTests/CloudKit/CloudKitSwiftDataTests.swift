import MoultData
import MoultObjects
import MoultPlan
import MoultTools
import Testing

@Suite("The schema that CloudKit needs for SwiftData's types")
struct CloudKitSwiftDataTests {
    private typealias Registry = MoultObjects.MigrationRegistry

    @Test func `each type of a property has the field that exports of SwiftData's apps have`() throws {
        let plan = try #require(Registry(plan: Diary.Plan.self).plan)
        let version = try #require(plan.versions.first)
        let requirements = try CloudKitRequirements(version.model)
        let fields = try #require(requirements.schema.types["CD_Entry"]).fields
            .filter { CloudKitFieldRole(of: $0.key) != .system }.mapValues(\.type.description)
        #expect(
            fields == [
                "CD_author": "STRING", "CD_entityName": "STRING", "CD_identifier": "STRING", "CD_isPinned": "INT64",
                "CD_link": "STRING", "CD_mood": "BYTES", "CD_moveReceipt": "BYTES", "CD_moveReceipt_ckAsset": "ASSET",
                "CD_photo": "BYTES", "CD_photo_ckAsset": "ASSET", "CD_place": "BYTES", "CD_price": "DOUBLE",
                "CD_rating": "INT64", "CD_secret": "ENCRYPTED STRING", "CD_secret_ckAsset": "ASSET",
                "CD_tags": "BYTES", "CD_tags_ckAsset": "ASSET", "CD_title": "STRING", "CD_title_ckAsset": "ASSET",
                "CD_weight": "DOUBLE", "CD_written": "TIMESTAMP",
            ])
        #expect(requirements.faults.isEmpty && requirements.schema.types["CDMR"] == nil)
        #expect(requirements.schema.types["CD_Author"]?.fields["CD_entries"] == nil)
    }
}
