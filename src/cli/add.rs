//! `add`: writes packs of guards into `hooks.d`, shows what another version changes, and removes packs.
//!
//! Never writes over what a person has changed.

use crate::agents::BRIDGED;
use crate::bridge;
use crate::cli::args::Add;
use crate::cli::confirm::is_confirmed;
use crate::cli::error::with_causes;
use crate::cli::files::named;
use crate::cli::install::users_home;
use crate::cli::starter::write_schema;
use crate::cli::{CommandError, Context, Done, Exit, Style, Terminal, counted};
use crate::config::PackFile;
use crate::packs::{Difference, Pack, Standing, summary};
use crate::printable;

/// The next step for a pack that a person has edited.
pub(crate) const EDITED: &str = "to keep the changes, remove the key `pack`; to drop them, remove the file, and add the pack again";

/// A pack with its file.
struct Place {
    pack: &'static Pack,
    file: PackFile,
    /// The text of the file; none if it does not exist.
    text: Option<String>,
    /// The relation of the file to the pack, none without a file; or the reason why the file cannot be read.
    standing: Result<Option<Standing>, String>,
}

pub(crate) fn run(args: &Add, context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    // Without a named project, the files are the user's.
    let root = context.root_unless(context.common.project.is_none())?;
    let config = context.hooks.config();
    let places = args.packs().into_iter().map(|pack| {
        let file = config.pack_file(pack.name, root.as_deref())?;
        Ok(Place::read(pack, file))
    });
    let places: Vec<Place> = places.collect::<Result<_, CommandError>>()?;
    if args.update {
        update(&places, args, context, terminal)
    } else if args.packs.is_empty() {
        list(&places, context, terminal)
    } else if args.remove {
        remove(&places, context, terminal)
    } else {
        add(&places, context, terminal)
    }
}

impl Place {
    fn read(pack: &'static Pack, file: PackFile) -> Self {
        let text = file.read().map_err(|error| with_causes(&error));
        let standing = match &text {
            Ok(text) => text.as_ref().map(|text| pack.compare(text)).transpose(),
            Err(why) => Err(why.clone()),
        };
        let path = named(file.path());
        let standing = standing.map_err(|why| {
            if text.is_ok() {
                format!("cannot read `{path}`: {why}")
            } else {
                why
            }
        });
        Self {
            pack,
            file,
            text: text.ok().flatten(),
            standing,
        }
    }

    fn name(&self) -> &'static str {
        self.pack.name
    }

    fn path(&self) -> String {
        named(self.file.path())
    }

    fn write(&self, text: Option<&str>) -> Result<(), CommandError> {
        Ok(self.file.change(self.text.as_deref(), text)?)
    }

    /// Returns the error of a file that has what a person wrote, or cannot be read.
    fn refusal(&self) -> Option<CommandError> {
        let path = self.path();
        let (message, fix) = match &self.standing {
            Err(why) => (why.clone(), "fix or remove the file"),
            Ok(Some(Standing::Edited(differences))) => {
                let names = summary(differences);
                (
                    format!("`{path}` was edited, and stays as it is: {names}"),
                    EDITED,
                )
            }
            Ok(Some(Standing::Own)) => {
                let name = self.name();
                let message = format!("`{path}` is not the pack `{name}`, and stays as it is");
                (message, "give the file another name, or remove it")
            }
            Ok(None | Some(Standing::Current | Standing::Other { .. })) => return None,
        };
        Some(CommandError::new(message).with_fix(fix))
    }
}

fn list(places: &[Place], context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    for place in places {
        let content = place.pack.content();
        let state = match &place.standing {
            Ok(None) => String::new(),
            Ok(Some(Standing::Current)) => " (added)".to_owned(),
            Ok(Some(Standing::Other { version, .. })) => format!(" (added: version {version})"),
            Ok(Some(Standing::Edited(_))) => " (added, and edited)".to_owned(),
            Ok(Some(Standing::Own)) => " (a file of yours has this name)".to_owned(),
            Err(_) => " (its file cannot be read)".to_owned(),
        };
        let name = Style::STRONG.paint(format_args!("{:<12}", place.name()));
        let guards = content.guards().len();
        writeln!(terminal, "{name}{guards:>2}  {}{state}", content.about())?;
    }
    let add = context.command("add git rm secrets");
    writeln!(terminal, "for example `{add}`")?;
    Ok(Exit::FINE)
}

