extension Schema {
    /// The kinds of indexes of a model.
    public enum Index<Model: PersistentModel> {
        public enum Types<Root: PersistentModel> {
            case binary([PartialKeyPath<Root>])
            /// For values that are ranges or places.
            case rtree([PartialKeyPath<Root>])
        }
    }
}
