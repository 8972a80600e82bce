import MoultModel
import MoultObjects

/// Makes an order of the new version: the customer's name taken apart, the total computed.
final class OrderPolicy: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        let order = try manager.makeDestinationInstance(forSource: source)
        guard let customer = source.string("customer"), let quantity = source.integer("quantity"),
            let price = source.double("price"), let discount = source.double("discount")
        else { return }
        let (first, last) = TransformModel.split(customer)
        order["first"] = .string(first)
        order["last"] = .string(last)
        order["total"] = .double(Double(quantity) * price * (1 - discount))
    }
}
