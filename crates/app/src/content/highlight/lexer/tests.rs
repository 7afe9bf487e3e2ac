use crate::content::highlight::{Language, tokenize};

/// Writes a text with its tokens marked: `‹k fn› main`.
fn mark_tokens(name: &str, text: &str) -> String {
    let mut out = String::new();
    let mut at = 0;
    for token in tokenize(text, Language::from_name(name)) {
        out.push_str(&text[at..token.start]);
        out.push_str(&format!("‹{} {}›", token.kind.letter(), &text[token.start..token.end]));
        at = token.end;
    }
    out + &text[at..]
}

#[test]
fn tokens_of_each_language_are_recognized() {
    let cases = [
        (
            "rust",
            "fn a<'b>(x: &'b str) -> Vec<u8> { 'c' }",
            "‹k fn› a<‹a 'b›>(x: &‹a 'b› ‹t str›) -> ‹t Vec›<‹t u8›> { ‹s 'c'› }",
        ),
        ("rust", "/* a /* b */ c */ d // e", "‹c /* a /* b */ c */› d ‹c // e›"),
        (
            "rust",
            "#[derive(Debug)] println!(r#\"a\"b\"#, b\"c\\\"\", 1_0.5e-3)",
            "‹a #[derive›(‹t Debug›)] ‹f println!›(‹s r#\"a\"b\"#›, ‹s b\"c\\\"\"›, ‹n 1_0.5e-3›)",
        ),
        ("rust", "r#type 0..10 x != y '\\n' '漢'", "r#‹k type› ‹n 0›..‹n 10› x != y ‹s '\\n'› ‹s '漢'›"),
        (
            "python",
            "@a.b\ndef f(x): # c\n  return f'{x}' + rb\"\\\"",
            "‹a @a.b›\n‹k def› ‹f f›(x): ‹c # c›\n  ‹k return› ‹s f'{x}'› + ‹s rb\"\\\"›",
        ),
        ("python", "'''a\n'b''' None", "‹s '''a\n'b'''› ‹k None›"),
        (
            "ts",
            "const a = `x${b({c: `y`})}z` / 2",
            "‹k const› a = ‹s `x${›‹f b›({c: ‹s `y`›})‹s }z`› / ‹n 2›",
        ),
        ("js", "x = /a[/]b/gi; y = a / b / c", "x = ‹s /a[/]b/gi›; y = a / b / c"),
        (
            "go",
            "func (s *Foo) Bar() error { return `a\nb` }",
            "‹k func› (s *‹t Foo›) ‹t Bar›() ‹t error› { ‹k return› ‹s `a\nb`› }",
        ),
        (
            "c",
            "#include <a.h>\n#define X 0x1F\nint main(void) { return L'a'; }",
            "‹a #include› ‹s <a.h>›\n‹a #define› X ‹n 0x1F›\n‹t int› ‹f main›(‹t void›) { ‹k return› ‹s L'a'›; }",
        ),
        ("cpp", "R\"x(a)\")x\" b", "‹s R\"x(a)\")x\"› b"),
        (
            "java",
            "@Override public String a() { return \"\"\"\nb\"\"\"; }",
            "‹a @Override› ‹k public› ‹t String› ‹f a›() { ‹k return› ‹s \"\"\"\nb\"\"\"›; }",
        ),
        ("cs", "var a = @\"b\\\";", "‹k var› a = ‹s @\"b\\\"›;"),
        ("ruby", "def a? @b = :c end", "‹k def› a? ‹a @b› = ‹a :c› ‹k end›"),
        ("php", "$a = f('b'); # c", "‹a $a› = ‹f f›(‹s 'b'›); ‹c # c›"),
        (
            "lua",
            "--[[ a\nb ]] local c = [==[d]]]==] -- e",
            "‹c --[[ a\nb ]]› ‹k local› c = ‹s [==[d]]]==]› ‹c -- e›",
        ),
        (
            "sql",
            "SELECT count(*) FROM a WHERE b = 'it''s' -- c",
            "‹k SELECT› ‹f count›(*) ‹k FROM› a ‹k WHERE› b = ‹s 'it'›‹s 's'› ‹c -- c›",
        ),
        (
            "bash",
            "A=1 git commit -m \"$(x)\" | grep --color $B ${C:-d} # e",
            "‹a A›=‹n 1› git commit ‹a -m› ‹s \"$(x)\"› | ‹f grep› ‹a --color› ‹a $B› ‹a ${C:-d}› ‹c # e›",
        ),
        (
            "bash",
            "cat <<'EOF' > a\ndon't\nEOF\nls a#b",
            "‹f cat› ‹k <<'EOF'› > a‹s \ndon't\n›‹k EOF›\n‹f ls› a#b",
        ),
        (
            "bash",
            "for i in 1 2; do sudo rm -rf ./a-b; done",
            "‹k for› i ‹k in› ‹n 1› ‹n 2›; ‹k do› ‹f sudo› ‹f rm› ‹a -rf› ./a-b; ‹k done›",
        ),
        ("bash", "echo $((1 << 3)) 'a'", "‹f echo› $((‹n 1› ‹k <<› ‹n 3›)) ‹s 'a'›"),
        (
            "json",
            "{\"a\": \"b\", \"c\": [1.5, true, null]} // d",
            "{‹a \"a\"›: ‹s \"b\"›, ‹a \"c\"›: [‹n 1.5›, ‹k true›, ‹k null›]} ‹c // d›",
        ),
        (
            "toml",
            "[a.b] # c\nd-e = \"f\"\ng = [1, true]",
            "‹t [a.b]› ‹c # c›\n‹a d-e› = ‹s \"f\"›\n‹a g› = [‹n 1›, ‹k true›]",
        ),
        (
            "yaml",
            "a: b # c\n- d: 12\n  e: |\n    f: g\nh: true\n\"i\": 'j'",
            "‹a a›: b ‹c # c›\n- ‹a d›: ‹n 12›\n  ‹a e›: |\n    ‹s f: g›\n‹a h›: ‹k true›\n‹a \"i\"›: ‹s 'j'›",
        ),
        ("ini", "; a\n[b]\nc=d", "‹c ; a›\n‹t [b]›\n‹a c›=d"),
        (
            "html",
            "<a href=\"b\">c</a><!-- d --><br/>",
            "‹k <a› ‹a href›=‹s \"b\"›‹k >›c‹k </a›‹k >›‹c <!-- d -->›‹k <br›‹k />›",
        ),
        ("html", "<script>let a</script>", "‹k <script›‹k >›‹k let› a‹k </script›‹k >›"),
        (
            "css",
            "@media x { .a:hover { color: #fff; width: 10px } }",
            "‹k @media› x { ‹t .a›:hover { ‹a color›: ‹n #fff›; ‹a width›: ‹n 10px› } }",
        ),
        (
            "markdown",
            "# a\n- b `c`\n```\nd\n```\n> e",
            "‹k # a›\n‹t -› b ‹s `c`›\n‹c ```›\n‹s d›\n‹c ```›\n‹c > e›",
        ),
        (
            "diff",
            "--- a\n+++ b\n@@ -1 +1 @@\n-c\n+d\n e",
            "‹k --- a›\n‹k +++ b›\n‹t @@ -1 +1 @@›\n‹d -c›\n‹i +d›\n e",
        ),
        (
            "docker",
            "FROM a AS b\nRUN apt-get install -y c",
            "‹k FROM› a ‹k AS› b\n‹k RUN› ‹f apt-get› install ‹a -y› c",
        ),
        ("make", "A := $(B)\nall: c.o\n\techo $@", "‹a A› := ‹a $(B)›\n‹f all›: c.o\n\techo ‹a $@›"),
        ("elixir", "defmodule A do @b :c end", "‹k defmodule› ‹t A› ‹k do› ‹a @b› ‹a :c› ‹k end›"),
        ("haskell", "f' x = 'a' -- b {- c", "f' x = ‹s 'a'› ‹c -- b {- c›"),
        ("powershell", "Get-Item -Path $A <# b #>", "Get-Item ‹a -Path› ‹a $A› ‹c <# b #>›"),
        ("zig", "\\\\a\"\nconst b = @import(\"c\");", "‹s \\\\a\"›\n‹k const› b = ‹a @import›(‹s \"c\"›);"),
        ("nothing", "fn a", "fn a"),
    ];
    for (name, text, expected) in cases {
        assert_eq!(mark_tokens(name, text), expected, "{name}");
    }
}

#[test]
fn keywords_are_sorted() {
    let names = [
        "rust", "python", "js", "go", "java", "kotlin", "c", "cs", "swift", "ruby", "php", "lua", "sql",
        "sh", "ps1", "css", "json", "toml", "docker", "make", "elixir", "haskell", "scala", "r", "dart",
        "zig",
    ];
    for name in names {
        let grammar = Language::from_name(name).expect("a known name").grammar();
        assert!(!grammar.keywords.is_empty() && grammar.keywords.is_sorted(), "{name}");
        assert!(grammar.types.is_sorted(), "{name}");
    }
}
