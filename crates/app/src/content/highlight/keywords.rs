//! The keywords and built-in types of each language. Every list is sorted: it is searched by bisection.

/// Splits a string into a list of words at compile time.
macro_rules! words {
    ($words:literal) => {{
        const LIST: [&str; count_words($words)] = split_words($words);
        &LIST
    }};
}

/// Counts the words of a string that are separated by single spaces.
const fn count_words(text: &str) -> usize {
    let (mut count, mut at) = (1, 0);
    while at < text.len() {
        count += (text.as_bytes()[at] == b' ') as usize;
        at += 1;
    }
    count
}

/// Splits a string at its spaces. `N` must be the number of words.
const fn split_words<const N: usize>(text: &'static str) -> [&'static str; N] {
    let mut list = [""; N];
    let (mut rest, mut at, mut idx) = (text, 0, 0);
    while at < rest.len() {
        if rest.as_bytes()[at] == b' ' {
            list[idx] = rest.split_at(at).0;
            rest = rest.split_at(at + 1).1;
            idx += 1;
            at = 0;
        } else {
            at += 1;
        }
    }
    list[idx] = rest;
    list
}

/// Keywords of Rust.
pub(super) const RUST: &[&str] = words!(
    "as async await break const continue crate dyn else enum extern false fn for if impl in let loop \
     macro_rules match mod move mut pub ref return self static struct super trait true type union unsafe \
     use where while yield"
);

/// Built-in types of Rust.
pub(super) const RUST_TYPES: &[&str] =
    words!("bool char f32 f64 i128 i16 i32 i64 i8 isize str u128 u16 u32 u64 u8 usize");

/// Keywords of Python.
pub(super) const PYTHON: &[&str] = words!(
    "False None True and as assert async await break case class cls continue def del elif else except \
     finally for from global if import in is lambda match nonlocal not or pass raise return self try \
     while with yield"
);

/// Built-in types of Python.
pub(super) const PYTHON_TYPES: &[&str] =
    words!("bool bytes complex dict float frozenset int list object set str tuple type");

/// Keywords of JavaScript.
pub(super) const JAVASCRIPT: &[&str] = words!(
    "abstract as asserts async await break case catch class const continue debugger declare default \
     delete do else enum export extends false finally for from function get if implements import in infer \
     instanceof interface is keyof let namespace new null of override private protected public readonly \
     return satisfies set static super switch this throw true try type typeof undefined var void while \
     with yield"
);

/// Built-in types of JavaScript.
pub(super) const JAVASCRIPT_TYPES: &[&str] =
    words!("any bigint boolean never number object string symbol unknown");

/// Keywords of Go.
pub(super) const GO: &[&str] = words!(
    "break case chan const continue default defer else fallthrough false for func go goto if import \
     interface iota map nil package range return select struct switch true type var"
);

/// Built-in types of Go.
pub(super) const GO_TYPES: &[&str] = words!(
    "any bool byte comparable complex128 complex64 error float32 float64 int int16 int32 int64 int8 rune \
     string uint uint16 uint32 uint64 uint8 uintptr"
);

/// Keywords of Java.
pub(super) const JAVA: &[&str] = words!(
    "abstract assert break case catch class const continue default do else enum extends false final \
     finally for goto if implements import instanceof interface native new non-sealed null package \
     permits private protected public record return sealed static strictfp super switch synchronized this \
     throw throws transient true try var void volatile while yield"
);

/// Built-in types of Java.
pub(super) const JAVA_TYPES: &[&str] = words!("boolean byte char double float int long short");

/// Keywords of Kotlin.
pub(super) const KOTLIN: &[&str] = words!(
    "abstract actual as break by catch class companion const constructor continue crossinline data do \
     else enum expect false final finally for fun get if import in infix init inline inner interface \
     internal is it lateinit noinline null object open operator out override package private protected \
     public reified return sealed set super suspend tailrec this throw true try typealias val value var \
     vararg when where while"
);

/// Keywords of C.
pub(super) const C: &[&str] = words!(
    "NULL alignas alignof auto bool break case catch char8_t class co_await co_return co_yield concept \
     const const_cast consteval constexpr constinit continue decltype default delete do dynamic_cast else \
     enum explicit export extern false final for friend goto if inline mutable namespace new noexcept \
     nullptr operator override private protected public register reinterpret_cast requires restrict \
     return sizeof static static_assert static_cast struct switch template this thread_local throw true \
     try typedef typeid typename union using virtual volatile while"
);

/// Built-in types of C.
pub(super) const C_TYPES: &[&str] = words!(
    "char char16_t char32_t double float int int16_t int32_t int64_t int8_t long ptrdiff_t short signed \
     size_t ssize_t uint16_t uint32_t uint64_t uint8_t uintptr_t unsigned void wchar_t"
);

/// Keywords of C#.
pub(super) const CSHARP: &[&str] = words!(
    "abstract as async await base break case catch checked class const continue default delegate do else \
     enum event explicit extern false finally fixed for foreach from get global goto if implicit in init \
     interface internal is join let lock namespace new null operator orderby out override params partial \
     private protected public readonly record ref required return sealed select set sizeof stackalloc \
     static struct switch this throw true try typeof unchecked unsafe using value var virtual void \
     volatile when where while with yield"
);

/// Built-in types of C#.
pub(super) const CSHARP_TYPES: &[&str] = words!(
    "bool byte char decimal double dynamic float int long nint object sbyte short string uint ulong \
     ushort"
);

