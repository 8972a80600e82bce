import MoultModel

extension ResolvedPlan {
    /// Finds the two neighbouring versions that a stage stands between.
    mutating func put(_ stage: MigrationStage, number: Int) {
        switch stage {
        case .lightweight(let from, let to), .custom(let from, let to, _, _):
            put(stage, number: number, from: from, to: to)
        case .transform(let transform):
            if let versions = transform.versions {
                put(stage, number: number, from: versions.from, to: versions.to)
            } else {
                put(transform, stage, number: number)
            }
        }
    }

    private mutating func put(
        _ stage: MigrationStage, number: Int, from: any VersionedSchema.Type, to: any VersionedSchema.Type
    ) {
        let label = "Stage \(number) (\(from) to \(to))"
        let (older, newer) = (position(of: from), position(of: to))
        for (type, position) in [(from, older), (to, newer)] where position == nil {
            report(
                "version-unknown", label, "\(label) names \(type), which is not among the plan's schemas.",
                "Add it to schemas, in its place.")
        }
        guard let older, let newer else { return }
        guard newer == older + 1 else {
            let what =
                newer <= older
                ? "does not lead to a later version" : "skips \(Quantity.count(newer - older - 1, "version"))"
            report(
                "stage-not-neighbours", label, "\(label) \(what).",
                "Each stage must lead from a version to the next one in schemas.")
            return
        }
        edges[older].stages.append((number, stage))
    }

    private func position(of type: any VersionedSchema.Type) -> Int? {
        types.firstIndex { ObjectIdentifier($0) == ObjectIdentifier(type) }
    }

    /// A transform stands where its old class is followed by its new one.
    private mutating func put(_ transform: ModelTransform, _ stage: MigrationStage, number: Int) {
        let fitting = edges.indices.filter {
            schemas[$0].has(transform.old) && schemas[$0 + 1].has(transform.new)
        }
        guard let edge = fitting.first, fitting.count == 1 else {
            let label = "Stage \(number) (transform of \(transform.oldName))"
            report(
                "transform-unclear", label,
                fitting.isEmpty
                    ? "\(label) fits between no two versions: none has \(String(reflecting: transform.old)) where the "
                        + "next has \(String(reflecting: transform.new))."
                    : "\(label) could be between \(fitting.map { name(of: edges[$0]) }.joined(separator: ", or ")).",
                "Name the models of two neighbouring versions, or the versions with fromVersion and toVersion.")
            return
        }
        edges[edge].stages.append((number, stage))
    }

    /// Each edge needs one stage, or several transforms of different models next to a custom one.
    mutating func checkEdges() {
        for edge in edges {
            guard !edge.stages.isEmpty else {
                report(
                    "stage-missing", name(of: edge), "No stage leads from \(name(of: edge)).",
                    "Add one, such as .lightweight(fromVersion: \(types[edge.older]).self, "
                        + "toVersion: \(types[edge.older + 1]).self).")
                continue
            }
            let plain = edge.stages.filter { if case .transform = $0.stage { false } else { true } }
            if plain.count > 1 {
                report(
                    "stage-twice", name(of: edge),
                    "Stages \(plain.map { "\($0.number)" }.joined(separator: " and ")) both lead from \(name(of: edge)).",
                    "Combine them into one custom stage.")
            }
            let models = edge.transforms.map(\.oldName)
            for model in Set(models).sorted() where models.count(where: { $0 == model }) > 1 {
                report(
                    "transform-twice", model, "\(model) has two transforms from \(name(of: edge)).",
                    "Combine them into one.")
            }
        }
    }
}

extension Schema {
    fileprivate func has(_ type: any PersistentModel.Type) -> Bool {
        types[Schema.entityName(for: type)].map { $0 == type } ?? false
    }
}