fn add(places: &[Place], context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    // All or nothing.
    if let Some(error) = places.iter().find_map(Place::refusal) {
        return Err(error);
    }
    for place in places {
        let (name, path) = (place.name(), place.path());
        match &place.standing {
            Ok(Some(Standing::Other { version, .. })) => {
                let update = context.command(&format!("add --update {name}"));
                writeln!(
                    terminal,
                    "{path} has version {version} of the pack: see `{update}`"
                )?;
            }
            Ok(Some(_)) => writeln!(terminal, "unchanged: {path}")?,
            Ok(None) | Err(_) => {
                place.write(Some(place.pack.text))?;
                writeln!(terminal, "wrote {}", Style::STRONG.paint(path))?;
                for (guard, value) in place.pack.content().guards() {
                    let about = value["description"].as_str().unwrap_or_default();
                    writeln!(terminal, "  {guard}: {about}")?;
                }
            }
        }
    }
    if let Some(directory) = places.iter().find_map(|place| place.file.path().parent()) {
        // The files name the schema beside their directory.
        write_schema(directory, context).map_err(|error| {
            CommandError::new(format!(
                "cannot write the schema beside `{}`: {error}",
                named(directory)
            ))
        })?;
    }
    next_steps(context, terminal)?;
    Ok(Exit::FINE)
}

fn next_steps(context: &Context<'_>, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
    if context.common.project.is_some() {
        let trust = context.command("trust");
        writeln!(
            terminal,
            "next: `{trust}`, since hooks of a project run only after an approval"
        )?;
    } else if context.is_standalone() {
        let home = users_home()?;
        if BRIDGED.iter().any(|agent| bridge::was_made(agent, &home)) {
            let check = context.command("check");
            writeln!(terminal, "next: `{check}` says whether it works")?;
            return Ok(());
        }
        writeln!(terminal, "next: {}", context.install())?;
    }
    Ok(())
}

fn remove(places: &[Place], context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    if let Some(error) = places.iter().find_map(Place::refusal) {
        return Err(error);
    }
    for place in places {
        let path = place.path();
        if place.text.is_none() {
            writeln!(terminal, "{path} does not exist")?;
            continue;
        }
        place.write(None)?;
        writeln!(terminal, "removed {}", Style::STRONG.paint(path))?;
    }
    if context.common.project.is_some() {
        let trust = context.command("trust");
        writeln!(
            terminal,
            "next: `{trust}`, since approved hooks that are gone block"
        )?;
    }
    Ok(Exit::FINE)
}

/// Shows how the files differ from the packs of this program, and replaces those that are as a program wrote them.
fn update(
    places: &[Place],
    args: &Add,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Done {
    let is_there = |place: &Place| !matches!(place.standing, Ok(None));
    if args.packs.is_empty() && !places.iter().any(is_there) {
        let list = context.command("add");
        writeln!(terminal, "no pack was added here; `{list}` lists them")?;
    }
    let mut others = Vec::new();
    for place in places {
        let path = place.path();
        let new = place.pack.content().version();
        match &place.standing {
            Ok(None) if args.packs.is_empty() => {}
            Ok(None) => {
                let add = context.command(&format!("add {}", place.name()));
                writeln!(terminal, "{path} does not exist: write it with `{add}`")?;
            }
            Ok(Some(Standing::Current)) => writeln!(terminal, "unchanged: {path}")?,
            Ok(Some(Standing::Own)) => writeln!(terminal, "{path} is a file of yours")?,
            Ok(Some(Standing::Edited(differences))) => {
                writeln!(
                    terminal,
                    "{path} was edited, and stays as it is; the pack differs in"
                )?;
                show(differences, terminal)?;
            }
            Ok(Some(Standing::Other { version, .. })) if *version > new => {
                writeln!(
                    terminal,
                    "{path} has version {version}, and this program {new}"
                )?;
            }
            Ok(Some(Standing::Other {
                version,
                differences,
            })) => {
                writeln!(terminal, "{path}: version {version} -> {new}")?;
                show(differences, terminal)?;
                others.push(place);
            }
            Err(why) => writeln!(terminal, "{why}")?,
        }
    }
    let question = format!("Write {}?", counted(others.len(), "file"));
    if others.is_empty() {
        return Ok(Exit::FINE);
    }
    if !is_confirmed(args.yes, &question, terminal)? {
        return terminal.end(Exit::PROBLEMS, "nothing was written");
    }
    for place in others {
        place.write(Some(place.pack.text))?;
        writeln!(terminal, "wrote {}", Style::STRONG.paint(place.path()))?;
    }
    if context.common.project.is_some() {
        next_steps(context, terminal)?;
    }
    Ok(Exit::FINE)
}

/// Shows what a file has in lines with `-`, and what the pack has in lines with `+`.
fn show(differences: &[Difference], terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
    for difference in differences {
        writeln!(terminal, "  {difference}")?;
        let values = [("-", &difference.file), ("+", &difference.pack)];
        for (sign, value) in values {
            if let Some(value) = value {
                writeln!(terminal, "    {sign} {}", printable(&value.to_string()))?;
            }
        }
    }
    Ok(())
}