/// Keywords of Swift.
pub(super) const SWIFT: &[&str] = words!(
    "Self actor any as associatedtype async await break case catch class continue convenience default \
     defer deinit didSet do else enum extension fallthrough false fileprivate final for func get guard if \
     import in indirect init inout internal is lazy let mutating nil nonisolated open operator override \
     private protocol public repeat required rethrows return self set some static struct subscript super \
     switch throw throws true try typealias unowned var weak where while willSet"
);

/// Keywords of Ruby.
pub(super) const RUBY: &[&str] = words!(
    "alias and attr_accessor attr_reader attr_writer begin break case class def defined? do else elsif \
     end ensure extend false for if in include module next nil not or private protected public raise redo \
     require require_relative rescue retry return self super then true undef unless until when while \
     yield"
);

/// Keywords of PHP.
pub(super) const PHP: &[&str] = words!(
    "abstract and array as break callable case catch class clone const continue declare default do echo \
     else elseif empty enum extends false final finally fn for foreach function global if implements \
     include include_once instanceof interface isset match namespace new null or parent print private \
     protected public readonly require require_once return self static switch this throw trait true try \
     unset use var while yield"
);

/// Built-in types of PHP.
pub(super) const PHP_TYPES: &[&str] = words!("bool float int iterable mixed never object string void");

/// Keywords of Lua.
pub(super) const LUA: &[&str] = words!(
    "and break do else elseif end false for function goto if in local nil not or repeat return self then \
     true until while"
);

/// Keywords of SQL.
pub(super) const SQL: &[&str] = words!(
    "add all alter and as asc begin between by cascade case check collate column commit conflict \
     constraint create cross database default delete desc distinct do drop else end except exists explain \
     false foreign from full function grant group having if ilike in index inner insert intersect into is \
     join key left like limit not null offset on or order outer over partition primary procedure \
     references replace returning revoke right rollback select set table then transaction trigger true \
     truncate union unique update using values view when where window with"
);

/// Built-in types of SQL.
pub(super) const SQL_TYPES: &[&str] = words!(
    "bigint blob boolean bytea char date decimal double float int integer json jsonb numeric real serial \
     smallint text time timestamp timestamptz uuid varchar"
);

/// Keywords of shells.
pub(super) const SHELL: &[&str] = words!(
    "break case continue declare do done elif else esac eval exec exit export fi for function if in local \
     readonly return select set shift source then trap unset until while"
);

/// Keywords of PowerShell.
pub(super) const POWERSHELL: &[&str] = words!(
    "begin break catch class continue data do dynamicparam else elseif end enum exit filter finally for \
     foreach from function if in param process return switch throw trap try until using while"
);

/// Instructions of Dockerfiles.
pub(super) const DOCKER: &[&str] = words!(
    "ADD ARG AS CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL ONBUILD RUN SHELL STOPSIGNAL USER \
     VOLUME WORKDIR"
);

/// Directives of makefiles.
pub(super) const MAKE: &[&str] =
    words!("define else endef endif export if ifdef ifeq ifndef ifneq include override unexport vpath");

/// Keywords of CSS.
pub(super) const CSS: &[&str] = words!("and from important not only or to");

/// Keywords of JSON.
pub(super) const JSON: &[&str] = words!("false null true");

/// Keywords of TOML.
pub(super) const TOML: &[&str] = words!("false inf nan no off on true yes");

/// Keywords of Elixir.
pub(super) const ELIXIR: &[&str] = words!(
    "after alias and case catch cond def defdelegate defexception defimpl defmacro defmacrop defmodule \
     defp defprotocol defstruct do else end false fn for if import in nil not or quote raise receive \
     require rescue true try unless unquote use when with"
);

/// Keywords of Haskell.
pub(super) const HASKELL: &[&str] = words!(
    "as case class data default deriving do else family forall foreign hiding if import in infix infixl \
     infixr instance let mdo module newtype of proc qualified rec then type where"
);

/// Keywords of Scala.
pub(super) const SCALA: &[&str] = words!(
    "abstract as case catch class def derives do else end enum export extends extension false final \
     finally for forSome given if implicit import inline lazy match new null object opaque override \
     package private protected return sealed super then this throw trait transparent true try type using \
     val var while with yield"
);

/// Keywords of R.
pub(super) const R: &[&str] = words!(
    "FALSE Inf NA NULL NaN TRUE break else for function if in library next repeat require return while"
);

/// Keywords of Dart.
pub(super) const DART: &[&str] = words!(
    "abstract as assert async await base break case catch class const continue covariant default deferred \
     do dynamic else enum export extends extension external factory false final finally for get hide if \
     implements import in interface is late library mixin new null on operator part required rethrow \
     return sealed set show static super switch sync this throw true try typedef var void when while with \
     yield"
);

/// Built-in types of Dart.
pub(super) const DART_TYPES: &[&str] = words!("bool double int num");

/// Keywords of Zig.
pub(super) const ZIG: &[&str] = words!(
    "addrspace align allowzero and anyframe anytype asm async await break callconv catch comptime const \
     continue defer else enum errdefer error export extern false fn for if inline linksection noalias \
     noinline nosuspend null opaque or orelse packed pub resume return struct suspend switch test \
     threadlocal true try undefined union unreachable usingnamespace var volatile while"
);

/// Built-in types of Zig.
pub(super) const ZIG_TYPES: &[&str] = words!(
    "anyerror anyopaque bool comptime_float comptime_int f16 f32 f64 i16 i32 i64 i8 isize noreturn type \
     u16 u32 u64 u8 usize void"
);
