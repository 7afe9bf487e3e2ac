//! Plants secrets in sessions, and texts that only look like secrets.
//!
//! No file of the repository contains a whole fake credential: they are expanded from the templates of the detectors.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rethread_core::secrets::DETECTORS;
use serde_json::{Value, json};

/// A generator of numbers, equal for equal seeds.
#[derive(Debug, Clone)]
pub struct SecretRng(u64);

impl SecretRng {
    /// Creates a generator.
    pub fn new(seed: u64) -> SecretRng {
        SecretRng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    /// Returns `len` characters of a class of the templates.
    pub fn text(&mut self, len: usize, class: char) -> String {
        const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
        const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        const DIGITS: &str = "0123456789";
        let alphabet: String = match class {
            'w' => [UPPER, LOWER, DIGITS].concat(),
            'u' => [UPPER, LOWER, DIGITS, "_-"].concat(),
            'a' => [LOWER, DIGITS].concat(),
            'A' => [UPPER, DIGITS].concat(),
            'B' => [UPPER, "234567"].concat(),
            'b' => [UPPER, LOWER, DIGITS, "+/"].concat(),
            'x' => [DIGITS, "abcdef"].concat(),
            'X' => [DIGITS, "ABCDEF"].concat(),
            'l' => LOWER.to_owned(),
            _ => DIGITS.to_owned(),
        };
        let alphabet = alphabet.as_bytes();
        (0..len).map(|_| char::from(alphabet[self.below(alphabet.len())])).collect()
    }

    fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len())]
    }
}

/// A secret with the text around it, as it is written in a file of its kind.
#[derive(Debug, Clone)]
pub struct PlantedSecret {
    /// The name of its kind.
    pub kind: &'static str,
    /// The text with the secret.
    pub text: String,
    /// The random parts of the secret. None of them may remain.
    pub parts: Vec<String>,
}

/// Expands the template of a detector.
pub fn expand_template(kind: &'static str, template: &str, rng: &mut SecretRng) -> PlantedSecret {
    let mut planted = PlantedSecret { kind, text: String::new(), parts: Vec::new() };
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('<') {
        planted.text.push_str(before);
        let (field, after) = after.split_once('>').expect("a closed field");
        let part = match field {
            "crc" => checksum(planted.parts.last().expect("a checksum follows random characters")),
            "basic" => {
                let password = format!("{}!{}", rng.text(6, 'w'), rng.text(6, 'w'));
                STANDARD.encode(format!("service:{password}"))
            }
            "header" => STANDARD.encode(format!("Authorization: Bearer {}", rng.text(40, 'w'))),
            _ => {
                let (len, class) = field.split_at(field.len() - 1);
                rng.text(len.parse().expect("a length"), class.chars().next().expect("a class"))
            }
        };
        planted.text.push_str(&part);
        planted.parts.push(part);
        rest = after;
    }
    planted.text.push_str(rest);
    planted
}

/// Returns the checksum with which GitHub and npm end their tokens.
fn checksum(random: &str) -> String {
    const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut crc = u32::MAX;
    for byte in random.bytes() {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    let mut rest = !crc as usize;
    let mut digits = [b'0'; 6];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[rest % 62];
        rest /= 62;
    }
    digits.iter().map(|&digit| char::from(digit)).collect()
}

/// Returns `count` secrets, of all kinds in turn.
pub fn plant_secrets(count: usize, seed: u64) -> Vec<PlantedSecret> {
    let mut rng = SecretRng::new(seed);
    let kinds = DETECTORS.iter().cycle();
    kinds.take(count).map(|detector| expand_template(detector.name, detector.example, &mut rng)).collect()
}

/// The ways in which [`write_line`] writes a text into a session file.
pub const LINE_FORMS: usize = 22;

