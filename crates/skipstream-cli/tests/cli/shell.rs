//! `completions` and `man`.

use std::process::Command;

use crate::desk::{Desk, assert_refused};

/// The names of all commands, as `--help` lists them.
fn commands(desk: &Desk) -> Vec<String> {
    let help = desk.run(&["--help"]).out;
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").map(str::to_owned).collect()
}

#[test]
fn every_shell_has_a_script_that_knows_every_command() {
    let desk = Desk::new();
    let commands = commands(&desk);
    assert!(commands.contains(&"completions".to_owned()), "{commands:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let answer = desk.run(&["completions", shell]);
        assert_eq!((answer.code, answer.err.as_str()), (Some(0), ""), "{shell}");
        for command in &commands {
            assert!(answer.out.contains(command), "{shell} does not know {command}");
        }
    }
}

#[test]
fn bash_completes_commands_and_options() {
    let desk = Desk::new();
    desk.write("skipstream.bash", desk.run(&["completions", "bash"]).out);
    let complete = |line: &str| {
        let script = format!(
            "source ./skipstream.bash; COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _skipstream skipstream \"${{COMP_WORDS[-1]}}\" \"\"; echo \"${{COMPREPLY[@]}}\""
        );
        let output = Command::new("bash").args(["-c", &script]).current_dir(desk.path(".")).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(complete("skipstream insp"), "inspect\n");
    assert_eq!(complete("skipstream eval --common"), "--common-vocabulary\n");
}

#[test]
fn an_unknown_shell_is_refused() {
    assert_refused(&Desk::new().run(&["completions", "tcsh"]), &["invalid value 'tcsh'"]);
}

#[test]
fn there_is_a_page_for_every_command() {
    let desk = Desk::new();
    let main = desk.run(&["man"]).out;
    assert!(main.contains(".TH skipstream 1"), "{main}");
    assert_eq!(desk.run(&["man", "--out", "deep/pages"]).code, Some(0));
    assert_eq!(String::from_utf8(desk.bytes("deep/pages/skipstream.1")).unwrap(), main);
    for command in commands(&desk) {
        assert!(main.contains(&format!("skipstream\\-{}", command.replace('-', "\\-"))), "{command}");
        let page = String::from_utf8(desk.bytes(&format!("deep/pages/skipstream-{command}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS") && page.contains("Example"), "{command}");
    }
    desk.write("file", "");
    assert_refused(&desk.run(&["man", "--out", "file"]), &["file"]);
}

#[test]
fn a_closed_standard_error_does_not_change_how_a_command_ends() {
    let desk = Desk::new();
    desk.write("v.txt", "2 1\nberlin 1\nparis 2\n");
    desk.write("a.txt", "to be or not to be\n");
    desk.write("unknown.tsv", "moon star 1\nstar moon 2\n");
    for (code, args) in [
        (1, &["neighbors", "--model", "v.txt", "moon"][..]),
        (2, &["neighbors", "--model", "missing", "moon"]),
        (1, &["eval", "--model", "v.txt", "unknown.tsv"]),
        (0, &["export", "--model", "v.txt", "--to", "npy", "v.npy"]),
        (0, &["import", "v.txt", "--model", "imported"]),
        (0, &["train", "--model", "m", "a.txt"]),
    ] {
        assert_eq!(desk.code_unheard(args), Some(code), "{args:?}");
    }
}
