//! Finds all places of a source file at which a fault can be planted: in bodies of functions, outside of tests, constants
//! and macros.

use std::ops::Range;

use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Attribute, BinOp, Block, Expr, Lit, ReturnType, Signature, Stmt, Type};

use crate::fault::{Change, Fault};

/// Methods that are replaced by each other.
const SWAPPED_METHODS: &[(&str, &str)] = &[
    ("first", "last"),
    ("min", "max"),
    ("min_by_key", "max_by_key"),
    ("position", "rposition"),
    ("any", "all"),
    ("is_some", "is_none"),
    ("is_ok", "is_err"),
    ("starts_with", "ends_with"),
    ("saturating_add", "saturating_sub"),
];

/// Returns all faults that can be planted into a file. Returns an error if it is not Rust.
pub fn find_faults(path: &str, source: &str) -> Result<Vec<Fault>, syn::Error> {
    let file = syn::parse_file(source)?;
    let mut finder =
        FaultFinder { path, source, owner: String::new(), functions: Vec::new(), faults: Vec::new() };
    finder.visit_file(&file);
    Ok(finder.faults)
}

struct FaultFinder<'s> {
    path: &'s str,
    source: &'s str,
    /// The type of the current `impl`, with `::`. Empty outside of one.
    owner: String,
    /// The names and byte ranges of the functions that contain the current place, outermost first.
    functions: Vec<(String, Range<usize>)>,
    faults: Vec<Fault>,
}

impl FaultFinder<'_> {
    fn text(&self, span: Span) -> &str {
        &self.source[span.byte_range()]
    }

    /// Adds a fault at a place, unless the place is outside of functions.
    fn add(&mut self, kind: &'static str, span: Span, change: Change) {
        self.add_at(kind, span, span.byte_range(), change);
    }

    /// Adds a fault that replaces the bytes of `range`. `span` is the position that results name.
    fn add_at(&mut self, kind: &'static str, span: Span, range: Range<usize>, change: Change) {
        let Some((function, function_range)) = self.functions.last().cloned() else { return };
        let (line, column) = (span.start().line, span.start().column + 1);
        let path = self.path.to_owned();
        self.faults.push(Fault { path, line, column, function, kind, range, function_range, change });
    }

    fn add_negation(&mut self, condition: &Expr) {
        if !has_let(condition) {
            let mutated = format!("!({})", self.text(condition.span()));
            self.add("negate", condition.span(), Change::Replace(mutated));
        }
    }

    /// Visits the body of a function, and adds the faults that return at once.
    fn visit_function(&mut self, signature: &Signature, block: &Block) {
        if signature.constness.is_some() {
            return;
        }
        let name = format!("{}{}", self.owner, signature.ident);
        self.functions.push((name, block.span().byte_range()));
        if !block.stmts.is_empty() && signature.ident != "default" {
            let start = block.brace_token.span.open().byte_range().end;
            for value in list_default_values(&signature.output) {
                let kind = match &*value {
                    "true" => "return true",
                    "false" => "return false",
                    _ => "return",
                };
                self.add_at(kind, signature.ident.span(), start..start, Change::Return(value));
            }
        }
        self.visit_block(block);
        self.functions.pop();
    }
}

/// Returns the values that a function with this return type can return at once.
fn list_default_values(output: &ReturnType) -> Vec<String> {
    let ReturnType::Type(_, output) = output else { return vec![String::new()] };
    match &**output {
        Type::Tuple(tuple) if tuple.elems.is_empty() => vec![String::new()],
        Type::Path(path) => {
            match path.path.segments.last().map(|segment| segment.ident.to_string()).as_deref() {
                Some("bool") => vec!["true".to_owned(), "false".to_owned()],
                Some("Result") => vec!["Ok(Default::default())".to_owned()],
                _ => vec!["Default::default()".to_owned()],
            }
        }
        Type::Tuple(_) | Type::Reference(_) => vec!["Default::default()".to_owned()],
        _ => Vec::new(),
    }
}

/// Returns `true` if a condition contains `let` outside of nested blocks and closures.
fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        Expr::Paren(paren) => has_let(&paren.expr),
        _ => false,
    }
}

/// Returns `true` if attributes belong to test code.
fn is_test_code(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string().contains("test"))
    })
}

/// Returns the operator that replaces another one, and the kind of the fault.
fn swap_operator(operator: &BinOp) -> Option<(&'static str, &'static str)> {
    Some(match operator {
        BinOp::Lt(_) => ("boundary", "<="),
        BinOp::Le(_) => ("boundary", "<"),
        BinOp::Gt(_) => ("boundary", ">="),
        BinOp::Ge(_) => ("boundary", ">"),
        BinOp::Eq(_) => ("equality", "!="),
        BinOp::Ne(_) => ("equality", "=="),
        BinOp::Add(_) => ("arithmetic", "-"),
        BinOp::Sub(_) => ("arithmetic", "+"),
        BinOp::AddAssign(_) => ("arithmetic", "-="),
        BinOp::SubAssign(_) => ("arithmetic", "+="),
        BinOp::BitOrAssign(_) | BinOp::BitAndAssign(_) => ("arithmetic", "="),
        BinOp::And(_) => ("logic", "||"),
        BinOp::Or(_) => ("logic", "&&"),
        _ => return None,
    })
}

