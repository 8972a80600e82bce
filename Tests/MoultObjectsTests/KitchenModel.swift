import MoultModel
import TestSupport

/// A model with one of everything: every attribute type, inheritance, every kind of relationship, derived attributes.
enum KitchenModel {
    static func make() throws -> ManagedObjectModel {
        try ManagedObjectModel(
            """
            Dish = aInteger16 Integer16, aInteger32 Integer32, aInteger64 Integer64, aDecimal Decimal, aDouble Double,
                aFloat Float, aString String, aBoolean Boolean, aDate Date, aBinary Binary, aUUID UUID, aURI URI,
                aTransformable Transformable, photo Binary external, title String required,
                ingredientCount Integer64 derived=ingredients.@count, tagCount Integer64 derived=tags.@count,
                cookName String derived=cook.name, touched Date derived=now(), ingredients >> Ingredient.dish ordered,
                cook > Cook.dishes, tags >> Tag.dishes ordered, goesWith >> Dish.goesWith
            Soup (Dish) = isHot Boolean required
            Ingredient index=byName:name = name String required, dish > Dish.ingredients, partOf > Ingredient.parts,
                parts >> Ingredient.partOf
            Cook unique=name = name String required, dishes >> Dish.cook, kitchen > Kitchen.chief, favourite > Tag,
                notes >> Tag ordered
            Kitchen = chief > Cook.kitchen
            Tag = label String, dishes >> Dish.tags
            """)
    }
}
