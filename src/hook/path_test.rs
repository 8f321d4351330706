//! The test of globs on the names of a file, or on a directory that stands for what is below it.
//!
//! A relative glob is compared with a name relative to the root, or with the absolute name if the file lies elsewhere; an
//! absolute glob with the absolute name. A glob that begins with a mark (`*`, `?`, `[`) is also compared with the absolute name
//! of a file in the root, so that `*/.ssh/*` sees `.ssh/key`; but nothing is granted by that alone. The fixed beginning of a glob
//! is followed as paths are: a guard of `/tmp/**` sees `/private/tmp/x` where `/tmp` is a link.

use super::answers::Answers;
use super::compared::{Compared, Root};
use super::expressions::Expression;
use super::meeting::meets;
use crate::globs::{translated, with_slashes};
use crate::paths::{Base, Name, Names, System, Unknown, begins_at_root, behind, composed};
use crate::printable::shortened;

const MARKS: [char; 3] = ['*', '?', '['];

/// A value of an event as a path.
pub(super) struct PathValue<'a> {
    pub(super) at: &'a Compared<'a>,
    pub(super) root: &'a Root,
    pub(super) base: &'a Base,
    pub(super) names: &'a Names,
    /// True if letter case makes no difference.
    pub(super) ignores_case: bool,
    /// True if the path may be a directory that stands for what is below it.
    pub(super) is_directory: bool,
    /// The glob of a search in it, relative to it.
    pub(super) search: Option<&'a str>,
}

impl PathValue<'_> {
    fn has(&self, expression: &Expression, text: &str) -> Result<bool, Unknown> {
        self.at.has(expression, text, self.ignores_case)
    }

    fn has_now(&self, expression: &Expression, text: &str) -> Result<bool, Unknown> {
        self.at.has_now(expression, text, self.ignores_case)
    }

    fn is_behind(&self, path: &str, directory: &str) -> bool {
        // Everything relative lies in the root.
        directory == "." || behind(path, directory, self.ignores_case).is_some()
    }

    /// Returns whether a name is the root, or lies above it.
    fn is_above(&self, name: &Name) -> bool {
        let mut roots = self.base.roots();
        roots.any(|root| self.is_behind(root, &name.absolute))
    }

    fn is_outside_of_root(&self, path: &str) -> bool {
        let mut roots = self.base.roots();
        begins_at_root(path, self.base.system()) && !roots.any(|root| self.is_behind(path, root))
    }

    /// Returns whether the path lies outside of the root and of temporary directories.
    pub(super) fn is_outside(&self) -> Answers {
        let mut names = self.names.list.iter();
        let is_outside = |name: &Name| name.relative.is_none() && !self.base.is_temporary(name);
        let is_broad = self.is_directory && self.names.list.iter().any(|name| self.is_above(name));
        Answers {
            is_broad,
            ..Answers::is(names.any(is_outside))
        }
    }
}

/// Globs, of which one must match.
#[derive(Debug, Clone)]
pub(super) struct PathTest {
    /// The globs that begin with a name, as one expression.
    named: Option<Expression>,
    /// The globs that begin with a mark.
    anywhere: Option<Expression>,
    has_absolute: bool,
    globs: Vec<Glob>,
}

#[derive(Debug, Clone)]
struct Glob {
    text: String,
    /// The parts before the first mark, without a `/` at the end.
    fixed: String,
    is_absolute: bool,
}

impl PathTest {
    /// Compiles globs. `home` replaces `~`.
    ///
    /// # Errors
    /// A fragment that names the glob, the reason, and the right form.
    pub(super) fn new(globs: &[String], home: Option<&str>) -> Result<Self, String> {
        let globs = globs.iter().map(|glob| Glob::new(glob, home));
        let globs: Vec<Glob> = globs.collect::<Result<_, _>>()?;
        let expression = |is_named: bool| -> Result<Option<Expression>, String> {
            let chosen = globs.iter().filter(|glob| glob.is_named() == is_named);
            let each = chosen.map(Glob::expression);
            let each: Vec<String> = each.collect::<Result<_, _>>()?;
            Ok((!each.is_empty()).then(|| Expression {
                text: each.join("|"),
                is_of_paths: true,
            }))
        };
        Ok(Self {
            named: expression(true)?,
            anywhere: expression(false)?,
            has_absolute: globs.iter().any(|glob| glob.is_absolute),
            globs,
        })
    }