/// Writes a line of a session file that contains a text in one of [`LINE_FORMS`] ways.
pub fn write_line(text: &str, form: usize) -> String {
    let quote = |text: &str| Value::from(text).to_string();
    let user =
        |content: Value| json!({"type":"user","uuid":"u1","message":{"role":"user","content":content}});
    let answer = |block: Value| json!({"type":"assistant","uuid":"a1","message":{"id":"m1","role":"assistant","content":[block]}});
    let call =
        |name: &str, input: Value| answer(json!({"type":"tool_use","id":"i1","name":name,"input":input}));
    let result = |content: Value| user(json!([{"type":"tool_result","tool_use_id":"i1","content":content}]));
    let line = match form % LINE_FORMS {
        0 => user(json!(format!("please use {text} for the tests"))),
        1 => answer(json!({"type":"text","text":format!("I wrote\n\n```\n{text}\n```\n")})),
        2 => call("Bash", json!({"command":format!("export X='1'\n{text}\nrun")})),
        3 => call(
            "Edit",
            json!({"file_path":"/w/a","old_string":format!("before\n{text}"),"new_string":format!("{text}\nafter")}),
        ),
        4 => call("Write", json!({"file_path":"/w/.env","content":format!("A=1\n{text}\nB=2\n")})),
        5 => result(json!(format!("1\u{2192}first\n2\u{2192}{text}\n3\u{2192}last"))),
        6 => result(json!([{"type":"text","text":format!("\u{1b}[32m{text}\u{1b}[0m")}])),
        7 => result(json!(json!({"output": text}).to_string())),
        8 => result(json!(json!({"body": json!({"inner": text}).to_string()}).to_string())),
        9 => {
            let inner = quote(&format!("x\n{text}"));
            result(json!(json!({"body": json!({"inner": inner}).to_string()}).to_string()))
        }
        10 => {
            json!({"type":"user","uuid":"u1","toolUseResult":{"stdout":format!("{text}\n"),"stderr":""},"message":{"role":"user","content":"x"}})
        }
        11 => json!({"type":"summary","summary":text,"leafUuid":"u1"}),
        12 => json!({"type":"custom-title","customTitle":format!("Fix {text}"),"sessionId":"s1"}),
        13 => {
            json!({"type":"user","uuid":"u1","cwd":format!("/w/{text}"),"message":{"role":"user","content":"x"}})
        }
        14 => {
            json!({"type":"file-history-snapshot","messageId":"u1","snapshot":{"trackedFileBackups":{format!("/w/{text}"):{"backupFileName":"b@v1"}}}})
        }
        15 => json!({"type":"queue-operation","operation":"enqueue","content":format!("{text} and go on")}),
        16 => json!({"type":"last-prompt","lastPrompt":text,"sessionId":"s1"}),
        17 => answer(
            json!({"type":"thinking","thinking":format!("The value is {text} here."),"signature":"EqQBCkgIARABGAIiQJ"}),
        ),
        18 => call(
            "WebFetch",
            json!({"url":format!("https://h.net/cb?state=1&data={}&z=2", percent_encode(text)),"prompt":"x"}),
        ),
        19 => {
            json!({"type":"attachment","uuid":"t1","attachment":{"type":"file","content":{"file":{"content":format!("{text}\n")}}}})
        }
        20 => {
            let escape = |c: char| match c {
                '-' | '_' => c.to_string(),
                c if c.is_ascii_punctuation() => format!("\\u{:04x}", c as u32),
                c => quote(&c.to_string()).trim_matches('"').to_owned(),
            };
            let escaped: String = text.chars().map(escape).collect();
            return format!(
                "{{\"type\":\"user\",\"uuid\":\"u1\",\"message\":{{\"role\":\"user\",\"content\":\"say {escaped} now\"}}}}"
            );
        }
        _ => result(json!(format!("diff --git a/x b/x\n-old\n+{text}\n"))),
    };
    line.to_string()
}

/// Encodes all characters but letters and digits for an address.
pub fn percent_encode(text: &str) -> String {
    let encode = |byte: u8| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    text.bytes().map(encode).collect()
}

/// The number of different look-alikes.
pub const LOOK_ALIKES: usize = 46;

/// Returns texts that look like secrets: hashes, ids, lock files, minified code, fixtures.
pub fn look_alikes(count: usize, seed: u64) -> Vec<String> {
    let mut rng = SecretRng::new(seed);
    (0..count).map(|number| look_alike(number, &mut rng)).collect()
}

fn uuid(rng: &mut SecretRng) -> String {
    format!(
        "{}-{}-4{}-a{}-{}",
        rng.text(8, 'x'),
        rng.text(4, 'x'),
        rng.text(3, 'x'),
        rng.text(3, 'x'),
        rng.text(12, 'x')
    )
}

