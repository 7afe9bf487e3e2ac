//! Splits SQL into tokens, as far as conditions need it.

/// A token of SQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token<'s> {
    /// A keyword, or a name without quotes.
    Word(&'s str),
    /// A name in double quotes, backticks or brackets.
    QuotedName(String),
    /// A text in single quotes.
    Text(String),
    /// A number.
    Number(&'s str),
    /// An operator or punctuation.
    Symbol(&'s str),
}

impl Token<'_> {
    /// Returns `true` if the token is this keyword, in any case.
    pub(crate) fn is_word(&self, keyword: &str) -> bool {
        matches!(self, Token::Word(word) if word.eq_ignore_ascii_case(keyword))
    }

    /// Returns `true` if the token is this symbol.
    pub(crate) fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self, Token::Symbol(own) if *own == symbol)
    }

    /// Returns the name in lower case, if the token may be one.
    pub(crate) fn name(&self) -> Option<String> {
        match self {
            Token::Word(word) => Some(word.to_ascii_lowercase()),
            Token::QuotedName(name) => Some(name.to_ascii_lowercase()),
            _ => None,
        }
    }
}

/// Splits SQL into tokens, each with the byte offset of its start. Comments are omitted. Returns `None` if a quote or
/// comment does not end.
pub(crate) fn tokenize(sql: &str) -> Option<Vec<(usize, Token<'_>)>> {
    let bytes = sql.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let rest = &sql[at..];
        match bytes[at] {
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'-' if rest.starts_with("--") => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            b'/' if rest.starts_with("/*") => {
                at += rest.find("*/")? + 2;
                continue;
            }
            quote @ (b'\'' | b'"' | b'`' | b'[') => {
                let end = if quote == b'[' { b']' } else { quote };
                let (text, len) = read_quoted(rest, end)?;
                at += len;
                let token = if quote == b'\'' { Token::Text(text) } else { Token::QuotedName(text) };
                tokens.push((start, token));
            }
            byte if byte.is_ascii_digit() => {
                at += count_while(rest, |c| c.is_ascii_alphanumeric() || c == '.' || c == '_');
                tokens.push((start, Token::Number(&sql[start..at])));
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' || !byte.is_ascii() => {
                at +=
                    count_while(rest, |c| c.is_ascii_alphanumeric() || c == '_' || c == '$' || !c.is_ascii());
                tokens.push((start, Token::Word(&sql[start..at])));
            }
            _ => {
                let two = ["<=", ">=", "==", "!=", "<>", "||", "->", "<<", ">>"];
                at += if two.iter().any(|symbol| rest.starts_with(symbol)) { 2 } else { 1 };
                tokens.push((start, Token::Symbol(&sql[start..at])));
            }
        }
    }
    Some(tokens)
}

/// Reads a quoted text. A doubled end quote is a quote in the text. Returns the text and its length with quotes.
fn read_quoted(rest: &str, end: u8) -> Option<(String, usize)> {
    let bytes = rest.as_bytes();
    let mut text = Vec::new();
    let mut at = 1;
    loop {
        let byte = *bytes.get(at)?;
        at += 1;
        if byte != end {
            text.push(byte);
        } else if end != b']' && bytes.get(at) == Some(&end) {
            text.push(end);
            at += 1;
        } else {
            return Some((String::from_utf8_lossy(&text).into_owned(), at));
        }
    }
}

fn count_while(text: &str, accepts: impl Fn(char) -> bool) -> usize {
    text.find(|c| !accepts(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::{Token, tokenize};

    fn tokens(sql: &str) -> Vec<Token<'_>> {
        tokenize(sql).expect("tokens").into_iter().map(|(_, token)| token).collect()
    }

    #[test]
    fn quotes_and_comments_hide_keywords() {
        assert_eq!(
            tokens("SELECT 'it''s OR' -- OR\n, \"a\"\"b\" /* OR */ >= 1.5e3"),
            [
                Token::Word("SELECT"),
                Token::Text("it's OR".into()),
                Token::Symbol(","),
                Token::QuotedName("a\"b".into()),
                Token::Symbol(">="),
                Token::Number("1.5e3"),
            ]
        );
    }

    #[test]
    fn unfinished_quotes_are_no_tokens() {
        for sql in ["SELECT 'a", "SELECT \"a", "/* a", "[a"] {
            assert_eq!(tokenize(sql), None, "{sql}");
        }
    }
}
