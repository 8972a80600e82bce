import Foundation
import MoultModel

extension PredicateExpressions.CollectionContainsCollection: PredicateTranslatable {
    func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        let terms = (try translation.term(base), try translation.term(other))
        if case (.constant, .constant) = terms { return try translation.constant(self) }
        guard StoredText.isText(Base.Output.self), StoredText.isText(Other.Output.self) else {
            throw translation.refuse(self, "only texts can be searched for a part")
        }
        let (text, part) = (
            try translation.expression(terms.0, of: base), try translation.expression(terms.1, of: other)
        )
        return .condition(StoredText.contains(text, part))
    }
}

extension PredicateExpressions.SequenceStartsWith: PredicateTranslatable {
    func translated(by translation: inout PredicateTranslation) throws -> PredicateTerm {
        let terms = (try translation.term(base), try translation.term(prefix))
        if case (.constant, .constant) = terms { return try translation.constant(self) }
        guard StoredText.isText(Base.Output.self), StoredText.isText(Prefix.Output.self) else {
            throw translation.refuse(self, "only texts can be asked for their beginning")
        }
        let (text, start) = (
            try translation.expression(terms.0, of: base), try translation.expression(terms.1, of: prefix)
        )
        return .condition(StoredText.starts(text, with: start))
    }
}
