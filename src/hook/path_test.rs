//! The test of globs on the names of a file, or on a directory that stands for what is below it.
//!
//! A relative glob is compared with a name relative to the root, or with the absolute name if the file lies elsewhere; an
//! absolute glob with the absolute name. A glob that begins with a mark (`*`, `?`, `[`) is also compared with the absolute name
//! of a file in the root, so that `*/.ssh/*` sees `.ssh/key`; but nothing is granted by that alone, nor by a name relative to another
//! project. The fixed beginning of a glob is followed as paths are: a guard of `/tmp/**` sees `/private/tmp/x` where `/tmp` is
//! a link.

use std::path::Path;

use super::answers::Answers;
use super::compared::{Compared, Root};
use super::expressions::Expression;
use super::meeting::STAR_OF_NAME;
use super::path_glob::{Glob, escaped};
use crate::paths::{Base, Kind, Name, Names, Unknown, begins_at_root, behind};

const NO_GLOB: &str = "expected at least one glob, found an empty list, which no value matches";

/// A value of an event as a path.
pub(super) struct PathValue<'a> {
    pub(super) at: &'a Compared<'a>,
    pub(super) root: &'a Root,
    pub(super) base: &'a Base,
    pub(super) names: &'a Names,
    /// True if letter case makes no difference.
    pub(super) ignores_case: bool,
    /// True if a directory stands for what is below it.
    pub(super) stands_for_more: bool,
    /// The glob of a search in it, relative to it.
    pub(super) search: Option<&'a str>,
}

impl PathValue<'_> {
    fn has(&self, expression: Option<&Expression>, text: &str) -> Result<bool, Unknown> {
        expression.map_or(Ok(false), |expression| {
            self.at.has(expression, text, self.ignores_case)
        })
    }

    /// Returns what `has` returns, for a text that no other hook asks for.
    fn has_once(&self, expression: Option<&Expression>, text: &str) -> Result<bool, Unknown> {
        expression.map_or(Ok(false), |expression| {
            self.at.has_once(expression, text, self.ignores_case)
        })
    }

    /// Returns a glob for absolute names: for each name of the directory where it begins.
    fn absolute(&self, glob: &Glob) -> Vec<String> {
        let real = self.root.real(&glob.fixed, self.base);
        let real = real.map(|real| glob.below(&real));
        if glob.is_absolute || !glob.is_anchored() {
            return std::iter::once(glob.text.clone()).chain(real).collect();
        }
        let roots = self.base.roots();
        roots
            .map(|root| format!("{}/{}", escaped(root.trim_end_matches('/')), glob.text))
            .chain(real)
            .collect()
    }

    fn is_behind(&self, path: &str, directory: &str) -> bool {
        behind(path, directory, self.ignores_case).is_some()
    }

    /// Returns whether it is a directory that stands for what is below it.
    pub(super) fn is_directory(&self) -> bool {
        self.stands_for_more && self.names.kind == Kind::Directory
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
    fn is_outside(&self) -> Answers {
        let mut names = self.names.list.iter();
        let is_outside = |name: &Name| name.relative.is_none() && !self.base.is_temporary(name);
        let is_partial =
            self.is_directory() && self.names.list.iter().any(|name| self.is_above(name));
        Answers {
            is_partial,
            ..Answers::is(names.any(is_outside))
        }
    }
}

/// A condition on a path.
#[derive(Debug, Clone)]
pub(super) enum Paths {
    Matching(PathTest),
    /// Outside of the root and of temporary directories.
    Outside,
}

impl Paths {
    /// Compiles globs, of which one must match. `home` replaces `~`.
    ///
    /// # Errors
    /// A fragment that names the glob, the reason, and the right form.
    pub(super) fn matching(globs: &[String], home: Option<&str>) -> Result<Self, String> {
        PathTest::new(globs, home).map(Self::Matching)
    }

    pub(super) fn expressions(&self) -> Vec<&Expression> {
        match self {
            Self::Matching(globs) => globs.expressions().collect(),
            Self::Outside => Vec::new(),
        }
    }

    /// Returns the answers to the names of a path.
    pub(super) fn answers(&self, value: &PathValue<'_>) -> Answers {
        match self {
            Self::Matching(globs) => globs.answers(value),
            Self::Outside => value.is_outside(),
        }
    }
}

