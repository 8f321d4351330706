//! The messages between a host and `serve`: the conversations of `talks.txt`.
//!
//! A conversation begins with `== NAME`, with a user of its own; its lines are done in order. `file PATH TEXT` writes a
//! file, `start NAME=VALUE` starts the program. `> METHOD PARAMS` sends a request with the id 2, in which `EVENT` is an
//! event, and `>> LINE` any line. `< POINTER VALUE` waits for the next line and looks for a value in it, `=` looks for
//! another one, and `~ POINTER TEXT` for a part of one. `! CODE ID LINE` sends a line that is refused. `let NAME POINTER`
//! has a name stand for a text of the line, and `ended STATUS` waits for the end.

use serde_json::{Value, json};

use super::{Served, code};
use crate::cases::cases;
use crate::program::User;

const EVENT: &str = r#""event": {"type": "tool:pre_execute", "tool_name": "bash", "data": {"tool_args": {"command": "ls"}}}"#;

#[derive(Default)]
struct Talk {
    served: Option<Served>,
    /// The last line of the program.
    line: Value,
    names: Vec<(String, String)>,
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

impl Talk {
    fn step(&mut self, user: &User, step: &str) {
        let with = |step: String, (name, text): &(String, String)| step.replace(name, text);
        let step = self.names.iter().fold(step.replace("EVENT", EVENT), with);
        let (what, rest) = step.split_once(' ').unwrap_or((&step, ""));
        let (first, second) = rest.split_once(' ').unwrap_or((rest, ""));
        match what {
            "#" => {}
            "file" => drop(user.write(first, second)),
            "start" => {
                let mut command = user.command(&["serve"]);
                command.envs(rest.split_once('='));
                self.served = Some(Served::start(&mut command));
            }
            "=" => assert_eq!(self.found(first), parsed(second), "{}", self.line),
            "~" => assert!(self.found(first).to_string().contains(second)),
            "let" => {
                let text = self.found(second).as_str().unwrap().to_owned();
                self.names.push((first.to_owned(), text));
            }
            _ => self.say(what, first, second),
        }
    }

    fn found(&self, pointer: &str) -> Value {
        self.line.pointer(pointer).cloned().unwrap_or_default()
    }

    fn say(&mut self, what: &str, first: &str, second: &str) {
        let served = self.served.as_mut().unwrap();
        match what {
            ">" => served.request(&json!(2), first, &parsed(second)),
            ">>" => served.send_text(&format!("{first} {second}\n")),
            "<" => {
                self.line = served.receive();
                assert_eq!(self.found(first), parsed(second), "{}", self.line);
            }
            "!" => {
                let (id, line) = second.split_once(' ').unwrap_or((second, ""));
                served.send_text(&format!("{line}\n"));
                let response = served.receive();
                let error = format!("{} {}", code(&response), response["id"]);
                assert_eq!(error, format!("{first} {id}"), "{response}");
            }
            "ended" => assert_eq!(json!(served.ended().0), parsed(first)),
            _ => panic!("there is no such step"),
        }
    }
}

#[test]
fn a_host_and_the_program_understand_each_other() {
    for conversation in cases(include_str!("talks.txt")) {
        let user = User::new();
        let mut talk = Talk::default();
        println!("{}\n{}", conversation.name, conversation.text);
        for step in conversation.text.lines() {
            println!("{step}");
            talk.step(&user, step);
        }
    }
}
