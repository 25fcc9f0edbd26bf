//! Checks that the modules of a crate do not import each other in a circle.
//!
//! A module here is a direct child of the crate's root, with all modules below it. Test modules are not read.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    str::FromStr,
};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// For each module, the modules that it imports from, each with one imported path.
type Imports = BTreeMap<String, BTreeMap<String, String>>;

/// The modules that a root file declares, and what the root re-exports from them.
struct Root {
    /// The path of the root module within its crate.
    path: Vec<String>,
    modules: BTreeSet<String>,
    re_exports: BTreeMap<String, String>,
}

impl Root {
    fn read(path: &[&str], tokens: &TokenStream) -> Self {
        let modules: BTreeSet<_> = modules_of(tokens).into_iter().map(|module| module.name).collect();
        let mut re_exports = BTreeMap::new();
        for path in paths(tokens) {
            let path: Vec<_> =
                path.into_iter().filter(|part| !["crate", "self"].contains(&part.as_str())).collect();
            if let [module, .., name] = path.as_slice()
                && modules.contains(module)
            {
                re_exports.insert(name.clone(), module.clone());
            }
        }
        Self { path: path.iter().map(|&part| part.to_owned()).collect(), modules, re_exports }
    }

    /// The child of the root that a path leads to, when the path is written in the module `within`.
    fn module_of(&self, within: &[String], path: &[String]) -> Option<&String> {
        let mut absolute = match path.first()?.as_str() {
            "crate" => Vec::new(),
            "self" | "super" => within.to_vec(),
            _ => return None,
        };
        for part in path {
            match part.as_str() {
                "crate" | "self" => {}
                "super" => drop(absolute.pop()),
                name => absolute.push(name.to_owned()),
            }
        }
        let name = absolute.strip_prefix(self.path.as_slice())?.first()?;
        self.modules.get(name).or_else(|| self.re_exports.get(name))
    }
}

struct Module {
    name: String,
    file: Option<String>,
    content: Option<TokenStream>,
}

/// The modules that a file or module declares, without those for tests.
fn modules_of(tokens: &TokenStream) -> Vec<Module> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut found = Vec::new();
    let mut attributes = String::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                attributes += &group.to_string();
            }
            TokenTree::Ident(word) if word == "mod" => {
                let Some(TokenTree::Ident(name)) = tokens.get(at + 1) else { continue };
                let content = match tokens.get(at + 2) {
                    Some(TokenTree::Group(group)) => Some(group.stream()),
                    _ => None,
                };
                if !attributes.contains("cfg (test)") && !attributes.contains("cfg(test)") {
                    let file = attributes.split_once("path = \"").and_then(|(_, rest)| rest.split_once('"'));
                    let file = file.map(|(file, _)| file.to_owned());
                    found.push(Module { name: name.to_string(), file, content });
                }
            }
            TokenTree::Punct(mark) if mark.as_char() == ';' => attributes.clear(),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => attributes.clear(),
            _ => {}
        }
    }
    found
}

/// Every path of at least two identifiers, in code, imports and macros. A path in a nested import has its whole prefix.
fn paths(tokens: &TokenStream) -> Vec<Vec<String>> {
    let mut found = parts(tokens);
    found.retain(|path| path.len() > 1);
    found
}

/// As [`paths`], also with single identifiers.
fn parts(tokens: &TokenStream) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut path: Vec<String> = Vec::new();
    let mut colons = 0;
    for token in tokens.clone() {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
            TokenTree::Ident(word) => {
                if colons != 2 {
                    found.push(std::mem::take(&mut path));
                }
                path.push(word.to_string());
                colons = 0;
            }
            TokenTree::Group(group) => {
                let continues = colons == 2 && group.delimiter() == Delimiter::Brace;
                let prefix = if continues { std::mem::take(&mut path) } else { Vec::new() };
                for inner in parts(&group.stream()) {
                    found.push(prefix.iter().cloned().chain(inner).collect());
                }
                found.push(std::mem::take(&mut path));
                colons = 0;
            }
            _ => {
                found.push(std::mem::take(&mut path));
                colons = 0;
            }
        }
    }
    found.push(path);
    found.retain(|path| !path.is_empty());
    found
}