impl<'ast> Visit<'ast> for FaultFinder<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if !is_test_code(&function.attrs) {
            self.visit_function(&function.sig, &function.block);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_test_code(&function.attrs) {
            self.visit_function(&function.sig, &function.block);
        }
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.visit_function(&function.sig, block);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test_code(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let is_debug = item.trait_.as_ref().is_some_and(|(_, path, _)| path.is_ident("Debug"));
        if is_test_code(&item.attrs) || is_debug {
            return;
        }
        let type_name = match &*item.self_ty {
            Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
            _ => None,
        };
        let owner = type_name.map(|name| format!("{name}::")).unwrap_or_default();
        let outer = std::mem::replace(&mut self.owner, owner);
        visit::visit_item_impl(self, item);
        self.owner = outer;
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        if let Stmt::Expr(Expr::MethodCall(_) | Expr::Assign(_), Some(_)) = statement {
            self.add("drop", statement.span(), Change::Drop);
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr_if(&mut self, expression: &'ast syn::ExprIf) {
        self.add_negation(&expression.cond);
        visit::visit_expr_if(self, expression);
    }

    fn visit_expr_while(&mut self, expression: &'ast syn::ExprWhile) {
        self.add_negation(&expression.cond);
        visit::visit_expr_while(self, expression);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if let Some((_, guard)) = &arm.guard {
            self.add_negation(guard);
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr_binary(&mut self, expression: &'ast syn::ExprBinary) {
        let has_let = has_let(&expression.left) || has_let(&expression.right);
        if let Some((kind, operator)) = swap_operator(&expression.op).filter(|_| !has_let) {
            let (left, right) = (self.text(expression.left.span()), self.text(expression.right.span()));
            let mutated = format!("{left} {operator} {right}");
            let range = expression.span().byte_range();
            self.add_at(kind, expression.op.span(), range, Change::Replace(mutated));
        }
        visit::visit_expr_binary(self, expression);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let name = call.method.to_string();
        let swapped = SWAPPED_METHODS.iter().find_map(|&(one, other)| match &*name {
            name if name == one => Some(other),
            name if name == other => Some(one),
            _ => None,
        });
        if let Some(swapped) = swapped {
            let (range, method) = (call.span().byte_range(), call.method.span().byte_range());
            let (before, after) =
                (&self.source[range.start..method.start], &self.source[method.end..range.end]);
            let mutated = format!("{before}{swapped}{after}");
            self.add_at("method", call.method.span(), range, Change::Replace(mutated));
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_lit(&mut self, literal: &'ast syn::ExprLit) {
        let mutated = match &literal.lit {
            Lit::Bool(value) => Some((!value.value).to_string()),
            Lit::Int(value) => value.base10_parse::<u128>().ok().map(|number| {
                let is_down = number > 0 && literal.span().start().line.is_multiple_of(2);
                let neighbour = if is_down { number - 1 } else { number + 1 };
                format!("{neighbour}{}", value.suffix())
            }),
            Lit::Float(value) => Some(format!("({} + 1.0)", self.text(value.span()))),
            _ => None,
        };
        if let Some(mutated) = mutated {
            self.add("constant", literal.span(), Change::Replace(mutated));
        }
    }

    // The length of an array is a constant.
    fn visit_expr_repeat(&mut self, expression: &'ast syn::ExprRepeat) {
        self.visit_expr(&expression.expr);
    }

    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_path(&mut self, _: &'ast syn::Path) {}
    fn visit_angle_bracketed_generic_arguments(&mut self, _: &'ast syn::AngleBracketedGenericArguments) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_macro(&mut self, _: &'ast syn::Macro) {}
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
}

#[cfg(test)]
mod tests {
    use super::find_faults;

    /// Returns the faults as `kind: description`.
    fn describe(source: &str) -> Vec<String> {
        let faults = find_faults("a.rs", source).expect("Rust");
        faults
            .iter()
            .map(|fault| format!("{}: {}", fault.kind, fault.describe(&source[fault.range.clone()])))
            .collect()
    }

    #[test]
    fn every_kind_of_fault_is_found_in_a_body() {
        let source = "fn f(ä: &mut Vec<u32>) -> usize { let ö = \"ü\"; if ä.len() > 3 && ö.is_empty() { ä.clear(); } ä.first(); 1 }";
        assert_eq!(
            describe(source),
            [
                "return: returns `Default::default()` at once",
                "negate: `ä.len() > 3 && ö.is_empty()` -> `!(ä.len() > 3 && ö.is_empty())`",
                "logic: `ä.len() > 3 && ö.is_empty()` -> `ä.len() > 3 || ö.is_empty()`",
                "boundary: `ä.len() > 3` -> `ä.len() >= 3`",
                "constant: `3` -> `4`",
                "drop: without `ä.clear();`",
                "drop: without `ä.first();`",
                "method: `ä.first()` -> `ä.last()`",
                "constant: `1` -> `2`",
            ]
        );
    }

    #[test]
    fn constants_tests_macros_and_let_chains_are_left_alone() {
        let source = "
            const A: u32 = 1;
            static B: [u8; 2] = [0; 2];
            const fn c() -> u32 { 1 }
            #[cfg(test)] mod tests { fn d() { e(1) } }
            #[test] fn g() { e(1) }
            fn h(x: [u8; 3]) { assert!(1 < 2); let _ = [x; C]; if let [0] = x { } }
        ";
        assert_eq!(describe(source), ["return: returns nothing at once"]);
        let source = "fn f() -> bool { if a && let Some(b) = c { d } }";
        assert_eq!(
            describe(source),
            ["return true: returns `true` at once", "return false: returns `false` at once"]
        );
    }
}