fn look_alike(number: usize, rng: &mut SecretRng) -> String {
    let word = rng
        .pick(&["user", "session", "auth", "login", "client", "order", "cache", "github", "build"])
        .to_owned();
    let title = format!("{}{}", word[..1].to_uppercase(), &word[1..]);
    let upper = word.to_uppercase();
    match number % LOOK_ALIKES {
        0 => format!("commit {}\nAuthor: A <a@b.c>", rng.text(40, 'x')),
        1 => format!("{} fix: check the {word} token", rng.text(7, 'x')),
        2 => format!("index {}..{} 100644", rng.text(10, 'x'), rng.text(10, 'x')),
        3 => format!("{word}_id: {}", uuid(rng)),
        4 => format!("\"integrity\": \"sha512-{}==\"", rng.text(86, 'b')),
        5 => format!("checksum = \"{}\"", rng.text(64, 'x')),
        6 => format!(
            "resolved \"https://registry.yarnpkg.com/{word}/-/{word}-1.2.3.tgz#{}\"",
            rng.text(40, 'x')
        ),
        7 => format!("github.com/a/{word} v1.2.3 h1:{}=", rng.text(43, 'b')),
        8 => format!(
            "function {}(e,t){{var n={}(t),r=n.token||e.secret;return {}[\"{}\"](r)}}",
            rng.text(2, 'l'),
            rng.text(2, 'l'),
            rng.text(2, 'l'),
            rng.text(8, 'w')
        ),
        9 => format!("data:image/png;base64,{}", rng.text(400, 'b')),
        10 => format!("\"signature\":\"{}==\"", rng.text(300, 'b')),
        11 => format!("{upper}_API_KEY=your-{word}-api-key-here"),
        12 => format!("{upper}_TOKEN=${{{upper}_TOKEN}}"),
        13 => format!("const {word}Token = await get{title}Token(user.id);"),
        14 => format!("password: process.env.{upper}_PASSWORD,"),
        15 => format!("api_key=os.environ[\"{upper}_API_KEY\"]"),
        16 => format!("secretKeyRef:\n  name: {word}-credentials\n  key: {word}-password"),
        17 => format!("\"password\": \"The {word} password must have at least 12 characters\""),
        18 => format!("\"{word}.passwordReset.tokenExpired\": \"errors.{word}.token_expired2\""),
        19 => format!("image: ghcr.io/a/{word}@sha256:{}", rng.text(64, 'x')),
        20 => {
            format!("\"input_tokens\":{},\"cache_read_input_tokens\":{}", rng.text(5, 'd'), rng.text(6, 'd'))
        }
        21 => format!("toolu_01{}", rng.text(22, 'w')),
        22 => format!("\"requestId\":\"req_011C{}\"", rng.text(20, 'w')),
        23 => format!("/nix/store/{}-{word}-1.2.3/bin/{word}", rng.text(32, 'a')),
        24 => format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{} a@b", rng.text(43, 'b')),
        25 => format!(
            "-----BEGIN CERTIFICATE-----\n{}\n{}\n-----END CERTIFICATE-----",
            rng.text(64, 'b'),
            rng.text(64, 'b')
        ),
        26 => format!("https://{word}.net:8443/@scope/{}", rng.text(20, 'a')),
        27 => format!("postgres://postgres:postgres@localhost:5432/{word}"),
        28 => format!("nextPageToken: {}", rng.text(40, 'w')),
        29 => format!("csrfToken={}", rng.text(32, 'w')),
        30 => format!(
            "token: \"{}\"",
            rng.pick(&[
                "test-token",
                "invalid",
                "your-token",
                "<token>",
                "abc123",
                "xxxxxxxxxxxxxxxxxxxx",
                "fake-token-1234567890"
            ])
        ),
        31 => format!(
            "password = \"{}\"",
            rng.pick(&[
                "changeme",
                "password123",
                "secret",
                "test1234",
                "********",
                "hunter2",
                "example-password-1"
            ])
        ),
        32 => format!("aws_access_key_id = AKIA{}EXAMPLE", rng.text(9, 'B')),
        33 => "Authorization: Bearer <your-access-token>".to_owned(),
        34 => format!("if (token === '{word}' && password !== '') {{ return {word}Secret }}"),
        35 => format!(".{word}_{} {{ color: #{} }}", rng.text(10, 'w'), rng.text(6, 'x')),
        36 => format!("mappings: \"AAAA,SAAS,{};{}\"", rng.text(30, 'w'), rng.text(30, 'w')),
        37 => format!("ETag: W/\"{}\"", rng.text(32, 'x')),
        38 => format!("ghp_{}", "x".repeat(36)),
        39 => format!("sk-{word}-{}-{}", rng.text(4, 'l'), rng.text(5, 'l')),
        40 => format!("fn verify_{word}_token(token: &str, secret: &{title}Secret) -> Result<{title}Token2>"),
        41 => {
            format!("pattern_{}/task-{}-us/risk-{}", rng.text(6, 'a'), rng.text(12, 'a'), rng.text(16, 'a'))
        }
        42 => format!("msg_01{} chatcmpl-{}", rng.text(22, 'w'), rng.text(29, 'w')),
        43 => format!("public_key: \"{}=\"", rng.text(43, 'b')),
        44 => format!("key: {word}-{}.{}", rng.text(8, 'l'), rng.pick(&["yaml", "json", "txt"])),
        _ => format!(
            "password_hash = \"{}\", token_type = \"bearer\", secret_name = \"prod/{word}/db\"",
            rng.text(40, 'x')
        ),
    }
}
