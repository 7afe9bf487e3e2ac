use rethread_engine::core::turn::{Result, ToolCall};

use super::tools::{Around, body, gist, is_long};

#[test]
fn calls_of_any_tool_are_drawn_as_text() {
    let hostile = "<script>alert(1)</script>";
    let around = Around { folder: "/home/me", noted: None, picture: &|_, _, _| None };
    for name in ["Bash", "Edit", "Read", "no such tool", hostile] {
        for input in ["{}", "", "{\"command\":\"<script>\",\"file_path\":\"<script>\"}", hostile] {
            let result = Some(Result { text: hostile.to_owned(), ..Result::default() });
            let call =
                ToolCall { name: name.to_owned(), input: input.to_owned(), result, ..ToolCall::default() };
            let drawn = gist(&call, &around).into_string() + &body(&call, &around).into_string();
            assert!(!drawn.contains("<script"), "{drawn}");
            assert!(!is_long(&call));
        }
    }
}