/// The tokens of a module without the modules in it.
fn own_tokens(tokens: &TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let is_module = |at: usize| {
        at >= 2
            && matches!(&tokens[at - 2], TokenTree::Ident(word) if word == "mod")
            && matches!(&tokens[at], TokenTree::Group(_))
    };
    tokens.iter().enumerate().filter(|(at, _)| !is_module(*at)).map(|(_, token)| token.clone()).collect()
}

/// Reads a module and those below it.
fn read(root: &Root, within: &[String], folder: &Path, tokens: &TokenStream, imports: &mut Imports) {
    if let Some(module) = within.strip_prefix(root.path.as_slice()).and_then(|within| within.first()) {
        for path in paths(&own_tokens(tokens)) {
            if let Some(from) = root.module_of(within, &path).filter(|&from| from != module) {
                let of_module = imports.entry(module.clone()).or_default();
                of_module.entry(from.clone()).or_insert_with(|| path.join("::"));
            }
        }
    }
    for module in modules_of(tokens) {
        let below: Vec<String> = within.iter().cloned().chain([module.name.clone()]).collect();
        let inner = folder.join(&module.name);
        match (&module.content, &module.file) {
            (Some(content), _) => read(root, &below, &inner, content, imports),
            // `roots` lists the sources that both adapters share as a root of their own.
            (None, Some(file)) if file.contains("storage-sql/") => {}
            (None, file) => {
                let candidates = match file {
                    Some(file) => vec![folder.join(file)],
                    None => vec![folder.join(format!("{}.rs", module.name)), inner.join("mod.rs")],
                };
                let file = candidates.iter().find(|file| file.exists()).unwrap();
                read(root, &below, &inner, &tokens_of(file), imports);
            }
        }
    }
}

fn tokens_of(file: &Path) -> TokenStream {
    TokenStream::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

fn imports_of(path: &[&str], file: &Path) -> Imports {
    let tokens = tokens_of(file);
    let root = Root::read(path, &tokens);
    let mut imports = Imports::new();
    read(&root, &root.path, file.parent().unwrap(), &tokens, &mut imports);
    imports
}

/// The imports that are part of a circle.
fn circles(imports: &Imports) -> Vec<String> {
    let reachable = |from: &str| {
        let mut seen = BTreeSet::new();
        let mut next = vec![from];
        while let Some(module) = next.pop() {
            for to in imports.get(module).into_iter().flatten().map(|(to, _)| to.as_str()) {
                if seen.insert(to) {
                    next.push(to);
                }
            }
        }
        seen
    };
    let mut found = Vec::new();
    for (from, to) in imports {
        for (to, path) in to {
            if reachable(to).contains(from.as_str()) {
                found.push(format!("{from} imports {path} of {to}"));
            }
        }
    }
    found
}

/// The root files of all crates, each with its module path.
fn roots() -> Vec<(PathBuf, Vec<&'static str>)> {
    let mut roots: Vec<_> = super::packages()
        .iter()
        .flat_map(|package| package["targets"].as_array().unwrap().clone())
        .filter(|target| ["lib", "bin"].iter().any(|kind| target["kind"][0] == *kind))
        .map(|target| (PathBuf::from(target["src_path"].as_str().unwrap()), Vec::new()))
        .collect();
    roots.push((super::root().join("crates/storage-sql/mod.rs"), vec!["sql"]));
    roots
}

#[test]
fn no_modules_import_each_other() {
    let roots = roots();
    assert!(roots.len() > 30, "all crates are read");
    let mut found = Vec::new();
    for (file, path) in roots {
        let name = file.strip_prefix(super::root()).unwrap().display().to_string();
        found
            .extend(circles(&imports_of(&path, &file)).into_iter().map(|circle| format!("{name}: {circle}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_circle_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    write("lib.rs", "mod a; mod b; mod c; mod d; pub use c::Name; #[cfg(test)] mod tests;");
    write("a.rs", "use crate::{b::{self, x}}; mod inner { fn f() { super::super::d::g() } }");
    write("b/mod.rs", "mod below;");
    write("b/below.rs", "fn f() { macro_call!(crate::Name); }");
    write("c.rs", "use crate::a; #[cfg(test)] mod tests { use crate::d; }");
    write("d.rs", "use std::a::b;");
    let imports = imports_of(&[], &folder.path().join("lib.rs"));
    assert_eq!(
        circles(&imports),
        ["a imports crate::b::self of b", "b imports crate::Name of c", "c imports crate::a of a"]
    );
    assert!(imports["a"].contains_key("d"));
    assert!(!imports["c"].contains_key("d"));
}
