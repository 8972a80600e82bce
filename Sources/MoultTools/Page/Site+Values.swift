import Moult
import MoultBasics
import MoultModel
import MoultSQLite

extension Site {
    /// The largest picture that a list shows, in bytes; the page of an object shows any.
    private static let listPicture: Int64 = 2_000_000

    /// Returns the value in the form of its type, shortened for a table.
    ///
    /// - Parameter labels: the names of the destinations, for a to-one relationship.
    func cell(
        _ value: SQLiteValue, _ column: EntityContents.Column, of entity: String, _ key: Int64, _ reader: ObjectReader,
        _ labels: [Int64: ObjectReader.Label], isWhole: Bool = false
    ) throws -> HTML {
        if let data = try reader.summary(of: value, column) {
            return self.data(data, value, column, of: entity, key, isWhole: isWhole)
        }
        switch value {
        case .null, .blob: return "<span class=\"null\">nil</span>"
        case .integer(let number):
            if let destination = reader.destination(of: column, in: entity) {
                return Self.link(to: destination, number, labels[number])
            }
            if case .attribute(_, .boolean, _) = column.source, number == 0 || number == 1 {
                return number == 1 ? "true" : "false"
            }
            return "\(String(number))"
        case .real(let number): return "\(number.description)"
        case .text(let text):
            if case .attribute(_, .date, _) = column.source {
                return "<span class=\"one-line\">\(text.toMilliseconds)</span>"
            }
            return "<bdi class=\"text\">\(text.cut(at: isWhole ? 20_000 : 120))</bdi>"
        }
    }

    /// Returns the link to the destination of a to-one relationship, by its name if it has one.
    private static func link(to destination: String, _ key: Int64, _ label: ObjectReader.Label?) -> HTML {
        guard let label else {
            return
                "\(link(destination, key, "\(destination) \(key)")) <small class=\"missing\">not in the store</small>"
        }
        let own: HTML = label.entity == destination ? "" : "\(label.entity) "
        guard let text = label.text else { return link(destination, key, "\(label.entity) \(key)") }
        return "\(link(destination, key, "<bdi>\(text)</bdi>")) <small class=\"key\">\(own)\(key)</small>"
    }

    /// Returns binary data: a picture, or the first bytes.
    private func data(
        _ data: ObjectReader.DataSummary, _ value: SQLiteValue, _ column: EntityContents.Column, of entity: String,
        _ key: Int64, isWhole: Bool
    ) -> HTML {
        guard !data.isMissing else { return "<span class=\"missing\">The file of external storage is missing.</span>" }
        let source = address("/data", ["entity": entity, "key": String(key), "attribute": column.name])
        let size = Quantity.bytes(data.bytes)
        let save: HTML = isWhole ? " <a href=\"\(source)&amp;save=yes\" download>Save</a>" : ""
        if let picture = data.picture {
            let words: HTML = "<small>\(picture.name), \(size)</small>"
            guard isWhole || data.bytes <= Self.listPicture else { return "<span class=\"one-line\">\(words)</span>" }
            return """
                <a href="\(source)"><img class="\(isWhole ? "photo" : "thumbnail")" src="\(source)" loading="lazy" \
                alt="\(column.name) of \(entity) \(key)"></a> \(words)\(save)
                """
        }
        let limit = isWhole ? 64 : 8
        var hex = ""
        if case .blob(let bytes) = value {
            hex = Array(bytes.prefix(limit)).hexadecimal
            if bytes.count > limit { hex += "…" }
        }
        let place: HTML = data.isExternal ? " in a file" : ""
        let line: HTML = "<code>\(hex)</code> \(size)\(place)\(save)"
        return isWhole ? line : "<span class=\"one-line\">\(line)</span>"
    }

    /// Returns the bytes of an attribute: a picture to show, anything else to save.
    func data(_ request: Request) throws -> Response {
        let (name, attribute) = (request.query["entity"] ?? "", request.query["attribute"] ?? "")
        let key = request.query["key"].flatMap { Int64($0) } ?? 0
        let bytes = try read { try $0.data(attribute, of: key, in: try $0.entity(name)) }
        guard let bytes else {
            throw MigrationError(
                .usage, "\(name) \(key) has no binary data in \(attribute).", place: name,
                remedy: "Load the page of the object again.")
        }
        let picture = PictureFormat(bytes)
        let file = "\(name)-\(key)-\(attribute)"
        let isSaved = picture == nil || request.query["save"] == "yes"
        return Response(
            data: bytes, type: picture?.mediaType ?? "application/octet-stream",
            savedAs: isSaved ? (file, picture?.fileExtension ?? "bin") : nil)
    }
}

extension EntityContents.Column {
    /// The name of the type, for the head of a table.
    var type: String {
        switch source {
        case .attribute(_, let type, _): type.name
        case .toOne: "to-one"
        case .key, .entity, .toOneEntity, .raw: ""
        }
    }
}

extension String {
    /// The text with milliseconds if it is a date with nanoseconds, which a date of Core Data does not have exactly. A
    /// date that would round up to the next second, and any other text, are unchanged.
    fileprivate var toMilliseconds: String {
        let parts = split(separator: ".")
        guard parts.count == 2, parts[1].count == 10, let nanoseconds = Int(parts[1].dropLast()),
            nanoseconds < 999_500_000
        else { return self }
        let digits = String((nanoseconds + 500_000) / 1_000_000)
        return parts[0] + "." + String(repeating: "0", count: 3 - digits.count) + digits + "Z"
    }

    /// Returns the first characters, with the size of the rest.
    func cut(at limit: Int) -> String {
        guard utf8.count > limit else { return self }
        let start = prefix(limit)
        let rest = utf8.count - start.utf8.count
        return rest == 0 ? self : "\(start)… (\(Quantity.bytes(rest)) more)"
    }
}
