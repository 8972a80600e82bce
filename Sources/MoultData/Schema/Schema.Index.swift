extension Schema {
    /// The kinds of indexes of a model.
    public enum Index<Model: PersistentModel> {
        /// One index: its kind, and the key paths of its properties.
        public enum Types<Root: PersistentModel> {
            case binary([PartialKeyPath<Root>])
            /// For values that are ranges or places.
            case rtree([PartialKeyPath<Root>])
        }
    }
}
