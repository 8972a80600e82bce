extension String {
    /// The text inside the quotes of an XML attribute.
    package var escapedForXML: String {
        reduce(into: "") { text, character in
            switch character {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "\n": text += "&#10;"
            case "\r": text += "&#13;"
            case "\r\n": text += "&#13;&#10;"
            case "\t": text += "&#9;"
            default: text.append(character)
            }
        }
    }
}
