//! `add`: writes packs of guards into `hooks.d`, shows what another version changes, and removes packs.
//!
//! Never writes over what a person has changed.

use crate::cli::args::Add;
use crate::cli::confirm::is_confirmed;
use crate::cli::files::named;
use crate::cli::starter::write_schema;
use crate::cli::{CommandError, Context, Done, Exit, Style, Terminal, counted};
use crate::compat::{Agent, BRIDGED};
use crate::config::PackFile;
use crate::packs::{Difference, Pack, Standing};
use crate::printable;

/// A pack with its file.
struct Place {
    pack: &'static Pack,
    file: PackFile,
    /// The text of the file; none if it does not exist.
    text: Option<String>,
    /// What the file is to the pack; none without a file.
    standing: Option<Standing>,
}

pub(crate) fn run(args: &Add, context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    // Without a named project, the files are the user's.
    let root = context.root_unless(context.common.project.is_none())?;
    let config = context.hooks.config();
    let places = args.packs().into_iter().map(|pack| {
        let file = config.pack_file(pack.name, root.as_deref())?;
        Place::read(pack, file)
    });
    let places: Vec<Place> = places.collect::<Result<_, CommandError>>()?;
    if args.update {
        update(&places, args, context, terminal)
    } else if args.packs.is_empty() {
        list(&places, context, terminal)
    } else if args.remove {
        remove(&places, terminal)
    } else {
        add(&places, context, terminal)
    }
}

impl Place {
    fn read(pack: &'static Pack, file: PackFile) -> Result<Self, CommandError> {
        let text = file.read()?;
        let standing = text.as_ref().map(|text| pack.compare(text)).transpose();
        let standing = standing.map_err(|error| {
            let message = format!("cannot read `{}`: {error}", named(file.path()));
            CommandError::new(message).with_fix("fix or remove the file")
        })?;
        Ok(Self {
            pack,
            file,
            text,
            standing,
        })
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

    /// Returns the error of a file that has what a person wrote.
    fn is_of_a_person(&self) -> Option<CommandError> {
        let path = self.path();
        match self.standing.as_ref()? {
            Standing::Edited(differences) => {
                let names: Vec<_> = differences.iter().map(Difference::to_string).collect();
                let message = format!(
                    "`{path}` was edited, and stays as it is: {}",
                    names.join(", ")
                );
                let fix =
                    "move what is yours to a file of another name beside it, and remove this one";
                Some(CommandError::new(message).with_fix(fix))
            }
            Standing::Own => {
                let message = format!(
                    "`{path}` is not the pack `{}`, and stays as it is",
                    self.name()
                );
                Some(CommandError::new(message).with_fix("give the file another name"))
            }
            Standing::Current | Standing::Other { .. } => None,
        }
    }
}

fn list(places: &[Place], context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    for place in places {
        let content = place.pack.content();
        let state = match &place.standing {
            None => String::new(),
            Some(Standing::Current) => " (added)".to_owned(),
            Some(Standing::Other { version, .. }) => format!(" (added: version {version})"),
            Some(Standing::Edited(_)) => " (added, and edited)".to_owned(),
            Some(Standing::Own) => " (a file of yours has this name)".to_owned(),
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
    if let Some(error) = places.iter().find_map(Place::is_of_a_person) {
        return Err(error);
    }
    for place in places {
        let (name, path) = (place.name(), place.path());
        match &place.standing {
            None => {
                place.write(Some(place.pack.text))?;
                writeln!(terminal, "wrote {}", Style::STRONG.paint(path))?;
                for (guard, value) in place.pack.content().guards() {
                    let about = value["description"].as_str().unwrap_or_default();
                    writeln!(terminal, "  {guard}: {about}")?;
                }
            }
            Some(Standing::Other { version, .. }) => {
                let update = context.command(&format!("add --update {name}"));
                writeln!(
                    terminal,
                    "{path} has version {version} of the pack: see `{update}`"
                )?;
            }
            Some(_) => writeln!(terminal, "{path} is there already")?,
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
        let only = "the guards run only after you have approved them";
        writeln!(terminal, "{only}: `{trust}`")?;
    } else if context.is_standalone() {
        let agents = BRIDGED.map(Agent::name).join("|");
        let install = context.command(&format!("install {agents}"));
        writeln!(terminal, "an agent asks them after `{install}`")?;
    }
    Ok(())
}

fn remove(places: &[Place], terminal: &mut Terminal<'_>) -> Done {
    if let Some(error) = places.iter().find_map(Place::is_of_a_person) {
        return Err(error);
    }
    for place in places {
        let path = place.path();
        match place.standing {
            None => writeln!(terminal, "{path} does not exist")?,
            Some(_) => {
                place.write(None)?;
                writeln!(terminal, "removed {}", Style::STRONG.paint(path))?;
            }
        }
    }
    Ok(Exit::FINE)
}

/// Shows how the files differ from the packs of this program, and replaces those that nobody has edited.
fn update(
    places: &[Place],
    args: &Add,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Done {
    let mut others = Vec::new();
    for place in places {
        let path = place.path();
        match &place.standing {
            None if args.packs.is_empty() => {}
            None => {
                let add = context.command(&format!("add {}", place.name()));
                writeln!(terminal, "{path} does not exist: write it with `{add}`")?;
            }
            Some(Standing::Current) => writeln!(terminal, "{path} is as this program has it")?,
            Some(Standing::Own) => {
                writeln!(
                    terminal,
                    "{path} is a file of yours, not the pack `{}`",
                    place.name()
                )?;
            }
            Some(Standing::Edited(differences)) => {
                writeln!(
                    terminal,
                    "{path} was edited, and stays as it is; the pack differs:"
                )?;
                show(differences, terminal)?;
            }
            Some(Standing::Other {
                version,
                differences,
            }) => {
                let new = place.pack.content().version();
                writeln!(terminal, "{path}: version {version} -> {new}")?;
                show(differences, terminal)?;
                others.push(place);
            }
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