    pub(super) fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.named.iter().chain(&self.anywhere)
    }

    /// Returns the answers to the names of a file.
    pub(super) fn answers(&self, value: &PathValue<'_>) -> Answers {
        let each = value.names.list.iter().map(|name| {
            let answer = self.answer(name, value);
            let answer = answer.unwrap_or_else(Answers::unknown);
            if value.is_directory {
                self.with_what_is_below(name, answer, value)
            } else {
                answer
            }
        });
        each.fold(Answers::default(), Answers::and)
    }

    fn answer(&self, name: &Name, value: &PathValue<'_>) -> Result<Answers, Unknown> {
        let has = |expression: &Option<Expression>, text: &str| {
            let expression = expression.as_ref();
            expression.map_or(Ok(false), |expression| value.has(expression, text))
        };
        let own = name.relative.as_deref().unwrap_or(&name.absolute);
        let is_absolute = self.has_absolute && has(&self.named, &name.absolute)?;
        if is_absolute || has(&self.named, own)? || has(&self.anywhere, own)? {
            return Ok(Answers::is(true));
        }
        let is_elsewhere = has(&self.anywhere, &name.absolute)? || self.is_linked(name, value)?;
        Ok(Answers {
            yes: is_elsewhere,
            ..Answers::is(false)
        })
    }

    /// Returns whether a name matches a glob whose fixed beginning leads through a link.
    fn is_linked(&self, name: &Name, value: &PathValue<'_>) -> Result<bool, Unknown> {
        let Some(named) = &self.named else {
            return Ok(false);
        };
        for glob in self.globs.iter().filter(|glob| glob.is_named()) {
            let real = value.root.real(&glob.fixed);
            let rest = real
                .as_deref()
                .and_then(|real| behind(&name.absolute, real, value.ignores_case));
            let text = match rest {
                None => continue,
                Some("") => glob.fixed.clone(),
                Some(rest) => format!("{}/{rest}", glob.fixed.trim_end_matches('/')),
            };
            if value.has_now(named, &text)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Adds the answers to what is below a directory.
    fn with_what_is_below(&self, name: &Name, own: Answers, value: &PathValue<'_>) -> Answers {
        if self.globs.iter().any(|glob| glob.is_below(name, value)) {
            return Answers {
                yes: true,
                is_broad: true,
                ..own
            };
        }
        let is_known = if own.yes {
            self.globs.iter().all(|glob| glob.text.ends_with('*'))
        } else {
            self.globs.iter().all(|glob| glob.is_apart(name, value))
        };
        Answers {
            is_broad: !is_known || value.is_above(name),
            ..own
        }
    }
}

impl Glob {
    fn new(glob: &str, home: Option<&str>) -> Result<Self, String> {
        let text = composed(&with_slashes(glob), System::NATIVE).into_owned();
        check_variable(glob, &text)?;
        let text = match (text.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => format!("{}/{rest}", escaped(home)),
            _ => text,
        };
        check_parts(glob, &text)?;
        let text = match without_empty_parts(&text) {
            // An empty path is that of the root.
            text if text.is_empty() => ".".to_owned(),
            text => text,
        };
        let first = text.find(MARKS).unwrap_or(text.len());
        let end = if first == text.len() {
            first
        } else {
            text[..first].rfind('/').unwrap_or_default()
        };
        let is_absolute = begins_at_root(&text, System::NATIVE);
        let fixed = if end == 0 && is_absolute && first > 0 {
            "/"
        } else {
            &text[..end]
        };
        let glob = Self {
            fixed: fixed.to_owned(),
            is_absolute,
            text,
        };
        glob.expression()?;
        Ok(glob)
    }

    fn is_named(&self) -> bool {
        !self.text.starts_with(MARKS)
    }

    fn expression(&self) -> Result<String, String> {
        let invalid = |why| format!("invalid glob `{}`: {why}", shortened(&self.text));
        translated(&self.text).map_err(invalid)
    }

    /// Returns the name that the fixed beginning is compared with.
    fn own<'n>(&self, name: &'n Name) -> Option<&'n str> {
        if self.is_absolute {
            Some(&name.absolute)
        } else {
            name.relative.as_deref()
        }
    }

    /// Returns whether the glob is about what is below a directory: its fixed beginning is the directory or lies below it, or
    /// the search in the directory can find what the glob matches.
    fn is_below(&self, name: &Name, value: &PathValue<'_>) -> bool {
        let real = value.root.real(&self.fixed);
        let real = real.as_deref().map(|real| (real, name.absolute.as_str()));
        let own = self.own(name).map(|own| (self.fixed.as_str(), own));
        let is_in = |(fixed, own): (&str, &str)| {
            !fixed.is_empty()
                && value.is_behind(fixed, own)
                && (!value.is_above(name) || value.is_outside_of_root(fixed))
        };
        if own.into_iter().chain(real).any(is_in) {
            return true;
        }
        let (Some((_, own)), Some(search)) = (own, value.search) else {
            return false;
        };
        let search = match own {
            "." => search.to_owned(),
            own => format!("{}/{search}", own.trim_end_matches('/')),
        };
        meets(&self.text, &search)
    }

    /// Returns whether nothing in the directory can match.
    fn is_apart(&self, name: &Name, value: &PathValue<'_>) -> bool {
        self.own(name).is_some_and(|own| {
            !self.fixed.is_empty()
                && !value.is_behind(&self.fixed, own)
                && !value.is_behind(own, &self.fixed)
        })
    }
}

