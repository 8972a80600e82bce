import MoultModel

// An answer about versions of a bundle goes by their names, which are the bundle's own. The version inside a store has
// the name that its app has given it, which is that of another store's too: an answer about it goes by its hashes.

extension Answer {
    /// Whether it goes by hashes.
    package var isBound: Bool { fromChecksum != nil && toChecksum != nil }

    /// The answer with the hashes of the two versions, where names do not tell these.
    fileprivate func bound(to from: ModelVersion, _ to: ModelVersion) -> Answer {
        guard from.isInsideStore || to.isInsideStore else { return self }
        var answer = self
        answer.fromChecksum = from.hashes.checksum.base64
        answer.toChecksum = to.hashes.checksum.base64
        return answer
    }

    /// Refuses an answer that goes by names where those say nothing.
    var unbound: MigrationError {
        MigrationError(
            .usage,
            "The answer \(json) does not identify its stores: other stores have versions of the same names.",
            place: place,
            remedy: """
                Record it again, with the hashes of these two: \(.answer, .anyModel, .set("\(place)=\(choice)"))
                """)
    }
}

extension Question {
    /// The question with answers that have the hashes of the two versions, where names do not tell these.
    package func bound(to older: ModelVersion, _ newer: ModelVersion) -> Question {
        var question = self
        question.answers = answers.map { $0.bound(to: older, newer) }
        return question
    }

    /// The same among versions of which no two have one name.
    func bound(to versions: ModelVersions) -> Question {
        guard let from = versions.position(named: from), let to = versions.position(named: to) else { return self }
        return bound(to: versions.versions[from], versions.versions[to])
    }
}

extension ModelVersion {
    fileprivate func isCalled(_ name: String, _ checksum: String?) -> Bool {
        checksum.map { $0 == hashes.checksum.base64 } ?? names.contains(name)
    }

    /// Whether an answer means this version, by its hashes or else by one of its names.
    func isMeant(by name: String, _ checksum: String?) -> Bool {
        isCalled(name, checksum) && !(isInsideStore && checksum == nil)
    }
}

extension ModelVersions {
    /// The positions of the versions that an answer is about; nil if one is not among them.
    package func positions(of answer: Answer) -> (from: Int, to: Int)? {
        let from = versions.firstIndex { $0.isCalled(answer.from, answer.fromChecksum) }
        let to = versions.firstIndex { $0.isCalled(answer.to, answer.toChecksum) }
        guard let from, let to else { return nil }
        return (from, to)
    }

    /// Whether there are versions whose names do not tell which they are.
    package var areInsideStores: Bool { versions.contains(where: \.isInsideStore) }
}
