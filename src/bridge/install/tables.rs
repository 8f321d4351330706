//! Adds tables `[[hooks]]` to the text of an agent's settings, and removes them again: comments and all else stay.

use serde_json::{Value, json};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use super::edit::Mistake;
use super::is_as_written;
use crate::agents::{Agent, OwnCommand};

const HOOKS: &str = "hooks";

pub(super) fn install(
    agent: &Agent,
    text: &str,
    handlers: &[(&'static str, Value)],
) -> Result<String, Mistake> {
    let known = registered(agent, text)?;
    let is_same = |(known, wanted): (&(String, Value), &(&str, Value))| {
        known.0 == wanted.0 && known.1 == wanted.1
    };
    if known.len() == handlers.len() && known.iter().zip(handlers).all(is_same) {
        return Ok(text.to_owned());
    }
    let mut document = parsed(text)?;
    remove(&mut document, |table| own(agent, table).is_some());
    let new = || Item::ArrayOfTables(ArrayOfTables::new());
    let tables = document.entry(HOOKS).or_insert_with(new);
    let Some(tables) = tables.as_array_of_tables_mut() else {
        return Err(not_tables());
    };
    for (event, handler) in handlers {
        let mut table = Table::new();
        table.insert("event", value(*event));
        let command = handler["command"].as_str().unwrap_or_default();
        table.insert("command", value(command));
        table.insert("timeout", value(handler["timeout"].as_i64().unwrap_or(1)));
        table.decor_mut().set_prefix("\n");
        tables.push(table);
    }
    Ok(document.to_string())
}

pub(super) fn uninstall(agent: &Agent, text: &str) -> Result<String, Mistake> {
    let mut document = parsed(text)?;
    remove(&mut document, |table| {
        own(agent, table).is_some_and(|own| is_as_written(agent, &own))
    });
    Ok(document.to_string())
}

/// Removes tables, and the list if it is empty then.
fn remove(document: &mut DocumentMut, is_removed: impl Fn(&Table) -> bool) {
    let Some(tables) = document.get_mut(HOOKS) else {
        return;
    };
    if let Some(tables) = tables.as_array_of_tables_mut() {
        tables.retain(|table| !is_removed(table));
        if tables.is_empty() {
            document.remove(HOOKS);
        }
    }
}

pub(super) fn changed_by_hand(agent: &Agent, text: &str) -> Result<Vec<String>, Mistake> {
    let document = parsed(text)?;
    let is_changed = |table: &&Table| {
        let is_as_written = own(agent, table).is_some_and(|own| is_as_written(agent, &own));
        !is_as_written && OwnCommand::is_within(agent, text_of(table, "command"))
    };
    let changed = tables(&document)?.filter(is_changed);
    Ok(changed
        .map(|table| text_of(table, "event").to_owned())
        .collect())
}

pub(super) fn registered(agent: &Agent, text: &str) -> Result<Vec<(String, Value)>, Mistake> {
    let document = parsed(text)?;
    let own = tables(&document)?.filter(|table| own(agent, table).is_some());
    let handlers = own.map(|table| {
        let timeout = table.get("timeout").and_then(Item::as_integer);
        let handler =
            json!({"type": "command", "timeout": timeout, "command": text_of(table, "command")});
        (text_of(table, "event").to_owned(), handler)
    });
    Ok(handlers.collect())
}

pub(super) fn usable(agent: &Agent, text: &str) -> Result<(), Mistake> {
    let document = parsed(text)?;
    for table in tables(&document)?.filter(|table| own(agent, table).is_some()) {
        if table.contains_key("matcher") {
            let event = text_of(table, "event");
            return Err(Mistake {
                place: table.span().map_or(0, |span| span.start),
                message: format!(
                    "a `matcher` keeps this program from some calls of `{event}`: remove it"
                ),
            });
        }
    }
    Ok(())
}

fn parsed(text: &str) -> Result<DocumentMut, Mistake> {
    text.parse::<DocumentMut>().map_err(|error| Mistake {
        place: error.span().map_or(0, |span| span.start),
        message: error.message().to_owned(),
    })
}

fn tables(document: &DocumentMut) -> Result<impl Iterator<Item = &Table>, Mistake> {
    let tables = match document.get(HOOKS) {
        None => None,
        Some(hooks) => Some(hooks.as_array_of_tables().ok_or_else(not_tables)?),
    };
    Ok(tables.into_iter().flatten())
}

fn not_tables() -> Mistake {
    Mistake {
        place: 0,
        message: "`hooks` has another form, expected tables `[[hooks]]`".to_owned(),
    }
}

fn own(agent: &Agent, table: &Table) -> Option<OwnCommand> {
    OwnCommand::read(agent, text_of(table, "command"))
}

fn text_of<'t>(table: &'t Table, key: &str) -> &'t str {
    let text = table.get(key).and_then(Item::as_str);
    text.unwrap_or_default()
}