/// Returns a glob without the empty parts of `//`, which paths are compared without. A glob with a class stays as it is.
fn without_empty_parts(glob: &str) -> String {
    let first = match System::NATIVE {
        // A share of another computer begins with `//`.
        System::Windows => glob.get(..1).unwrap_or_default(),
        _ => "",
    };
    let mut plain = glob[first.len()..].to_owned();
    while plain.contains("//") && !plain.contains('[') {
        plain = plain.replace("//", "/");
    }
    first.to_owned() + &plain
}

/// # Errors
/// If a part has no meaning, so that it is not clear which paths are meant.
fn check_parts(glob: &str, text: &str) -> Result<(), String> {
    let mut parts = text.split('/');
    let help = if parts.any(|part| part == "..") {
        "paths are compared without `..`: write the path from the project's root, or the whole path"
    } else if text != "." && text.split('/').any(|part| part == ".") {
        "paths are compared without `.`: remove it"
    } else if text.len() > 1 && text.ends_with('/') {
        "paths are compared without a `/` at the end: for a directory remove it, for what is below add `**`"
    } else {
        return Ok(());
    };
    Err(format!("invalid glob `{}`: {help}", shortened(glob)))
}

/// Returns a path as a glob that matches it alone.
fn escaped(path: &str) -> String {
    path.replace('[', "[[]")
        .replace('*', "[*]")
        .replace('?', "[?]")
}

/// # Errors
/// If the first part is a variable.
fn check_variable(glob: &str, text: &str) -> Result<(), String> {
    let Some((first, rest)) = text.split_once('/') else {
        return Ok(());
    };
    let is_variable = first.starts_with('$') && first.len() > 1
        || first.len() > 2 && first.starts_with('%') && first.ends_with('%');
    if !is_variable {
        return Ok(());
    }
    let help = match first.trim_matches(['$', '{', '}', '%']) {
        "HOME" | "USERPROFILE" => format!("write `~/{}`", shortened(rest)),
        _ => "write the whole path".to_owned(),
    };
    let glob = shortened(glob);
    Err(format!(
        "invalid glob `{glob}`: a glob has no variables: {help}"
    ))
}