/// Globs, of which one must match.
#[derive(Debug, Clone)]
pub(super) struct PathTest {
    /// The globs that begin with a name, as one expression.
    anchored: Option<Expression>,
    /// The globs that begin with a mark.
    unanchored: Option<Expression>,
    /// The globs that match all below a directory that they match.
    subtrees: Option<Expression>,
    has_absolute: bool,
    globs: Vec<Glob>,
}

impl PathTest {
    fn new(globs: &[String], home: Option<&str>) -> Result<Self, String> {
        if globs.is_empty() {
            return Err(NO_GLOB.to_owned());
        }
        let globs = globs.iter().map(|glob| Glob::new(glob, home));
        let globs: Vec<Glob> = globs.collect::<Result<_, _>>()?;
        let expression = |is_chosen: fn(&Glob) -> bool| -> Result<Option<Expression>, String> {
            let each = globs
                .iter()
                .filter(|glob| is_chosen(glob))
                .map(Glob::expression);
            let each: Vec<String> = each.collect::<Result<_, _>>()?;
            Ok((!each.is_empty()).then(|| Expression {
                text: each.join("|"),
                is_of_paths: true,
            }))
        };
        Ok(Self {
            anchored: expression(Glob::is_anchored)?,
            unanchored: expression(|glob| !glob.is_anchored())?,
            subtrees: expression(|glob| glob.text.ends_with('*'))?,
            has_absolute: globs.iter().any(|glob| glob.is_absolute),
            globs,
        })
    }

    fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.anchored
            .iter()
            .chain(&self.unanchored)
            .chain(&self.subtrees)
    }

    /// Returns the answers to the names of a file.
    fn answers(&self, value: &PathValue<'_>) -> Answers {
        let each = value.names.list.iter().map(|name| {
            // A search finds what lies in the directory, and not the directory.
            let answer = match value.search {
                Some(_) => Answers::is(false),
                None => self.answer(name, value).unwrap_or_else(Answers::unknown),
            };
            if !value.stands_for_more || value.names.kind == Kind::File {
                return answer;
            }
            let all = self.with_what_is_below(name, answer.clone(), value);
            all.unwrap_or_else(|why| answer.joined(Answers::unknown(why)))
        });
        each.fold(Answers::default(), Answers::joined)
    }

    fn answer(&self, name: &Name, value: &PathValue<'_>) -> Result<Answers, Unknown> {
        let text = name.relative.as_deref().unwrap_or(&name.absolute);
        let has = |expression: &Option<Expression>, text| value.has(expression.as_ref(), text);
        let is_absolute = self.has_absolute && has(&self.anchored, &name.absolute)?;
        if is_absolute || has(&self.anchored, text)? || has(&self.unanchored, text)? {
            return Ok(Answers::is(true));
        }
        let is_elsewhere = has(&self.unanchored, &name.absolute)?
            || self.is_linked(name, value)?
            || self.is_in_project(name, value)?;
        Ok(Answers {
            yes: is_elsewhere,
            ..Answers::is(false)
        })
    }

    /// Returns whether a name matches from another project's root: that of a worktree, or of the project beside this one. This grants
    /// nothing, since any program can make a directory a project.
    fn is_in_project(&self, name: &Name, value: &PathValue<'_>) -> Result<bool, Unknown> {
        if self.anchored.is_none() {
            return Ok(false);
        }
        for text in &*value.root.in_projects(&name.absolute, value.base)? {
            if value.has_once(self.anchored.as_ref(), text)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether a name matches a glob whose fixed beginning leads through a link.
    fn is_linked(&self, name: &Name, value: &PathValue<'_>) -> Result<bool, Unknown> {
        for glob in self.globs.iter().filter(|glob| glob.is_anchored()) {
            let real = value.root.real(&glob.fixed, value.base);
            let rest = real
                .as_deref()
                .and_then(|real| behind(&name.absolute, real, value.ignores_case));
            let text = match rest {
                None => continue,
                Some("") => glob.fixed.clone(),
                Some(rest) => format!("{}/{rest}", glob.fixed.trim_end_matches('/')),
            };
            if value.has_once(self.anchored.as_ref(), &text)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Adds the answers to what is below a directory.
    fn with_what_is_below(
        &self,
        name: &Name,
        answers: Answers,
        value: &PathValue<'_>,
    ) -> Result<Answers, Unknown> {
        let text = name.relative.as_deref().unwrap_or(&name.absolute);
        let has_subtree = answers.yes && value.has(self.subtrees.as_ref(), text)?;
        if has_subtree && !value.is_above(name) {
            return Ok(answers);
        }
        let is_about_more = self.is_about_what_is_below(name, value)?;
        if !is_about_more && !value.is_directory() {
            return Ok(answers);
        }
        let is_apart = !answers.yes && !self.may_match_below(name, "**", value, |_| true)?;
        Ok(Answers {
            yes: answers.yes || is_about_more,
            // A guard of all else runs for what is not known to match.
            no: answers.no || !has_subtree,
            is_partial: !is_apart || value.is_above(name),
            ..answers
        })
    }

    /// Returns whether a guard must see a call on this directory: a glob matches all that is in it, or has a fixed beginning
    /// and may match something in it, or what the search in it finds.
    fn is_about_what_is_below(&self, name: &Name, value: &PathValue<'_>) -> Result<bool, Unknown> {
        let in_projects = value.root.in_projects(&name.absolute, value.base)?;
        let in_projects = in_projects.iter().map(String::as_str);
        let texts = [name.relative.as_deref(), Some(&name.absolute)];
        for text in texts.into_iter().flatten().chain(in_projects) {
            let text = format!("{}/", text.trim_end_matches('/'));
            for expression in [&self.anchored, &self.unanchored] {
                if value.has_once(expression.as_ref(), &text)? {
                    return Ok(true);
                }
            }
        }
        // The root, and what is above it, stand for what lies outside of the root.
        let is_above = value.is_above(name);
        let is_fixed = |glob: &Glob| {
            let is_file = !glob.fixed.is_empty() && !is_connection(&glob.fixed);
            is_file && (!is_above || value.is_outside_of_root(&glob.fixed))
        };
        if self.may_match_below(name, "**", value, is_fixed)? {
            return Ok(true);
        }
        match value.search {
            Some(search) if self.may_match_below(name, search, value, |_| true)? => Ok(true),
            // A file that is found may be a directory.
            Some(search)
                if !search
                    .trim_matches(['*', STAR_OF_NAME, '?', '/'])
                    .is_empty() =>
            {
                self.may_find_directory(name, search, value)
            }
            _ => Ok(false),
        }
    }

    /// Returns whether a pattern in a directory may find the directory in which a glob begins, or one above that.
    fn may_find_directory(
        &self,
        name: &Name,
        search: &str,
        value: &PathValue<'_>,
    ) -> Result<bool, Unknown> {
        let below = format!("{}/{search}", escaped(name.absolute.trim_end_matches('/')));
        for glob in self.globs.iter().filter(|glob| !glob.fixed.is_empty()) {
            let mark = glob.text.find(['*', '?', '[']).unwrap_or(glob.text.len());
            for text in value.absolute(glob) {
                let fixed = &text[..text.len() - (glob.text.len() - mark)];
                for (slash, _) in fixed.match_indices('/') {
                    if value.at.meets(&fixed[..slash], &below)? {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    /// Returns whether one of the chosen globs may match something that `glob` matches in a directory.
    fn may_match_below(
        &self,
        name: &Name,
        glob: &str,
        value: &PathValue<'_>,
        is_chosen: impl Fn(&Glob) -> bool,
    ) -> Result<bool, Unknown> {
        let below = format!("{}/{glob}", escaped(name.absolute.trim_end_matches('/')));
        for glob in self.globs.iter().filter(|glob| is_chosen(glob)) {
            for text in value.absolute(glob) {
                if value.at.meets(&text, &below)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// Returns whether a shell makes a connection for what is below this path, in a redirection: no directory has it.
fn is_connection(fixed: &str) -> bool {
    ["/dev/tcp", "/dev/udp"]
        .iter()
        .any(|path| Path::new(fixed).starts_with(path))
}
